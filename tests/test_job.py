"""A measured job: its forecasts are those of the thing that was measured, and it leaves nothing changed."""

import math
import multiprocessing
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from stand_in import DataLoader, IterableDataset

import lessonkit
from lessonkit import Dataset, Handling, Machine, benchmark, work
from lessonkit.analysis import measure
from lessonkit.engine.machine import Sharing
from lessonkit.job import numbers
from lessonkit.job.job import Job
from lessonkit.job.watching import MadeBatch, Taken, Watch


class Modelled:
    """A subject whose runs are those of a model, on the virtual clock: what is measured is known exactly."""

    stream, batch_size, nbytes = False, 4, 1000

    def __init__(self, fetch: float, step: float, handling: Handling, sharing: Sharing, **more: Any) -> None:
        self.fetch, self.step, self.handling, self.sharing = fetch, step, handling, sharing
        self.wait, self.computes = more.get("wait", 0.0), more.get("computes", True)
        self.start = more.get("start", (0.004, 0.006))
        self.batches = [[*range(4 * number, 4 * number + 4)] for number in range(60)]

    def trace(
        self, workers: int, *, step: bool, factor: int, size: int, stay: bool = False, epochs: int = 1
    ) -> Any:
        kind = "native" if self.computes else "wait"
        batches = Dataset.range(len(self.batches) // size).map(cost=size * self.wait, stage="Wait")
        batches = batches.map(cost=size * self.fetch, kind="native", stage="Fetch")
        more: dict[str, Any] = {"handling": self.handling}
        if workers:
            more |= {"prefetch_factor": factor, "persistent_workers": stay, "start": self.start}
        else:
            more["handling"] = Handling()
        return benchmark(
            lessonkit.DataLoader(batches, batch_size=None, num_workers=workers, **more),
            epochs,
            step=lambda number: work(size * self.step, kind=kind) if step else None,
            machine=Machine(2, self.sharing),
        )

    def go(self, workers: int, limit: float, *, step: bool = False, factor: int = 2, size: int = 1) -> Watch:
        trace = self.trace(workers, step=step, factor=factor, size=size)
        arrivals = trace.epochs[0].arrivals
        stepped = {span.sample: span.end for span in trace.work if span.stage == "Train"}
        made: dict[int, MadeBatch] = {}
        for number in range(len(arrivals)):
            spans = [one for one in trace.spans if one.sample == number and one.stage in ("Wait", "Fetch")]
            began, done = min(span.start for span in spans), max(span.end for span in spans)
            core = sum(span.end - span.start for span in spans if span.kind == "native")
            made[number] = MadeBatch(spans[0].lane, began, done, done, core, 0.0, 4 * size)
        starts = [span.start for span in trace.work if span.role == "start"]
        seen = Watch(workers, began=0.0, opened=max([0.0, *starts]) and starts[-1])
        if workers:
            seen.opened = self.handling.begin + workers * self.start[0]
        for number, got in enumerate(arrivals):
            asked = seen.ended or seen.opened
            if asked > limit:
                break
            seen.ended = stepped.get(number, got)
            on_core = self.step * size * self.sharing.step_cores if step and self.computes else 0.0
            seen.taken.append(Taken(asked, got, seen.ended, on_core))
            seen.made.append(made[number])
        else:
            seen.whole = True
        seen.closed = trace.duration if seen.whole else seen.ended
        seen.core = len(seen.taken) * self.handling.take_core
        return seen

    def job(self) -> Job:
        runs = numbers.run_all(self, 2)  # type: ignore[arg-type]
        said = {"num_workers": 0, "prefetch_factor": 2, "persistent_workers": False}
        return Job(runs, 2, said, 4, 240, whole=True)


FREE = Handling(stop=0.01, stop_each=0.002, begin=0.003)
PAID = Handling(stop=0.01, stop_each=0.002, begin=0.003, take=0.002, take_busy=0.003, take_core=0.001)
NOTHING_LOST = Sharing()
MUCH_LOST = Sharing(2.0, (1.6, 1.8), (1.1, 1.2), 1.05)


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize(
    "model",
    [
        Modelled(0.020, 0.010, FREE, NOTHING_LOST, computes=False),
        Modelled(0.005, 0.020, FREE, NOTHING_LOST, computes=False),
        Modelled(0.004, 0.010, FREE, NOTHING_LOST, wait=0.030, computes=False),
        Modelled(0.020, 0.010, PAID, NOTHING_LOST),
        Modelled(0.030, 0.015, FREE, MUCH_LOST),
    ],
    ids=["data-bound", "step-bound", "waits for files", "the loop's own time", "shared cores"],
)
def test_a_job_is_foretold_as_the_thing_that_was_measured(model: Modelled, workers: int) -> None:
    job = model.job()
    for stay in (False, True) if workers else (False,):
        for factor in (1, 2, 4) if workers else (2,):
            truth = model.trace(workers, step=True, factor=factor, size=1, stay=stay, epochs=2)
            told = job.forecast(num_workers=workers, prefetch_factor=factor, persistent_workers=stay)
            for said, epoch in zip(told, truth.epochs, strict=True):
                assert abs(said / epoch.duration - 1) < 0.02, (factor, stay, told, truth.epochs)


# ---- real loaders: what is wrong is said, and what was changed is restored ----


@pytest.fixture
def to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run come to the end of its loader, also on a busy machine: all of them are small."""
    monkeypatch.setattr(numbers, "RUN", 20.0)


class Samples:
    def __init__(self, count: int = 400, get: Callable[[int], Any] = lambda index: index) -> None:
        self.count, self.get, self.prefix = count, get, ""

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < self.count:
            raise IndexError(index)
        return self.get(index)


class Stream(IterableDataset):
    def __init__(self, count: float, per_worker: bool = True) -> None:
        self.count, self.per_worker = count, per_worker

    def __iter__(self) -> Iterator[int]:
        info = lessonkit.get_worker_info() if self.per_worker else None
        number, step = (info.id, info.num_workers) if info else (0, 1)
        while number < self.count:
            yield number
            number += step


def nothing(batch: Any) -> None:
    pass


def measured(loader: Any, step: Callable[[Any], Any] = nothing) -> Any:
    """Measure, and see that nothing is left behind."""
    before, state = {*threading.enumerate()}, random.getstate()
    try:
        return measure(loader, step=step)
    finally:
        assert random.getstate() == state
        assert not multiprocessing.active_children()
        # Threads that helpers of a loop have given back end by themselves, within a second.
        assert {thread.name for thread in {*threading.enumerate()} - before} <= {"lessonkit"}


@pytest.mark.usefixtures("to_the_end")
@pytest.mark.parametrize(
    ("loader", "samples"),
    [
        (DataLoader(Samples(), 8, shuffle=True), 400),
        (DataLoader(Samples(6), 4), 6),
        (DataLoader(Samples(), batch_sampler=[[1, 2, 3], [4, 5, 6]] * 30), 180),
        (DataLoader(Samples(30), batch_size=None), 30),
        (DataLoader(Samples(), 8, collate_fn=lambda samples: None), 400),
        (DataLoader(Samples(), 8, num_workers=2, worker_init_fn=lambda number: None), 400),
        (DataLoader(Stream(90), 4), 90),
        (lessonkit.DataLoader(Dataset.range(90).map(lambda number: number + 1), 4, shuffle=True), 90),
        (lessonkit.DataLoader(Dataset.from_list([*range(90)]).filter(lambda number: True), 4), 180),
    ],
    ids=[
        "map",
        "six samples",
        "batch sampler",
        "no batches",
        "None",
        "workers",
        "stream",
        "ours",
        "our stream",
    ],
)
def test_every_kind_of_loader_is_measured(loader: Any, samples: int) -> None:
    job = measured(loader)
    assert job.samples == samples
    for workers in (0, 2):
        first, later = job.forecast(num_workers=workers)
        assert 0 < later < math.inf
        assert 0 < first < math.inf
    assert job.run(1, 8, num_workers=2).epochs[0].count > 0


def test_a_stream_that_never_ends_is_measured_for_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "RUN", 0.1)
    job = measured(DataLoader(Stream(math.inf), 4))
    assert not job.whole
    assert job.samples > 0


def fails(index: int) -> Any:
    return index if index < 8 else 1 / 0


def fails_in_a_worker(index: int) -> Any:
    return 1 / 0 if lessonkit.get_worker_info() and index >= 8 else index


@pytest.mark.usefixtures("to_the_end")
@pytest.mark.parametrize(
    ("loader", "step", "said"),
    [
        (DataLoader(Samples(get=fails), 4), nothing, "the loader raised after 2 batches: ZeroDivisionError"),
        (DataLoader(Samples(), 4), lambda batch: 1 / 0, "the step raised after 0 batches: ZeroDivisionError"),
        (
            DataLoader(Samples(get=fails_in_a_worker), 4),
            nothing,
            "with a worker, the loader raised after 2 batches: ZeroDivisionError",
        ),
        (
            DataLoader(Samples(get=lambda index: os._exit(3) if multiprocessing.parent_process() else 0), 4),
            nothing,
            "with a worker, the loader raised after 0 batches: RuntimeError",
        ),
    ],
)
def test_what_fails_is_named(loader: Any, step: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        measured(loader, step)


def test_what_is_no_loader_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a DataLoader"):
        measure([1, 2, 3], step=nothing)
    with pytest.raises(TypeError, match="or come with the step"):
        measure([1, 2, 3])
    with pytest.raises(TypeError, match="step=3"):
        measure(DataLoader(Samples(), 4), step=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gave no batch"):
        measure(DataLoader(Samples(0), 4), step=nothing)


@pytest.mark.usefixtures("to_the_end")
def test_a_setting_that_no_loader_takes_is_refused() -> None:
    job = measured(DataLoader(Samples(), 8))
    for wrong in ({"num_workers": -1}, {"prefetch_factor": 0}, {"batch_size": 0}, {"threads": 77}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            job.forecast(**wrong)
    with pytest.raises(TypeError, match="num_workers"):
        job.forecast(num_workers="two")


@pytest.mark.usefixtures("to_the_end")
def test_ctrl_c_leaves_all_as_it_was() -> None:
    calls: list[int] = []

    def interrupted(batch: Any) -> None:
        calls.append(1)
        if len(calls) == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(DataLoader(Samples(get=lambda index: time.sleep(0.0005)), 2), interrupted)
