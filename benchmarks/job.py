"""Whether a measured job foretells what its settings really take: the three jobs of lesson 11.

Each setting is really run, before measuring and after; its forecast is compared with the
median. Single runs differ from their median, too: by how much is printed beside. With
--store, a folder, what was measured and what the settings really took is written there, for
the lesson's pages without processes.

python -m benchmarks job
python -m benchmarks.job --rounds 3 --store notebooks
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.measure import limited
from lessonkit.analysis import measure, save_job
from lessonkit.job.watching import restored

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))

import jobs_11  # noqa: E402 - beside the lesson

THREADS = (1, 2) if jobs_11.torch else (1,)
SETTINGS = [
    {
        "num_workers": workers,
        "prefetch_factor": factor,
        "persistent_workers": stay,
        "threads": threads,
    }
    for workers, factor, stay in [
        (0, 2, False),
        *product((1, 2, 4, 8), (2, 4), (False, True)),
    ]
    for threads in THREADS
]


def epochs(kind: str, setting: dict[str, Any]) -> list[float]:
    """Return the seconds of two epochs of a *kind*, really run."""
    said = {name: value for name, value in setting.items() if name != "threads"}
    if not said["num_workers"]:
        said = {"num_workers": 0}
    with restored(), jobs_11.jobs(**said) as all_jobs:
        loader, step = all_jobs[kind]
        if setting["threads"] and jobs_11.torch:
            jobs_11.torch.set_num_threads(setting["threads"])
        times = []
        for _ in range(2):
            began = time.perf_counter()
            for batch in loader:
                step(batch)
            times.append(time.perf_counter() - began)
    return times


def run(rounds: int, store: Path | None = None, only: str = "") -> dict[str, float]:
    """Compare, and return the errors of all jobs together."""
    off, differ, took = [], [], []
    for kind in ("images", "http", "text"):
        if only not in kind:
            continue
        real: dict[int, list[list[float]]] = defaultdict(list)
        for turn in range(rounds + 1):
            if turn == rounds // 2:
                with jobs_11.jobs() as all_jobs:
                    began = time.perf_counter()
                    job = measure(all_jobs[kind][0], step=all_jobs[kind][1])
                    took.append(time.perf_counter() - began)
                if store:
                    save_job(job, store / f"{kind}_11.json")
            if turn < rounds:
                for number, setting in enumerate(SETTINGS):
                    real[number].append(epochs(kind, setting))
        tried = []
        for number, setting in enumerate(SETTINGS):
            # A step that only waits has one
            if setting["threads"] not in job.numbers.threads:
                continue
            true = [median(times) for times in zip(*real[number], strict=True)]
            said = job.forecast(**setting)
            tried.append((setting, true))
            off += [abs(s / t - 1) for s, t in zip(said, true, strict=True)]
            differ += [
                abs(s / t - 1)
                for one in real[number]
                for s, t in zip(one, true, strict=True)
            ]
            words = " ".join(f"{value!s:>5}" for value in setting.values())
            both = " ".join(
                f"{s:6.3f} for {t:6.3f} {s / t - 1:+6.1%}"
                for s, t in zip(said, true, strict=True)
            )
            print(f"{kind:7}{words}  {both}", file=sys.stderr, flush=True)
        if store:
            (store / f"tried_{kind}_11.json").write_text(
                json.dumps(tried), encoding="utf-8"
            )
    return {
        "median error": median(off),
        "90th percentile": quantiles(off, n=10)[-1],
        "single runs, 90th percentile": quantiles(differ, n=10)[-1],
        "measuring, s": max(took),
    }


def rows(quick: bool) -> Iterator[str]:
    """Compare all settings of the three jobs."""
    found = run(1 if quick else 3)
    yield limited("forecasts off by, median", 100 * found["median error"], 5, "%")
    yield limited(
        "forecasts off by, 90th percentile", 100 * found["90th percentile"], 15, "%"
    )
    yield limited("measuring a job", found["measuring, s"], 15, "s")


def main() -> None:
    """Compare as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    for name, value in run(given.rounds, given.store, given.only).items():
        print(f"{name:30}{value:8.3f}")


if __name__ == "__main__":
    main()
