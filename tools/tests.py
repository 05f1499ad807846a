"""Run all tests, those in a browser beside the others: on two cores that takes half of the time.

    python -m tools.tests [argument of pytest ...]

pytest-xdist would do this too, but not here: some tests interrupt the main thread, as a limit on a
learner's endless loop does, and that ends a worker of xdist. With arguments it is one plain pytest.
"""

from __future__ import annotations

import subprocess
import sys
from tempfile import TemporaryFile

PYTEST = (sys.executable, "-m", "pytest")


def main(given: list[str]) -> int:
    """Run them; what the tests in a browser said comes after what the others said."""
    if given:
        return subprocess.run([*PYTEST, *given]).returncode
    with TemporaryFile() as said:
        beside = subprocess.Popen([*PYTEST, "--browser=only"], stdout=said, stderr=said)
        try:
            others = subprocess.run([*PYTEST, "--browser=without"]).returncode
            print("lessonkit: The tests in a browser end now.", flush=True)
            browser = beside.wait()
        finally:
            beside.terminate()
            said.seek(0)
            print(said.read().decode(errors="replace"), flush=True)
    return others or browser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
