"""Let tests judge one mutant after another, in a copy of the project.

    python -m tools.mutants.judge [argument of pytest ...] FILE ...

runs in that copy. It reads one `Task` a line, and answers each with a `Verdict`. Three kinds of
processes share the work:

- this one changes the file, watches the tests, and ends them if they take too long;
- the bench is forked from it, and has imported the project and all tests once. For each mutant it forks
  a child, which puts the changed code into the functions that are there: nothing is imported again;
- where that is not enough, because the change runs on import, a child of this one imports the project
  afresh, with the files of the tests that are to run.

So whatever a mutant breaks is gone with its child, and so is everything that the child has started.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Literal, NamedTuple, NoReturn

import pytest
from hypothesis import Phase, settings

from .record import name_of
from .swap import Functions, ImportNeeded

# What tests import from elsewhere, half of all the time that a short one takes in a fresh process.
HEAVY = (
    "numpy",
    "matplotlib.pyplot",
    "anywidget",
    "ipywidgets",
    "nbformat",
    "playwright.sync_api",
)
OPTIONS = (
    "-q",
    "-p",
    "no:cacheprovider",
    "--hypothesis-seed=0",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",  # of what is imported before pytest begins
)
# A test may take so many times its usual time, and some seconds more for what a busy machine and
# values of others cost. Whoever takes longer waits for something that never comes.
SLOWER, SECONDS_MORE = 6, 25
# So many seconds of tests run in the first fresh process: most mutants do not survive them, and the
# files of the other tests need not be imported.
FIRST_SECONDS = 2.0
# Seconds for everything before the first test.
TO_COLLECT = 180
BROKEN = 99  # no exit code of pytest's
NO_TESTS = 5  # one of pytest's
LOG = "../judge-{}.log"
BEFORE = "before the first test"

Outcome = Literal["killed", "timeout", "survived", "no test"]
# What children say, one a line, with a name or a number: the bench has imported everything; a process
# begins; a test begins; one fails, and again when it runs again; one fails only once; an import is
# needed; the process has ended.
READY, CHILD, BEGINS, FAILS, WAVERS, IMPORTS, ENDED = "*#+!~?="


@dataclass
class Task:
    """A mutant, and the tests that may kill it, in the order in which they are tried.

    Attributes:
        file: The file that is changed.
        source: What is in it now.
        stamp: A time of change that no other mutant has, or Python takes one that it has compiled
            for another.
        on_import: Whether the change is in what runs when the project is imported.
        tests: How many seconds each test usually takes.

    """

    file: str
    source: str
    stamp: int
    on_import: bool
    tests: dict[str, float]


@dataclass
class Verdict:
    """What the tests say of a mutant.

    Attributes:
        outcome: A `timeout` is a kill, too: a test took far longer than usual.
        test: The test that killed it.
        ran: How many tests ran.
        wavered: Tests that failed, and then did not when they ran again: they judge nothing.

    """

    outcome: Outcome
    test: str = ""
    ran: int = 0
    wavered: list[str] = field(default_factory=list)


@dataclass
class Ended:
    """How a child has ended: with the test that ended it, those that wavered, and how many ran."""

    outcome: Outcome = "survived"
    test: str = ""
    ran: int = 0
    wavered: list[str] = field(default_factory=list)


class Asked(NamedTuple):
    """What the bench is asked: to run tests with the *new* text of a file in place of the *old* one."""

    file: str
    old: str
    new: str
    tests: list[str]


class Runner:
    """A plugin of pytest that says which test runs, and runs one that fails again."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe
        self.has_failed = False

    def say(self, sign: str, what: object = "") -> None:
        """Tell the process that watches."""
        os.write(self.pipe, f"{sign}{what}\n".encode())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Let Hypothesis look for no smaller example, which takes long and changes no verdict."""
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("judge", settings.default, phases=phases, database=None)
        settings.load_profile("judge")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that the test has failed."""
        self.has_failed |= report.failed

    def run_all(self, items: Sequence[pytest.Item]) -> None:
        """Run tests until one fails twice."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            self.say(BEGINS, name_of(item))
            if self.fails(item, following):
                item._initrequest()  # type: ignore[attr-defined]  # as all plugins do that run it again
                if self.fails(item, following):
                    self.say(FAILS, name_of(item))
                    return
                self.say(WAVERS, name_of(item))

    def fails(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """Run one test, and return whether it fails."""
        self.has_failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        return self.has_failed


class Bench(Runner):
    """Collects all tests, and then runs some of them for each mutant that it is asked about."""

    def __init__(self, asked: IO[str], pipe: int) -> None:
        super().__init__(pipe)
        self.asked = asked

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer until nothing is asked any more, in place of running all tests."""
        items = {name_of(item): item for item in session.items}
        functions = Functions(str(Path.cwd()))
        self.say(READY)
        for line in self.asked:
            asked = Asked(*json.loads(line))

            def judge(asked: Asked = asked) -> int:
                if asked.old != asked.new:
                    try:
                        functions.swap(
                            str(Path(asked.file).absolute()), asked.old, asked.new
                        )
                    except ImportNeeded:
                        self.say(IMPORTS)
                        return 0
                self.run_all([items[test] for test in asked.tests if test in items])
                return 0

            in_child(judge, self)
        return True


