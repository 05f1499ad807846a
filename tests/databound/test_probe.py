"""The verdicts of the three-run test, on a clock that only moves when it is told to."""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import pytest

from databound import probe
from databound.advise import three_runs
from databound.advise.three_runs import ThreeRuns
from databound.measure import storage
from databound.measure.storage import Read
from lessonkit import DataLoader, Dataset


class Clock:
    """Time that goes on when somebody spends it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds


def probed(clock: Clock, loader: Any, step: Any, **options: Any) -> ThreeRuns:
    """Probe a loop whose time is that of *clock*."""
    times: Any = {"perf_counter": clock, "sleep": clock.spend}
    with patch.multiple("databound.advise.three_runs", **times):
        return probe(loader, step, **options)


class Loader:
    """Makes batches one after the other up to *depth* ahead; each takes the next of *times*."""

    def __init__(
        self, clock: Clock, times: list[float], depth: int = 0, batch: Any = 0
    ) -> None:
        self.clock, self.times, self.depth, self.batch = clock, times, depth, batch
        # Passes over it, and what the machine adds to one
        self.hiccups: dict[int, float] = {}
        self.passes = 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        extra = self.hiccups.get(self.passes, 0.0)
        ready = [self.clock()]  # when each batch is there, or will be
        taken: list[float] = []
        while True:
            number = len(taken)
            place = taken[number - self.depth - 1] if number > self.depth else ready[0]
            began = max(ready[-1], place) if self.depth else self.clock()
            took = self.times[number % len(self.times)] + (extra if number == 7 else 0)
            ready.append(began + took)
            self.clock.now = max(self.clock.now, ready[-1])
            taken.append(self.clock.now)
            yield self.batch


def verdict(
    times: list[float],
    step: float,
    depth: int = 0,
    hiccups: dict[int, float] | None = None,
) -> ThreeRuns:
    clock = Clock()
    loader = Loader(clock, times, depth)
    loader.hiccups = hiccups or {}
    return probed(clock, loader, lambda batch: clock.spend(step))


def test_a_loader_and_a_step_that_take_turns_do_not_overlap() -> None:
    said = verdict([0.025], 0.010)
    assert said.kind == "they take turns"
    assert [round(seconds, 6) for seconds in said[:3]] == [0.025, 0.010, 0.035]
    assert said.sentence.startswith(
        "they take turns (loader 25 ms and step 10 ms per batch alone, 35 ms together): the step\n"
    )


def test_a_step_that_waits_is_data_bound() -> None:
    assert verdict([0.025], 0.010, depth=2).kind == "data-bound"


def test_a_loader_that_keeps_up_is_compute_bound() -> None:
    assert verdict([0.010], 0.025, depth=2).kind == "step-bound"
    assert verdict([0.0], 0.025).kind == "step-bound"


def test_bursts_behind_a_shallow_buffer_are_told_from_both_bounds() -> None:
    assert verdict([0.080, 0, 0, 0], 0.020, depth=1).kind == "cannot tell"
    assert verdict([0.080, 0, 0, 0], 0.020, depth=8).kind in (
        "data-bound",
        "step-bound",
    )


def test_a_loop_slower_than_both_in_a_row_competes_for_something() -> None:
    clock = Clock()
    last = ""

    def spend(name: str) -> None:
        nonlocal last
        clock.spend(0.010 if last in ("", name) else 0.030)
        last = name

    def loader() -> Iterator[int]:
        while True:
            spend("loader")
            yield 0

    said = probed(clock, loader, lambda batch: spend("step"))
    assert said.kind == "both want the same cores"
    assert "Give the step fewer threads" in said.sentence


@pytest.mark.parametrize(
    ("loader", "step", "both", "ready", "kind"),
    [
        # Half of what the step waits, for batches that are ready, is the loop's own time
        (0.50, 0.50, 1.00, 0.24, "they take turns"),
        (0.50, 0.50, 1.00, 0.26, "the loop's own time"),
        # A quarter more than one after the other is more than a measurement varies
        (0.90, 0.60, 1.86, 0.0, "they take turns"),
        (0.90, 0.60, 1.89, 0.0, "both want the same cores"),
        # Of the shorter of the two, less than a quarter is hidden, some of it, or three quarters
        (0.60, 0.40, 0.92, 0.0, "they take turns"),
        (0.60, 0.40, 0.88, 0.0, "cannot tell"),
        (0.60, 0.40, 0.72, 0.0, "cannot tell"),
        (0.60, 0.40, 0.68, 0.0, "data-bound"),
        (0.40, 0.60, 0.72, 0.0, "cannot tell"),
        (0.40, 0.60, 0.68, 0.0, "step-bound"),
        (0.50, 0.50, 0.50, 0.0, "step-bound"),
        # Whether a tenth of the longer is hidden does not matter
        (1.00, 0.09, 1.09, 0.0, "data-bound"),
        (1.00, 0.11, 1.11, 0.0, "they take turns"),
        (0.09, 1.00, 1.09, 0.0, "step-bound"),
        # As long as there is a tenth of the loop to save
        (0.11, 1.00, 1.11, 0.0, "step-bound"),
        (0.12, 1.00, 1.12, 0.0, "they take turns"),
    ],
)
def test_each_verdict_begins_where_it_says(
    loader: float, step: float, both: float, ready: float, kind: str
) -> None:
    assert ThreeRuns(loader, step, both, samples=1, ready=ready).kind == kind


class Handed(Loader):
    """A loader with workers, whose loop needs *own* seconds for each batch, ready or not."""

    num_workers = 2

    def __init__(self, clock: Clock, times: list[float], own: float) -> None:
        super().__init__(clock, times, depth=4)
        self.own = own

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            self.clock.spend(self.own)
            yield batch


@pytest.mark.parametrize(
    ("made", "own", "step", "kind"),
    [
        # The step is short: it looked data-bound
        (0.001, 0.003, 0.001, "the loop's own time"),
        # And here as if nothing was made ahead
        (0.001, 0.004, 0.006, "the loop's own time"),
        (0.020, 0.003, 0.001, "data-bound"),
        (0.001, 0.003, 0.040, "step-bound"),
    ],
)
def test_what_the_loop_spends_on_ready_batches_is_told_from_waiting(
    made: float, own: float, step: float, kind: str
) -> None:
    clock = Clock()
    said = probed(clock, Handed(clock, [made], own), lambda batch: clock.spend(step))
    assert said.ready == pytest.approx(own)
    assert said.kind == kind
    assert f"; {own * 1e3:.3g} ms to take a batch that is ready)" in said.sentence.replace(
        "\n", " "
    )


def test_ready_batches_of_our_own_loader_are_measured() -> None:
    loader = DataLoader(Dataset.range(60).map(lambda number: number), 2, num_workers=2)
    assert probe(loader, lambda batch: None, batches=8).ready > 0
    loader = DataLoader(Dataset.range(60), 2)
    assert probe(loader, lambda batch: None, batches=8).ready == 0


@pytest.mark.parametrize("run", range(1, 7))
def test_one_hiccup_of_the_machine_does_not_change_the_verdict(run: int) -> None:
    for times, step, depth, kind in [
        ([0.025], 0.010, 0, "they take turns"),
        ([0.025], 0.010, 2, "data-bound"),
        ([0.010], 0.025, 2, "step-bound"),
        ([0.080, 0.0, 0.0, 0.0], 0.020, 1, "cannot tell"),
    ]:
        said, clean = (
            verdict(times, step, depth, hiccups={run: 0.5}),
            verdict(times, step, depth),
        )
        assert said.kind == kind
        for one, other in zip(said[:3], clean[:3], strict=True):
            assert one == pytest.approx(other)


def test_the_first_batches_do_not_count() -> None:
    clock = Clock()

    def loader() -> Iterator[int]:
        clock.spend(3.0)  # workers start
        while True:
            clock.spend(0.010)
            yield 0

    assert probed(clock, loader, lambda batch: None).loader == pytest.approx(0.010)
    slow = probed(clock, loader, lambda batch: None, skip=0, batches=10)
    assert slow.loader == pytest.approx(0.310)


def test_the_accelerator_is_waited_for_at_the_end_of_a_run() -> None:
    clock = Clock()
    queued = 0.0

    def step(batch: int) -> None:
        nonlocal queued
        queued = max(queued, clock.now) + 0.020  # only begun

    def synchronise() -> None:
        clock.now = max(clock.now, queued)

    loader = Loader(clock, [0.010])
    assert probed(clock, loader, step, synchronise=synchronise).kind == "step-bound"


class Array:
    """As much of an array as counts here."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0]


