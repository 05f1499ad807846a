"""Draw mutants of packages, let the tests judge them, and print which of them survive.

    python -m tools.mutants lessonkit databound --without 'tests/delivery/*' -- --browser=without

needs the extra `mutants`. Seed and number are fixed, so a second run on the same commit draws the same
mutants, and one on another commit is comparable by room. A file of tests judges a mutant if it ran the
changed line when all files were recorded. Record and verdicts are kept in `build/mutants` for each state
of the project, so a run that is broken off goes on where it was.

The changes are mutmut's, but the run is ours. mutmut 3.8 changes no function with a decorator but
`staticmethod`, and nothing outside of functions: not the properties, the checked methods of a `Dataset` and
the thresholds, which are 18 % of all places. cosmic-ray runs all tests for each mutant, which takes a day.

Tests in a browser and on servers take too long to run hundreds of times: leave their files out by
`--without`, and what pytest can leave out behind `--`. A file judges nothing if it fails when it is recorded,
and each mutant is judged by the quickest files, for `--most` seconds. A mutant that no test runs survives,
and a timeout is a kill. Some survivors are equivalent to the original; nobody has sorted them out. So the
share that is killed is a lower bound.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from .draw import drawn
from .judges import Judges, read, record
from .mutant import Mutant
from .run import Folder, files

ROOT = Path(__file__).parent.parent.parent
WORK = ROOT / "build" / "mutants"


@dataclass(frozen=True)
class Verdict:
    """What the tests say of the mutant of this *name* in a *room*; *test* has killed it."""

    name: str
    room: str
    outcome: Literal["killed", "timeout", "survived", "not run"]
    test: str
    told: str

    def __str__(self) -> str:
        how = f"{self.outcome}: {self.test}" if self.test else self.outcome
        return f"{self.told} ({how})"


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    made = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.add_argument("packages", nargs="+", help="folders of packages")
    made.add_argument("--tests", nargs="+", default=["tests"], help="folders of tests")
    made.add_argument("--without", nargs="+", default=[], help="patterns of files of tests")
    made.add_argument("--number", type=int, default=300)
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    made.add_argument("--most", type=float, default=60, help="seconds for each mutant")
    return made


def files_of_tests(given: argparse.Namespace) -> list[str]:
    """Return the files of tests, and the packages, whose examples are tests, too."""
    found = [
        path.relative_to(ROOT).as_posix()
        for folder in given.tests
        for path in sorted((ROOT / folder).rglob("test_*.py"))
    ]
    kept = [one for one in found if not any(fnmatch(one, no) for no in given.without)]
    return [*kept, *given.packages]


def state(told: Sequence[str]) -> str:
    """Return a name for the state of all that verdicts depend on, with what the command is *told*."""
    digest = hashlib.sha256(repr(told).encode())
    for name in files(ROOT):
        if name.endswith((".py", ".ipynb", ".txt", ".json")):
            digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()[:16]


class Folders:
    """Copies of the project that are free: whoever needs one waits for it."""

    def __init__(self, number: int, arguments: Sequence[str]) -> None:
        self.free = SimpleQueue[Folder]()
        for count in range(number):
            self.free.put(Folder.copied(ROOT, WORK / f"copy-{count}", arguments))

    @contextmanager
    def one(self) -> Iterator[Folder]:
        """Give one of them for the block."""
        folder = self.free.get()
        try:
            yield folder
        finally:
            self.free.put(folder)


def verdict(mutant: Mutant, judges: Judges, folders: Folders, most: float) -> Verdict:
    """Return what the tests say of a *mutant* in *most* seconds."""
    told = f"{mutant.file}:{mutant.line} {mutant.kind}\n  - {mutant.before}\n  + {mutant.after}\n "
    tests = judges.of(mutant, most)
    if not tests:
        return Verdict(mutant.name, mutant.room, "not run", "", told)
    with folders.one() as folder:
        usual = sum(judges.seconds[file] for file in tests)
        ended = folder.kills(mutant, tests, usual)
    outcome: Literal["killed", "timeout", "survived"] = "survived"
    if ended.outcome == "failed":
        outcome = "killed"
    elif ended.outcome == "timeout":
        outcome = "timeout"
    return Verdict(mutant.name, mutant.room, outcome, ended.test, told)


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Give a line for each room, one for all, and then the mutants that survive."""
    columns = ("drawn", "killed", "timeout", "survived", "not run", "share")
    yield f"{'':<32}" + "".join(f"{column:>9}" for column in columns)
    for room in [*dict.fromkeys(one.room for one in verdicts), "all"]:
        outcomes = Counter(one.outcome for one in verdicts if room in (one.room, "all"))
        drawn = outcomes.total()
        share = (outcomes["killed"] + outcomes["timeout"]) / max(1, drawn)
        numbers = [
            drawn,
            *(outcomes[name] for name in ("killed", "timeout", "survived", "not run")),
        ]
        yield f"{room:<32}" + "".join(f"{each:>9}" for each in numbers) + f"{share:>9.0%}"
    for one in verdicts:
        if one.outcome in ("survived", "not run"):
            yield f"\n{one}"


def main(told: Sequence[str]) -> None:
    """Record, draw, judge and tell; behind `--` stands what pytest is told."""
    at = told.index("--") if "--" in told else len(told)
    given = parser().parse_args(told[:at])
    here = WORK / state(told)
    folders = Folders(given.processes, told[at + 1 :])
    recorded = here / "recorded"

    def record_one(file: str) -> None:
        if not (recorded / f"{file.replace('/', '.')}.json").exists():
            with folders.one() as folder:
                record(file, given.packages, folder, recorded)

    with ThreadPoolExecutor(given.processes) as threads:
        list(threads.map(record_one, files_of_tests(given)))
        judges = read(recorded, ROOT)
        print("Files that judge nothing, because they fail:", *judges.failed or ["none"])
        path = here / "verdicts.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = {one.name: one for one in (Verdict(**json.loads(line)) for line in lines)}
        mutants = drawn(ROOT, given.packages, given.number, given.seed)
        waiting = [mutant for mutant in mutants if mutant.name not in found]

        def judge_one(mutant: Mutant) -> Verdict:
            return verdict(mutant, judges, folders, given.most)

        with path.open("a", encoding="utf-8") as file:
            for one in threads.map(judge_one, waiting):
                found[one.name] = one
                print(json.dumps(asdict(one)), file=file, flush=True)
                print(f"{len(found)} of {len(mutants)}: {one}", flush=True)
    print(*table([found[mutant.name] for mutant in mutants]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
