"""What a learner did is there again after a restart of the kernel, and a widget without one says so."""

import re
from functools import partial
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from support.alone import Alone, give_address, show
from support.asking import BEGIN, DRAW, FOLDED, NUMBER, PLACE, store, text
from support.questions import CurveCard, NumberCard, PlacingCard

from lessonkit import ArtificialDataset
from lessonkit.widgets import challenge, explore, goals
from lessonkit.widgets.explorer import Explore
from lessonkit.words import number
from tools.browser import Visit, open_next, run_all
from tools.servers import Server

MORE = """
from lessonkit.widgets import challenge, explore, goals

def one_file(samples=3, read=15):
    return ArtificialDataset(samples, open=0.03, read=read / 1e3), {"num_epochs": 1, "train": 0.01}

FORMULA = "0.03 + samples * (read / 1000 + 0.01)"
"""
VIEW = "explore(one_file, formula=FORMULA, samples=(1, 9), read=(5, 25, 5))"
TASK = """challenge("Be quick.", goals=[goals.total(at_most=0.08)], hints=["Read.", "Less."],
    pipeline=one_file, read=(5, 25, 5))"""
CELLS = [
    new_code_cell(BEGIN + MORE),
    new_code_cell(NUMBER, metadata={"tags": ["predict"]}),
    new_markdown_cell("## Look", metadata=FOLDED),
    new_markdown_cell("It takes 105 ms."),
    new_markdown_cell("## More"),
    new_code_cell(PLACE),
    new_code_cell(DRAW),
    new_code_cell(VIEW),
    new_code_cell(TASK),
    new_markdown_cell("The end."),
]
RESTART = "() => void jupyterapp.commands.execute('notebook:restart-run-all')"
SESSION = "jupyterapp.shell.currentWidget.sessionContext"
MARK_OLD = (
    "() => document.querySelectorAll('.lk-live').forEach((one) => (one.dataset.old = ''))"
)
ALL_NEW = """() => {
    const all = [...document.querySelectorAll(".lk-live")];
    return all.length === 5 && all.every(({ inert, dataset }) => !inert && dataset.old === undefined);
}"""
# What another version of a lesson might have left
FOREIGN = """() => {
    for (const [name, text] of Object.entries(localStorage)) {
        const record = JSON.parse(name.includes("record.ipynb view") ? text : "null");
        const other = { said: null, looks: { colours: true, memory: false } };
        if (record) localStorage.setItem(name, JSON.stringify({ ...record, ...other }));
    }
}"""
# What another page writes meanwhile
FARTHER = """() => {
    const [name] = Object.keys(localStorage).filter((name) => name.includes("challenge"));
    const record = JSON.parse(localStorage.getItem(name));
    localStorage.setItem(name, JSON.stringify({ ...record, right: true, hints: 2 }));
}"""
TOLD = "() => Object.values(localStorage).map(JSON.parse).find(({ kind }) => kind === 'challenge')"
RECORDS = """() => Object.entries(localStorage).filter(([name]) => name.includes("record.ipynb"))
    .map(([, text]) => JSON.parse(text))"""


@pytest.fixture(scope="module")
def page(desk: Visit, lab: Server) -> Any:
    """One page for all tests: each leaves it as it was, or goes on from what is there."""
    path = store(lab.folder / "notebooks" / "record.ipynb", CELLS)
    open_next(desk.page, path.name)
    run_all(desk.page)
    return desk.page


def one_file(samples: int = 3, read: int = 15) -> Any:
    """The pipeline of the notebook, in this process."""
    options = {"num_epochs": 1, "train": 0.01}
    return ArtificialDataset(samples, open=0.03, read=read / 1e3), options


def one_view() -> Explore:
    """The view of the notebook, in this process."""
    formula = "0.03 + samples * (read / 1000 + 0.01)"
    shown: Explore = explore(one_file, formula=formula, samples=(1, 9), read=(5, 25, 5))
    return shown


def engine(**values: Any) -> Any:
    """What the engine shows for these values."""
    return one_view().picture({"samples": 3, "read": 15} | values)[1]


