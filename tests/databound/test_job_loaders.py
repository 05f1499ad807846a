"""Any loader and step can be measured as a job, or it is said why not; nothing is left changed.

Each test runs on a stand-in for PyTorch, and on PyTorch where that is installed.
"""

import math
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support import stand_in_torch
from support.stand_in_device import Device

import lessonkit
from databound import machine, measure_job, recommend
from databound.advise.choosing import combinations
from databound.machine import allowed_cores
from databound.measure import drawn, runs, watching
from databound.measure.runs import LoaderAndStep
from databound.measure.subject import RunRequest
from databound.measure.uneven import spread
from databound.model import measuring
from databound.model.job import Job
from databound.thresholds import NEVER, NEVER_BEGINS, Durations
from lessonkit import Dataset

pytestmark = pytest.mark.usefixtures("workers_gone", "to_the_end")


@pytest.fixture
def to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run come to the end of its small loader, once, also on a busy machine."""
    monkeypatch.setattr(measuring, "USUAL", Durations(run=20.0, again=0.0))


class Reversed(list[int]):
    """A sampler of a learner, with a generator that is none of a library."""

    generator = "from the last to the first"


class Samples:
    """As many samples as *count* says, each of which *get* makes of its number."""

    def __init__(
        self, count: int = 400, get: Callable[[int], Any] = lambda index: index
    ) -> None:
        self.count, self.get, self.prefix = count, get, ""

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < self.count:
            raise IndexError(index)
        return self.get(index)


def stream(library: Any, count: float) -> Any:
    """Return an iterable data set that shares *count* numbers out among workers."""

    class Stream(library.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            info = library.utils.data.get_worker_info()
            number, step = (info.id, info.num_workers) if info else (0, 1)
            while number < info.dataset.count if info else number < count:
                yield number
                number += step

    made = Stream()
    made.count = count
    return made


def nothing(batch: Any) -> None:
    """A step that takes no time."""


def page_of(job: Job) -> str:
    """What the page says of a job, as if it was measured alone on its machine; nothing more is run."""
    quiet = replace(job.numbers, noise=0.0, others=0.0)
    return str(recommend(replace(job, subject=None, numbers=quiet)))


def measured(loader: Any, step: Callable[[Any], Any] = nothing) -> Any:
    """Measure, and see that nothing is left behind."""
    before, state = {*threading.enumerate()}, random.getstate()
    torch = sys.modules.get("torch")
    kept = torch and (torch.get_num_threads(), str(torch.get_rng_state()))
    try:
        return measure_job(loader, step)
    finally:
        assert random.getstate() == state
        assert not multiprocessing.active_children()
        assert kept == (torch and (torch.get_num_threads(), str(torch.get_rng_state())))
        # Threads that helpers of a loop have given back end by themselves, as do those of
        # PyTorch's queues.
        for thread in {*threading.enumerate()} - before:
            thread.join(60)
            assert not thread.is_alive(), thread


def slow(index: int) -> int:
    time.sleep(0.0005)
    return index


SLOW = 0.1  # s


def first_is_slow(index: int) -> int:
    time.sleep(0 if index else SLOW)
    return index


LOCK = threading.Lock()


def locked(index: int) -> int:
    """A sample that is made while a lock is held."""
    with LOCK:
        return index


def spoken(index: int) -> int:
    print("sample", index)
    return index


def started(index: int) -> int:
    """A sample that a process of its own makes."""
    return int(subprocess.run(["echo", str(index)], capture_output=True, check=True).stdout)


def changed(kept: list[int]) -> Callable[[int], Any]:
    """Samples that are one and the same list, which grows."""

    def get(index: int) -> Any:
        kept.append(index)
        return kept[-2:]

    return get


def named(library: Any) -> Callable[[int], None]:
    """A function for workers that changes their copy of the data set, as users are told to do."""

    def init(number: int) -> None:
        library.utils.data.get_worker_info().dataset.prefix = f"worker {number}"

    return init


KINDS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "shuffled": (400, lambda load, library: load(Samples(), 8, shuffle=True)),
    "six samples": (6, lambda load, library: load(Samples(6), 4)),
    "one batch": (3, lambda load, library: load(Samples(3), 4)),
    "batch sampler": (
        180,
        lambda load, library: load(Samples(), batch_sampler=[[1, 2, 3], [4, 5, 6]] * 30),
    ),
    "no batches": (30, lambda load, library: load(Samples(30), batch_size=None)),
    "own sampler": (
        20,
        lambda load, library: load(Samples(), 4, sampler=Reversed(range(20, 0, -1))),
    ),
    "None": (
        400,
        lambda load, library: load(Samples(), 8, collate_fn=lambda samples: None),
    ),
    "workers": (
        400,
        lambda load, library: load(
            Samples(), 8, num_workers=2, worker_init_fn=named(library)
        ),
    ),
    "stay": (
        400,
        lambda load, library: load(Samples(), 8, num_workers=1, persistent_workers=True),
    ),
    "drop last": (400, lambda load, library: load(Samples(403), 8, drop_last=True)),
    "stream": (90, lambda load, library: load(stream(library, 90), 4)),
    "lock": (400, lambda load, library: load(Samples(get=locked), 8)),
    "prints": (400, lambda load, library: load(Samples(get=spoken), 8)),
    "starts processes": (
        40,
        lambda load, library: load(Samples(40, started), 4, collate_fn=list),
    ),
    "changes": (
        400,
        lambda load, library: load(Samples(get=changed([])), 8, collate_fn=list),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_loader_is_measured(library: Any, kind: str) -> None:
    samples, made = KINDS[kind]
    job = measured(made(library.utils.data.DataLoader, library))
    assert job.samples == samples
    for workers in (0, 2):
        assert all(0 < seconds < math.inf for seconds in job.forecast(num_workers=workers))
    assert job.run(1, 8, num_workers=2).epochs[0].count > 0


@pytest.mark.parametrize(
    ("loader", "samples"),
    [
        (
            lessonkit.DataLoader(
                Dataset.range(90).map(lambda number: number + 1), 4, shuffle=True
            ),
            90,
        ),
        (
            lessonkit.DataLoader(
                Dataset.from_list([*range(90)]).filter(lambda number: True), 4
            ),
            90,
        ),
        (lessonkit.DataLoader(Dataset.from_list([[7] * 50] * 40), 4), 40),
        (
            lessonkit.DataLoader(Dataset.from_list([[7] * 50] * 40), 4, getitems=True),
            40,
        ),
        (lessonkit.DataLoader(Dataset.range(91), 4, drop_last=True), 88),
        (
            lessonkit.DataLoader(
                Dataset.range(90), batch_sampler=np.arange(60).reshape(20, 3)
            ),
            60,
        ),
    ],
)
def test_loaders_of_ours_are_measured_with_real_processes(
    loader: Any, samples: int
) -> None:
    job = measured(loader)
    assert job.samples == samples
    assert 0 < job.forecast(num_workers=2)[1] < math.inf


def test_a_stream_that_never_ends_is_measured_for_what_was_seen(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "USUAL", Durations(run=0.1, again=0.0))
    job = measured(library.utils.data.DataLoader(stream(library, math.inf), 4))
    assert not job.whole
    assert job.samples > 0
    job.numbers.noise = 0.0  # whatever else runs on this machine
    assert "after the samples that were seen" in page_of(job)


def fails(index: int) -> Any:
    return index if index < 8 else 1 / 0


def in_a_worker(index: int) -> bool:
    return multiprocessing.parent_process() is not None


# Runs go over an epoch of 100 batches in an order that is spread over it
SECOND = spread(100)[1] + 1

FAILING: dict[str, tuple[Callable[[int], Any], Callable[[Any], Any], str]] = {
    "here": (
        fails,
        nothing,
        f"the loader raised at batch {SECOND} of an epoch: ZeroDivisionError",
    ),
    "the step": (
        lambda index: index,
        lambda batch: 1 / 0,
        "the step raised at batch 1 of an epoch: ZeroDivision",
    ),
    "in a worker": (
        lambda index: 1 / 0 if in_a_worker(index) and index >= 8 else index,
        nothing,
        f"with a worker, the loader raised at batch {SECOND} of an epoch: ZeroDivisionError",
    ),
    "dies": (
        lambda index: os._exit(3) if in_a_worker(index) else 0,
        nothing,
        "with a worker, the loader raised at batch 1 of an epoch: RuntimeError",
    ),
}


@pytest.mark.parametrize("case", FAILING)
def test_what_fails_is_named(library: Any, case: str) -> None:
    get, step, said = FAILING[case]
    with pytest.raises(RuntimeError, match=said):
        measured(library.utils.data.DataLoader(Samples(get=get), 4), step)


def test_what_cannot_be_sent_to_a_process_is_named() -> None:
    data = pytest.importorskip("torch").utils.data
    unsent = data.DataLoader(
        Samples(get=lambda index: index),
        4,
        num_workers=1,
        multiprocessing_context="spawn",
    )
    with pytest.raises(RuntimeError, match="with a worker, the loader raised at batch 1"):
        measured(unsent)
    sent = data.DataLoader(
        Samples(get=abs), 4, num_workers=1, multiprocessing_context="spawn"
    )
    assert measured(sent).samples == 400


def test_a_step_may_take_the_lock_that_samples_take(library: Any) -> None:
    def step(batch: Any) -> None:
        with LOCK:
            time.sleep(0.0005)

    assert (
        measured(library.utils.data.DataLoader(Samples(get=locked), 8), step).samples == 400
    )


def test_an_epoch_has_more_samples_than_are_asked_of_a_sampler(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn, "KEPT", 20)
    assert measured(library.utils.data.DataLoader(Samples(400), 4), nothing).samples == 400


class Endless:
    """A sampler that never ends."""

    def __iter__(self) -> Iterator[int]:
        while True:
            yield 1


class Unsaid(list[int]):
    """A sampler whose length nobody has written."""

    def __len__(self) -> int:
        raise NotImplementedError


def test_few_samples_are_asked_of_a_sampler_without_an_end(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn, "KEPT", 5)
    job = measured(library.utils.data.DataLoader(Samples(), 200, sampler=Endless()))
    assert len(job.subject.batches) == 5
    assert not job.whole


def test_a_sampler_needs_no_length(library: Any) -> None:
    sampler = Unsaid(range(20))
    job = measured(library.utils.data.DataLoader(Samples(), 4, sampler=sampler))
    assert (job.samples, job.batches, job.whole) == (20, 5, True)


def test_unlike_batches_are_all_in_the_model(library: Any) -> None:
    sizes = [1] * 20 + [9] * 4
    batches = [[*range(size)] for size in sizes]
    job = measured(library.utils.data.DataLoader(Samples(get=slow), batch_sampler=batches))
    assert (job.samples, job.batches) == (sum(sizes), len(sizes))
    assert job.count(job.now) == len(sizes)
    assert job.forecast(num_workers=0)[1] > sum(sizes) * 0.0005


def test_a_loader_that_has_the_name_of_its_base_is_measured(library: Any) -> None:
    made = type("DataLoader", (library.utils.data.DataLoader,), {"__module__": __name__})
    assert measured(made(Samples(), 8)).samples == 400


def everything(library: Any, count: int) -> Any:
    """An iterable data set of *count* numbers that every worker gives in full."""

    class Everything(library.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            return iter(range(count))

    return Everything()


@pytest.mark.parametrize("workers", [0, 3])
def test_a_stream_that_workers_repeat_is_told_and_not_recommended(
    library: Any, workers: int
) -> None:
    with runs.restored():
        loader = library.utils.data.DataLoader(
            everything(library, 40), 4, num_workers=workers
        )
    job = measured(loader)
    assert (job.samples, job.repeats) == (40, True)
    assert job.count(job.setting(num_workers=0)) == 10
    assert job.count(job.setting(num_workers=3)) == 30
    offered = {setting.get("num_workers", workers) for setting in combinations(job)}
    # No worker, as now, is offered too if the step computes: with fewer threads for it
    assert (offered if workers else offered - {0}) == ({3} if workers else {1})
    page = page_of(job)
    assert "num_workers=0: 40 samples" in page
    assert "share them out" in page


@pytest.mark.parametrize(
    ("quota", "processes", "cores"),
    [
        ("max 100000", "", 8),
        ("350000 100000", "", 3),
        ("max 100000", "4", 2),
        ("50000 100000", "", 1),  # half a core is one that is slow
        ("50000 100000", "4", 1),
    ],
)
def test_cores_are_those_of_a_container_and_are_shared_by_the_processes_of_a_job(
    quota: str, processes: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(machine, "QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", processes)
    assert allowed_cores() == cores


def test_a_loader_that_gives_nothing_to_a_worker_cannot_be_measured(library: Any) -> None:
    class Alone(library.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            if library.utils.data.get_worker_info() is None:
                yield from range(40)

    with pytest.raises(ValueError, match="gave no batch"):
        measured(library.utils.data.DataLoader(Alone(), 4))


def test_a_number_of_workers_that_leaves_no_batch_is_not_recommended(
    library: Any,
) -> None:
    cores = allowed_cores()
    loader = library.utils.data.DataLoader(stream(library, 5 * cores), 4, drop_last=True)
    job = measured(loader)
    offered = {setting.get("num_workers", 0) for setting in combinations(job)}
    assert 2 * cores not in offered
    assert f"num_workers={2 * cores}: 0 samples" in page_of(job)
    with pytest.raises(ValueError, match="an epoch has no batch"):
        job.forecast(num_workers=2 * cores)


def test_workers_that_start_slowly_get_the_time_that_they_need(library: Any) -> None:
    """What one worker took to start is allowed for each, beside what nobody ever takes."""
    allowed: list[float] = []

    class Heard(library.utils.data.DataLoader):  # type: ignore[misc]
        def __init__(self, *given: Any, **options: Any) -> None:
            allowed.append(options["timeout"])
            super().__init__(*given, **options)

    loader = library.utils.data.DataLoader(
        Samples(), 8, worker_init_fn=lambda number: time.sleep(0.4)
    )
    subject = LoaderAndStep(loader, nothing)
    subject.kind = Heard
    subject.made_by = Heard
    with runs.restored():
        assert subject.go(RunRequest(1, 0.1)).batches
        assert subject.go(RunRequest(4, 0.1)).batches
    first, then = allowed
    assert first == NEVER
    assert then >= NEVER + 4 * 0.4


@pytest.mark.parametrize(("method", "more"), [("fork", 0), ("spawn", NEVER_BEGINS)])
def test_a_first_worker_that_imports_everything_has_minutes_to_begin(
    library: Any, method: str, more: float
) -> None:
    """When one has begun it is known how long that takes."""
    load = library.utils.data.DataLoader
    loader = load(Samples(), 8, num_workers=1, multiprocessing_context=method)
    subject = LoaderAndStep(loader, nothing)
    assert subject.options(1, 2, 1)["timeout"] == NEVER + more
    subject.start_of_one = 7.0
    assert subject.options(2, 2, 1)["timeout"] == NEVER + 2 * 7.0


def test_a_generator_of_its_own_draws_on_as_if_nothing_had_been_measured(
    library: Any,
) -> None:
    generator = library.Generator()
    loader = library.utils.data.DataLoader(Samples(), 8, shuffle=True, generator=generator)
    generator.manual_seed(7)
    order = [*loader.sampler]
    generator.manual_seed(7)
    measured(loader)
    assert [*loader.sampler] == order


def test_batches_that_may_overtake_each_other_do_so_in_all_runs_and_in_the_model(
    library: Any,
) -> None:
    loader = library.utils.data.DataLoader(
        Samples(8, first_is_slow), 1, num_workers=2, in_order=False
    )
    job = measured(loader)

    def overtook() -> bool:
        first, *others = job.subject.go(RunRequest(2, 20.0)).batches
        return bool(first.make < max(batch.make for batch in others))

    # On a busy machine the other worker may start after the slow batch; in order, none overtakes.
    assert any(overtook() for _ in range(10))
    assert not job.model()[0].node.arguments["in_order"]


def test_the_step_runs_on_the_thread_that_asks(library: Any) -> None:
    threads: set[Any] = set()
    measured(
        library.utils.data.DataLoader(Samples(), 8),
        lambda batch: threads.add(threading.current_thread()),
    )
    assert threads == {threading.current_thread()}


def test_what_a_gpu_in_use_still_has_to_do_is_part_of_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = Device(launch=0, busy=0.003)
    torch: Any = stand_in_torch.library(device)
    monkeypatch.setitem(sys.modules, "torch", torch)
    loader = torch.utils.data.DataLoader(Samples(80), 8)

    def draws(batch: Any) -> None:
        torch.cuda.set_rng_state_all([2])
        device.launch()

    job = measured(loader, draws)
    assert torch.cuda.get_rng_state_all() == [1]
    on_device = job.numbers.device
    # Whatever else this machine does meanwhile
    assert on_device.train >= 0.003 - on_device.launch
    # Whole nanoseconds
    assert job.forecast()[1] > 10 * on_device.train - 1e-7

    def waits(batch: Any) -> None:
        device.launch()
        device.synchronize()

    assert measured(loader, waits).numbers.device is None
    torch.cuda.is_initialized = lambda: False
    assert measured(loader, draws).numbers.device is None
    assert (
        measure_job(loader, draws, synchronise=device.synchronize).numbers.device
        is not None
    )
    with pytest.raises(TypeError, match="synchronise=3"):
        measure_job(loader, draws, synchronise=3)  # type: ignore[arg-type]


def test_what_is_no_loader_is_refused(library: Any) -> None:
    load = library.utils.data.DataLoader
    with pytest.raises(TypeError, match="must be a DataLoader"):
        measure_job([1, 2, 3], nothing)
    with pytest.raises(TypeError, match="step=3"):
        measure_job(load(Samples(), 4), 3)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="the loader gave no batch: there is nothing to measure"
    ):
        measure_job(load(Samples(0), 4), nothing)


def test_a_setting_that_no_loader_takes_is_refused(library: Any) -> None:
    job = measured(library.utils.data.DataLoader(Samples(), 8))
    for wrong in (
        {"num_workers": -1},
        {"prefetch_factor": 0},
        {"batch_size": 0},
        {"threads": 77},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            job.forecast(**wrong)
    with pytest.raises(TypeError, match="num_workers"):
        job.forecast(num_workers="two")


@pytest.mark.parametrize("call", [3, 30, 60])
def test_ctrl_c_leaves_all_as_it_was(library: Any, call: int) -> None:
    calls: list[int] = []

    def interrupted(batch: Any) -> None:
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt

    samples = Samples(get=slow)
    with pytest.raises(KeyboardInterrupt):
        measured(library.utils.data.DataLoader(samples, 2), interrupted)


def test_a_worker_that_wants_a_core_that_something_else_has_does_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The samples take 20 ms, for all of which the process wanted a core, or for none."""
    waits = []
    for wanted in (0.0, 1.0):
        monkeypatch.setattr(watching, "without_core", count(step=wanted).__next__)
        watching.IN_HAND.forget()
        watching.IN_HAND.add(1)
        time.sleep(0.020)
        waits.append(watching.Collated(list)([0])[1].wait)
    assert waits[0] >= 0.010
    assert waits[1] == 0


