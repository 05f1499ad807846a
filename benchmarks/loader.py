"""`DataLoader`: its rate on the virtual clock beside SimPy, and real processes beside predictions."""

import json
import multiprocessing
import os
from collections.abc import Generator, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import simpy

from benchmarks.measure import compared, limited, number, pairs
from lessonkit import DataLoader, Dataset, Handling, Trace, benchmark

BATCHES, WORKERS, FACTOR = 10_000, 4, 2
COST, TRAIN = 5_000_000, 1_000_000  # ns, simulated: of a sample and of a training step
RATE = 2.5  # times SimPy's, at least
CASES = Path(__file__).parent.parent / "tests" / "data" / "torch_timings"
MEDIAN, NINE_IN_TEN = 2, 6  # %; of the errors of predictions for real processes
LOOPS = 1_000  # that are abandoned


def ours(size: int) -> Trace:
    """Batches of so many samples, in one epoch."""
    samples = Dataset.range(BATCHES * size).map(cost=COST / 1e9)
    loader = DataLoader(samples, size, num_workers=WORKERS, prefetch_factor=FACTOR)
    return benchmark(loader, 1, TRAIN / 1e9, record=False)


def simpys(size: int) -> int:
    """The same in SimPy; the time at which it ends, in nanoseconds."""
    env = simpy.Environment()
    queues = [simpy.Store(env) for _ in range(WORKERS)]
    results = simpy.Store(env)

    def work(tasks: simpy.Store) -> Generator[simpy.Event, Any, None]:
        while True:
            number, indices = yield tasks.get()
            for _ in indices:
                yield env.timeout(COST)
            results.put((number, indices))

    def train() -> Generator[simpy.Event, Any, None]:
        sent = 0
        ready: dict[int, list[int]] = {}

        def send() -> None:
            nonlocal sent
            if sent < BATCHES:
                queues[sent % WORKERS].put(
                    (sent, list(range(sent * size, (sent + 1) * size)))
                )
                sent += 1

        for _ in range(WORKERS * FACTOR):
            send()
        for turn in range(BATCHES):
            while turn not in ready:
                number, batch = yield results.get()
                ready[number] = batch
            del ready[turn]
            send()
            yield env.timeout(TRAIN)

    for tasks in queues:
        env.process(work(tasks))
    env.run(until=env.process(train()))
    return int(env.now)


def cases() -> Iterator[dict[str, Any]]:
    """The random loaders on which PyTorch was measured, as far as they have workers and end their epochs."""
    for case in json.loads(CASES.read_text()):
        spec = case["spec"]
        is_map = spec["dataset"]["kind"] == "map" and not spec["dataset"].get("lazy_open")
        if (
            is_map
            and spec["loader"]["num_workers"]
            and not spec.get("consume")
            and spec["loader"]["in_order"]
        ):
            yield spec


def loader(spec: dict[str, Any], **start: Any) -> DataLoader:
    """Build one; it sleeps as long as PyTorch's data set did."""
    data, said = spec["dataset"], spec["loader"]
    slow = data.get("straggler") or {"every": 1, "offset": 1, "cost": 0}
    costs = data.get("costs") or [data.get("cost", 0)]

    def cost(sample: int) -> float:
        is_slow = sample % slow["every"] == slow.get("offset", 0)
        return float(slow["cost"] if is_slow else costs[sample % len(costs)])

    names = (
        "batch_size",
        "num_workers",
        "prefetch_factor",
        "persistent_workers",
        "drop_last",
    )
    samples = Dataset.range(data["n"]).map(cost=cost)
    return DataLoader(
        samples,
        collate=spec.get("collate", 0),
        **{name: said[name] for name in names},
        **start,
    )


def trained(spec: dict[str, Any], dataset: DataLoader, clock: str) -> Trace:
    """Run it with the loop's own work."""
    times = spec["train"] if isinstance(spec["train"], list) else [spec["train"]]
    turn = count()
    return benchmark(
        dataset, spec["epochs"], lambda _: times[next(turn) % len(times)], clock=clock
    )


