"""How far the model is off: each measured run of `data` beside the run that the model predicts."""

from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import Any, NamedTuple

from evidence import tfdata_cases, torch_cases
from evidence.many_cases import cases
from lessonkit import DataLoader, Dataset, Machine, Storage, Trace, benchmark, work
from lessonkit.engine.ranks import Ranks
from lessonkit.optimize import rewrite

TFDATA_ELEMENTS = (
    "tfdata_elements",
    "tfdata_random_elements",
    "tfdata_batch_elements",
    "tfdata_operator_elements",
)
TFDATA_TIMES = (
    "tfdata_timings",
    "tfdata_guide_timings",
    "tfdata_batch_timings",
)
TORCH_TIMES = ("torch_timings", "torch_rule_timings")
ALL_REDUCE = 0.0008  # seconds, which each step of several ranks takes beside its own time


class Errors(NamedTuple):
    """How far off the times of epochs and of arrivals are, as shares of what was measured."""

    epochs: list[float]
    arrivals: list[float]


class RankErrors(NamedTuple):
    """How far off runs and waits are, as shares of a run, and whether the slowest rank is the right one."""

    runs: list[float]
    waits: list[float]
    is_slowest: list[bool]


class ReadErrors(NamedTuple):
    """How far off the last read of a run is, and each read, as shares of what was measured."""

    last: list[float]
    each: list[float]


def half(errors: Sequence[float]) -> float:
    """Return by how much half of the runs are off at most."""
    return median(map(abs, errors))


def nine_in_ten(errors: Sequence[float]) -> float:
    """Return by how much nine in ten of the runs are off at most."""
    return sorted(map(abs, errors))[int(0.9 * len(errors))]


# ---- tf.data ----


def tfdata_run(case: dict[str, Any], rules: Sequence[str] = ()) -> Trace:
    """Return the run that the model predicts for a pipeline of tf.data, rewritten by *rules*."""
    pipeline = case["pipeline"]
    return benchmark(
        rewrite(tfdata_cases.build(pipeline), rules).dataset,
        num_epochs=len(case["epochs"]),
        train=pipeline["train"],
        machine=Machine(tfdata_cases.CORES),
    )


def of_run(trace: Trace, measured: list[dict[str, Any]]) -> Errors:
    """Return how far off the epochs of *trace* and their arrivals are from what was *measured*."""
    epochs = []
    arrivals = []
    for ours, theirs in zip(trace.epochs, measured, strict=True):
        took = theirs["epoch_ms"]
        epochs.append(abs(ours.duration * 1e3 - took) / took)
        arrivals += [
            abs(mine * 1e3 - yours) / took
            for mine, yours in zip(ours.arrivals, theirs["arrival_ms"], strict=True)
        ]
    return Errors(epochs, arrivals)


@cache
def of_tfdata(*names: str) -> Errors:
    """Return the errors of the files of these *names*, or of all."""
    epochs = list[float]()
    arrivals = list[float]()
    found = [case for name in names or TFDATA_TIMES for case in tfdata_cases.cases(name)]
    for case in found:
        errors = of_run(tfdata_run(case), case["epochs"])
        epochs += errors.epochs
        arrivals += errors.arrivals
    return Errors(sorted(epochs), sorted(arrivals))


# ---- PyTorch ----


def torch_run(case: dict[str, Any], *, measured_start: bool) -> list[torch_cases.Pass]:
    """Return the epochs that the model predicts for a loader; its workers start as measured, or all alike."""
    spec = case["spec"]
    return torch_cases.run(spec, torch_cases.loader(spec, case["epochs"], measured_start))