# ---- loaders of other libraries, and of users ----


class OtherLibrary:
    """A loader of another library, whose class has the same name."""

    def __iter__(self) -> Iterator[int]:
        return iter([1, 2, 3])


OtherLibrary.__name__ = "DataLoader"


def test_a_loader_of_another_library_is_refused(library: Any) -> None:
    with pytest.raises(TypeError, match="must be a DataLoader as PyTorch has it"):
        measure_job(OtherLibrary(), nothing)


class Shard:
    """A loader as Accelerate prepares one: it says that it is what it wraps."""

    device = "cuda:3"

    def __init__(self, base: Any) -> None:
        self.base_dataloader = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base_dataloader, name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.base_dataloader.__class__

    def __iter__(self) -> Iterator[Any]:
        return iter(self.base_dataloader)


def send_to_device(batch: Any, device: str) -> Any:
    """As the module has it in which such a loader is written."""
    return {"batch": batch, "device": device}


def test_a_prepared_loader_is_measured_and_its_batches_are_moved(library: Any) -> None:
    loader = Shard(library.utils.data.DataLoader(Samples(), 8))
    assert isinstance(loader, library.utils.data.DataLoader)
    devices = set[str]()
    assert measured(loader, lambda batch: devices.add(batch["device"])).samples == 400
    assert devices == {"cuda:3"}


