"""Run all tests in four parts side by side: on two cores that takes half of the time.

    python -m tools.tests [argument of pytest ...]

A part in a browser often waits for the page or for a kernel; meanwhile the others work. pytest-xdist
would do this too, but not here: some tests interrupt the main thread, as a limit on a learner's endless
loop does, and that ends a worker of xdist. With arguments it is one plain pytest.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from tempfile import TemporaryFile

PYTEST = (sys.executable, "-m", "pytest")
WALKS = ("tests/test_browser_lessons.py",)  # as long as all others in a browser
NOTEBOOKS = tuple(
    f"tests/test_{name}.py"
    for name in ("notebooks", "controls_notebook", "lesson_numbers", "challenges", "cell_order", "cheats")
)  # what runs the lessons, once for all
BESIDE = (("--browser=only", *(f"--ignore={file}" for file in WALKS)), WALKS, NOTEBOOKS)
REST = ("--browser=without", *(f"--ignore={file}" for file in NOTEBOOKS))


def main(given: list[str]) -> int:
    """Run them; what three parts said comes after what the fourth says."""
    if given:
        return subprocess.run([*PYTEST, *given]).returncode
    with ExitStack() as running:
        beside = []
        for part in BESIDE:
            said = running.enter_context(TemporaryFile())
            child = subprocess.Popen([*PYTEST, *part], stdout=said, stderr=said)
            running.callback(child.terminate)
            beside.append((child, said))
        codes = [subprocess.run([*PYTEST, *REST]).returncode]
        print("lessonkit: The tests of the notebooks and those in a browser end now.", flush=True)
        for child, said in beside:
            codes.append(child.wait())
            said.seek(0)
            print(said.read().decode(errors="replace"), flush=True)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
