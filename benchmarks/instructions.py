"""How many processor instructions an element takes, which does not vary as seconds do."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

from benchmarks.measure import compared, number

ROOT = Path(__file__).parent.parent
# Elements: the difference leaves out starting Python and the imports
FEW = 200
MANY = 2200
GOALS = {"unrecorded": 2.7, "recorded": 1.8}  # times fewer than SimPy takes, at least
RUNS = {
    "SimPy": "simpys({})",
    "unrecorded": "ours({}, record=False)",
    "recorded": "ours({}, record=True)",
}


def instructions(code: str) -> int:
    """Count the instructions of a Python that runs *code*."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    program = f"from benchmarks.virtual import ours, simpys; {code}"
    command = [*tool, sys.executable, "-c", program]
    environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    told = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    found = re.search(r"Collected : (\d+)", told.stderr)
    assert found, told.stderr
    return int(found[1])


def for_one_element(run: str) -> float:
    """Return the instructions for one more element of a *run*."""
    many, few = (instructions(run.format(count)) for count in (MANY, FEW))
    return (many - few) / (MANY - FEW)


def rows(quick: bool) -> Iterator[str]:
    """Source, two maps, prefetch(1) and training: instructions per element, next to SimPy's."""
    if which("valgrind") is None:
        yield "instructions: left out, for there is no valgrind"
        return
    instructions("")  # compiles the modules: that is not to be counted
    counts = {name: for_one_element(run) for name, run in RUNS.items()}
    for mode, goal in GOALS.items():
        ratio = counts["SimPy"] / counts[mode]
        mine, theirs = (number(counts[name] / 1e3, "k") for name in (mode, "SimPy"))
        what = f"instructions per element, {mode} / SimPy"
        yield compared(what, mine, theirs, ratio, f">= {goal}", ratio >= goal)