@pytest.mark.parametrize("hook", ["__iter__", "_get_iterator"])
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_that_a_subclass_changes_reach_the_step_so(
    library: Any, hook: str, workers: int
) -> None:
    """In all runs; and an attribute that its own constructor gave it is there."""
    if not hasattr(library.utils.data.DataLoader, hook):
        pytest.skip("it is a detail of PyTorch's")

    class Moving(library.utils.data.DataLoader):  # type: ignore[misc]
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            self.name = "moved"

    def moving(self: Any) -> Iterator[Any]:
        for batch in getattr(super(Moving, self), hook)():
            yield {self.name: batch}

    setattr(Moving, hook, moving)
    loader = Moving(Samples(), 8, num_workers=workers)
    kinds = set[str]()
    job = measured(loader, lambda batch: kinds.update(batch))
    assert job.samples == 400
    assert kinds == {"moved"}


class Again:
    """A sampler that begins again for ever."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from self.sampler


@pytest.mark.parametrize("workers", [0, 2])
def test_a_subclass_that_goes_on_with_one_iterator_is_measured_by_its_batches(
    library: Any, workers: int
) -> None:
    """Its workers stay from epoch to epoch."""

    class Infinite(library.utils.data.DataLoader):  # type: ignore[misc]
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            object.__setattr__(self, "batch_sampler", Again(self.batch_sampler))
            self.iterator = super().__iter__()

        def __len__(self) -> int:
            return len(self.batch_sampler.sampler)

        def __iter__(self) -> Iterator[Any]:
            for _ in range(len(self)):
                yield next(self.iterator)

    loader = Infinite(Samples(), 8, num_workers=workers)
    job = measure_job(loader, nothing)  # its own workers go on meanwhile
    assert (job.samples, job.batches) == (400, 50)
    assert job.now.persistent_workers == (workers > 0)
    if workers:
        loader.iterator._shutdown_workers()


def test_a_subclass_that_gives_other_batches_than_it_takes_is_refused(
    library: Any,
) -> None:
    class Doubling(library.utils.data.DataLoader):  # type: ignore[misc]
        def __iter__(self) -> Iterator[Any]:
            for batch in super().__iter__():
                yield batch
                yield batch

    with pytest.raises(RuntimeError, match="gives other batches than those that it takes"):
        measured(Doubling(Samples(), 8))


class Counting:
    """A sampler with a generator of its own, which counts its epochs."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.draw = random.Random(7)
        self.epoch = 0

    def __len__(self) -> int:
        return 64

    def __iter__(self) -> Iterator[int]:
        self.epoch += 1
        return iter(self.draw.sample(range(64), 64))


