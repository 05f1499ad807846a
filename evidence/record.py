"""A file of measured truth: what was measured, on which versions and machine, and the cases."""

import importlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict, cast

DATA = Path(__file__).parent / "data"

Json = None | bool | int | float | str | Sequence["Json"] | dict[str, "Json"]
# A question and what was measured for it, side by side. What stands in it is said by the
# form of its kind, and checked by whoever asks.
Case = dict[str, Any]
Conditions = dict[str, Any]


class About(TypedDict):
    """Where the numbers of a file come from."""

    what: str  # in one sentence
    versions: dict[str, str]  # of Python, and of each library that was measured
    machine: dict[str, Json]  # its system, and the cores that the program might use
    conditions: Conditions  # how it was measured: scale, options, priority


class Record(TypedDict):
    """The content of a file in `evidence/data/`."""

    about: About
    cases: list[Case]


def about(what: str, libraries: Iterable[str], conditions: Conditions) -> About:
    """Describe a measurement that is made now and here, with these *libraries*."""
    versions = {"python": platform.python_version()}
    for name in libraries:
        versions[name] = str(importlib.import_module(name).__version__)
    return {
        "what": what,
        "versions": versions,
        "machine": machine(),
        "conditions": conditions,
    }


def machine() -> dict[str, Json]:
    """Say what a reader has to know of this machine, and nothing by which it could be found."""
    found: dict[str, Json] = {
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
    }
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_available():
        found["gpu"] = torch.cuda.get_device_name()
    return found


def read(path: Path) -> Record:
    """Read a file of measured truth."""
    return cast(Record, json.loads(path.read_text(encoding="utf-8")))


def write(path: Path, record: Record) -> None:
    """Write a file of measured truth: one case a line, so that a diff shows which cases changed."""
    head = json.dumps(record["about"], ensure_ascii=False, indent=1)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in record["cases"])
    path.write_text(f'{{"about": {head},\n"cases": [\n{lines}\n]}}\n', encoding="utf-8")


def cases(name: str) -> list[Case]:
    """Return the cases of a file here by its *name*, or of any other file by its path.

    A file from elsewhere may be the list of cases itself.
    """
    path = DATA / f"{name}.json" if "." not in name else Path(name)
    found = json.loads(path.read_text(encoding="utf-8"))
    return cast(list[Case], found if isinstance(found, list) else found["cases"])
