"""What epochs of real training jobs take with other settings of their loader.

Settings take turns, so that a busy minute of the machine does not fall on one of them alone.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import torch
from torch.utils.data import DataLoader

from evidence.record import Case, Conditions

EPOCHS = 2  # the first starts workers that may live on to the second


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each job with each of its settings, in as many rounds as the conditions say."""
    jobs = import_module(conditions["jobs"]).JOBS
    cases = list(cases)
    for name in dict.fromkeys(case["job"] for case in cases):
        given = conditions.get("samples", {}).get(name)
        data, said, step = jobs[name](given) if given else jobs[name]()
        mine = [case for case in cases if case["job"] == name]
        run(
            data, said, step, mine[0]["setting"]
        )  # so that files are in memory, and libraries loaded
        rounds = [
            [run(data, said, step, case["setting"]) for case in mine]
            for _ in range(conditions["rounds"])
        ]
        for number, case in enumerate(mine):
            yield case | {"runs": [one[number] for one in rounds]}


def run(
    data: Any, said: dict[str, Any], step: Callable[[Any], object], setting: dict[str, Any]
) -> list[float]:
    """Return the seconds of each epoch with a *setting*, where `times` is that of the batches' size."""
    given = said | {
        key: value for key, value in setting.items() if key not in ("threads", "times")
    }
    given["batch_size"] = said["batch_size"] * setting.get("times", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(setting.get("threads", before))
    loader = DataLoader(data, **given)
    seconds = []
    for _ in range(EPOCHS):
        began = time.perf_counter()
        for batch in loader:
            step(batch)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        seconds.append(round(time.perf_counter() - began, 4))
    torch.set_num_threads(before)
    return seconds
