"""A measured job foretells what was measured: a model, of which all is known."""

from functools import cache
from itertools import chain, count, pairwise, repeat
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import lessonkit
from databound import numbers
from databound.job import Job, correct, measure_subject
from databound.watching import OnDevice, Watch, WatchedBatch
from lessonkit import Dataset, Handling, Machine, benchmark, work


class Shared(NamedTuple):
    """The cores that a step holds; factors by which steps and batches lose beside 1 worker, or more."""

    step_cores: float = 1.0
    steps: tuple[float, float] = (1.0, 1.0)
    batches: tuple[float, float] = (1.0, 1.0)


class Modelled:
    """A subject whose runs are those of a model, on the virtual clock, so all is known of it."""

    stream, nbytes, repeat_until, count, synchronise = False, 1000, 0.0, 60, None
    loader = SimpleNamespace(
        batch_size=4, num_workers=0, prefetch_factor=None, persistent_workers=False
    )

    def __init__(
        self, fetch: float, step: float, handling: Handling, shared: Shared, **more: Any
    ) -> None:
        self.fetch, self.step, self.handling, self.shared = (
            fetch,
            step,
            handling,
            shared,
        )
        self.wait, self.computes = more.get("wait", 0.0), more.get("computes", True)
        self.start = more.get("start", (0.004, 0.006))
        self.device: OnDevice | None = more.get("device")
        self.batches = [[*range(4 * number, 4 * number + 4)] for number in range(60)]

    def trace(self, workers: int, **more: Any) -> Any:
        return self.made(workers, **more)

    @cache  # noqa: B019 - many tests ask for the same run, and it is the same each time
    def made(
        self,
        workers: int,
        *,
        step: bool,
        factor: int,
        stay: bool = False,
        epochs: int = 1,
        size: int = 1,
    ) -> Any:
        kind = "native" if self.computes else "wait"
        lost = self.shared if workers and step else Shared()
        slower_step, slower_batch = (
            factors[workers > 1] for factors in (lost.steps, lost.batches)
        )
        batches = Dataset.range(len(self.batches) // size)
        batches = batches.map(cost=size * self.wait, stage="Wait")
        fetch = size * self.fetch * slower_batch
        batches = batches.map(cost=fetch, kind="native", stage="Fetch")
        grown = 1 + (STEP_OF_TWO - 1) * (size - 1)
        more: dict[str, Any] = {"handling": self.handling}
        if workers:
            more |= {
                "prefetch_factor": factor,
                "persistent_workers": stay,
                "start": self.start,
            }
        else:
            more["handling"] = Handling()
        loader = lessonkit.DataLoader(batches, batch_size=None, num_workers=workers, **more)
        options: dict[str, Any] = {"machine": Machine(2, self.shared.step_cores)}
        options["step"] = lambda number: (
            work(self.step * (1 if self.device else grown) * slower_step, kind=kind)
            if step
            else None
        )
        if self.device and step:
            options |= {"train": self.device.train * grown, "queue": self.device.queue}
        return benchmark(loader, epochs, **options)

    def go(
        self,
        workers: int,
        seconds: float,
        *,
        step: bool = False,
        factor: int = 2,
        size: int = 1,
    ) -> Watch:
        trace = self.trace(workers, step=step, factor=factor, size=size)
        arrivals = trace.epochs[0].arrivals
        stage = "Launch" if self.device and step else "Train"
        stepped = {span.sample: span.end for span in trace.work if span.stage == stage}
        for span in trace.spans:  # a step goes on until there is room for it in the queue
            if span.kind == "buffer full" and span.place == "the accelerator's queue":
                stepped |= {
                    number: span.end for number, end in stepped.items() if end == span.start
                }
        made: list[WatchedBatch] = []
        for number in range(len(arrivals)):
            spans = [
                one
                for one in trace.spans
                if one.sample == number and one.stage in ("Wait", "Fetch")
            ]
            began, done = (
                min(span.start for span in spans),
                max(span.end for span in spans),
            )
            core = sum(span.end - span.start for span in spans if span.kind == "native")
            made.append(
                WatchedBatch(spans[0].lane, 4 * size, began, done, done - began - core)
            )
        starts = [span.start for span in trace.work if span.role == "start"]
        seen = Watch(workers, began=0.0, opened=max([0.0, *starts]) and starts[-1])
        if workers:
            seen.opened = self.handling.begin + workers * self.start[0]
        for number, got in enumerate(arrivals):
            asked = seen.ended or seen.opened
            if asked > seconds:
                break
            seen.ended = stepped.get(number, got)
            on_core = self.step * self.shared.step_cores if step and self.computes else 0.0
            times = {
                "asked": asked,
                "got": got,
                "stepped": seen.ended,
                "step_core": on_core,
            }
            seen.batches.append(made[number]._replace(**times))
        else:
            seen.whole = True
        return seen

    def job(self) -> Job:
        return measure_subject(self, 2)  # type: ignore[arg-type]


STEP_OF_TWO = (
    1.5  # times as long as a step on one batch is one on a batch of twice the size
)
FREE = Handling(stop=0.01, stop_each=0.002, begin=0.003)
PAID = Handling(stop=0.01, stop_each=0.002, begin=0.003, take=0.003)
NOTHING_LOST = Shared()
MUCH_LOST = Shared(2.0, (1.6, 1.8), (1.1, 1.2))


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize(
    "model",
    [
        Modelled(0.020, 0.010, FREE, NOTHING_LOST, computes=False),
        Modelled(0.005, 0.020, FREE, NOTHING_LOST, computes=False),
        Modelled(0.004, 0.010, FREE, NOTHING_LOST, wait=0.030, computes=False),
        Modelled(0.020, 0.010, PAID, NOTHING_LOST),
        Modelled(0.030, 0.015, FREE, MUCH_LOST),
        Modelled(
            0.008,
            0.001,
            FREE,
            NOTHING_LOST,
            computes=False,
            device=OnDevice(0.001, 0.010, 3),
        ),
        Modelled(
            0.014,
            0.001,
            FREE,
            NOTHING_LOST,
            computes=False,
            device=OnDevice(0.001, 0.010, 1),
        ),
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
            truth = model.trace(workers, step=True, factor=factor, stay=stay, epochs=2)
            told = job.forecast(
                num_workers=workers, prefetch_factor=factor, persistent_workers=stay
            )
            for said, epoch in zip(told, truth.epochs, strict=True):
                assert abs(said / epoch.duration - 1) < 0.02, (
                    factor,
                    stay,
                    told,
                    truth.epochs,
                )


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_batches_of_twice_the_size_take_what_doubling_them_took(workers: int) -> None:
    model = Modelled(0.020, 0.010, FREE, NOTHING_LOST, computes=False)
    truth = model.trace(workers, step=True, factor=2, size=2)
    told = model.job().forecast(num_workers=workers, batch_size=8)
    assert told[0] == pytest.approx(truth.duration, rel=0.02)


def test_a_loader_that_does_not_say_how_large_its_batches_are_has_no_other_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Modelled.loader, "batch_size", None)
    job = Modelled(0.020, 0.010, FREE, NOTHING_LOST).job()
    with pytest.raises(ValueError, match="batch_size"):
        job.forecast(batch_size=8)


@pytest.mark.parametrize(
    ("first", "second", "factor"), [(1.5, 1.5, 1.5), (1.5, 1 / 1.5, 1.0), (1.2, 1.5, 1.3)]
)
def test_a_correction_is_trusted_as_far_as_repeated_runs_agree(
    monkeypatch: pytest.MonkeyPatch, first: float, second: float, factor: float
) -> None:
    job = Modelled(0.020, 0.010, FREE, NOTHING_LOST, computes=False).job()
    took = chain(repeat(first, 3), repeat(second, 3))
    monkeypatch.setattr(Job, "compared", lambda self, run, **more: (next(took), 1.0, 1))
    correct(job, 1, [Watch(workers) for workers in (1, 2, 4, 1, 2, 4)])
    step = job.numbers.threads[1]
    for workers in (1, 2, 4):
        assert step.unexplained[workers] == pytest.approx(factor, rel=0.03)
    missed = (abs(first / factor - 1) + abs(second / factor - 1)) / 2
    for workers in (1, 2, 3, 4, 5):
        assert job.uncertainty(num_workers=workers) == pytest.approx(missed, abs=0.02)


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_a_run_that_saw_more_batches_than_the_model_has_is_compared_for_those(
    workers: int,
) -> None:
    job = Modelled(0.020, 0.010, FREE, NOTHING_LOST, computes=False).job()
    job.samples, job.batches = 80, 20
    seen = Watch(workers, began=0.0)
    for number in range(1, 61):
        seen.batches.append(WatchedBatch(0, 4, 0.0, 0.0, 0.0, got=0.030 * number))
    took, forecast, batches = job.compared(seen)
    assert batches == 20 - min(3 * workers, 10)
    assert took == pytest.approx(0.030 * batches)
    assert forecast > 0


WAITS = Modelled(0.001, 0.0005, FREE, NOTHING_LOST, wait=0.200, computes=False)


def long_job(batches: int) -> Job:
    """A job that waits for files, with epochs of so many *batches*, on a machine of 16 cores."""
    job = WAITS.job()
    job.numbers.cores, job.numbers.start = 16, (0.0, 0.0)
    job.samples, job.batches = batches * job.batch_size, batches
    return job


@pytest.mark.parametrize("batches", [40, 333, 1000])
def test_a_forecast_is_what_the_model_takes_when_it_runs_to_the_end(
    batches: int,
) -> None:
    job, told = long_job(batches), []
    for workers in (0, 1, 5, 7, 16, 48, 64, 96):
        told.append(job.forecast(num_workers=workers))
        epochs = job.run(2, num_workers=workers).epochs
        assert told[-1] == pytest.approx([epoch.duration for epoch in epochs], rel=0.01)
    firsts = [first for first, _ in told]
    assert all(more <= fewer + 0.1 for fewer, more in pairwise(firsts)), firsts


class Full(Modelled):
    """A step whose memory has no room for a larger batch."""

    def go(self, workers: int, seconds: float, *, size: int = 1, **more: Any) -> Watch:
        if size > 1:
            raise RuntimeError("the step raised at batch 1: out of memory")
        return super().go(workers, seconds, **more)


def test_a_step_that_has_no_room_for_larger_batches_is_measured_without_them() -> None:
    model = Full(0.020, 0.010, FREE, NOTHING_LOST, computes=False)
    job = model.job()
    truth = model.trace(2, step=True, factor=2)
    assert job.forecast(num_workers=2)[0] == pytest.approx(truth.duration, rel=0.02)
    with pytest.raises(ValueError, match="batch_size"):
        job.forecast(batch_size=8)


class Disturbed(Modelled):
    """A model beside which the machine stands still for a second, in the second run."""

    repeat_until, seen = 7.0, 0

    def go(
        self,
        workers: int,
        seconds: float,
        *,
        step: bool = False,
        factor: int = 2,
        size: int = 1,
    ) -> Watch:
        seen = super().go(workers, seconds, step=step, factor=factor, size=size)
        if workers and step:
            self.seen += 1
            if self.seen == 2:
                late = [
                    batch._replace(got=batch.got + 1, stepped=batch.stepped + 1)
                    for batch in seen.batches
                ]
                seen.batches[10:] = late[10:]
        return seen


class Refusing(Modelled):
    """A loader that says which numbers of workers it ran with, and has no room for more than eight."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.ran = set[int]()

    def go(self, workers: int, seconds: float, **more: Any) -> Watch:
        self.ran.add(workers)
        if workers > 8:
            raise RuntimeError("with a worker, the loader raised: out of shared memory")
        return super().go(workers, seconds, **more)


def test_runs_go_up_to_the_cores_and_what_a_loader_has_no_room_for_is_left_out() -> None:
    model = Refusing(0.020, 0.010, FREE, NOTHING_LOST, computes=False)
    job = measure_subject(model, 16)  # type: ignore[arg-type]
    assert model.ran == {0, 1, 2, 4, 8, 16}
    assert {*job.numbers.threads[1].unexplained} == {0, 1, 2, 4, 8}
    assert job.forecast(num_workers=16) < job.forecast(num_workers=1)


def test_runs_beside_workers_are_repeated_while_there_is_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(numbers, "perf_counter", count().__next__)
    model = Disturbed(0.020, 0.010, FREE, NOTHING_LOST, computes=False)
    told, truth = (
        model.job().forecast(num_workers=2),
        model.trace(2, step=True, factor=2),
    )
    assert model.seen == 3 * 7
    assert abs(told[0] / truth.epochs[0].duration - 1) < 0.02
