"""Finds a Firefox for the tests of the site, and brings Debian's into build/firefox where there is none.

python -m tools.firefox

What Debian has no package for here is not fetched: then a sentence says what to install.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tools import targets

NAMES = ("firefox-esr", "firefox")
FOLDER = targets.ROOT / "build" / "firefox"
# Where Debian's package has the program and the libraries that come with it
PROGRAM = FOLDER / "usr" / "lib" / "firefox-esr" / "firefox-esr"
LIBRARIES = (PROGRAM.parent, FOLDER / "usr" / "lib" / f"{os.uname().machine}-linux-gnu")
# A package that apt says it would install, also one that lies in its cache already
INSTALLED = re.compile(r"^Inst (\S+)", re.M)
MISSING = (
    "There is no Firefox here, and no package of Debian's could be fetched. Install firefox-esr, or name a "
    "Firefox in LESSONKIT_FIREFOX."
)


def find_firefox() -> str:
    """Return the path of a Firefox; "" if there is none."""
    named = os.environ.get("LESSONKIT_FIREFOX")
    names = (named,) if named else (*NAMES, str(PROGRAM))
    return next((path for name in names if (path := shutil.which(name))), "")


def environment(program: str) -> dict[str, str]:
    """Return what *program* needs in its environment: the libraries that were brought along."""
    if program != str(PROGRAM):
        return {}
    return {"LD_LIBRARY_PATH": os.pathsep.join(map(str, LIBRARIES))}


def bring() -> str:
    """Return the path of a Firefox, brought from Debian where there is none; "" if that fails.

    Nothing is installed: packages that this system lacks are fetched, and unpacked into a folder.
    """
    if found := find_firefox():
        return found
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        return ""
    targets.say("Firefox is fetched from Debian's packages; that is 80 MB.")
    with TemporaryDirectory(prefix="lessonkit-firefox-") as folder:
        ask = ["apt-get", "install", "--simulate", "--no-install-recommends"]
        told = subprocess.run([*ask, "firefox-esr"], capture_output=True, text=True)
        names = INSTALLED.findall(told.stdout)
        fetched = subprocess.run(["apt-get", "-q", "download", *names], cwd=folder)
        if not names or fetched.returncode:
            return ""
        for package in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(FOLDER)], check=True)
    return find_firefox()


def main() -> None:
    """Say where Firefox is, or what to do about it."""
    found = bring()
    if not found:
        targets.stop(MISSING)
    targets.say(f"Firefox is {found}.")


if __name__ == "__main__":
    main()
