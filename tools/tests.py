"""Run mypy, and all tests in parts, side by side: on two cores that takes half of the time.

    python -m tools.tests [argument of pytest ...]

A part in a browser often waits for the page or for a kernel, and one with real runs for their
end; meanwhile the others work. So all parts begin at once, and those with pages go first.
pytest-xdist would do this too, but not here: some tests interrupt the main thread, as a
limit on a learner's endless loop does, and that ends a worker of xdist. With arguments it
is one plain pytest.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import Any, NoReturn

ENDING = (signal.SIGTERM, signal.SIGINT)
PYTEST = (sys.executable, "-m", "pytest")


# Each is a list of folders, and together they are all: a folder that no other part names is in the last.
BROWSER = ("tests/lab", "tests/page", "tests/delivery")
MODELS = ("tests/engine", "tests/explain", "tests/improve", "tests/databound")
LESSONS = ("tests/lessons",)
NAMED = (*BROWSER, *MODELS, *LESSONS)
PARTS = {
    "rest": (*PYTEST, *(f"--ignore={folder}" for folder in NAMED)),
    "lessons": (*PYTEST, *LESSONS),
    "JupyterLab": (*PYTEST, "tests/lab"),
    "pages": (*PYTEST, "tests/page"),
    "delivery": (*PYTEST, "tests/delivery"),
    "models": (*PYTEST, *MODELS),
    "types": (sys.executable, "-m", "mypy"),
}
if sys.version_info < (3, 11):
    del PARTS["types"]  # the newest packages that Python 3.10 gets say less of their types
# These often wait, and take longest: they go first, and the others have what they leave.
FIRST = {"JupyterLab", "pages", "delivery"}
NICE = ("nice", "-n", "5") if shutil.which("nice") else ()
PIPES: Any = {
    "stdout": subprocess.PIPE,
    "stderr": subprocess.STDOUT,
    "text": True,
    "errors": "replace",
}


def command(name: str) -> tuple[str, ...]:
    """Return what runs the part with this *name*."""
    return PARTS[name] if name in FIRST else (*NICE, *PARTS[name])


def processor_time() -> float:
    """Return the seconds that processes have taken which ended and were waited for."""
    times = os.times()
    return times.children_user + times.children_system


def summary(took: dict[str, float]) -> str:
    """Return how many seconds of processor time each part *took*, the longest first."""
    largest = sorted(took.items(), key=lambda part: -part[1])
    parts = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in largest)
    whole = sum(took.values())
    return f"lessonkit: The tests took {whole:.0f} s of processor time: {parts}."


def interrupt(*_: object) -> NoReturn:
    """End all parts, as after Ctrl+C, once: who asks again would keep us from telling each of them."""
    for sign in ENDING:
        signal.signal(sign, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(given: list[str]) -> int:
    """Run them; what the first part says is seen at once, and at the end, again, what failed."""
    # A shell that runs us with `&` has Ctrl+C ignored
    for sign in ENDING:
        signal.signal(sign, interrupt)
    if given:
        return subprocess.run([*PYTEST, *given]).returncode
    failed = []
    took = dict[str, float]()
    with ExitStack() as running:
        processes = [subprocess.Popen(command(name), **PIPES) for name in PARTS]
        for process in processes:
            running.callback(process.wait)
        for process in processes:
            running.callback(process.terminate)  # what comes last is done first
        for process, (name, part) in zip(processes, PARTS.items(), strict=True):
            for line in process.stdout or ():
                print(line, end="", flush=True)
                failed += [line] if line.startswith(("FAILED ", "ERROR ")) else []
            before = processor_time()
            if code := process.wait():
                failed.append(
                    f"lessonkit: This part ended with {code}: {' '.join(part[2:])}\n"
                )
            took[name] = processor_time() - before
    print("".join(failed), end="")
    print(summary(took), flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
