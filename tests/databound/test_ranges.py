"""Ranges hold as often as a page says: drawn runs, of which the truth is known."""

import json
from random import Random
from statistics import fmean

import pytest
from support.places import ROOT

from databound.advise.choosing import Bounds, by_trials
from databound.advise.page import HOLDS
from databound.advise.rows import TableRow
from databound.advise.trials import Trials
from databound.ranges import Scatter, scatter_of, student
from databound.thresholds import FORECASTS_HELD, RANGE_HOLDS, SAVINGS_HELD
from lessonkit.words import percent

DRAWN = 2_000
# Of so many that each hold with RANGE_HOLDS, the share is known to 0.7 % (standard error)
NEAR = 0.02


def times(draw: Random, mean: float, noise: float, count: int) -> list[float]:
    return [mean * draw.lognormvariate(0, noise) for _ in range(count)]


@pytest.mark.parametrize("runs", [1, 2, 5])
@pytest.mark.parametrize("groups", [2, 6])
def test_a_mean_lies_in_its_range_as_often_as_that_says(runs: int, groups: int) -> None:
    """Also the mean of a single run, if others were repeated."""
    draw = Random(runs + 10 * groups)
    held: list[bool] = []
    for _ in range(DRAWN):
        scatter = Scatter()
        for _ in range(groups):
            scatter = scatter.with_another(scatter_of(times(draw, 1.0, 0.03, 2)))
        mean = fmean(times(draw, 1.0, 0.03, runs))
        held.append(abs(mean - 1) <= scatter.range(runs))
    assert fmean(held) == pytest.approx(RANGE_HOLDS, abs=NEAR)


@pytest.mark.parametrize("rounds", [2, 4])
@pytest.mark.parametrize("saves", [0.3, 0.8])
def test_a_saving_lies_in_its_range_as_often_as_that_says(
    rounds: int, saves: float
) -> None:
    """It holds more often only by what a model has not: that part is there without any noise."""
    draw = Random(rounds)
    noise = 0.15
    rows = [TableRow({}, 1.0, 1.0, 0.0), TableRow({"num_workers": 2}, 0.5, 0.5, 0.0)]
    held: list[bool] = []
    for _ in range(DRAWN):
        trials = Trials(
            now=times(draw, 1.0, noise, rounds + 1),
            took={1: times(draw, 1 - saves, noise, rounds)},
        )
        # As many more runs as a measured job has
        measured = scatter_of(times(draw, 1.0, noise, 9))
        scatter = measured.with_another(trials.scatter())
        found = by_trials(rows, trials, Bounds(1.0, 1.0), scatter)
        held += [abs(one.saves - saves) <= one.within for one in found]
    assert len(held) > 0.8 * DRAWN
    assert fmean(held) == pytest.approx(RANGE_HOLDS, abs=0.04)


def test_a_saving_of_chance_counts_in_one_of_twenty() -> None:
    """A range has two sides, of which one is a saving; and three rivals are three chances."""
    draw = Random(3)
    rows = [TableRow({}, 1.0, 1.0, 0.0), TableRow({"num_workers": 2}, 0.5, 0.5, 0.0)]
    counted = 0
    for _ in range(DRAWN):
        trials = Trials(now=times(draw, 1.0, 0.1, 4), took={1: times(draw, 1.0, 0.1, 3)})
        counted += bool(by_trials(rows, trials, Bounds(1.0, 1.0), trials.scatter()))
    assert counted / DRAWN == pytest.approx((1 - RANGE_HOLDS) / 2, abs=0.02)


def test_without_a_repeated_run_nobody_knows_how_much_runs_differ() -> None:
    assert scatter_of([1.0]) == Scatter()
    assert Scatter().range(3) == 0.0
    assert Scatter().of_one == 0.0


def test_more_runs_are_nearer_and_fewer_repetitions_less_sure() -> None:
    scatter = scatter_of([1.0, 1.1, 0.9])
    assert scatter.freedom == 2
    assert scatter.range(4) == pytest.approx(scatter.range(1) / 2)
    assert student(2, RANGE_HOLDS) == pytest.approx(2.920, abs=1e-3)
    assert student(20, RANGE_HOLDS) == pytest.approx(1.725, abs=1e-3)


def test_the_page_says_how_many_ranges_held_in_the_population() -> None:
    stored = json.loads((ROOT / "evidence" / "jobs" / "population.json").read_text("utf-8"))
    forecasts = [one for job in stored["jobs"] for one in job["in_range"]]
    savings = [one for job in stored["jobs"] for one in job["savings_in_range"]]
    assert round(fmean(forecasts), 2) == FORECASTS_HELD
    assert round(fmean(savings), 2) == SAVINGS_HELD
    assert f"{percent(FORECASTS_HELD)} of those of forecasts did" in HOLDS
    assert f"{percent(SAVINGS_HELD)} of those of savings" in HOLDS
