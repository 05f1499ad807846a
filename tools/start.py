"""Starts a target of the Makefile with a Python that is new enough.

Every Python from 3.6 on can read this file, so that one that is too old for the lessons can
say so, or hand over to a newer one beside it. What there is to do stands in targets.py, for
any system; a Makefile could say neither what went wrong, nor run where there is no `make`.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 10)  # as in pyproject.toml
NEWER = [f"python3.{minor}" for minor in range(16, OLDEST[1] - 1, -1)]


def main() -> None:
    """Run targets.py, with this Python or with a newer one."""
    if sys.version_info >= OLDEST:
        from tools import targets

        sys.exit(targets.main(sys.argv[1:]))
    for name in NEWER:
        path = shutil.which(name)
        # Version managers leave programs on PATH that do not start.
        if (
            path
            and not subprocess.run([path, "-c", ""], stderr=subprocess.DEVNULL).returncode
        ):
            os.execv(path, [path, "-m", "tools.start", *sys.argv[1:]])
    sys.exit(
        f"lessonkit: Python {sys.version.split()[0]} is too old: install Python 3.10 or newer, "
        "or name the one to take, as in: make lab PYTHON=/path/to/python3.12"
    )


if __name__ == "__main__":
    main()
