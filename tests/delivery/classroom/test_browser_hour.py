"""A lesson in front of a class, as a teacher's hour goes: three pages, a board, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import queue
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import expect
from support.class_questions import questions
from support.classes import Class, record
from support.lesson_of_class import SCREENS, SENT, LearnersPage, class_with_a_page

from delivery.classroom.questions import asked
from tools.browser import Browser
from tools.servers import HOST, free_port

FOLDED = re.compile("lk-hidden")
# A lesson: a prediction, what tells its answer, and the vote below that
COVERED = {"tags": ["covered"]}
CELLS = [
    new_markdown_cell("# A lesson"),
    new_markdown_cell("## Predict"),
    new_code_cell(metadata={"tags": ["predict"]}),
    new_markdown_cell("## Run and look", metadata=COVERED),
    new_markdown_cell("It takes 105 ms."),
    new_markdown_cell("## Recap", metadata=COVERED),
    new_code_cell(metadata={"tags": ["predict"]}),
]
PREDICTION, TELLS, VOTE = 2, 4, 6  # their cells; the board has the questions as 0 and 1
expect.set_options(timeout=60_000)


def known() -> list[dict[str, Any]]:
    """What the board knows: the prediction, the vote, and a prediction of another lesson."""
    first, _, _, other, vote, _ = map(asked, questions())
    return [
        {"lesson": "index.html", **first},
        {"lesson": "index.html", **vote},
        {"lesson": "03_parallel_map", **other},
    ]


class Lesson(LearnersPage):
    """The page of one learner, with the prediction and the vote of the lesson."""

    def __init__(self, page: Any, address: str) -> None:
        every = questions()
        super().__init__(page, address, CELLS, {PREDICTION: every[0], VOTE: every[4]})

    @property
    def bar(self) -> Any:
        return self.page.locator("#lessonkit-class")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Class]:
    with class_with_a_page(tmp_path, known()) as one:
        yield one


class Hour:
    """A board, and the pages of some learners."""

    def __init__(self, browser: Browser, served: Class) -> None:
        self.whole: Any = browser.context.browser
        self.served = served
        self.until = ExitStack()
        self.board = self.page(*SCREENS[0])
        self.board.on("dialog", lambda dialog: dialog.accept())
        self.board.goto(f"{served.address}board/?key={served.room.key}")

    def page(self, width: int = 1000, height: int = 800) -> Any:
        context = self.whole.new_context(viewport={"width": width, "height": height})
        self.until.callback(context.close)
        context.set_default_timeout(60_000)
        return context.new_page()

    def learner(self, address: str = "") -> Lesson:
        return Lesson(self.page(), address or self.served.address)

    def press(self, name: str) -> None:
        self.board.get_by_role("button", name=name, exact=True).click()

    def choose(self, number: int) -> None:
        self.board.locator("#choose").select_option(str(number))

    def counts(self, text: str) -> None:
        expect(self.board.locator("#counts")).to_have_text(text)

    def do(self, act: str, value: Any = None) -> None:
        """Lead without a board."""
        done = asyncio.run_coroutine_threadsafe(
            self.served.lead(act, value), self.served.loop
        )
        done.result(60)


@pytest.fixture
def hour(browser: Browser, served: Class) -> Iterator[Hour]:
    one = Hour(browser, served)
    with one.until:
        yield one


@contextmanager
def line(port: int) -> Iterator[tuple[str, threading.Event]]:
    """A line to a port of this computer that passes nothing on while it is dead."""
    dead = threading.Event()
    here = free_port()
    begun: queue.Queue[Any] = queue.Queue()

    async def passed(reader: Any, writer: Any) -> None:
        try:
            while part := await reader.read(65_536):
                while dead.is_set():
                    await asyncio.sleep(0.05)
                writer.write(part)
        finally:
            writer.close()

    async def come(reader: Any, writer: Any) -> None:
        while dead.is_set():
            await asyncio.sleep(0.05)
        further, back = await asyncio.open_connection(HOST, port)
        ways = passed(reader, back), passed(further, writer)
        await asyncio.gather(*ways, return_exceptions=True)

    async def serve() -> None:
        end = asyncio.Event()
        server = await asyncio.start_server(come, HOST, here)
        begun.put((asyncio.get_running_loop(), end))
        await end.wait()
        server.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    loop, end = begun.get(timeout=30)
    try:
        yield f"http://{HOST}:{here}/", dead
    finally:
        dead.clear()
        loop.call_soon_threadsafe(end.set)
        thread.join()


@pytest.mark.long
def test_an_hour_with_a_prediction_a_vote_a_latecomer_and_a_second_group(  # noqa: PLR0915
    hour: Hour, tmp_path: Path
) -> None:
    board = hour.board
    anna, ben = hour.learner(), hour.learner()
    hour.counts("2 here")
    hour.press("Lead the class")
    hour.choose(0)
    for lesson in anna, ben:
        note = lesson.page.locator(".lk-note").first
        expect(note).to_have_text("Hidden until the class has the verdict.")
    hour.press("Open round 1")
    anna.answer(PREDICTION, right=False)
    expect(anna.verdict(PREDICTION)).to_have_text(SENT)
    hour.counts("1 of 2 answered; round 1 is open")

    # A latecomer wants to see the code, and then the board is loaded again by mistake.
    hour.choose(-1)
    expect(board.locator("#code")).to_be_visible()
    late = hour.learner()
    expect(late.bar).to_contain_text("Round 1 is open")
    hour.choose(0)
    hour.counts("1 of 3 answered; round 1 is open")
    board.reload()
    hour.counts("1 of 3 answered; round 1 is open")
    ben.answer(PREDICTION, right=True)
    ben.load_again()
    expect(ben.verdict(PREDICTION)).to_have_text(SENT)
    hour.press("Close round 1")
    late.answer(PREDICTION, right=False)
    expect(late.bar).to_contain_text("came after the round was closed")
    hour.press("Reopen round 1")
    hour.counts("3 of 3 answered; round 1 is open")
    hour.press("Close round 1")
    hour.press("Open round 2")
    for lesson, right in (anna, False), (ben, True), (late, True):
        expect(lesson.verdict(PREDICTION)).to_contain_text("A round is open: commit again")
        lesson.answer(PREDICTION, right=right)
        expect(lesson.verdict(PREDICTION)).to_have_text(SENT)
        expect(lesson.bar).to_contain_text("Sent.")
    hour.press("Show everybody the verdict")
    expect(board.locator("#rounds h2")).to_have_text(
        ["Round 1: 3 learners", "Round 2: 3 learners"]
    )
    for width, height in SCREENS:
        board.set_viewport_size({"width": width, "height": height})
        board.screenshot(path=tmp_path / f"hour-{width}.png")

    # Anna was wrong in both rounds, and reaches the vote all the same.
    expect(anna.verdict(PREDICTION)).to_contain_text("✗")
    for place in TELLS, VOTE:
        expect(anna.page.locator(".jp-Cell").nth(place)).not_to_have_class(FOLDED)
    hour.choose(1)
    hour.press("Open round 1")
    for lesson in anna, ben, late:
        expect(lesson.bar).to_contain_text("Round 1 is open")
        lesson.page.get_by_role("button", name="Go to it").click()
        expect(lesson.card(VOTE).shown).to_be_in_viewport()
        lesson.answer(VOTE, right=True)
    hour.counts("3 of 3 answered; round 1 is open")
    hour.press("Show everybody the verdict")
    expect(anna.verdict(VOTE)).to_contain_text("✓")
    anna.page.screenshot(path=tmp_path / "hour-page.png")

    # The same question after the break, and then another group.
    hour.press("Ask this anew")
    hour.counts("0 of 3 answered")
    hour.press("Open round 1")
    expect(anna.verdict(VOTE)).to_contain_text("commit again")
    anna.card(VOTE).commit()  # to the same answer
    hour.counts("1 of 3 answered; round 1 is open")
    hour.press("New group")
    hour.counts("0 of 3 answered")
    hour.press("Open round 1")
    button = ben.bar.get_by_role("button", name="Somebody else sits here now")
    expect(button).to_be_visible()
    # The class is asked first, and then the page loads again
    with ben.page.expect_navigation():
        button.click()
    assert not ben.page.evaluate("Object.keys(localStorage)")
    counts = [len(row) for row in rows(hour.served)]
    assert len(counts) == 3 + 3 + 3 + 1
    assert not [error for one in (anna, ben, late) for error in one.errors]


def rows(served: Class) -> list[str]:
    """The answers of all groups."""

    async def read() -> list[str]:
        return served.room.store.csv().splitlines()[1:]

    return asyncio.run_coroutine_threadsafe(read(), served.loop).result(60)


@pytest.mark.long
def test_a_question_of_a_covered_section_or_of_another_lesson_is_led_to(hour: Hour) -> None:
    anna = hour.learner()
    expect(anna.bar).to_contain_text("You are in the class.")
    hour.do("lead", True)
    hour.do("choose", 1)  # before the verdict of the prediction that covers it
    hour.do("open", 1)
    expect(anna.page.locator(".jp-Cell").nth(VOTE)).to_have_class(FOLDED)
    anna.page.get_by_role("button", name="Go to it").click()
    expect(anna.card(VOTE).shown).to_be_in_viewport()
    hour.do("choose", 2)
    hour.do("open", 1)
    expect(anna.bar).to_contain_text("in lesson 03")
    anna.page.evaluate(
        """() => document.body.insertAdjacentHTML("beforeend",
            '<a href="?path=03_parallel_map.ipynb">03</a>')"""
    )
    anna.page.get_by_role("button", name="Go to it").click()
    anna.page.wait_for_url("**/index.html?path=03_parallel_map.ipynb")


@pytest.mark.long
def test_a_dead_line_is_noticed_and_what_was_answered_is_sent_when_it_lives_again(
    hour: Hour, served: Class
) -> None:
    port = int(served.address.rstrip("/").rpartition(":")[2])
    with line(port) as (address, dead):
        anna = hour.learner(address)
        expect(anna.bar).to_contain_text("You are in the class.")
        hour.do("lead", True)
        hour.do("open", 1)
        expect(anna.bar).to_contain_text("Round 1 is open")
        dead.set()
        anna.answer(PREDICTION, right=True)
        expect(anna.bar).to_contain_text("Sending …")
        expect(anna.bar).to_contain_text("cannot be reached")
        expect(anna.verdict(PREDICTION)).to_contain_text("Not sent yet")
        button = anna.bar.get_by_role("button", name="Go on without the class")
        expect(button).to_be_visible()
        dead.clear()
        expect(anna.verdict(PREDICTION)).to_have_text(SENT)
        expect(anna.bar).to_contain_text("Sent.")
        expect(button).to_be_hidden()
        hour.choose(0)
        hour.counts("1 of 1 answered; round 1 is open")


@pytest.mark.long
def test_who_waits_for_a_class_that_has_gone_goes_on_without_it(
    browser: Browser, tmp_path: Path
) -> None:
    with ExitStack() as until:
        with class_with_a_page(tmp_path, known()) as one:
            hour = Hour(browser, one)
            until.enter_context(hour.until)
            anna = hour.learner()
            hour.do("lead", True)
            anna.answer(PREDICTION, right=True)
            expect(anna.verdict(PREDICTION)).to_have_text(SENT)
        anna.bar.get_by_role("button", name="Go on without the class").click()
        expect(anna.verdict(PREDICTION)).to_contain_text("✓")
        anna.answer(VOTE, right=False)
        expect(anna.verdict(VOTE)).to_contain_text("✗")


@pytest.mark.long
def test_what_a_hostile_page_sends_does_not_spoil_the_picture(
    hour: Hour, served: Class
) -> None:
    """Numbers without bounds, and 30 answers of which each is another."""

    async def attack() -> None:
        for who in range(30):
            page = await served.learner(f"learner {who}")
            await page.answer(record(known()[0], 70 + 7 * who))
        page = await served.learner("evil")
        for said in 1e12, 1e300, float("inf"), -1:
            await page.answer(record(known()[0], said))

    asyncio.run_coroutine_threadsafe(attack(), served.loop).result(120)
    hour.choose(0)
    hour.counts("31 of 31 answered")
    expect(hour.board.locator(".line")).to_have_count(8)
    expect(hour.board.locator(".line").last).to_contain_text("other answers")
    for width, height in SCREENS:
        hour.board.set_viewport_size({"width": width, "height": height})
        wide = hour.board.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
    told = json.dumps(hour.board.evaluate("document.querySelector('#rounds').textContent"))
    assert "Infinity" not in told
    assert "NaN" not in told
