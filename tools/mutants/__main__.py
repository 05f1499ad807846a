"""Draw mutants of packages, let the tests judge them, and print which of them survive.

    python -m tools.mutants lessonkit databound --without 'tests/delivery/*' -- --browser=without

needs the extra `mutants`. Seed and number are fixed, so a second run on the same commit draws the same
mutants, and one on another commit is comparable by room. A test judges a mutant if it ran the changed
line when all tests were recorded, which is done once for each state of the project.

Not judging are: tests in a browser and on servers, which take too long to run hundreds of times (leave
their files out by `--without`, and what pytest can leave out behind `--`); tests that fail or are left
out when they are recorded; and tests that fail and then pass on the same mutant, because they depend on
a clock. A mutant that no test runs survives, and a timeout is a kill. Some survivors are equivalent to
the original; nobody has sorted them out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import IO, NamedTuple

from .draw import drawn
from .judge import Task, Verdict
from .judges import Judges, read
from .mutant import Mutant

ROOT = Path(__file__).parent.parent.parent
WORK = ROOT / "build" / "mutants"
# Times of change of mutants begin here, apart from those of all files.
FIRST_STAMP = 2_000_000_000
KILLS = ("killed", "timeout")


@dataclass
class Options:
    """What the command line says; see `parser`."""

    packages: list[str]
    tests: list[str]
    without: list[str]
    number: int
    seed: int
    processes: int
    most: float
    keep: str
    store: Path
    arguments: list[str]


class Judged(NamedTuple):
    """A mutant, its verdict, and how many tests could have killed it."""

    mutant: Mutant
    verdict: Verdict
    judges: int


class Row(NamedTuple):
    """A line of the table.

    Attributes:
        name: A room, or a kind of change.
        drawn: How many mutants.
        killed: How many of them tests have killed, or stopped because they took too long.
        survived: How many passed tests that ran them.
        not_run: How many no test has run.

    """

    name: str
    drawn: int
    killed: int
    survived: int
    not_run: int

    def __str__(self) -> str:
        share = f"{self.killed / self.drawn:.0%}" if self.drawn else ""
        numbers = "".join(f"{number:>9}" for number in self[1:])
        return f"{self.name:<32}{numbers}{share:>9}"


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
    made.add_argument(
        "--most",
        type=float,
        default=4,
        help="percent of the time of all tests, for each mutant",
    )
    made.add_argument(
        "--keep",
        choices=("none", "killed", "all"),
        default="none",
        help="verdicts of the run before: all, to go on with one that was broken off; "
        "or kills alone, to give survivors --most more",
    )
    made.add_argument("--store", type=Path, default=WORK, help="a folder for the results")
    return made


def options(given: Sequence[str]) -> Options:
    """Return what is *given*; behind `--` stands what pytest is told."""
    at = given.index("--") if "--" in given else len(given)
    return Options(**vars(parser().parse_args(given[:at])), arguments=list(given[at + 1 :]))


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which Python imports the copy in *folder*."""
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}


def files() -> list[str]:
    """Return the files of the project, with those that git has not been told of yet."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    names = sorted(set(found.stdout.split("\0")))
    return [name for name in names if name and (ROOT / name).is_file()]


def copies(number: int) -> list[Path]:
    """Return a *number* of fresh copies of the project: a mutant must never be in the project itself."""
    made = []
    for count in range(number):
        folder = WORK / f"copy-{count}"
        shutil.rmtree(folder, ignore_errors=True)
        for name in files():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
        made.append(folder)
    return made


def modules_of_tests(given: Options) -> list[str]:
    """Return the files of tests, and the packages, whose examples are tests, too."""
    found = [
        path.relative_to(ROOT).as_posix()
        for folder in given.tests
        for path in sorted((ROOT / folder).rglob("test_*.py"))
    ]
    kept = [
        name
        for name in found
        if not any(fnmatch(name, pattern) for pattern in given.without)
    ]
    return [*kept, *given.packages]


def state(given: Options) -> str:
    """Return a digest of all that a record of the tests depends on."""
    digest = hashlib.sha256(repr((modules_of_tests(given), given.arguments)).encode())
    for name in files():
        if name.endswith((".py", ".ipynb", ".txt", ".json")) and not name.startswith(
            "tools/mutants/"
        ):
            digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def record(given: Options, folders: Sequence[Path]) -> list[Path]:
    """Run all tests in the copies in *folders*, side by side, and note what they run."""
    at = WORK / "state"
    records = [WORK / f"record-{count}" for count in range(len(folders))]
    if at.exists() and at.read_text() == state(given) and all(map(Path.exists, records)):
        return records
    at.unlink(missing_ok=True)
    modules, running = modules_of_tests(given), []
    for count, (folder, to) in enumerate(zip(folders, records, strict=True)):
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        options = [
            f"--record={to}",
            *(f"--recorded={package}" for package in given.packages),
        ]
        options += ["--hypothesis-seed=0", "-q", "-rfE", *given.arguments]
        command = [sys.executable, "-m", "pytest", "-p", "tools.mutants.record", *options]
        with (to / "log.txt").open("w") as log:
            running.append(
                subprocess.Popen(
                    [*command, *modules[count :: len(folders)]],
                    cwd=folder,
                    env=environment(folder),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
    for process in running:
        process.wait()
    at.write_text(state(given))
    return records


class Judge:
    """A process that judges mutants in a copy of the project."""

    def __init__(self, folder: Path, given: Options) -> None:
        judge = (sys.executable, "-m", "tools.mutants.judge")
        self.process = subprocess.Popen(
            [*judge, *given.arguments, *modules_of_tests(given)],
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def judge(self, task: Task) -> Verdict:
        """Return what the tests say of a mutant."""
        asked, answered = self.process.stdin, self.process.stdout
        assert asked is not None
        assert answered is not None
        asked.write(json.dumps(asdict(task)) + "\n")
        asked.flush()
        return Verdict(**json.loads(answered.readline()))

    def end(self) -> None:
        """Let the process end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def judged(
    mutants: Sequence[Mutant], judges: Judges, given: Options, folders: Sequence[Path]
) -> Iterator[Judged]:
    """Give the verdict on each of the *mutants*, in their order."""
    free, most = SimpleQueue[Judge](), judges.seconds * given.most / 100
    for folder in folders:
        free.put(Judge(folder, given))

    def one(count: int, mutant: Mutant) -> Judged:
        tests = judges.of(mutant, most)
        on_import = judges.on_import(mutant)
        task = Task(mutant.file, mutant.source, FIRST_STAMP + count, on_import, tests)
        judge = free.get()
        try:
            verdict = judge.judge(task)
        finally:
            free.put(judge)
        return Judged(mutant, verdict, len(tests))

    with ThreadPoolExecutor(len(folders)) as threads:
        yield from threads.map(one, range(len(mutants)), mutants)
    for _ in folders:
        free.get().end()