@cache
def of_torch(*, measured_start: bool) -> Errors:
    """Return the errors of all loaders of PyTorch."""
    epochs = []
    arrivals = []
    for case in torch_cases.cases("epochs", *TORCH_TIMES):
        predicted = torch_run(case, measured_start=measured_start)
        for ours, theirs in zip(predicted, case["epochs"], strict=True):
            real = theirs["this_run_ms" if measured_start else "epoch_ms"]
            epochs.append(abs(ours.epoch_ms - real) / real)
            if theirs["arrival_ms"] and len(theirs["arrival_ms"]) == len(ours.arrival_ms):
                last = theirs["arrival_ms"][-1]
                arrivals.append(abs(ours.arrival_ms[-1] - last) / last)
    return Errors(sorted(epochs), sorted(arrivals))


# ---- several ranks ----


def ranks_run(case: dict[str, Any]) -> Ranks:
    """Return the run that the model predicts for a job on several ranks."""
    loads = case["loads"]
    steps = case["steps"]
    workers = case["workers"]

    def pipeline(rank: int) -> Dataset:
        batches = Dataset.from_list([(rank, number) for number in range(len(loads[rank]))])
        batches = batches.map(cost=lambda batch: loads[batch[0]][batch[1]], stage="Load")
        more = {"prefetch_factor": case["prefetch"]} if workers else {}
        return DataLoader(batches, batch_size=None, num_workers=workers, **more)

    return benchmark(
        pipeline,
        num_epochs=1,
        ranks=len(loads),
        train=lambda batch: steps[batch[0]][batch[1]] + ALL_REDUCE,
    )


@cache
def of_ranks() -> RankErrors:
    """Return the errors of all jobs on several ranks."""
    runs = []
    waits = []
    is_slowest = []
    for case in cases("ranks"):
        found = ranks_run(case)
        measured = case["measured"]
        whole = max(row[-1][3] for row in measured)
        runs.append(found.duration / whole - 1)
        for rank, rows in enumerate(measured):
            own, others = found.waits(rank)
            waits.append((own - sum(got - asked for asked, got, _, _ in rows)) / whole)
            theirs = sum(ended - ALL_REDUCE - computed for _, _, computed, ended in rows)
            waits.append((sum(others.values()) - theirs) / whole)
        for number, step in enumerate(found.steps):
            last = sorted(rows[number][2] for rows in measured)
            if len(last) > 1 and last[-1] - last[-2] > 0.003:
                is_slowest.append(measured[step.slowest][number][2] == last[-1])
    return RankErrors(runs, waits, is_slowest)


# ---- shared storage ----


def storage_run(case: dict[str, Any]) -> Trace:
    """Return the run that the model predicts for readers of one storage.

    They are workers of a loader: worker r reads its own objects, one after another.
    """
    said = {name: value for name, value in case["store"].items() if value is not None}
    storage = Storage(**said)
    readers = case["readers"]
    count = len(readers)
    most = max(map(len, readers))
    sizes = {
        row * count + reader: one
        for reader, mine in enumerate(readers)
        for row, one in enumerate(mine)
    }

    def compute(number: int) -> int:
        work(sizes.get(number, (0, 0))[1], "Compute")
        return number

    def size(number: int) -> float:
        return float(sizes.get(number, (0, 0))[0])

    objects = (
        Dataset.range(count * most).map(cost=storage.read(size), stage="Get").map(compute)
    )
    loader = DataLoader(
        objects,
        num_workers=count,
        prefetch_factor=most + 1,
        start=(0, lambda epoch, reader: reader * case["stagger"]),
    )
    return benchmark(loader, num_epochs=1, train=0)


@cache
def of_storages() -> ReadErrors:
    """Return the errors of all readers of a shared storage."""
    lasts = []
    each = []
    for case in cases("storages"):
        trace = storage_run(case)
        count = len(case["readers"])
        ends = {span.sample: span.end for span in trace.work if span.stage == "Get"}
        for reader, measured in enumerate(case["ends"]):
            told = [ends[row * count + reader] for row in range(len(measured))]
            each += [mine / theirs - 1 for mine, theirs in zip(told, measured, strict=True)]
        last = max(
            end
            for number, end in ends.items()
            if number // count < len(case["readers"][number % count])
        )
        lasts.append(last / max(map(max, case["ends"])) - 1)
    return ReadErrors(lasts, each)
