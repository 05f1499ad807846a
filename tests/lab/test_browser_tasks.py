"""Predicting, challenges, cards and real runs, in a page as a learner meets them."""

from typing import Any

import pytest

from tools.browser import Visit, open_next, run_all
from tools.servers import Server

BEGIN = """
from lessonkit import ArtificialDataset, Dataset
from lessonkit.widgets import cards, challenge, explore, goals, predict, slider
naive = ArtificialDataset()
"""
PREDICT = """
predict("How long?", naive, wrong=[(0.105, "That is one epoch.")], why="Everything adds up.")
"""
CHALLENGE = """
def deeper(buffer=0):
    return ArtificialDataset(20, open=0.01, read=0.005).prefetch(buffer), dict(num_epochs=1)

challenge("Hide the reading.", goals=[goals.busy(at_least=0.9)], hints=["Turn it.", "More."],
          pipeline=deeper, buffer=slider(0, 4))
"""
CODE = """
task = challenge("Be quick.", goals=[goals.total(at_most=0.180)])
task
"""
CHECK = """
task.check(lambda: naive.prefetch(1))
"""
PUZZLE = """
def puzzle(order):
    data = Dataset.range(8)
    for step in order:
        data = step(data)
    return data

explore(puzzle, order=cards(shuffle=lambda data: data.shuffle(8), repeat=lambda data: data.repeat(2)))
"""
REAL = """
explore(lambda samples=2: ArtificialDataset(samples, open=0.01, read=0.01), samples=[2, 2000])
"""
HOSTILE = """
def label(value="<img src=x onerror=alert(1)>"):
    return Dataset.range(3).map(cost=0.01, stage=value)

explore(label, value=["<img src=x onerror=alert(1)>", "<b>bold</b>"])
"""


@pytest.fixture(scope="module")
def page(desk: Visit, lab: Server) -> Any:
    """One notebook with everything in it."""
    lab.write("tasks", BEGIN, PREDICT, CHALLENGE, CODE, CHECK, PUZZLE, REAL, HOSTILE)
    open_next(desk.page, "tasks.ipynb")
    run_all(desk.page)
    desk.page.locator(".lk").nth(6).wait_for()
    return desk.page


def widget(page: Any, place: int) -> Any:
    return page.locator(".lk").nth(place)


def test_a_challenge_is_failed_and_passed_with_its_slider(page: Any) -> None:
    task = widget(page, 1)
    said = task.locator(".lk-verdict")
    goals = task.locator(".lk-goals li")
    assert goals.inner_text().startswith("○ accelerator busy: ")
    assert said.inner_text() == ""
    hint = task.get_by_role("button", name="Show the next hint")
    hint.click()
    task.get_by_text("Turn it.").wait_for()
    assert task.get_by_text("More.").count() == 0
    hint.click()
    task.get_by_text("More.").wait_for()
    assert hint.is_disabled()
    task.get_by_role("slider", name="buffer").focus()
    page.keyboard.press("ArrowRight")
    said.get_by_text("Passed: every goal is met.").wait_for()
    page.keyboard.press("ArrowLeft")
    said.get_by_text("✗ Not yet.", exact=True).wait_for()
    assert goals.inner_text().startswith("✗ accelerator busy: ")


def test_a_pipeline_of_ones_own_is_judged(page: Any) -> None:
    goals = widget(page, 2).locator(".lk-goals")
    assert "total: at most 180 ms" in goals.text_content()
    assert goals.is_hidden()  # they stand below the code, with what was reached
    outcome = widget(page, 3)
    assert "Passed: every goal is met." in outcome.inner_text()
    assert "total: 170 ms (at most 180 ms)" in outcome.inner_text()


def test_cards_are_moved_by_key_and_by_pointer(page: Any) -> None:
    puzzle = widget(page, 4)
    blurred = puzzle.get_by_text("What the model sees: epochs blur.")
    assert blurred.count() == 0
    puzzle.get_by_role("button", name="shuffle, 1 of 2").focus()
    page.keyboard.press("ArrowRight")
    blurred.wait_for()
    first = puzzle.get_by_role("button", name="repeat, 1 of 2").bounding_box()
    card = puzzle.get_by_role("button", name="shuffle, 2 of 2").bounding_box()
    page.mouse.move(card["x"] + 10, card["y"] + 10)
    page.mouse.down()
    page.mouse.move(first["x"] + 2, first["y"] + 10, steps=6)
    page.mouse.up()
    blurred.wait_for(state="detached")
    puzzle.get_by_role("button", name="shuffle, 1 of 2").wait_for()


def test_a_real_run_is_compared_with_the_prediction(page: Any) -> None:
    lab = widget(page, 5)
    lab.get_by_role("button", name="Run this pipeline").click()
    lab.get_by_role("row", name="Train").wait_for()
    # Drawn with the next frame
    lab.locator(".lk-ghosts path").nth(2).wait_for(state="attached")
    assert lab.locator(".lk-ghosts path").count() == 3  # one for each stage
    said = lab.get_by_role("row", name="total").locator("td").nth(2).inner_text()
    assert said.endswith(("too long", "too short"))


def test_a_real_run_is_cancelled(page: Any) -> None:
    lab = widget(page, 5)
    lab.get_by_label("samples").select_option("1")
    lab.get_by_role("button", name="Run this pipeline").click()
    lab.get_by_text("arrived after").wait_for()
    lab.get_by_role("button", name="Cancel the real run").click()
    lab.get_by_text("Cancelled after").wait_for()
    lab.get_by_label("samples").select_option("0")
    lab.locator(":is(.lk-main, .lk-figures)", has_text="for 4 samples").wait_for()


def test_a_name_is_never_markup(page: Any) -> None:
    lab = widget(page, 6)
    assert lab.locator("img, b b, option b").count() == 0
    lab.get_by_role("button", name="Show the boxes").click()
    assert "<img src=x onerror=alert(1)>" in lab.locator(".lk-plumbing").inner_text()


# The last one in the page, for afterwards nobody answers.
def test_when_the_kernel_is_shut_down_each_says_so_and_a_real_run_ends(
    page: Any,
) -> None:
    lab, asked = widget(page, 5), widget(page, 0)
    lab.get_by_label("samples").select_option("1")
    lab.get_by_role("button", name="Run this pipeline").click()
    lab.get_by_text("arrived after").wait_for()
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.locator(".lm-Menu-item", has_text="Shut Down Kernel").first.click()
    page.get_by_text("No Kernel").first.wait_for()
    lab.get_by_role("button", name="Cancel the real run").click()
    asked.get_by_role("button", name="Show the run without an answer").click()
    for one in lab.locator(".lk-error"), asked.locator(".lk-verdict"):
        one.get_by_text("restarted or shut down, run this cell again").wait_for()
    lab.get_by_role("button", name="Run this pipeline").wait_for()
    assert not lab.locator(".lk-controls[inert]").count()
