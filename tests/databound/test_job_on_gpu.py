"""Forecasts of jobs that ran on a GPU with 16 cores, from what was measured there, beside what they took."""

from statistics import median

import pytest
from answers_11 import gpu_errors, gpu_rows, off_by, on_gpu

JOBS = ("images", "text", "features")


@pytest.mark.parametrize("name", JOBS)
def test_forecasts_are_as_near_as_they_were_when_they_were_stored(name: str) -> None:
    told, single = map(sorted, gpu_errors(name))
    assert len(told) == len(single) == 20
    assert median(told) < 0.085
    assert told[int(0.9 * len(told))] < 0.15


def test_forecasts_are_nearly_as_near_as_single_runs_are_to_their_mean() -> None:
    assert off_by(0.5) < 1.2 * off_by(0.5, told=False)
    assert off_by(0.9) < 1.1 * off_by(0.9, told=False)


@pytest.mark.parametrize("name", JOBS)
def test_most_epochs_lie_in_the_range_that_a_forecast_has(name: str) -> None:
    found = on_gpu(name)
    inside = 0
    for setting, runs in found["real"]:
        within = found["job"].uncertainty(**setting)
        told = found["job"].forecast(**setting)[0]
        inside += any(abs(told / first - 1) <= within + 0.05 for first, _ in runs)
    assert inside >= 7  # of ten


def test_the_best_number_of_workers_is_found_between_none_and_all_cores() -> None:
    rows = {words: (told, took) for words, told, took in gpu_rows("text")}
    for which in (0, 1):
        plain = {n: rows[f"num_workers={n}"][which] for n in (0, 1, 2, 4, 8, 12, 16)}
        assert min(plain, key=plain.__getitem__) == 4
