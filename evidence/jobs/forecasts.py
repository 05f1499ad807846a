"""Whether a measured job foretells what its settings really take, and what its advice is worth.

There are six jobs: the three of lesson 11, and with PyTorch three more. Each is really run with up to
4 workers, before it is measured and after; a forecast is compared with the median. Then the first
change of `recommend` is really run, and compared with the best setting that was tried by hand. At the
end comes `advise` on a measured pipeline of real data.

python -m evidence.jobs.forecasts --rounds 3                     # all of it, about 25 minutes
python -m evidence.jobs.forecasts --rounds 3 --store notebooks   # also writes what lesson 11 shows
python -m evidence.jobs.forecasts --only text
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from databound import measure_job, recommend, save_job
from databound.advise.rows import TableRow
from databound.measure.runs import restored
from evidence.jobs import goals
from lessonkit import Dataset, work
from lessonkit.analysis import advise, measure
from lessonkit.lessons import find_answers

find_answers()

import jobs_11  # noqa: E402 - beside the lesson

LESSONS = ("images", "http", "text")
OTHERS = ("photos", "lines", "tensors") if jobs_11.torch else ()
# What differs from a loader without workers; *times* is that of its batches' size
GRID: list[dict[str, Any]] = [
    *({"num_workers": workers} for workers in (0, 1, 2, 4)),
    {"num_workers": 2, "prefetch_factor": 1},
    *({"num_workers": workers, "persistent_workers": True} for workers in (2, 4)),
    {"num_workers": 2, "times": 2},
    *({"num_workers": workers, "threads": 1} for workers in (0, 2, 4)),
    {"num_workers": 2, "persistent_workers": True, "threads": 1},
]
# Goals, in per cent: how far forecasts are off in the median and nine in ten of them, and how much
# longer a training takes with the first change of `recommend` than with the best setting by hand
MEDIAN = 5
NINE_IN_TEN = 15
BEHIND_BEST = 5
# Goals, in seconds
MEASURING = 15
RECOMMENDING = 30
ADVISING = 2

Setting = dict[str, Any]
Run = Callable[[Setting], list[float]]


class Tried(NamedTuple):
    """A *setting* that was really run: the seconds of the two epochs of each of its *runs*."""

    setting: Setting
    runs: list[list[float]]

    @property
    def times(self) -> list[float]:
        """The medians of the first and of a later epoch."""
        return [median(epoch) for epoch in zip(*self.runs, strict=True)]

    @property
    def training(self) -> float:
        """The mean seconds of an epoch in a training of several."""
        return TableRow({}, self.times[0], self.times[1], 0).mean


@contextmanager
def job_of(kind: str) -> Iterator[tuple[Any, Callable[[Any], Any], Run]]:
    """Give a loader without workers, its step, and a function that runs both in a setting."""
    if kind not in LESSONS:
        from evidence.jobs import torch_jobs

        data, said, step = torch_jobs.JOBS[kind]()
        load = jobs_11.torch.utils.data.DataLoader
        yield load(data, **said), step, lambda setting: run(load, data, said, step, setting)
        return
    with jobs_11.jobs() as all_jobs:
        loader, step = all_jobs[kind]
        data = loader.dataset if jobs_11.torch else Dataset(loader.node.inputs[0])
        size = loader.batch_size if jobs_11.torch else loader.node.arguments["batch_size"]
        said = {"batch_size": size, "shuffle": True}
        yield loader, step, lambda setting: run(type(loader), data, said, step, setting)


def run(load: Any, data: Any, said: Setting, step: Any, setting: Setting) -> list[float]:
    """Return the seconds of two epochs with a *setting*, really run."""
    changed = {name: setting[name] for name in setting if name not in ("threads", "times")}
    changed["batch_size"] = setting.get("times", 1) * said["batch_size"]
    if not setting["num_workers"]:
        changed.pop("prefetch_factor", None)
    with restored() as torch:
        if torch and "threads" in setting:
            torch.set_num_threads(setting["threads"])
        loader = load(data, **(said | changed))
        times = []
        for _ in range(2):
            began = time.perf_counter()
            for batch in loader:
                step(batch)
            times.append(time.perf_counter() - began)
    return times


# One measurement from its start to its table, in the order in which things are run.
def compared(kind: str, rounds: int, store: Path | None) -> Iterator[str]:  # noqa: PLR0915
    """Really run a job in many settings, measure it, and give the lines of the table."""
    tried = [Tried(setting, []) for setting in GRID]
    with job_of(kind) as (loader, step, run):
        run(GRID[0])  # warm
        for turn in range(rounds + 1):
            if turn == rounds // 2:
                began = time.perf_counter()
                job = measure_job(loader, step)
                measuring = time.perf_counter() - began
                found = recommend(job)
                recommending = time.perf_counter() - began
            for one in tried if turn < rounds else ():
                one.runs.append(run(one.setting))

        def full(setting: Setting) -> Setting:
            said = {name: setting[name] for name in setting if name != "times"}
            said["batch_size"] = setting.get("times", 1) * job.batch_size
            return asdict(job.setting(**said))

        # A step that only waits has one number of threads
        known = job.numbers.threads
        tried = [
            one for one in tried if one.setting.get("threads", next(iter(known))) in known
        ]
        grid = {repr(full(one.setting)): one for one in tried}
        changes = [{"num_workers": 0} | change.settings for change in found.changes]
        for change in changes if store else changes[:1]:
            if repr(full(change)) not in grid:
                runs = [run(change) for _ in range(rounds)]
                grid[repr(full(change))] = Tried(change, runs)
    off = []
    spread = []
    for one in tried:
        told = job.forecast(**full(one.setting))
        off += [abs(said / took - 1) for said, took in zip(told, one.times, strict=True)]
        spread += [
            abs(epoch / usual - 1)
            for epochs in one.runs
            for epoch, usual in zip(epochs, one.times, strict=True)
        ]
        words = " ".join(f"{name}={value}" for name, value in one.setting.items())
        both = " ".join(
            f"{said:7.3f} for {took:7.3f} {said / took - 1:+6.1%}"
            for said, took in zip(told, one.times, strict=True)
        )
        print(f"{kind:8}{words:58}{both}", file=sys.stderr, flush=True)
    print(found, file=sys.stderr, flush=True)
    best = min(one.training for one in tried if "times" not in one.setting)
    first = grid[repr(full((changes or GRID)[0]))].training
    if store and kind in LESSONS:
        save_job(job, store / f"{kind}_11.json")
        rows = [(full(one.setting), one.times) for one in grid.values()]
        rows = [row for row in rows if row[0].pop("batch_size") == job.batch_size]
        text = json.dumps(
            [(said, [round(each, 3) for each in times]) for said, times in rows]
        )
        (store / f"tried_{kind}_11.json").write_text(text, encoding="utf-8")
    what = f"{kind}: {len(off)} forecasts off by: median"
    yield goals.at_most(what, 100 * median(off), MEDIAN, "%")
    yield goals.at_most(
        f"{kind}: ... the 90th percentile", 100 * nine_in_ten(off), NINE_IN_TEN, "%"
    )
    single = f"{100 * median(spread):.1f}, {100 * nine_in_ten(spread):.1f} %"
    yield goals.told(f"{kind}: ... single runs, both", single)
    yield goals.at_most(
        f"{kind}: first change after best by hand",
        100 * (first / best - 1),
        BEHIND_BEST,
        "%",
    )
    yield goals.at_most(f"{kind}: measuring", measuring, MEASURING, "s")
    yield goals.at_most(f"{kind}: recommending", recommending, RECOMMENDING, "s")


def nine_in_ten(errors: list[float]) -> float:
    """Return what nine in ten of *errors* are at most."""
    return sorted(errors)[int(0.9 * len(errors))]


# ---- a measured pipeline of real data ----

ROWS = 240
BYTES = 100_000


def fetched(number: int) -> bytes:
    """Wait as for a network, and return so many bytes."""
    time.sleep(0.002)
    return bytes([number]) * BYTES


def advising() -> str:
    """Time `advise` on a pipeline of ours whose functions give real data."""
    rows = Dataset.range(ROWS).map(fetched).map(sorted).batch(8)
    found = measure(rows, elements=ROWS).dataset
    began = time.perf_counter()
    advise(found, step=lambda batch: work(0.010), num_epochs=2)
    took = time.perf_counter() - began
    what = f"advise: {ROWS} measured rows of {BYTES // 1000} kB"
    return goals.at_most(what, took, ADVISING, "s")


def table(rounds: int, store: Path | None = None, only: str = "") -> Iterator[str]:
    """Compare all jobs, or the one that is named *only*."""
    for kind in (*LESSONS, *OTHERS):
        if only in kind:
            yield from compared(kind, rounds, store)
    if not only:
        yield advising()


def main() -> None:
    """Compare as the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    for row in table(given.rounds, given.store, given.only):
        print(row, flush=True)


if __name__ == "__main__":
    main()
