"""Run mypy, and all tests in six parts, side by side: on two cores that takes half of the time.

    python -m tools.tests [argument of pytest ...]

A part in a browser often waits for the page or for a kernel, and one with real runs for their
end; meanwhile the others work. So all parts begin at once.
pytest-xdist would do this too, but not here: some tests interrupt the main thread, as a
limit on a learner's endless loop does, and that ends a worker of xdist. With arguments it
is one plain pytest.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

PYTEST = (sys.executable, "-m", "pytest")
TESTS = Path(__file__).parent.parent / "tests"


def files(names: str) -> tuple[str, ...]:
    """Return the test files with these *names*."""
    return tuple(f"tests/test_{name}.py" for name in names.split())


def with_pages() -> Iterator[str]:
    """Give the test files that open pages: those import what a page is."""
    for path in sorted(TESTS.glob("test_*.py")):
        if re.search(
            r"^from (browser|test_browser\w*) import",
            path.read_text(encoding="utf-8"),
            re.M,
        ):
            yield f"tests/{path.name}"


# What runs the lessons, once for all; half of what needs a browser; what measures jobs and
# searches for settings; what runs many pipelines. All others are the rest.
NOTEBOOKS = files(
    "notebooks controls_notebook lesson_numbers challenges cell_order cheats covered"
)
WALKS = files(
    "browser_again browser_class browser_hosts browser_install browser_keys browser_lessons "
    "browser_links browser_record browser_report browser_site"
)
JOBS = files("advise autotune job job_loaders loaders_everywhere recommend")
PIPELINES = files(
    "clocks code critical_path elements forked formula idle iteration limits load memory plot "
    "resume rewrite trace without_threads"
)
NAMED = (*NOTEBOOKS, *WALKS, *JOBS, *PIPELINES)
REST = ("--browser=without", *(f"--ignore={file}" for file in NAMED))
PARTS = (
    (*PYTEST, *REST),
    (*PYTEST, *NOTEBOOKS),
    (*PYTEST, "--browser=only", *(file for file in with_pages() if file not in WALKS)),
    (*PYTEST, *WALKS),
    (*PYTEST, *JOBS),
    (*PYTEST, *PIPELINES),
    (sys.executable, "-m", "mypy"),
)
PIPES: Any = {
    "stdout": subprocess.PIPE,
    "stderr": subprocess.STDOUT,
    "text": True,
    "errors": "replace",
}


def main(given: list[str]) -> int:
    """Run them; what the first part says is seen at once, and at the end, again, what failed."""
    # Then all parts are ended, as after Ctrl+C; a shell that runs us with `&` has that ignored.
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, signal.default_int_handler)
    if given:
        return subprocess.run([*PYTEST, *given]).returncode
    failed = []
    with ExitStack() as running:
        processes = [subprocess.Popen(part, **PIPES) for part in PARTS]
        for process in processes:
            running.callback(process.wait)
        for process in processes:
            running.callback(process.terminate)  # what comes last is done first
        for process, part in zip(processes, PARTS, strict=True):
            for line in process.stdout or ():
                print(line, end="", flush=True)
                failed += [line] if line.startswith(("FAILED ", "ERROR ")) else []
            if code := process.wait():
                failed.append(
                    f"lessonkit: This part ended with {code}: {' '.join(part[2:])}\n"
                )
    print("".join(failed), end="", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
