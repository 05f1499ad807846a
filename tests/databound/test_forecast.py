"""A forecast goes on until drains and queues no longer count, and nothing saves more than is possible."""

import re

import pytest

from databound import recommend
from databound.advise.choosing import bounds_of, by_forecast
from databound.advise.page import Recommendation
from databound.advise.rows import TableRow, forecast_row
from databound.measure.device import OnDevice
from databound.measure.numbers import JobNumbers, Start, StepNumbers
from databound.measure.setting import Changes, Setting
from databound.model.job import Job


def job_of(
    *,
    cores: int,
    works: float,
    step: StepNumbers,
    waits: float = 0.0,
    workers: int = 0,
    noise: float = 0.01,
    device: OnDevice | None = None,
) -> Job:
    """A job of a thousand batches, by its numbers."""
    known = JobNumbers(
        cores=cores,
        waits=waits,
        works=works,
        first=0.0,
        take=0.0002,
        start=Start(0.005, 0.03),
        noise=noise,
        threads={1: step},
        stream=False,
        totals={},
        nbytes=10**6,
        device=device,
    )
    return Job(known, Setting(num_workers=workers), 64_000, 1000, 64, whole=True)


@pytest.mark.parametrize("factor", [2, 4, 8])
@pytest.mark.parametrize("stay", [False, True])
def test_a_step_that_has_the_cores_for_itself_at_the_end_does_not_set_the_pace(
    factor: int, stay: bool
) -> None:
    """While the last batches wait, no worker computes: the more of them, the longer that lasts."""
    job = job_of(cores=2, works=0.060, step=StepNumbers(0.040, 1.0, 0.060))
    changes: Changes = {
        "num_workers": 8,
        "prefetch_factor": factor,
        "persistent_workers": stay,
    }
    epochs = job.run(2, **changes).epochs
    told = job.forecast(**changes)
    assert [*told] == pytest.approx([epoch.duration for epoch in epochs], rel=0.01)


def test_a_longer_queue_is_not_advised_for_how_an_epoch_ends() -> None:
    job = job_of(cores=4, works=0.12, step=StepNumbers(0.03, 1.0, 0.12))
    first = recommend(job).changes[0].settings
    best = job.run(2, num_workers=4).epochs[1].duration
    assert first["num_workers"] == 4
    assert "prefetch_factor" not in first
    assert job.run(2, **first).epochs[1].duration <= 1.02 * best


def test_no_epoch_is_shorter_than_what_its_device_has_to_do() -> None:
    """A queue that fills slowly hides for hundreds of batches that the device is what is slow."""
    job = job_of(
        cores=4,
        works=0.0165,
        step=StepNumbers(0.0005, 0.0, 0.023),
        device=OnDevice(0.0005, 0.020, 20),
    )
    changes: Changes = {"num_workers": 1, "persistent_workers": True}
    epochs = job.run(2, **changes).epochs
    told = job.forecast(**changes)
    assert [*told] == pytest.approx([epoch.duration for epoch in epochs], rel=0.005)
    found = recommend(job)
    assert all(found.saved(row) <= found.most + 1e-9 for row in found.table)


CHEAP_IN_THE_LOOP = [
    job_of(cores=2, works=0.032, step=StepNumbers(0.004, 1.0, 0.010)),
    job_of(cores=2, works=0.032, step=StepNumbers(0.001, 1.0, 0.004), workers=2),
]


@pytest.mark.parametrize("job", CHEAP_IN_THE_LOOP, ids=["no workers", "two workers"])
def test_a_loader_that_is_cheaper_in_the_loop_has_a_bound_that_nothing_exceeds(
    job: Job,
) -> None:
    found = recommend(job)
    for told in re.findall(r"save more than (\S+) %", str(found)):
        assert float(told) >= 0
    for change in found.changes:
        assert change.saves <= found.bounds.least + 1e-9
    assert found.bounds.least <= found.bounds.any


def test_bounds_are_never_below_nothing() -> None:
    job = job_of(cores=1, works=0.032, step=StepNumbers(0.030, 1.0, 0.032), workers=2)
    now = forecast_row(job, {})
    for later in (now.later, now.later / 4):
        bounds = bounds_of(job, now._replace(later=later))
        assert 0 <= bounds.least <= bounds.any


def test_a_forecast_that_promises_more_than_is_possible_is_cut_to_that() -> None:
    job = job_of(cores=64, works=0.01, step=StepNumbers(0.010, 0.0, 0.010))
    now = forecast_row(job, {})
    bounds = bounds_of(job, now)
    wonder = TableRow({"num_workers": 1}, 0.01, 0.01, 0.0)
    (found,) = by_forecast([now, wonder], [1], bounds)
    assert found.saves == bounds.least == pytest.approx(0.5, abs=0.01)


def test_a_page_says_what_the_job_as_it_is_has_and_what_was_seen_of_it() -> None:
    job = job_of(cores=2, works=0.060, step=StepNumbers(0.010, 1.0, 0.060))
    found: Recommendation = recommend(job)
    assert "as it is (num_workers=0, threads=1)" in str(found)
    assert "An epoch takes" in str(found)
    assert "were seen" not in str(found)