@pytest.mark.parametrize(
    ("batch", "samples"),
    [
        (7, 1),
        ([1, 2, 3], 3),
        (([1, 2, 3], [4, 5, 6]), 3),
        ({"image": Array(4, 8), "label": Array(4)}, 4),
        ([Array(5, 8, 8), Array(5)], 5),  # as PyTorch puts images and labels together
        ({}, 1),
        ("text", 1),
    ],
    ids=repr,
)
def test_a_batch_is_as_many_samples_as_its_first_part(batch: Any, samples: int) -> None:
    clock = Clock()
    said = probed(clock, Loader(clock, [0.012], batch=batch), lambda batch: None)
    assert said.samples == samples


def test_the_table_is_for_people() -> None:
    assert str(verdict([0.025], 0.010)).splitlines()[:4] == [
        "ms         per batch  per sample",
        "loader        25.000      25.000",
        "step          10.000      10.000",
        "both          35.000      35.000",
    ]


class Shared:
    """A loader whose passes share one iterator."""

    def __init__(self) -> None:
        self.batches = iter(range(30))

    def __iter__(self) -> Iterator[int]:
        yield from self.batches


def raising() -> Iterator[int]:
    yield from range(3)
    raise OSError("disk gone")


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        (x for x in range(99)),
        ValueError,
        "can be iterated only once; give the function that makes it",
    ),
    (
        Shared(),
        ValueError,
        "gave too few batches, 8 of 22: set batches= to fewer, or give a function",
    ),
    (list, ValueError, "the loader gave too few batches, 0 of 22"),
    (
        range(21),
        ValueError,
        "the loader gave too few batches, 21 of 22: set batches= to fewer",
    ),
    (raising, RuntimeError, "the loader raised at batch 4: OSError('disk gone')"),
    (
        None,
        TypeError,
        "loader=None: must be an iterable, or a function that makes one",
    ),
    (
        lambda: 3,
        TypeError,
        "loader=3: must be an iterable, or a function that makes one",
    ),
]


