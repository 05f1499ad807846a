"""A formula and its bars as one thing, heat map, mystery loaders and a choice, in a page under a hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from heat_map_07 import heat_map
from mystery_08 import mystery
from playwright.sync_api import expect
from support.alone import Alone

from lessonkit import AUTOTUNE, ArtificialDataset
from lessonkit.optimize import autotune
from lessonkit.widgets import explore, predict, seconds
from tools.browser import Visit

LENGTHS = """(stage) => [...document.querySelectorAll(`rect.lk-bar[data-stage=${stage}]`)]
    .filter((bar) => !bar.classList.contains("lk-wait") && bar.style.display !== "none")
    .map((bar) => bar.getBoundingClientRect().width)"""
LIT = """() => [...document.querySelectorAll("rect.lk-bar.lk-lit")]
    .map((bar) => bar.dataset.stage).filter((stage, place, all) => all.indexOf(stage) === place)"""


def in_turn(
    samples: int = 3, open: float = 0.030, read: float = 0.015, train: float = 0.010
) -> Any:
    return ArtificialDataset(samples, open=open, read=read), {
        "num_epochs": 1,
        "train": train,
    }


@pytest.fixture
def formula(visit: Visit) -> Alone:
    cost = seconds(0.005, 0.040, 0.001)
    shown = explore(
        in_turn,
        formula="open + samples * (read + train)",
        open=cost,
        read=cost,
        train=cost,
    )
    alone = Alone(visit, shown)
    alone.page.locator("rect.lk-bar").first.wait_for()
    return alone


def test_a_term_lights_its_bars_and_a_bar_its_term(formula: Alone) -> None:
    page, lit = formula.page, formula.page.locator(".lk-term.lk-lit")
    page.get_by_role("button", name="read, 15 ms").hover()
    assert page.evaluate(LIT) == ["Read"]
    page.get_by_role("button", name="train, 10 ms").focus()
    assert page.evaluate(LIT) == ["Train"]
    page.locator("rect.lk-bar[data-stage=Open]").hover()
    assert lit.all_inner_texts() == ["open\n30 ms"]


def middle(locator: Any) -> tuple[float, float]:
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.fixture
def hand(visit: Visit) -> dict[str, Callable[..., None]]:
    """Mouse and finger: each goes down, moves and goes up."""
    touch = visit.page.context.new_cdp_session(visit.page)

    def finger(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    mouse = visit.page.mouse
    return {
        "mouse": lambda what, *at: {"down": mouse.down, "up": mouse.up}.get(
            what, lambda: mouse.move(*at)
        )(),
        "finger": lambda what, *at: finger(
            {"down": "touchStart", "move": "touchMove", "up": "touchEnd"}[what], *at
        ),
    }


@pytest.mark.parametrize("which", ["mouse", "finger"])
@pytest.mark.parametrize("place", [0, 2])
def test_the_end_of_a_bar_follows_the_hand_while_no_kernel_answers(
    formula: Alone, hand: Any, which: str, place: int
) -> None:
    page, act = formula.page, hand[which]
    bar, edge = (
        page.locator("rect.lk-bar[data-stage=Read]").nth(place),
        page.locator(".lk-edge").nth(1),
    )
    bar.hover()
    x, y = middle(edge)
    if which == "mouse":
        act("move", x, y)
    act("down", x, y)
    for moved in (10, 40, 80, 30):
        act("move", x + moved, y)
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        assert middle(edge)[0] == pytest.approx(x + moved, abs=1)
        widths = page.evaluate(LENGTHS, "Read")
        assert widths == pytest.approx([widths[0]] * 3, abs=0.3)  # all reads, not one
    term = page.locator(".lk-term", has_text="read").inner_text()
    assert (
        term
        == f"read\n{page.get_by_role('slider', name='read', exact=True).get_attribute('aria-valuetext')}"
    )
    assert term != "read\n15 ms"
    act("up", *(() if which == "finger" else (x, y)))
    # Of the last run that came; later than that the page says that an answer is late
    assert page.locator(".lk-formula > b").inner_text() in ("105 ms", "…")
    formula.answer()
    numbers = page.locator(".lk-term b").all_inner_texts()
    opens, count, read, train = (float(text.split()[0]) for text in numbers)
    total = f"{opens + count * (read + train):g} ms"
    page.locator(".lk-formula > b", has_text=total).wait_for()
    assert page.locator(".lk-main", has_text=total).count() == 1
    assert (
        page.locator(".lk-formula .lk-right").inner_text().strip()
        == "✓ the same as the run"
    )


def test_arrow_keys_at_the_end_of_a_bar_turn_the_cost(formula: Alone) -> None:
    page = formula.page
    page.get_by_role("button", name="read, 15 ms").press("Enter")  # a term leads to its bar
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="read, 16 ms").wait_for()
    assert (
        page.get_by_role("slider", name="read", exact=True).get_attribute("aria-valuetext")
        == "16 ms"
    )
    formula.answer()
    page.locator(".lk-formula > b", has_text="108 ms").wait_for()
    assert page.evaluate(LIT) == ["Read"]
    # One that has no control leads nowhere
    page.get_by_role("button", name="samples, 3").press("Enter")
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("button", name="samples, 3").count() == 1


def test_a_term_that_has_no_say_says_so(visit: Visit) -> None:
    cost = seconds(0.005, 0.040, 0.001)
    alone = Alone(
        visit,
        explore(
            in_turn, formula="open + samples * max(read, train)", read=cost, train=cost
        ),
    )
    page = alone.page
    page.get_by_role("button", name="train, 10 ms, has no effect here").wait_for()
    page.get_by_role("button", name="read, 15 ms", exact=True).wait_for()
    page.get_by_role("slider", name="read", exact=True).press("Home")
    alone.answer()
    page.get_by_role("button", name="read, 5 ms, has no effect here").wait_for()
    page.get_by_role("button", name="train, 10 ms", exact=True).wait_for()


def test_a_cost_stays_within_its_slider(formula: Alone, hand: Any) -> None:
    page, act = formula.page, hand["mouse"]
    x, y = middle(page.locator(".lk-edge").nth(1))
    act("move", x, y)
    act("down")
    for to, text in ((-500, "5 ms"), (5000, "40 ms")):
        act("move", x + to, y)
        assert page.locator(".lk-term", has_text="read").inner_text() == f"read\n{text}"
    act("up")


def test_a_cost_of_nothing_takes_the_bar_out_of_the_hand(visit: Visit, hand: Any) -> None:
    alone = Alone(
        visit,
        explore(
            in_turn,
            formula="open + samples * (read + train)",
            read=seconds(0, 0.020, 0.005),
        ),
    )
    edge, act = alone.page.locator(".lk-edge"), hand["mouse"]
    x, y = middle(edge)
    act("move", x, y)
    act("down")
    act("move", x - 500, y)
    alone.answer()
    edge.wait_for(state="hidden")  # a bar without length is not drawn
    act("move", x + 50, y)
    act("up")
    alone.page.get_by_role("slider", name="read", exact=True).press("End")
    alone.answer()
    edge.wait_for()
    assert alone.page.locator(".lk-formula > b").inner_text() == "120 ms"


# What it does in a real run, and after one, is of the page alone: the kernel's answers are made up.
def test_during_a_real_run_bars_rest(formula: Alone) -> None:
    page = formula.page
    page.get_by_role("button", name="Run this pipeline").click()
    [question] = page.evaluate("() => asked.splice(0)")
    assert (
        page.locator(".lk-edge").evaluate_all("(edges) => edges.map((edge) => edge.inert)")
        == [True] * 3
    )
    formula.say({"about": "stopped", "id": question["id"], "text": "Enough."})
    assert (
        page.locator(".lk-edge").evaluate_all("(edges) => edges.map((edge) => edge.inert)")
        == [False] * 3
    )


# ---- the playgrounds ----


def two_maps(decode: int = 1, augment: int = 1) -> Any:
    decoded = ArtificialDataset(20).prefetch(1).map(cost=0.030, num_parallel_calls=decode)
    return decoded.map(cost=0.030, num_parallel_calls=augment).prefetch(1), {
        "num_epochs": 1
    }


def lit(page: Any) -> list[str]:
    """What is to be read on the squares of which something is known."""
    return [text for text in page.locator(".lk-square").all_inner_texts() if text != "?"]


def test_squares_are_lit_by_keys_and_the_tuner_walks_over_them(visit: Visit) -> None:
    alone = Alone(visit, heat_map(two_maps, decode=(1, 4), augment=(1, 4)))
    page = alone.page
    assert lit(page) == []
    page.keyboard.press("Tab")
    for key in (
        "Enter",
        "ArrowRight",
        "Enter",
        "ArrowUp",
        "Enter",
        "ArrowDown",
        "ArrowDown",
        "ArrowLeft",
        "ArrowLeft",
    ):
        page.keyboard.press(key)
        alone.answer()
    assert lit(page) == ["20 ms", "34.25 ms", "34.25 ms"]
    assert (
        page.evaluate("() => document.activeElement.ariaLabel")
        == "decode 1, augment 1: 34.25 ms per sample"
    )
    # It strides without a rest
    page.evaluate("() => (window.setTimeout = (act) => queueMicrotask(act))")
    page.get_by_role("button", name="Let the tuner walk").click()
    alone.answer()
    here = page.locator(".lk-here")
    steps = autotune(two_maps(AUTOTUNE, AUTOTUNE)[0], num_epochs=1).steps
    decode, augment = steps[-1].setting.values()
    square = f"decode {decode}, augment {augment}: 20 ms per sample"
    outcome = "taken" if steps[-1].accepted else "not taken"
    ends = f"{square}, step {len(steps)} of the tuner, {outcome}"
    assert here.get_attribute("aria-label") == ends
    assert len(lit(page)) == len({tuple(step.setting.values()) for step in steps})
    colours = "() => [...document.querySelectorAll('.lk-square')].map((square) => square.style.background)"
    before = page.evaluate(colours)
    alone.load_again()
    assert page.evaluate(colours) == before
    assert here.get_attribute("aria-label") == ends


WALKED = """() => [...document.querySelectorAll(".lk-square[data-number]")].map((square) => [
    square.dataset.number, square.dataset.outcome, square.ariaLabel,
    getComputedStyle(square, "::after").content,
])"""


def test_the_path_of_the_tuner_stays_on_the_map(visit: Visit) -> None:
    page = visit.page
    alone = Alone(visit, heat_map(two_maps, decode=(1, 4), augment=(1, 4)))
    legend = page.get_by_text("the number of the tuner's step")
    page.locator(".lk-square").last.click()
    alone.answer()
    assert not page.evaluate(WALKED)  # what a hand lights is no step of the tuner
    assert not legend.is_visible()
    page.evaluate("() => (window.setTimeout = (act) => queueMicrotask(act))")
    page.get_by_role("button", name="Let the tuner walk").click()
    alone.answer()
    assert legend.is_visible()
    steps = autotune(two_maps(AUTOTUNE, AUTOTUNE)[0], num_epochs=1).steps
    assert len({tuple(step.setting.values()) for step in steps}) == len(steps)
    expected = []
    for number, step in enumerate(steps, 1):
        decode, augment = step.setting.values()
        outcome = "taken" if step.accepted else "not taken"
        time = "34.25 ms" if 1 in (decode, augment) else "20 ms"
        square = f"decode {decode}, augment {augment}: {time} per sample"
        name = f"{square}, step {number} of the tuner, {outcome}"
        expected.append([str(number), outcome, name, f'"{number}"'])
    assert sorted(page.evaluate(WALKED)) == sorted(expected)
    # A hand that lights a square of the path once more, another width, and another page
    page.locator(".lk-square[data-number='1']").click()
    alone.answer()
    page.set_viewport_size({"width": 600, "height": 1000})
    assert sorted(page.evaluate(WALKED)) == sorted(expected)
    alone.load_again()
    assert sorted(page.evaluate(WALKED)) == sorted(expected)


def test_a_loader_is_measured_and_named(visit: Visit) -> None:
    alone = Alone(visit, mystery(7))
    page, loader = alone.page, alone.widget.loaders[1]
    second = page.get_by_role("group", name="Loader 2 of number 7")
    said = second.locator(".lk-verdict")
    second.get_by_role("button", name="Buy the time of each stage").click()
    alone.answer()
    assert loader.measured("the time of each stage") in second.inner_text()
    assert second.get_by_role("button", name="Buy the time of each stage").is_disabled()
    second.get_by_role("button", name="Commit").click()
    alone.answer()
    assert said.inner_text() == "Choose what holds it back, and one change."
    assert page.locator(".lk-timeline").count() == 0
    second.get_by_label("what holds it back").select_option("2")
    second.get_by_label("one change").select_option("1")
    second.get_by_role("button", name="Commit").click()
    alone.answer()
    assert loader.verdict("step-bound", "prefetch eight at the end") in said.inner_text()
    assert said.inner_text().endswith("You bought 1 of 2 measurements.")
    assert page.locator(".lk-timeline").count() == 1  # and not that of another loader
    told = second.inner_text()
    alone.load_again()
    page.locator("rect.lk-bar").first.wait_for()
    assert second.inner_text() == told
    assert second.get_by_label("what holds it back").input_value() == "2"
    assert second.get_by_role("button", name="Buy the time of each stage").is_disabled()


# ---- a choice by keys ----


def test_enter_on_a_choice_commits_to_it_once_all_is_chosen_and_with_shift_goes_on(
    visit: Visit,
) -> None:
    files = ArtificialDataset()
    asked = predict(
        "What holds it back?",
        files,
        choices=["the disk", "the step"],
        answer=lambda trace: "the step",
    )
    page = Alone(visit, asked).page
    said = page.locator(".lk-verdict")
    page.get_by_label("certain").press("Enter")
    expect(said).to_have_text("Say what you expect first.")
    page.get_by_label("the step").check()
    page.get_by_label("the step").press("Enter")
    expect(said).to_have_text("Say how sure you are.")
    page.get_by_label("certain").check()
    page.get_by_label("certain").press("Shift+Enter")
    assert page.evaluate("() => asked.splice(0)") == []
    page.get_by_label("the step").press("Enter")
    [committed] = page.evaluate("() => asked.splice(0)")
    assert committed == {"do": "commit", "said": 1, "sure": 2, "anew": True}
    page.get_by_label("certain").press("Enter")  # the same again is no second try
    assert page.evaluate("() => asked.splice(0)") == []