def test_a_sampler_is_as_it_was_whatever_it_draws_from(library: Any) -> None:
    """And no dataset is copied for that."""

    class Uncopied(Samples):
        def __deepcopy__(self, _: Any) -> Any:
            raise AssertionError("a dataset may be larger than memory")

    data = Uncopied(64)
    sampler = Counting(data)
    measured(library.utils.data.DataLoader(data, 8, sampler=sampler))
    assert sampler.epoch == 0
    assert [*sampler] == random.Random(7).sample(range(64), 64)


def test_samples_of_a_data_pipe_are_shared_out() -> None:
    data = pytest.importorskip("torch").utils.data
    pipe = data.datapipes.iter.IterableWrapper(range(200)).sharding_filter()
    really = sum(len(batch) for batch in data.DataLoader(pipe, 8, num_workers=2))
    assert really == 200
    assert measured(data.DataLoader(pipe, 8)).total(2) == 200


def test_a_batch_that_takes_long_is_waited_for_as_long_as_the_loader_says(
    library: Any,
) -> None:
    """Or for some times what the longest one was seen to take."""
    load = library.utils.data.DataLoader
    patient = LoaderAndStep(load(Samples(), 8, num_workers=2, timeout=600), nothing)
    assert patient.options(1, 2, 1)["timeout"] == 600
    hasty = LoaderAndStep(load(Samples(), 8), nothing)
    assert hasty.options(1, 2, 1)["timeout"] == NEVER
    hasty.longest = 22.0
    assert hasty.options(1, 2, 1)["timeout"] == 88
    assert hasty.options(1, 2, 2)["timeout"] == 176  # of batches of twice the size
    many = 4 * allowed_cores()
    assert hasty.options(many, 2, 1)["timeout"] == 88 * 4


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_process_that_trains_with_others_is_refused(
    monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    """Ranks that make different numbers of steps wait for each other for ever."""
    torch: Any = stand_in_torch.library()
    torch.distributed = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_world_size=lambda: ranks
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    loader = torch.utils.data.DataLoader(Samples(), 8)
    if ranks == 1:
        assert measured(loader).samples == 400
    else:
        with pytest.raises(RuntimeError, match="one of 2 ranks"):
            measure_job(loader, nothing)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_an_iterable_opens_what_it_needs_in_each_epoch(library: Any, workers: int) -> None:
    """Also where workers stay: each of them, before its first batch."""

    class Shards(library.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            time.sleep(0.2)
            yield from range(40)

    job = measured(library.utils.data.DataLoader(Shards(), 4))
    assert job.numbers.opening > 0.15
    later = job.forecast(num_workers=workers, persistent_workers=workers > 0).later
    assert later > 0.2
