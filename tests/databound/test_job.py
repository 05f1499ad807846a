"""A measured job foretells what was measured: a model, of which all is known."""

import math
from itertools import chain, pairwise, repeat

import pytest
from support.modelled_jobs import (
    FREE,
    MUCH_LOST,
    PAID,
    Modelled,
)

from databound.measure.device import OnDevice
from databound.measure.subject import RunRequest
from databound.measure.watching import Watch, WatchedBatch
from databound.model import comparing
from databound.model.comparing import Compared, compared, correct, setting_of, window_of
from databound.model.job import Job, least_batches
from databound.model.measuring import measure_subject
from databound.thresholds import Durations


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize(
    "model",
    [
        Modelled(0.020, 0.010, computes=False),
        Modelled(0.005, 0.020, computes=False),
        Modelled(0.004, 0.010, wait=0.030, computes=False),
        Modelled(0.020, 0.010, PAID),
        Modelled(0.030, 0.015, FREE, MUCH_LOST),
        Modelled(0.008, 0.001, computes=False, device=OnDevice(0.001, 0.010, 3)),
        Modelled(0.014, 0.001, computes=False, device=OnDevice(0.001, 0.010, 1)),
    ],
    ids=[
        "data-bound",
        "step-bound",
        "waits for files",
        "the loop's own time",
        "shared cores",
        "device",
        "idle device",
    ],
)
def test_a_job_is_foretold_as_the_thing_that_was_measured(
    model: Modelled, workers: int
) -> None:
    job = model.job()
    for stay in (False, True) if workers else (False,):
        for factor in (1, 2, 4) if workers else (2,):
            truth = model.seconds(workers, factor=factor, stay=stay)
            told = job.forecast(
                num_workers=workers, prefetch_factor=factor, persistent_workers=stay
            )
            assert [*told] == pytest.approx(truth, rel=0.02), (factor, stay)


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_batches_of_twice_the_size_take_what_doubling_them_took(workers: int) -> None:
    model = Modelled(0.020, 0.010, computes=False)
    truth = model.trace(workers, step=True, size=2)
    told = model.job().forecast(num_workers=workers, batch_size=8)
    assert told.first == pytest.approx(truth.duration, rel=0.02)


def test_a_loader_that_does_not_say_how_large_its_batches_are_has_no_other_size() -> None:
    model = Modelled(0.020, 0.010)
    model.batch_size = None
    with pytest.raises(ValueError, match="batch_size"):
        model.job().forecast(batch_size=8)


@pytest.mark.parametrize(
    ("first", "second", "factor"), [(1.5, 1.5, 1.5), (1.5, 1 / 1.5, 1.0), (1.2, 1.5, 1.3)]
)
def test_a_correction_is_trusted_as_far_as_repeated_runs_agree(
    monkeypatch: pytest.MonkeyPatch, first: float, second: float, factor: float
) -> None:
    job = Modelled(0.020, 0.010, computes=False).job()
    took = chain(repeat(first, 3), repeat(second, 3))
    monkeypatch.setattr(comparing, "compared", lambda *given: Compared(next(took), 1.0, 1))
    scatter = correct(job, 1, [Watch(workers) for workers in (1, 2, 4, 1, 2, 4)])
    step = job.numbers.threads[1]
    for workers in (1, 2, 4):
        assert step.unexplained[workers] == pytest.approx(factor, rel=0.03)
        assert step.missed[workers] < 0.05
        assert step.ran[workers] == 2
    assert scatter.freedom == 3
    assert scatter.of_one == pytest.approx(abs(math.log(second / first)) / math.sqrt(2))
    job.numbers.scatter = scatter
    for workers in (1, 2, 3, 4, 5):
        assert job.uncertainty(num_workers=workers) >= scatter.range(2)


def test_a_single_run_says_how_far_a_forecast_may_be_off_and_not_that_it_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = Modelled(0.020, 0.010, computes=False).job()
    monkeypatch.setattr(comparing, "compared", lambda *given: Compared(1.5, 1.0, 1))
    job.numbers.scatter = correct(job, 1, [Watch(4)])
    assert job.numbers.scatter.freedom == 0
    assert job.numbers.threads[1].unexplained[4] == pytest.approx(1.5)
    assert job.numbers.threads[1].missed[4] == pytest.approx(0.5)
    assert 0.5 <= job.uncertainty(num_workers=4) < 0.7


def run_of(workers: int, batches: int, seconds: float = 0.030) -> Watch:
    """A run of so many batches, one each *seconds*."""
    seen = Watch(workers, began=0.0)
    for number in range(1, batches + 1):
        got = seconds * number
        seen.batches.append(WatchedBatch(0, 4, 0.0, 0.0, 0.0, got=got))
    return seen


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_a_run_that_went_over_its_epoch_again_is_compared_with_a_model_that_does(
    workers: int,
) -> None:
    job = Modelled(0.020, 0.010, computes=False).job()
    job.samples = 80
    job.batches = 20
    found = compared(job, run_of(workers, 60), setting_of(job, workers, 1))
    assert found
    assert found.batches == 60 - 3 * workers
    assert found.steady == (workers > 0)
    assert found.took == pytest.approx(0.030 * found.batches)
    assert found.forecast > 0