def own_start(trace: Trace) -> tuple[Any, Any]:
    """How long the workers of a real run took to start: in `iter`, and until they began their first batch."""
    starts = [span for span in trace.work if span.stage == "Start"]
    begins = [round(epoch.start * 1e9) for epoch in trace.epochs]

    def forked(epoch: int, worker: int) -> Any:
        ends = [*begins[epoch + 1 :], trace.duration * 1e9]
        return next(
            span
            for span in starts
            if span.lane == worker and begins[epoch] <= span.start_ns < ends[0]
        )

    def fork(epoch: int, worker: int) -> float:
        return float(forked(epoch, worker).end - forked(epoch, worker).start)

    def ready(epoch: int, worker: int) -> float:
        begun: float = forked(epoch, worker).end
        work: list[float] = [
            span.start
            for span in trace.work
            if span.lane == worker and span.stage in ("Map", "Collate")
        ]
        first: float = min((start for start in work if start >= begun), default=begun)
        return max(0.0, first - begun)

    return fork, ready


def ending(workers: int) -> float:
    """How long it takes here to end so many processes that have nothing to do, the median."""
    samples = Dataset.range(8 * workers).map(cost=0.002)
    gaps = []
    for _ in range(9):
        real = benchmark(
            DataLoader(samples, 1, num_workers=workers), 1, 0.005, clock="real"
        )
        gaps.append(
            real.duration - max(span.end for span in real.work if span.stage == "Train")
        )
    return median(gaps)


def own_handling() -> Handling:
    """What ending processes takes here; PyTorch's cases come with the same number for PyTorch."""
    one, four = ending(1), ending(4)
    each = max(0.0, (four - one) / 3)
    return Handling(stop=max(0.0, one - each), stop_each=each)


def processes(quick: bool) -> Iterator[str]:
    """The errors of predictions for real processes that sleep, each with its own start-up times."""
    errors = []
    handling = own_handling()
    for spec in list(cases())[: 12 if quick else None]:
        real = trained(spec, loader(spec), "real")
        told = trained(
            spec, loader(spec, start=own_start(real), handling=handling), "virtual"
        )
        pairs_of = zip(real.epochs, told.epochs, strict=True)
        errors += [
            100 * abs(ours.duration / theirs.duration - 1) for theirs, ours in pairs_of
        ]
    errors.sort()
    yield limited(
        f"real processes, {len(errors)} epochs: median error",
        median(errors),
        MEDIAN,
        "%",
    )
    yield limited(
        "the same, 90th percentile", errors[int(0.9 * len(errors))], NINE_IN_TEN, "%"
    )


def abandoned(loops: int) -> str:
    """What is left of loops that somebody leaves after a batch: processes and open files."""
    dataset = DataLoader(Dataset.range(100), 2, num_workers=2)
    next(iter(dataset))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(loops):
        next(iter(dataset))
    left = len(multiprocessing.active_children()) + max(
        0, len(os.listdir("/proc/self/fd")) - before
    )
    return limited(f"left of {loops:,} abandoned loops", left, 1, "")


def rows(quick: bool) -> Iterator[str]:
    """The rate with batches of one sample, and of eight; what real processes do."""
    for size in (1, 8):
        assert round(ours(size).duration * 1e9) == simpys(size)
        took = pairs(partial(ours, size), partial(simpys, size), 3 if quick else 9)
        mine, theirs = (
            number(BATCHES / time / 1e3, "k/s") for time in (took.ours, took.peer)
        )
        ratio = 1 / took.ratio
        yield compared(
            f"batches of {size}, {WORKERS} workers / SimPy",
            mine,
            theirs,
            ratio,
            f">= {RATE}",
            ratio >= RATE,
        )
    yield from processes(quick)
    yield abandoned(LOOPS // 10 if quick else LOOPS)