class Fresh(Runner):
    """Runs the chosen tests in the given order."""

    def __init__(self, tests: Sequence[str], pipe: int) -> None:
        super().__init__(pipe)
        self.place = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the others."""
        items[:] = [item for item in items if name_of(item) in self.place]
        items.sort(key=lambda item: self.place[name_of(item)])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Say that a file of tests cannot be imported any more."""
        if report.failed:
            self.say(FAILS, report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run them, in place of pytest's own loop."""
        self.run_all(session.items if not session.testsfailed else [])
        return True


def in_child(run: Callable[[], int], says: Runner) -> None:
    """Run something in a child, with a group of its own, and say when that begins and ends."""
    child = os.fork()
    if not child:
        os.setsid()
        says.say(CHILD, os.getpid())
        exit_with(run)
    _, status = os.waitpid(child, 0)
    stop(child)
    says.say(ENDED, os.waitstatus_to_exitcode(status))


def exit_with(run: Callable[[], int]) -> NoReturn:
    """End this process with what *run* returns, whatever happens in it."""
    code = BROKEN
    try:
        code = run()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def stop(group: int) -> None:
    """End all processes of a *group*."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


class Judge:
    """Judges mutants in the folder that this process runs in.

    Attributes:
        arguments: What pytest is told.
        trusted: Tests that have passed on the original, here: what they say of a mutant is true.
        doubtful: Tests that have not, and so judge nothing.

    """

    def __init__(self, arguments: Sequence[str], modules: Sequence[str]) -> None:
        self.arguments = [*OPTIONS, *arguments]
        self.trusted: set[str] = set()
        self.doubtful: set[str] = set()
        self.heard, self.told = os.pipe()
        self.rest = b""
        asked, asks = os.pipe()
        if not os.fork():
            os.close(asks)
            bench = Bench(os.fdopen(asked, encoding="utf-8"), self.told)
            exit_with(lambda: pytest.main([*self.arguments, *modules], plugins=[bench]))
        os.close(asked)
        self.asks = os.fdopen(asks, "w", encoding="utf-8")
        # Not before is a mutant put on the disk: the bench is to import the original
        next(line for line in self.lines() if line.startswith(READY))

    def on_bench(self, asked: Asked, tests: dict[str, float]) -> Ended | None:
        """Run tests on the bench; None if the change is seen only on import."""
        print(json.dumps(asked), file=self.asks, flush=True)
        return self.watch(tests)

    def afresh(self, tests: dict[str, float]) -> Ended:
        """Run tests in a process that imports the project as it is on the disk."""
        if not (between := os.fork()):
            runner = Fresh(list(tests), self.told)
            files = dict.fromkeys(test.split("::")[0] for test in tests)
            in_child(
                lambda: pytest.main([*self.arguments, *files], plugins=[runner]), runner
            )
            os._exit(0)
        ended = self.watch(tests)
        os.waitpid(between, 0)
        return ended or Ended()

    def lines(self) -> Iterator[str]:
        """Give what children say; an empty line whenever a second has passed without."""
        while True:
            if not select.select([self.heard], [], [], 1.0)[0]:
                yield ""
                continue
            *lines, self.rest = (self.rest + os.read(self.heard, 1 << 16)).split(b"\n")
            for line in lines:
                yield line.decode()

    def watch(self, tests: dict[str, float]) -> Ended | None:
        """Watch a child until it has ended; end it itself if a test takes too long."""
        ended, child, is_import_needed = Ended(), 0, False
        limit = time.monotonic() + TO_COLLECT
        for line in self.lines():
            sign, what = line[:1], line[1:]
            if sign == CHILD:
                child = int(what)
            elif sign == BEGINS:
                ended.ran, ended.test = ended.ran + 1, what
                limit = time.monotonic() + SLOWER * tests[what] + SECONDS_MORE
            elif sign == WAVERS:
                ended.wavered.append(what)
            elif sign == IMPORTS:
                is_import_needed = True
            elif sign == FAILS and ended.outcome == "survived":
                ended.outcome, ended.test = "killed", what
                stop(child)
            elif sign == ENDED:
                # What breaks down while a test runs has been broken by the mutant
                if ended.outcome == "survived" and int(what) not in (0, NO_TESTS):
                    ended.outcome, ended.test = "killed", ended.test or BEFORE
                break
            elif time.monotonic() > limit and child and ended.outcome == "survived":
                ended.outcome, ended.test = "timeout", ended.test or BEFORE
                stop(child)
        return None if is_import_needed else ended

    def judge(self, task: Task) -> Verdict:
        """Return what the tests say of a mutant."""
        verdict = Verdict("survived" if task.tests else "no test")
        waiting = dict(task.tests)
        while waiting := {
            test: seconds for test, seconds in waiting.items() if test not in self.doubtful
        }:
            with changed(task) as old:
                ended, done = self.run(task, old, waiting, is_first=not verdict.ran)
            verdict.ran += ended.ran
            verdict.wavered += ended.wavered
            if ended.outcome != "survived" and self.is_trusted(ended.test, task):
                verdict.outcome, verdict.test = ended.outcome, ended.test
                break
            if ended.outcome != "survived":
                done = list(waiting)[: list(waiting).index(ended.test) + 1]
            waiting = {test: waiting[test] for test in waiting if test not in {*done}}
        return verdict

    def run(
        self, task: Task, old: str, tests: dict[str, float], is_first: bool
    ) -> tuple[Ended, Sequence[str]]:
        """Run *tests*, or the first of them.

        Returns:
            How they ended, and which of them have run if they survived.

        """
        if not task.on_import:
            ended = self.on_bench(Asked(task.file, old, task.source, [*tests]), tests)
            if ended is not None:
                return ended, [*tests]
            task.on_import = True
        part = first_tests(tests) if is_first else tests
        return self.afresh(part), [*part]

    def is_trusted(self, test: str, task: Task) -> bool:
        """Return whether *test* passes on the original, or no test could even begin."""
        if test not in task.tests or test in self.trusted:
            return True
        seconds = {test: task.tests[test]}
        ended = self.on_bench(Asked(task.file, "", "", [test]), seconds)
        passes = ended is not None and ended.outcome == "survived"
        (self.trusted if passes else self.doubtful).add(test)
        return passes


@contextmanager
def changed(task: Task) -> Iterator[str]:
    """Put the mutant in the place of its file, for other processes; give what is there otherwise."""
    path = Path(task.file)
    kept, times = path.read_bytes(), path.stat()
    path.write_text(task.source, encoding="utf-8")
    os.utime(path, (task.stamp, task.stamp))
    try:
        yield kept.decode("utf-8")
    finally:
        path.write_bytes(kept)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def first_tests(tests: dict[str, float]) -> dict[str, float]:
    """Return the first of *tests*, at least one, that take `FIRST_SECONDS` together."""
    found, whole = dict[str, float](), 0.0
    for test, seconds in tests.items():
        found[test] = seconds
        whole += seconds
        if whole > FIRST_SECONDS:
            break
    return found


def main(given: Sequence[str]) -> None:
    """Answer each task with a verdict."""
    tasks = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(LOG.format(os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)  # what tests print is no answer
    for module in HEAVY:
        with suppress(ImportError):
            importlib.import_module(module)
    arguments = [one for one in given if one.startswith("-")]
    judge = Judge(arguments, [one for one in given if not one.startswith("-")])
    for line in tasks:
        print(
            json.dumps(asdict(judge.judge(Task(**json.loads(line))))),
            file=answers,
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
