"""The heat map: dark until somebody tries, and the tuner's own steps over it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from heat_map_07 import STUCK, heat_map
from hypothesis import given
from support.pages import JSON, Said

from lessonkit import AUTOTUNE, ArtificialDataset, benchmark
from lessonkit.optimize import autotune


def two_maps(decode: int = 1, augment: int = 1) -> Any:
    decoded = (
        ArtificialDataset(20)
        .prefetch(1)
        .map(cost=0.030, num_parallel_calls=decode, stage="decode")
    )
    augmented = decoded.map(cost=0.030, num_parallel_calls=augment, stage="augment")
    return augmented.prefetch(1), {"num_epochs": 1}


def shown(**changes: Any) -> Any:
    return heat_map(two_maps, **{"decode": (1, 4), "augment": (1, 4)} | changes)


def test_the_page_knows_no_time_before_somebody_tries() -> None:
    def slower(decode: int = 1, augment: int = 1) -> Any:
        return two_maps(decode, augment)[0].map(cost=0.100), {}

    other = heat_map(slower, decode=(1, 4), augment=(1, 4))
    assert other.state == shown().state
    assert repr(other) == repr(shown())


def test_a_try_lights_one_square() -> None:
    made = shown()
    for square in itertools.product(range(4), repeat=2):
        _, told = Said(made).ask({"do": "light", "square": [*square]})
        dataset, options = two_maps(*(step + 1 for step in square))
        (step,) = told["steps"]
        text = step.pop("text")
        seconds = benchmark(dataset, **options).per_sample
        assert step == {"square": [*square], "seconds": seconds, "why": ""}
        assert text == ("34.25 ms" if 0 in square else "20 ms")  # the plateau of the lesson


def test_the_tuner_walks_as_autotune_does() -> None:
    _, told = Said(shown()).ask({"do": "walk"})
    steps = autotune(two_maps(AUTOTUNE, AUTOTUNE)[0], num_epochs=1).steps
    walked = list[list[object]]()
    for step in steps:
        why = f"{'Taken' if step.accepted else 'Not taken'}: {step.why}."
        if walked and step.change.count("->") == 2:
            why += f" {STUCK}"
        walked.append(
            [[number - 1 for number in step.setting.values()], step.tried.seconds / 20, why]
        )
    assert [
        [step["square"], pytest.approx(step["seconds"]), step["why"]]
        for step in told["steps"]
    ] == walked
    taken = [step["why"] for step in told["steps"] if step["why"].startswith("Taken")]
    assert taken[-1] == f"Taken: 41.6 % faster. {STUCK}"


def test_the_walk_ends_where_no_square_is_faster() -> None:
    def uneven(decode: int = 1, augment: int = 1) -> Any:
        return two_maps(decode, augment)[0].map(cost=0.012, num_parallel_calls=2), {
            "num_epochs": 1
        }

    made = heat_map(uneven, decode=(1, 3), augment=(1, 5))
    _, told = Said(made).ask({"do": "walk"})
    times = {(x, y): made.run([x, y]).per_sample for x in range(3) for y in range(5)}
    taken = [
        tuple(step["square"]) for step in told["steps"] if step["why"].startswith("Taken")
    ]
    assert taken[0] == (0, 0)
    assert times[taken[-1]] <= 1.02 * min(times.values())


@given(JSON)
def test_squares_that_are_not_there_are_refused(square: Any) -> None:
    if (
        isinstance(square, list)
        and len(square) == 2
        and all(type(n) is int and 0 <= n < 4 for n in square)
    ):
        return
    assert Said(shown()).ask({"do": "light", "square": square})[0]["about"] == "error"


@given(JSON, JSON)
def test_whatever_the_page_asks_it_gets_one_answer(what: Any, more: Any) -> None:
    said = Said(shown())
    said.ask({"do": what, "square": more} if isinstance(what, str) else what)
    assert len(said.messages) == 1


def test_a_pipeline_that_fails_says_so() -> None:
    def failing(decode: int = 1, augment: int = 1) -> Any:
        raise RuntimeError("no disk")

    said = Said(heat_map(failing, decode=(1, 4), augment=(1, 4)))
    for question in ({"do": "light", "square": [0, 0]}, {"do": "walk"}):
        assert "no disk" in said.ask(question)[0]["text"]


@pytest.mark.parametrize(
    "knobs",
    [
        {"decode": (1, 4)},
        {"decode": (1, 13), "augment": (1, 4)},
        {"decode": [1, 2], "augment": (1, 4)},
        {"decode": True, "augment": (1, 4)},
    ],
)
def test_knobs_that_make_no_map_are_refused(knobs: dict[str, Any]) -> None:
    with pytest.raises(
        TypeError, match="takes two knobs, each with a range of at most 12 numbers"
    ):
        heat_map(two_maps, **knobs)