@pytest.mark.parametrize(
    ("loader", "error", "message"), REFUSED, ids=[message for *_, message in REFUSED]
)
def test_a_loader_that_cannot_be_probed_is_refused(
    loader: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        probe(loader, lambda batch: None)
    assert message in str(raised.value)


def test_wrong_arguments_are_refused() -> None:
    wrong: Any = [{"step": 3}, {"batches": 0}, {"skip": -1}, {"synchronise": 3}]
    for options in wrong:
        with pytest.raises((TypeError, ValueError)):
            probe(range(99), **{"step": print} | options)


def test_an_error_of_the_step_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        probe(range(99), lambda batch: 1 / 0)


@pytest.mark.parametrize(
    ("measured", "kind"),
    [
        ((56.4, 16.8, 70.8, 16), "they take turns"),  # images, alone and with two workers
        ((29.6, 14.3, 67.0, 16, 3.39), "both want the same cores"),
        ((25.0, 22.6, 30.1, 8, 2.32), "data-bound"),  # lines of text, with two workers
        ((0.368, 0.411, 0.846, 64), "they take turns"),  # tensors in memory
        ((1.47, 0.408, 2.49, 64, 1.80), "the loop's own time"),
    ],
)
def test_real_jobs_get_the_verdict_that_their_settings_bear_out(
    measured: tuple[Any, ...], kind: str
) -> None:
    assert ThreeRuns(*measured).kind == kind


class Cold:
    """Draws samples anew for each pass, with *draw*; one that was not read before takes long."""

    def __init__(self, clock: Clock, draw: Any) -> None:
        self.clock, self.draw = clock, draw
        self.cached = set[int]()
        self.fetched = 0

    def __iter__(self) -> Iterator[list[int]]:
        for sample in self.draw.sample(range(1000), 30):
            is_cached = sample in self.cached
            self.clock.spend(0.010 if is_cached else 0.040)
            self.fetched += 0 if is_cached else 1_000_000
            self.cached.add(sample)
            yield [sample]

    def read(self) -> Read:
        return Read(1_000_000, self.fetched)


@pytest.mark.parametrize("drawn_by", ["random states that are restored", "one of its own"])
def test_a_fourth_run_over_the_same_samples_shows_what_storage_took(drawn_by: str) -> None:
    clock = Clock()
    own = drawn_by == "one of its own"
    loader = Cold(clock, random.Random(1) if own else random)
    with ExitStack() as patches:
        for module in (three_runs, storage):
            patches.enter_context(patch.object(module, "read_so_far", loader.read))
        said = probed(clock, loader, lambda batch: clock.spend(0.005))
    if own:
        assert said.storage is None
        assert "storage" not in str(said)
    else:
        assert said.storage
        assert said.storage.share == pytest.approx(0.75)
        assert "of the first was storage" in " ".join(str(said).split())


def test_where_nothing_is_read_from_storage_no_fourth_run_is_made() -> None:
    clock = Clock()
    loader = Loader(clock, [0.010])
    with ExitStack() as patches:
        for module in (three_runs, storage):
            patches.enter_context(patch.object(module, "read_so_far", lambda: Read(5, 5)))
        said = probed(clock, loader, lambda batch: clock.spend(0.005))
    assert loader.passes == 6
    assert said.storage is None


def test_random_states_are_as_before() -> None:
    clock = Clock()
    before = random.getstate()
    probed(clock, Cold(clock, random), lambda batch: clock.spend(0.005))
    assert random.getstate() == before