def row(name: str, results: Sequence[Judged]) -> Row:
    """Return the line of the table for *results*."""
    outcomes = [result.verdict.outcome for result in results]
    killed = sum(outcome in KILLS for outcome in outcomes)
    return Row(
        name, len(results), killed, outcomes.count("survived"), outcomes.count("no test")
    )


def table(results: Sequence[Judged]) -> Iterator[str]:
    """Give the lines of the table: by room, by kind of change, and all."""
    columns = ("drawn", "killed", "survived", "not run", "share")
    yield f"{'':<32}" + "".join(f"{column:>9}" for column in columns)
    for room in dict.fromkeys(result.mutant.room for result in results):
        yield str(row(room, [result for result in results if result.mutant.room == room]))
    yield ""
    for kind in sorted({result.mutant.kind for result in results}):
        yield str(row(kind, [result for result in results if result.mutant.kind == kind]))
    yield ""
    yield str(row("all", results))


def told(result: Judged) -> str:
    """Return a mutant and its verdict as a reader wants to see it."""
    mutant, verdict = result.mutant, result.verdict
    how = f"{verdict.outcome}: {verdict.test}" if verdict.test else verdict.outcome
    return (
        f"{mutant.file}:{mutant.line} {mutant.kind} ({how}; {verdict.ran} of {result.judges} tests ran)\n"
        f"  - {mutant.before}\n  + {mutant.after}"
    )


def write(results: Sequence[Judged], to: IO[str]) -> None:
    """Write the table, and then the mutants that survive."""
    print(*table(results), sep="\n", file=to)
    wavered = {test for result in results for test in result.verdict.wavered}
    if wavered:
        print(f"\nTests that wavered: {', '.join(sorted(wavered))}", file=to)
    late = [result for result in results if result.verdict.outcome == "timeout"]
    print(
        f"\nKilled because a test took too long: {len(late)}",
        *map(told, late),
        sep="\n",
        file=to,
    )
    survived = [
        result for result in results if result.verdict.outcome in ("survived", "no test")
    ]
    print(f"\nSurvivors: {len(survived)}", *map(told, survived), sep="\n", file=to)


def kept(given: Options, path: Path) -> list[Judged]:
    """Return the results at *path* that are kept."""
    if given.keep == "none" or not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        mutant = Mutant(**{name: told.get(name, "") for name in Mutant.__annotations__})
        verdict = Verdict(**{name: told[name] for name in Verdict.__annotations__})
        if given.keep == "all" or verdict.outcome in KILLS:
            found.append(Judged(mutant, verdict, told["judges"]))
    return found


def main() -> None:
    """Record, draw, judge and tell."""
    given = options(sys.argv[1:])
    folders = copies(given.processes)
    judges = read(record(given, folders), ROOT)
    failed = sum(not test.passed for test in judges.tests.values())
    print(f"{len(judges.tests)} tests, of which {failed} judge nothing: they did not pass.")
    given.store.mkdir(parents=True, exist_ok=True)
    path = given.store / "mutants.jsonl"
    results = kept(given, path)
    known = {result.mutant.name for result in results}
    mutants = drawn(ROOT, given.packages, given.number, given.seed)
    waiting = [mutant for mutant in mutants if mutant.name not in known]
    # In any order, so that a run that is broken off has judged a fair part of them
    random.Random(given.seed).shuffle(waiting)
    with path.open("w", encoding="utf-8") as file:
        for count, result in enumerate(
            chain([*results], judged(waiting, judges, given, folders)), 1
        ):
            one = asdict(result.mutant) | asdict(result.verdict) | {"judges": result.judges}
            del one["source"]
            print(json.dumps(one), file=file, flush=True)
            if count > len(known):
                results.append(result)
                print(f"{count} of {len(mutants)}: {told(result)}", flush=True)
    place = {mutant.name: place for place, mutant in enumerate(mutants)}
    results.sort(key=lambda result: place[result.mutant.name])
    with (given.store / "mutants.txt").open("w", encoding="utf-8") as file:
        write(results, file)
    write(results, sys.stdout)


if __name__ == "__main__":
    main()
