"""How near predictions come to our own forked processes: the random loaders on which PyTorch was measured.

The processes sleep as long as PyTorch's data sets did. A prediction is given how long each worker took
to start.

python -m evidence.loaders.forked           # two minutes
python -m evidence.loaders.forked --quick   # some of them
"""

import sys
from collections.abc import Iterator
from itertools import count
from statistics import median
from typing import Any

from evidence import record
from evidence.jobs import goals
from lessonkit import DataLoader, Dataset, Handling, Trace, benchmark

# Goals, in per cent: how far predictions of epochs are off in the median, and nine in ten of them
MEDIAN = 2
NINE_IN_TEN = 6
QUICK = 12  # loaders


def specs() -> Iterator[dict[str, Any]]:
    """The random loaders on which PyTorch was measured, as far as they have workers and end their epochs."""
    for case in record.cases("torch_timings"):
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
    data = spec["dataset"]
    said = spec["loader"]
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
    one = ending(1)
    four = ending(4)
    each = max(0.0, (four - one) / 3)
    return Handling(stop=max(0.0, one - each), stop_each=each)


def rows(quick: bool) -> Iterator[str]:
    """The errors of predictions for real processes that sleep, each with its own start-up times."""
    errors = []
    handling = own_handling()
    for spec in list(specs())[: QUICK if quick else None]:
        real = trained(spec, loader(spec), "real")
        told = trained(
            spec, loader(spec, start=own_start(real), handling=handling), "virtual"
        )
        pairs_of = zip(real.epochs, told.epochs, strict=True)
        errors += [
            100 * abs(ours.duration / theirs.duration - 1) for theirs, ours in pairs_of
        ]
    errors.sort()
    yield goals.at_most(
        f"real processes, {len(errors)} epochs: median error",
        median(errors),
        MEDIAN,
        "%",
    )
    yield goals.at_most(
        "the same, 90th percentile", errors[int(0.9 * len(errors))], NINE_IN_TEN, "%"
    )


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(row, flush=True)
