"""*My report*: what a learner did in all lessons, to hand in; and every record fits its schema."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema
import mistune
import pytest
from nbformat.v4 import new_code_cell
from support.asking import BEGIN, DRAW, NUMBER, PLACE, store
from support.places import SERVER_OF_HUB as SETTINGS
from support.questions import ChoiceCard, CurveCard, NumberCard, PlacingCard

from delivery.classroom.answers import SCHEMA, collected, table
from tools.browser import RUN, Visit, open_next, run_all
from tools.lessons import NOTEBOOKS
from tools.servers import LAB, SOCKETS, VOILA, Program, Server, serve

LOADS = f"""
import sys
sys.path.insert(0, {str(NOTEBOOKS)!r})
from heat_map_07 import heat_map
from mystery_08 import mystery
from lessonkit.widgets import challenge, explore, goals

def one_file(samples=3, read=15):
    return ArtificialDataset(samples, open=0.03, read=read / 1e3), {{"num_epochs": 1, "train": 0.01}}

def two_maps(decode=1, augment=1):
    decoded = ArtificialDataset(4).map(cost=0.01, num_parallel_calls=decode)
    return decoded.map(cost=0.01, num_parallel_calls=augment)
"""
TASK = 'challenge("Be quick.", goals=[goals.total(at_most=0.08)], pipeline=one_file, read=(5, 25, 5))'
# The code that runs first is that of the lesson, and no attempt
CODED = """task = challenge("Write it.", goals=[goals.total(at_most=0.08)], hints=["Prefetch."])
display(task)
task.check(lambda: (naive, once))"""
TRIED = "task.check(lambda: (naive, once | {'train': 0.02}))"
LOOKED_AT = """challenge("Look at it.", goals=[goals.total(at_most=0.08)]).check(
    lambda: (naive, once))"""
VOTE = """predict("<b>Is</b> it *so*?", choices=["A: yes", "B: no"], answer=lambda: "B: no",
    wrong=[("A: yes", "It is not.")], why="So it is.")"""
SHOWN = [
    BEGIN + LOADS, NUMBER, PLACE, DRAW, "explore(one_file, samples=(1, 9))", TASK, CODED,
    TRIED, LOOKED_AT,
    "heat_map(two_maps, decode=(1, 2), augment=(1, 2))",
    "mystery(7)", VOTE,
]  # fmt: skip
KINDS_OF_ALL = [
    "number",
    "placing",
    "curve",
    "view",
    "challenge",
    "challenge",
    "challenge",
    "heat map",
    "mystery",
    "choice",
]
# Another lesson of this server with two questions, of which one waits for the class; one of a later
# schema; one that is damaged; and one of a site beside this server, which is no work of this one
OTHERS = """() => {
    const when = "2026-03-01T09:00:00.000Z";
    const tries = [{ said: 1, words: "1 [x](y)", sure: "certain", right: false, when }];
    const about = { schema: 1, kind: "number", said: 1, sure: "certain", tries, right: false, when };
    const put = (key, lesson, more) => localStorage.setItem(`lessonkit record ${key}`,
        JSON.stringify({ ...about, lesson, question: `Why ${lesson}?`, ...more }));
    put("//00_first.ipynb number: Why?", "00_first");
    const later = [{ ...tries[0], when: "2026-03-01T09:01:00.000Z" }];
    const waiting = { question: "Then?", tries: later, waits: true };
    put("//00_first.ipynb number: Then?", "00_first", waiting);
    put("//00_later.ipynb number: Why?", "00_later", { schema: 2 });
    put("/beside//00_first.ipynb number: Why?", "00_beside");
    localStorage.setItem("lessonkit record //00_damaged.ipynb number: Why?", "{");
}"""
RECORDS = """() => Object.entries(localStorage).filter(([name]) => name.includes("report.ipynb"))
    .map(([, text]) => JSON.parse(text))"""
NAME = "<i>Anna</i> [B](c)"
TOLD = """\
# Report of \\<i\\>Anna\\</i\\> \\[B\\](c)

Made now.

3 questions answered: 0 right at first, 2 in the end. Certain and wrong at first: 2. 1 of 2 challenges passed.

## 00 first

- Why 00\\_first?\\
  at first ✗ 1 \\[x\\](y), certain

- Then?\\
  answered, and not shown to the class yet

## report

- How long?\\
  at first ✗ 200 ms, certain; in the end ✓ 105 ms, certain

- Be quick.\\
  ✓ passed. The last attempt: ✓ total: 75 ms (at most 80 ms)

- Write it.\\
  ✗ not passed yet, with 1 hint. The last attempt: ✗ total: 135 ms (at most 80 ms), over by 55 ms

- Mystery loaders of number 7\\
  0 of 1 right, after 1 measurement

- \\<b\\>Is\\</b\\> it \\*so\\*?\\
  at first ✗ A: yes, a guess; in the end ✓ B: no, a guess
"""
BAR = "▇" * 30
TOTALS = f"""\
00_first: Why 00_first?
  ✗ 1 [x](y)                           1 {BAR} (1 certain)
  0 of 1 right in the end
report: How long?
  ✗ 200 ms                             1 {BAR} (1 certain)
  1 of 1 right in the end
report: Be quick.
  1 of 1 passed
report: Write it.
  0 of 1 passed