def assert_shows(view: Any, **values: Any) -> None:
    """Every number of a view is that of the engine."""
    drawn = engine(**values)
    figures = view.locator(":is(.lk-main, .lk-figures) b")
    for value, what in drawn["figures"]:
        if not what.startswith("limit"):  # which is there for who asks
            figures.get_by_text(value, exact=True).first.wait_for()
    for name, value in values.items():
        assert view.locator(f"[data-name={name}]").get_attribute("aria-valuetext") == str(
            value
        )
    if view.locator(".lk-formula").count():
        said = view.locator(".lk-formula").text_content()
        found = drawn["formula"]
        assert re.search(
            rf"= *{re.escape(found['value'])} *✓ {found['said']}", said.replace("\n", " ")
        )


def compared(baseline: int, samples: int) -> str:
    """What a view says of so many samples beside a baseline run of so many."""
    was = engine(samples=baseline)["perSample"]
    return f"per sample {number(was / engine(samples=samples)['perSample'])} times as fast"


def looks(view: Any) -> list[str]:
    """What the timeline of a view shows, as its buttons say."""
    return list(view.locator("[aria-pressed=true]").all_text_contents())


def restart(page: Any) -> None:
    """Restart the kernel and run all cells."""
    page.evaluate(MARK_OLD)
    page.evaluate(RESTART)
    page.get_by_role("button", name="Confirm Kernel Restart").or_(
        page.get_by_role("button", name="Restart", exact=True)
    ).click()
    page.wait_for_function(ALL_NEW)


def asked(page: Any) -> tuple[NumberCard, PlacingCard, CurveCard]:
    number, placing, curve = (page.locator(".lk-predict").nth(place) for place in range(3))
    return NumberCard(number), PlacingCard(placing), CurveCard(curve)


def work(page: Any) -> None:
    """Do something with each widget."""
    question, placing, curve = asked(page)
    question.answer(200, "certain", "That is two epochs.")
    question.say(105)
    question.commit("It adds up.")
    placing.place("Train 2", 19)
    placing.is_sure("fairly sure")
    curve.marks.first.press("ArrowDown")
    view, task = (page.locator(f".lk:has({one})") for one in (".lk-formula", ".lk-goals"))
    view.locator("[data-name=samples]").press("ArrowRight")
    assert_shows(view, samples=4, read=15)
    view.get_by_role("button", name="Keep this run as the baseline run").click()
    view.locator("[data-name=samples]").press("ArrowRight")
    view.get_by_text(compared(4, 5), exact=True).wait_for()
    for shown in "memory", "waits":
        view.get_by_role("button", name=f"Show the {shown}").click()
    task.get_by_role("button", name="Show the next hint").click()
    for _ in range(2):
        task.locator("[data-name=read]").press("ArrowLeft")
    task.get_by_text("Passed: every goal is met.").wait_for()


def test_a_formula_claims_nothing_of_values_that_no_run_has_answered(visit: Visit) -> None:
    view = Alone(visit, one_view()).page.locator(".lk")
    assert_shows(view, samples=3, read=15)
    view.locator("[data-name=samples]").press("ArrowRight")  # and no kernel answers
    view.locator(".lk-figures.lk-stale").wait_for()
    assert "✓" not in view.locator(".lk-formula").inner_text()


def test_who_asks_for_it_is_asked_again_and_begins_anew(page: Any) -> None:
    question, *_ = asked(page)
    question.give_up()
    question.ask_again()
    assert not text(page, "It takes 105 ms.").is_visible()
    assert not [one for one in page.evaluate(RECORDS) if one["question"] == "How long?"]
    question.answer(200, "a guess", "That is two epochs.")
    (record,) = (one for one in page.evaluate(RECORDS) if one["question"] == "How long?")
    assert record.pop("when")
    assert record["tries"][0].pop("when")
    assert record == {
        "schema": 1,
        "lesson": "record",
        "kind": "number",
        "question": "How long?",
        "said": 200,
        "sure": "",  # of the next answer nothing is said yet
        "tries": [{"said": 200, "words": "200 ms", "sure": "a guess", "right": False}],
        "right": False,
    }
    question.give_up()
    question.ask_again()


