"""Run mypy, and all tests in five parts, side by side: on two cores that takes half of the time.

    python -m tools.tests [argument of pytest ...]

A part in a browser often waits for the page or for a kernel; meanwhile the others work. pytest-xdist
would do this too, but not here: some tests interrupt the main thread, as a limit on a learner's endless
loop does, and that ends a worker of xdist. With arguments it is one plain pytest.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

PYTEST = (sys.executable, "-m", "pytest")
WALKS = tuple(
    f"tests/test_browser_{name}.py" for name in ("lessons", "links", "site")
)  # as long as all others in a browser
NOTEBOOKS = tuple(
    f"tests/test_{name}.py"
    for name in ("notebooks", "controls_notebook", "lesson_numbers", "challenges", "cell_order", "cheats")
)  # what runs the lessons, once for all
PIPELINES = tuple(
    f"tests/test_{name}.py"
    for name in (
        "advise",
        "autotune",
        "clocks",
        "code",
        "code_functions",
        "critical_path",
        "limits",
        "rewrite",
    )
)  # what runs pipelines by the hundred, for as long as all others without a browser
PARTS = (
    (*PYTEST, "--browser=without", *(f"--ignore={file}" for file in NOTEBOOKS + PIPELINES)),
    (*PYTEST, "--browser=only", *(f"--ignore={file}" for file in WALKS)),
    (*PYTEST, *WALKS),
    (*PYTEST, *NOTEBOOKS),
    (*PYTEST, *PIPELINES),
    (sys.executable, "-m", "mypy"),
)


def main(given: list[str]) -> int:
    """Run them; what the first part says is seen at once, and at the end, again, what failed."""
    if given:
        return subprocess.run([*PYTEST, *given]).returncode
    with ExitStack() as running:
        parts = []
        for part in PARTS:
            process = subprocess.Popen(
                part,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            running.callback(process.terminate)
            parts.append(process)
        failed = []
        for process, part in zip(parts, PARTS, strict=True):
            assert process.stdout
            for line in process.stdout:
                print(line, end="", flush=True)
                failed += [line] if line.startswith(("FAILED ", "ERROR ")) else []
            if code := process.wait():
                failed.append(f"lessonkit: This part ended with {code}: {' '.join(part[2:])}\n")
    print("".join(failed), end="", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