report: <b>Is</b> it *so*?
  ✗ A: yes                             1 {BAR} (1 a guess)
  1 of 1 right in the end"""


@pytest.fixture(scope="module")
def page(desk: Visit, lab: Server) -> Any:
    cells = [new_code_cell(source) for source in SHOWN]
    path = store(lab.folder / "notebooks" / "report.ipynb", cells)
    desk.page.emulate_media(reduced_motion="reduce")
    open_next(desk.page, path.name)
    run_all(desk.page)
    work(desk.page)
    return desk.page


def work(page: Any) -> None:
    """Do something with each widget."""
    asked = page.locator(".lk-predict")
    number = NumberCard(asked.nth(0))
    number.answer(200, "certain", "That is two epochs.")
    number.say(105)
    number.commit("It adds up.")
    PlacingCard(asked.nth(1)).place("Train 2", 19)
    CurveCard(asked.nth(2)).marks.first.press("ArrowDown")
    page.locator("[data-name=samples]").press("ArrowRight")
    for _ in range(2):
        page.locator("[data-name=read]").press("ArrowLeft")
    page.get_by_text("Passed: every goal is met.").wait_for()
    page.get_by_role("button", name="Show the next hint").click()
    page.locator(".lk-map button").first.click()
    page.locator(".lk-map button.lk-here").wait_for()
    loader = page.get_by_role("group", name="Loader 1 of number 7")
    loader.get_by_role("button", name="Buy").first.click()
    loader.get_by_label("what holds it back").select_option("2")
    loader.get_by_label("one change").select_option("1")
    loader.get_by_role("button", name="Commit").click()
    loader.get_by_text("You bought").wait_for()
    vote = ChoiceCard(asked.nth(3))
    vote.answer(0, "a guess", "It is not.")
    vote.say(1)
    vote.commit("So it is.")


def test_every_record_of_every_widget_fits_the_schema(page: Any) -> None:
    found = page.evaluate(RECORDS)
    assert sorted(one["kind"] for one in found) == sorted(KINDS_OF_ALL)
    defs = json.loads(SCHEMA.read_text())["$defs"]
    for one in found:
        jsonschema.validate(one, {"$ref": "#/$defs/record", "$defs": defs})


def test_a_learner_hands_in_a_report_by_keyboard_alone(page: Any, tmp_path: Path) -> None:
    page.evaluate(OTHERS)
    open_report = page.get_by_role("button", name="my report")
    assert page.get_by_text("Report on my lessons").count() == 0
    open_report.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type(NAME)  # also in JupyterLab, whose keys these are
    page.locator(".lk-report").get_by_role("heading", name=f"Report of {NAME}").wait_for()
    paths = []
    for _ in range(2):
        page.keyboard.press("Tab")
        with page.expect_download() as coming:
            page.keyboard.press("Enter")
        paths.append(tmp_path / coming.value.suggested_filename)
        coming.value.save_as(paths[-1])
    assert [path.name for path in paths] == [
        "i-Anna-i-B-c-report.md",
        "i-Anna-i-B-c-report.json",
    ]
    written = re.sub(r"Made .* UTC", "Made now", paths[0].read_text())
    assert written == TOLD
    rendered = str(mistune.create_markdown(escape=False)(TOLD))
    assert set(re.findall(r"<(\w+)", rendered)) == {"h1", "h2", "p", "ul", "li", "br"}
    shown = page.locator(".lk-report").inner_text()
    for text in unescape(re.sub(r"<[^>]*>", "", rendered)).split("\n"):
        assert text in shown or text == "Made now."
    found, left_out = collected(paths[1:])
    assert "\n".join(table(found)) == TOTALS
    assert not left_out
    report = json.loads(paths[1].read_text())
    assert report["name"] == NAME
    (waiting,) = (one for one in report["records"] if one.get("waits"))
    assert "right" not in waiting.keys() | waiting["tries"][0].keys()


HUB = LAB._replace(
    options=(*LAB.options, f"--config={SETTINGS}", "--ServerApp.base_url=/user/anna/"),
    started="/user/anna/api/status",
    page="/user/anna/lab/tree/{}?reset",
)


def show(page: Any, address: str, program: Program) -> None:
    """Open a notebook, whose cells Voilà runs."""
    page.goto(address, timeout=1000 * RUN)
    if program is HUB:
        page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()
        run_all(page)


@pytest.mark.long
@pytest.mark.parametrize("program", [VOILA, HUB], ids=["Voilà", "Hub"])
def test_elsewhere_a_report_has_what_was_answered_there_also_after_a_reload(
    program: Program, visit: Visit, tmp_path: Path
) -> None:
    page = visit.page
    with serve(program, SOCKETS) as server:
        address = server.write("report", BEGIN + VOTE)
        show(page, address, program)
        page.locator(".lk-predict").wait_for(timeout=1000 * RUN)
        ChoiceCard(page.locator(".lk-predict")).answer(0, "certain", "It is not.")
        page.evaluate(OTHERS.replace("record ${key}", "record /user/ben${key}"))
        show(page, address, program)
        page.get_by_role("button", name="my report").click(timeout=1000 * RUN)
        with page.expect_download() as coming:
            page.get_by_role("button", name="for the teacher, as JSON").click()
        coming.value.save_as(tmp_path / "report.json")
    ((asked, (record,)),) = collected([tmp_path / "report.json"])[0].items()
    assert asked == ("report", "<b>Is</b> it *so*?")
    assert record["tries"][0]["words"] == "A: yes"
