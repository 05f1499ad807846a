"""Tests in a copy of the project, which a mutant may be put into: it must never be in the project itself."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

from .mutant import Mutant

# A test may take so many times its usual time, and some seconds more for the start and what a busy machine
# costs. Whoever takes longer waits for something that never comes.
SLOWER = 6
SECONDS_MORE = 60
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
NO_TESTS = 5  # pytest's exit code: none of a file is left
# Times of change of mutants begin here, and each has its own: Python takes a file of the same size and time
# for the one that it has compiled.
FIRST_STAMP = 2_000_000_000

Outcome = Literal["passed", "failed", "timeout"]


@dataclass(frozen=True)
class Ended:
    """How a run of tests has ended, after how many seconds, and which *test* failed first."""

    outcome: Outcome
    seconds: float
    test: str = ""


@dataclass
class Folder:
    """A copy of the project at *path*; pytest is told the *arguments* in each run."""

    path: Path
    arguments: Sequence[str] = ()
    stamp: int = FIRST_STAMP

    @classmethod
    def copied(cls, root: Path, to: Path, arguments: Sequence[str]) -> Folder:
        """Copy the project in *root*, with the files that git has not been told of yet."""
        shutil.rmtree(to, ignore_errors=True)
        for name in files(root):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)
        return cls(to, arguments)

    def pytest(
        self,
        tests: Sequence[str],
        *,
        under: Sequence[str] = (),
        most: float | None = None,
    ) -> Ended:
        """Run *tests* until the first of them fails, or for *most* seconds.

        *under* are arguments of Python, for a program that runs pytest.
        """
        command = [
            sys.executable,
            *under,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-rfE",
            *self.arguments,
        ]
        command += ["-p", "no:cacheprovider", "--hypothesis-seed=0"]
        paths = [str(self.path), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONHASHSEED": "0",
        }
        began = monotonic()
        process = subprocess.Popen(
            [*command, *tests],
            cwd=self.path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        outcome: Outcome = "timeout"
        said = ""
        with suppress(subprocess.TimeoutExpired):
            said, _ = process.communicate(timeout=most)
            outcome = "passed" if process.returncode in (0, NO_TESTS) else "failed"
        with suppress(ProcessLookupError):  # and whatever it has started
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        first = FAILED.search(said)
        return Ended(outcome, monotonic() - began, first[1] if first else "")

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Have a *mutant* in the place of its file for the block."""
        path = self.path / mutant.file
        kept = path.read_bytes()
        times = path.stat()
        self.stamp += 1
        path.write_text(mutant.source, encoding="utf-8")
        os.utime(path, (self.stamp, self.stamp))
        try:
            yield
        finally:
            path.write_bytes(kept)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def kills(self, mutant: Mutant, tests: Sequence[str], usual: float) -> Ended:
        """Return how files of *tests*, which take *usual* seconds, end on a *mutant*.

        A file counts if it fails twice, and passes on the original; others are left out from then on.
        """
        most = SLOWER * usual + SECONDS_MORE
        left = list(tests)
        while left:
            with self.changed(mutant):
                ended = self.pytest(left, most=most)
                if ended.outcome != "failed" or not ended.test:
                    return ended
                file = ended.test.partition("::")[0]
                fails_again = self.pytest([file], most=most).outcome != "passed"
            if fails_again and self.pytest([file], most=most).outcome == "passed":
                return ended
            left = [one for one in left if not file.startswith(one)]
        return Ended("passed", 0)


def files(root: Path) -> list[str]:
    """Return the files of the project in *root*, with those that git has not been told of yet."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    found = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True)
    names = sorted(set(found.stdout.split("\0")))
    return [name for name in names if name and (root / name).is_file()]
