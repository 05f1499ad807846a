"""When each batch reaches the loop, and how long an epoch takes: measured on real PyTorch.

Each loader runs until so many runs had a quiet machine, or as often as is reasonable; then the quietest
runs count. The time of an epoch is their median; every other time is from the run in the middle.
"""

import os
import resource
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple, cast

from evidence.loaders.form import Spec
from evidence.loaders.run import Epoch, Ran, run, warm_up
from evidence.record import Case, Conditions, Json

QUIET = 0.25  # cores that other programs may take meanwhile
TRIES = 5  # at most
PATIENCE = 3  # s, to wait for a quiet moment before a run
LOOK = 0.3  # s, to see how quiet it is


class Run(NamedTuple):
    """The epochs of one run, and the cores that other programs took meanwhile."""

    epochs: list[Epoch]
    others: float

    @property
    def seconds(self) -> float:
        """The whole."""
        return sum(epoch.whole_s for epoch in self.epochs)


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each loader and note when its batches arrive."""
    warm_up()
    for case in cases:
        comes_first = (
            conditions.get("priority") == "real-time"
        )  # whatever other programs do
        runs = conditions["runs"]
        spec = case["spec"]
        found = (
            [watched(spec) for _ in range(runs)] if comes_first else quietest(spec, runs)
        )
        middle = sorted(found, key=lambda one: one.seconds)[len(found) // 2]
        orders = [[epoch.batches for epoch in one.epochs] for one in found]
        yield case | {
            "order_stable": all(order == orders[0] for order in orders),
            "others_cpu": [round(one.others, 2) for one in found],
            "epochs": [
                in_milliseconds(number, middle, found, spec)
                for number in range(len(middle.epochs))
            ],
        }


def quietest(spec: Spec, count: int) -> list[Run]:
    """Run until *count* runs were quiet, or often enough; return the quietest."""
    found: list[Run] = []
    while len(found) < TRIES and sum(one.others < QUIET for one in found) < count:
        wait_for_quiet()
        found.append(watched(spec))
    return sorted(found, key=lambda one: one.others)[:count]


def watched(spec: Spec) -> Run:
    """Run the loader once, and see what other programs do meanwhile.

    Raise ValueError if it cannot be built: such a case says nothing about time.
    """
    before = others_seconds()
    began = time.perf_counter()
    result = run(spec)
    if not isinstance(result, Ran):
        raise ValueError(
            f"{spec['name']}: must be a loader that can be built; {result.error}"
        )
    others = (others_seconds() - before) / (time.perf_counter() - began)
    return Run(result.epochs, max(0.0, others))


def others_seconds() -> float:
    """Return the seconds of all cores so far that were neither idle nor ours."""
    line = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0]
    ticks = [int(number) for number in line.split()[1:9]]
    idle = ticks[3]
    waiting = ticks[4]
    busy = (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK")
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        busy -= used.ru_utime + used.ru_stime
    return busy


def wait_for_quiet() -> None:
    """Wait for a moment in which other programs do little; not for ever."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        before = others_seconds()
        time.sleep(LOOK)
        if (others_seconds() - before) / LOOK < QUIET:
            return


def in_milliseconds(number: int, middle: Run, runs: list[Run], spec: Spec) -> Json:
    """Return an epoch as the file has it."""
    epoch = middle.epochs[number]
    whole = [rounded(one.epochs[number].whole_s) for one in runs]
    found: dict[str, Json] = {
        "batches": epoch.batches,
        "worker": epoch.worker,
        "outcome": epoch.outcome,
        "epoch_ms": median(whole),
        "epoch_ms_runs": whole,
        "this_run_ms": rounded(epoch.whole_s),
        "iter_ms": rounded(epoch.iter_s),
        "arrival_ms": [rounded(at) for at in epoch.arrivals],
        "ready_ms": {
            str(worker): rounded(at) for worker, at in sorted(epoch.ready.items())
        },
    }
    if spec["loader"].get("shuffle"):
        found["order"] = cast(Json, epoch.order)
    return found


def rounded(seconds: float) -> float:
    """Return milliseconds."""
    return round(1000 * seconds, 2)