def test_after_restart_and_run_all_everything_is_there_and_every_number_is_true(
    page: Any,
) -> None:
    work(page)
    before = {one["question"]: one for one in page.evaluate(RECORDS)}
    restart(page)
    question, placing, curve = asked(page)
    question.verdict.get_by_text("Right. The answer is 105 ms. It adds up.").wait_for()
    # What is out of sight JupyterLab does not draw, so it has no inner text
    tries = question.shown.locator(".lk-tries").text_content()
    assert tries == "Your tries: ✗ 200 ms, certain✓ 105 ms, certain"
    assert text(page, "It takes 105 ms.").is_visible()
    assert placing.place_of("Train 2") == "from 95 ms to 105 ms"
    assert placing.shown.get_by_label("fairly sure").is_checked()
    drawn, *others = curve.values()
    assert drawn != "not drawn yet"
    assert {*others} == {"not drawn yet"}
    view, task = (page.locator(f".lk:has({one})") for one in (".lk-formula", ".lk-goals"))
    view.get_by_text(compared(4, 5), exact=True).wait_for()
    assert view.locator("[data-name=samples]").get_attribute("aria-valuetext") == "5"
    assert looks(view) == ["memory"]
    task.get_by_text("Passed: every goal is met.").wait_for()
    assert task.locator(".lk-help p").all_text_contents() == ["Read."]
    assert_shows(task, read=5)

    view.get_by_role("button", name="Back to the start").click()
    assert_shows(view, samples=3, read=15)
    assert looks(view) == ["memory"]
    view.locator("[data-name=samples]").press("ArrowRight")
    view.locator("[data-name=read]").press("ArrowRight")
    assert_shows(view, samples=4, read=20)
    task.locator("[data-name=read]").press("ArrowRight")
    assert_shows(task, read=10)
    after = {one["question"]: one for one in page.evaluate(RECORDS)}
    for one in before, after:
        del one["How long?"]["when"]
    assert after["How long?"] == before["How long?"]


def test_a_record_with_other_controls_leaves_a_view_at_its_start(page: Any) -> None:
    page.evaluate(FOREIGN)
    restart(page)
    view = page.locator(".lk:has(.lk-formula)")
    assert_shows(view, samples=3, read=15)
    assert looks(view) == ["waits"]
    view.locator("[data-name=samples]").press("ArrowRight")
    assert_shows(view, samples=4, read=15)


def test_a_widget_whose_kernel_is_gone_says_so_and_takes_no_hand(page: Any) -> None:
    view = page.locator(".lk:has(.lk-formula)")
    view.scroll_into_view_if_needed()  # what is out of sight is not drawn
    page.evaluate(f"() => {SESSION}.session.kernel.restart()")
    view.get_by_text("This answers as soon as its cell has run.").wait_for()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.lk-live')].every(({ inert }) => inert)"
    )
    slider = page.locator(".lk:has(.lk-formula) [data-name=samples]")
    before = slider.get_attribute("aria-valuetext")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == before
    run_all(page)
    page.wait_for_function("() => !document.querySelector('.lk-live[inert]')")


def test_the_code_that_a_lesson_gives_is_no_try_at_its_challenge(visit: Visit) -> None:
    """It runs by itself on the site, before anybody has done anything; after a try it is one, too."""

    def with_slots(slots: int) -> Any:
        return ArtificialDataset(4, read=0.02).prefetch(slots), {
            "num_epochs": 1,
            "train": 0.02,
        }

    task = challenge("Be quick.", goals=[goals.total(at_most=0.05)])
    Alone(visit, task)
    for slots, mark in (0, "○"), (1, "✗"), (0, "✗"):
        show(visit, 0, task.check(partial(with_slots, slots)))
        outcome = visit.page.locator(".lk-card-of:not(.lk-task)").last
        marks = [said.strip()[0] for said in outcome.locator("li").all_text_contents()]
        assert mark in marks
        assert ("Not yet." in outcome.inner_text()) == (mark == "✗")


def test_what_another_page_has_passed_meanwhile_stays_passed(visit: Visit) -> None:
    give_address(visit)
    task = Alone(visit, eval(TASK))
    slider = visit.page.locator("[data-name=read]")
    slider.press("ArrowRight")
    task.answer()
    assert not visit.page.evaluate(TOLD)["right"]
    visit.page.evaluate(FARTHER)
    slider.press("ArrowLeft")
    task.answer()
    kept = visit.page.evaluate(TOLD)
    assert (kept["said"], kept["right"], kept["hints"]) == ({"read": "15"}, True, 2)
    assert kept["reached"][0][0] is False  # what stands there now does not meet the goal
