"""A class of three pages and a board, led through two rounds of a question of each type."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from nbformat.v4 import new_code_cell
from playwright.sync_api import expect
from support.alone import show_cells
from support.class_questions import questions
from support.classes import CHOICE, Class, class_beside, record
from support.lesson_of_class import SCREENS, SENT, LearnersPage, class_with_a_page

from delivery.classroom.questions import asked
from delivery.classroom.store import Store
from tools.browser import Browser, Visit, serious_violations
from tools.servers import HOST

AGAIN = "A round is open: commit again, to the same answer or another."
TASK = 5  # the number of the challenge, which comes last
expect.set_options(timeout=60_000)
SCROLLS = """() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return scrollWidth > innerWidth || scrollHeight > innerHeight;
}"""
LONG = "a sentence of a length that a vote of the lessons has, with a reason in its second half"


def known() -> list[dict[str, Any]]:
    """What the board knows of them."""
    found = map(asked, questions())
    return [{"lesson": "index.html", **one} for one in found if one]


class Lesson(LearnersPage):
    """The page of one learner, with the questions of these *numbers* and the challenge."""

    def __init__(self, page: Any, address: str, numbers: list[int]) -> None:
        every = questions()
        widgets = {number: every[number] for number in (*numbers, TASK)}
        super().__init__(page, address, [new_code_cell() for _ in every], widgets)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Class]:
    with class_with_a_page(tmp_path, known()) as one:
        yield one


@pytest.fixture
def pages(
    browser: Browser, served: Class, learners: int, numbers: list[int]
) -> Iterator[tuple[Any, list[Lesson]]]:
    """A board, and the pages of so many learners with the questions of these numbers and the challenge."""
    whole: Any = browser.context.browser
    with ExitStack() as until:

        def page(width: int, height: int) -> Any:
            context = whole.new_context(viewport={"width": width, "height": height})
            until.callback(context.close)
            context.set_default_timeout(60_000)
            return context.new_page()

        board = page(*SCREENS[0])
        errors: list[str] = []
        board.on("pageerror", lambda error: errors.append(str(error)))
        board.goto(f"{served.address}board/?key={served.room.key}")
        lessons = [
            Lesson(page(1280, 900), served.address, numbers) for _ in range(learners)
        ]
        yield board, lessons
        assert not errors
        assert not [error for one in lessons for error in one.errors]


# One lesson after another, as a class goes: to begin anew for each would take minutes.
@pytest.mark.parametrize(
    ("learners", "numbers"),
    [(3, [0]), pytest.param(3, [*range(TASK)], marks=pytest.mark.long)],
)
def test_a_class_is_led_through_both_rounds_of_each_type_of_question(  # noqa: PLR0915
    pages: tuple[Any, list[Lesson]], tmp_path: Path, learners: int, numbers: list[int]
) -> None:
    board, lessons = pages

    def press(name: str) -> None:
        board.get_by_role("button", name=name, exact=True).click()

    expect(board.locator("#counts")).to_have_text(f"{learners} here")
    press("Lead the class")
    for number in numbers:
        board.locator("#choose").select_option(str(number))
        expect(board.locator("#asked")).to_have_text(known()[number]["question"])
        press("Open round 1")
        for lesson in lessons:
            expect(lesson.page.locator("#lessonkit-class")).to_contain_text(
                "Round 1 is open"
            )
        for who, lesson in enumerate(lessons):
            lesson.answer(number, right=who == 0)
            expect(lesson.verdict(number)).to_have_text(SENT)
        counted = f"{learners} of {learners} answered; round 1 is open"
        expect(board.locator("#counts")).to_have_text(counted)
        # It is covered: what may be answered is there, and nothing of what was
        offered = known()[number].get("choices", [])
        assert board.locator("#rounds > *").all_inner_texts() == offered
        press("Close round 1")
        press("Uncover the answers")
        expect(board.locator("#rounds h2")).to_have_text(["Round 1: 3 learners"])
        expect(board.locator("#said")).to_contain_text(
            "Worth hearing first: 2 learners, certain of"
        )
        assert "✓" not in board.locator("#rounds").inner_text()
        press("Open round 2")
        for lesson in lessons:
            expect(lesson.verdict(number)).to_have_text(AGAIN)
        lessons[0].card(number).commit()  # to the same answer
        lessons[1].answer(number, right=True)
        lessons[2].card(number).commit()
        counted = counted.replace("round 1", "round 2")
        expect(board.locator("#counts")).to_have_text(counted)
        assert not lessons[0].card(number).shown.get_attribute("data-answered")
        press("Show everybody the verdict")
        for who, lesson in enumerate(lessons):
            expect(lesson.verdict(number)).to_contain_text("✗" if who == 2 else "✓")
        expect(board.locator("#rounds h2")).to_have_text(
            ["Round 1: 3 learners", "Round 2: 3 learners"]
        )
        expect(board.locator("#said")).to_contain_text("1 of 3 have moved")
        expect(board.locator("#rounds")).to_contain_text("✓")
        ((_, mistake),) = known()[number]["wrong"]
        expect(board.locator("#rounds small").get_by_text(mistake)).to_have_count(1)
        for width, height in SCREENS:
            board.set_viewport_size({"width": width, "height": height})
            for scheme in "light", "dark":
                board.emulate_media(color_scheme=scheme)
                board.screenshot(path=tmp_path / f"{number}-{width}-{scheme}.png")
                assert not board.evaluate(SCROLLS)
        shown = lessons[2].card(number).shown  # wrong, and yet nothing is covered any more
        expect(shown).to_have_attribute("data-answered", "")
        assert not serious_violations(board, "body")
    press("Let everybody go on")
    board.locator("#choose").select_option(str(TASK))
    for lesson in lessons:
        lesson.page.locator("[data-name=read]").press("ArrowLeft")
    expect(board.locator("#counts")).to_have_text("3 of 3 answered")
    expect(board.locator("#rounds ellipse")).to_have_count(3)


def test_five_long_sentences_with_their_reasons_are_seen_whole_on_a_small_projector(
    browser: Browser, tmp_path: Path
) -> None:
    choices = [f"{letter}: {LONG}" for letter in "ABCDE"]
    wrong = [[number, f"{LONG}. {LONG}."] for number in range(4)]
    question = {**CHOICE, "right": 4, "choices": choices, "wrong": wrong, "most": 4}
    whole: Any = browser.context.browser
    context = whole.new_context(viewport={"width": 1024, "height": 768})
    with class_beside(tmp_path, [question]) as one:

        def answers(round: int) -> None:
            one.room.act("open", round)
            for said in range(5):
                take(one, record(question, said), round, f"learner {said}")

        for act in (
            lambda: one.room.act("lead", True),
            lambda: answers(1),
            lambda: answers(2),
            lambda: one.room.act("show", None),
        ):
            one.loop.call_soon_threadsafe(act)
        board = context.new_page()
        board.goto(f"{one.address}board/?key={one.room.key}")
        expect(board.locator("#rounds small")).to_have_count(
            4
        )  # which is led, so it is there
        assert not board.evaluate(SCROLLS)
        small = size_of(board)
        assert small > 11  # px, of 768
        board.set_viewport_size({"width": 1920, "height": 1080})
        expect(board.locator("#rounds small")).to_have_count(4)
        assert not board.evaluate(SCROLLS)
        assert size_of(board) > 1.3 * small
        board.screenshot(path=tmp_path / "long.png")
    context.close()


def size_of(board: Any) -> float:
    """The size of what the board says, in pixels."""
    size = "parseFloat(getComputedStyle(document.querySelector('#question')).fontSize)"
    return float(board.evaluate(size))


def take(
    one: Class, given: Any, round: int, learner: str, address: str = "10.0.0.1"
) -> None:
    """Give the class an answer, as a page does."""
    turn = [one.room.for_pages()["group"], one.room.state.now.asking]
    sent = {"record": given, "round": round, "turn": turn, "name": ""}
    assert "refused" not in one.room.take(sent, learner, address)


@pytest.mark.parametrize(("learners", "numbers"), [(1, [0, 1])])
def test_a_page_that_is_loaded_again_waits_on_and_what_the_class_has_not_heard_is_sent(
    pages: tuple[Any, list[Lesson]], served: Class
) -> None:
    board, (first,) = pages
    board.get_by_role("button", name="Lead the class").click()
    expect(board.get_by_role("button", name="Let everybody go on")).to_be_visible()
    first.page.get_by_role("button", name="Show the next hint").click()
    first.answer(0, right=True)  # which is sent after what else was done by then
    expect(first.verdict(0)).to_have_text(SENT)
    with pytest.MonkeyPatch.context() as patch:
        # Chromium's own switch for being offline may leave a connection of a socket as it is.
        patch.setattr(served.room, "lets_in", lambda *_: False)
        served.cut()
        expect(first.page.locator("#lessonkit-class")).to_contain_text("cannot be reached")
        first.answer(1, right=False)
    board.locator("#choose").select_option("1")
    expect(board.locator("#counts")).to_have_text("1 of 1 answered")
    first.load_again()
    expect(first.verdict(0)).to_have_text(SENT)
    board.get_by_role("button", name="Let everybody go on").click()
    expect(first.verdict(0)).to_contain_text("✓")
    expect(first.verdict(1)).to_contain_text("✗")
    board.locator("#choose").select_option(
        str(TASK)
    )  # of which nothing but a hint was seen
    expect(board.locator("#counts")).to_have_text("0 of 1 answered")


def test_a_page_at_another_port_of_this_host_finds_the_class_until_it_is_over(
    browser: Browser, tmp_path: Path
) -> None:
    whole: Any = browser.context.browser
    handler = partial(Quiet, directory=str(tmp_path / "site"))
    context = whole.new_context()
    page, asked_for = context.new_page(), []
    page.on("request", lambda request: asked_for.append(request.url))
    with ThreadingHTTPServer((HOST, 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with class_with_a_page(tmp_path, known()) as one:
            page.goto(f"{one.address}index.html")
            lesson = Lesson(page, f"http://{HOST}:{other.server_port}/", [0])
            expect(page.locator("#lessonkit-class")).to_contain_text(
                "You are in the class."
            )
            lesson.answer(0, right=False)
            expect(lesson.verdict(0)).to_contain_text("✗")
            heard = Store(tmp_path / "class" / "answers.sqlite")  # of this thread
            wait_until(lambda: bool(heard.counts()[0]))
            heard.close()
            assert "lessonkit-class" in names_of(context.cookies())
        asked_for.clear()
        lesson.load_again()
        lesson.answer(0, right=True)
        expect(lesson.verdict(0)).to_contain_text("✓")
        assert len([url for url in asked_for if "learner.js" in url]) == 1
        assert "lessonkit-class" not in names_of(context.cookies())
        other.shutdown()
    context.close()


def names_of(cookies: list[Any]) -> set[str]:
    return {one["name"] for one in cookies}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = monotonic() + 60
    while not is_so() and monotonic() < deadline:
        sleep(0.05)
    assert is_so()


def test_where_there_is_no_class_a_page_asks_for_nothing(visit: Visit) -> None:
    show_cells(visit, [new_code_cell()], {0: questions()[0]})
    card = visit.page.locator(".lk-predict")
    card.get_by_label("Your answer in ms").fill("105")
    card.get_by_label("certain", exact=True).check()
    card.get_by_role("button", name="Commit to this answer").click()
    expect(card.locator(".lk-verdict")).to_contain_text("✓")
    assert not [url for url in visit.requests if url.startswith(("http", "ws"))]