@pytest.mark.parametrize("workers", [1, 2, 4, 16])
def test_whole_bursts_of_the_workers_are_compared_and_no_run_with_fewer_than_three(
    workers: int,
) -> None:
    enough = least_batches(workers)
    for batches in range(enough - 1, 3 * enough):
        window = window_of(run_of(workers, batches), 10_000)
        assert window
        assert window.first == 3 * workers
        assert (window.last - window.first) % workers == 0
        assert window.last - window.first >= 3 * workers
    assert window_of(run_of(workers, enough - 2), 10_000) is None
    whole = run_of(workers, enough - 2)
    whole.whole = True
    assert window_of(whole, 10_000) == (0, enough - 2)


def long_job(batches: int) -> Job:
    """A job that waits for files, with epochs of so many *batches*, on a machine of 16 cores."""
    model = Modelled(0.001, 0.0005, wait=0.200, computes=False, start=(0.0, 0.0), cores=16)
    job = model.job(Durations(run=1.0, again=0.0))
    job.samples = batches * job.batch_size
    job.batches = batches
    return job


@pytest.mark.parametrize("batches", [40, 333, 1000])
def test_a_forecast_is_what_the_model_takes_when_it_runs_to_the_end(
    batches: int,
) -> None:
    job = long_job(batches)
    told = []
    for workers in (0, 1, 5, 7, 16, 48, 64, 96):
        told.append(job.forecast(num_workers=workers))
        epochs = job.run(2, num_workers=workers).epochs
        assert [*told[-1]] == pytest.approx([epoch.duration for epoch in epochs], rel=0.01)
    firsts = [first for first, _ in told]
    assert all(more <= fewer + 0.1 for fewer, more in pairwise(firsts)), firsts


class Full(Modelled):
    """A step whose memory has no room for a larger batch."""

    def go(self, request: RunRequest) -> Watch:
        if request.size > 1:
            raise RuntimeError("the step raised at batch 1: out of memory")
        return super().go(request)


def test_a_step_that_has_no_room_for_larger_batches_is_measured_without_them() -> None:
    model = Full(0.020, 0.010, computes=False)
    job = model.job()
    truth = model.trace(2, step=True)
    assert job.forecast(num_workers=2).first == pytest.approx(truth.duration, rel=0.02)
    with pytest.raises(ValueError, match="batch_size"):
        job.forecast(batch_size=8)


class Compiled(Modelled):
    """A step that is compiled anew for batches of another size, which takes all the time of a run."""

    def go(self, request: RunRequest) -> Watch:
        is_new = request.step and request.size > 1 and not self.compiled
        seen = super().go(request)
        if is_new:
            self.compiled = True
            first = seen.batches[0]
            seen.batches[:] = [first._replace(stepped=first.stepped + 20)]
        return seen

    compiled = False


def test_a_step_that_is_compiled_for_larger_batches_is_as_long_as_others() -> None:
    known = Modelled(0.020, 0.010, computes=False).job().numbers.growth
    compiled = Compiled(0.020, 0.010, computes=False).job().numbers.growth
    assert compiled == pytest.approx(known)
    assert compiled["step"] < 2


class Disturbed(Modelled):
    """A model beside which the machine stands still for a second, in the second run with workers."""

    def go(self, request: RunRequest) -> Watch:
        seen = super().go(request)
        beside = [one for one in self.ran if one]
        if (
            request.workers and request.step and len(beside) == 3
        ):  # the first one has no step
            seen.batches[10:] = [
                batch._replace(got=batch.got + 1, stepped=batch.stepped + 1)
                for batch in seen.batches[10:]
            ]
        return seen


class Refusing(Modelled):
    """A loader that has no room for more than eight workers."""

    def go(self, request: RunRequest) -> Watch:
        if request.workers > 8:
            self.ran.append(request.workers)
            raise RuntimeError("with a worker, the loader raised: out of shared memory")
        return super().go(request)


def test_runs_go_up_to_the_cores_and_what_a_loader_has_no_room_for_is_left_out() -> None:
    model = Refusing(0.020, 0.010, computes=False)
    job = measure_subject(model, 16)
    assert {*model.ran} == {0, 1, 2, 4, 8, 16}
    assert {*job.numbers.threads[1].unexplained} == {0, 1, 2, 4, 8}
    assert job.forecast(num_workers=16) < job.forecast(num_workers=1)


def test_runs_beside_workers_are_repeated_while_there_is_time() -> None:
    model = Disturbed(0.020, 0.010, computes=False)
    told = model.job().forecast(num_workers=2)
    truth = model.seconds(2)
    assert model.ran.count(4) >= 3
    assert told.first == pytest.approx(truth[0], rel=0.02)
    assert model.time < 16
