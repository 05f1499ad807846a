"""What the targets of the Makefile do: set up what is missing in .venv, say so, and run something in it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
READY = VENV / "ready"  # written last: without it, .venv is only half made
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
# Its settings, and what else it would keep in the user's folders
JUPYTER = VENV / "jupyter"
ROOM = 700  # MB, with what is downloaded meanwhile

# What goes wrong on other people's machines, and what to do about it; with how pip and uv tell it.
FULL = f"The disk is full. Make room (about {ROOM} MB in this folder, {2 * ROOM:,} for tests), and try again."
LOCKED = "This folder cannot be written to: copy it to where you may write, and try there."
OFFLINE = "The package index cannot be reached. Is there a network, or a proxy to be set? Then try again."
NO_VENV = (
    "This Python lacks the module that makes environments: install it "
    f"(on Debian and Ubuntu: sudo apt install python3.{sys.version_info.minor}-venv), and try again."
)
CAUSES = {
    FULL: r"No space left|Disk quota exceeded|os error 28|Errno 28|not enough space",
    LOCKED: r"Read-only file system|Permission denied|os error 13|os error 30",
    OFFLINE: r"NewConnectionError|name resolution|Name or service|nodename nor servname|Max retries|"
    r"dns error|error sending request|[Ff]ailed to fetch|Could not connect|[Tt]imed? ?out|unreachable|"
    r"[Cc]onnection refused",
}

LESSONS = "my-lessons"  # a learner's copies: git leaves this folder alone
FIRST = f"{LESSONS}/00_start_here.ipynb"
LAB = (
    "jupyterlab",
    f"--LabApp.app_settings_dir={ROOT / 'share' / 'jupyter' / 'lab' / 'settings'}",
    # It does not ask what else is installed here
    "--LanguageServerManager.autodetect=False",
    # Others on this computer do not hear a page and its kernel
    "--KernelManager.transport_encryption=auto",
    "--allow-root",  # in a container there is often nobody else
    "--ServerApp.log_level=WARN",
    "--LabApp.log_level=WARN",
    # Ctrl+C ends it without a question: the lessons are saved
    "--ServerApp.answer_yes=True",
    # By default longer than Tornado allows
    "--ServerApp.tornado_settings={'ws_ping_timeout': 30000}",
)
VOILA = (
    "voila",
    "--template=lessons",
    "--classic-tree",
    "--Voila.log_level=WARN",
    "--KernelManager.transport_encryption=auto",
    # Voilà's page asks in vain for its kernel to end. One without a page ends half a minute later;
    # a page that is only being read is connected, and one that opens slowly has time enough.
    "--MappingKernelManager.cull_interval=10",
    "--MappingKernelManager.cull_idle_timeout=30",
    "notebooks",
)


class Target(NamedTuple):
    """The modules that a target runs, with their arguments, and what it needs beside the package itself."""

    says: str
    runs: tuple[tuple[str, ...], ...]
    extras: tuple[str, ...] = ("demo", "class", "test")


CHECKS = (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("tools.tests",))
# What is tested each time of these pages, and then what takes too long for that.
SITE = ("pytest", "tests/delivery/site", "tests/lab/test_browser_keys.py")
LONG = ("pytest", "-m", "long")
OPEN = (*LAB, f"--LabApp.default_url=/lab/tree/{FIRST}")
COPY_AND_OPEN = (("lessonkit", "copy", LESSONS), ("tools.trust",), OPEN)
TARGETS = {
    "setup": Target("Everything is set up.", ()),
    "lab": Target(f"JupyterLab starts with {FIRST}; Ctrl+C ends it.", COPY_AND_OPEN, ()),
    "demo": Target(
        "Voilà serves the lessons without their code; Ctrl+C ends it.",
        (VOILA,),
        ("demo",),
    ),
    "test": Target("All checks and tests run now.", CHECKS),
    "coverage": Target(
        "All tests run now, and their coverage is measured.", (("pytest", "--cov"),)
    ),
    "site": Target(
        "The lessons become a site of static files, in build/site.",
        (("delivery.site",),),
        (),  # its pages are made by the package, and by what JupyterLab brings along
    ),
    "class": Target(
        "The room gets the lessons, and you a board that shows what all predict.",
        (("delivery.classroom",),),
        ("demo", "class"),
    ),
    "test-site": Target(
        "All lessons are walked through, on the site and in JupyterLab.", (SITE, LONG)
    ),
    "test-torch": Target(
        "What works on PyTorch's loaders is tested with PyTorch.",
        (("tools.torch_tests",),),
    ),
    "wheel": Target(
        "A wheel is built, and tried in an empty environment.", (("tools.wheel",),)
    ),
    "bench": Target(
        "All benchmarks run now; this takes more than eight minutes.",
        (("benchmarks",),),
    ),
    "notebooks": Target("All notebooks run now, and are stored.", (("tools.notebooks",),)),
}


def say(text: str) -> None:
    """Tell what is done."""
    print(f"lessonkit: {text}", flush=True)


def stop(text: str) -> NoReturn:
    """Tell what keeps us from going on, and end."""
    sys.exit(f"lessonkit: {text}")


def made() -> dict[str, Any]:
    """Return what .venv was made for; nothing if it is half made, was moved, or has lost its Python."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found: dict[str, Any] = json.loads(READY.read_text(encoding="utf-8"))
        if found["place"] == str(ROOT) and PYTHON.exists():
            return found
    return {}


def set_up(extras: tuple[str, ...]) -> None:
    """Make sure that .venv has the package and these *extras*."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = made()
    has = found.get("extras", ())
    if found and found["for"] == wanted and {*extras} <= {*has}:
        return
    if not found:
        make_venv()
    say(
        "The packages that the lessons need are installed into .venv; the first time this may take a minute."
    )
    asked = sorted({*extras, *has})
    failed = run_showing(
        [*installer(), "--editable", f".[{','.join(asked)}]" if asked else "."]
    )
    if failed == OFFLINE and found and asked == sorted(has):
        # What is there may be older than what is asked for, and still do.
        say("The package index cannot be reached: the packages that are here are used.")
    elif failed:
        stop(failed)
    else:
        READY.write_text(
            json.dumps({"for": wanted, "extras": asked, "place": str(ROOT)}),
            encoding="utf-8",
        )


def make_venv() -> None:
    """Make .venv anew."""
    if shutil.disk_usage(ROOT).free < ROOM * 1e6:
        stop(FULL)
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        stop(NO_VENV)
    if VENV.exists():
        say("What is in .venv is not complete, or was made elsewhere: it is made anew.")
        shutil.rmtree(VENV)
    say("A Python environment is made in .venv.")
    if failed := run_showing([sys.executable, "-m", "venv", str(VENV)]):
        stop(failed)
    JUPYTER.mkdir()  # IPython warns where the folder above its own is missing


def installer() -> list[str]:
    """Return the command that installs: with uv if it is there, which takes half of the time."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", str(PYTHON)]
    return [
        str(PYTHON),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--progress-bar=off",
    ]


def run_showing(command: list[str]) -> str:
    """Run a program, and show what it says; return why it failed, in a sentence, or nothing."""
    told = ""
    pipes: Any = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
        "errors": "replace",
    }
    with subprocess.Popen(command, cwd=ROOT, env=environment(), **pipes) as child:
        for line in child.stdout or ():
            told += line
            show(line)
    show("")
    return cause(told) if child.returncode else ""


def show(line: str) -> None:
    """Show how far a program has come, in one line of a terminal that changes."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{line.strip()[:width]:{width}}\r", end="", flush=True)


def cause(told: str) -> str:
    """Return why a program failed, as a sentence, from what it *told*."""
    known = [sentence for sentence, pattern in CAUSES.items() if re.search(pattern, told)]
    last = "".join(told.splitlines(keepends=True)[-20:])
    return known[0] if known else f"Setting up failed. The last that was said:\n{last}"


def environment() -> dict[str, str]:
    """Return the environment for all that runs here: nothing of another Python, nothing kept outside.

    What is compiled is kept, in any case: the tests are then read in half the time.
    """
    python = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
    ours = (*python, "JUPYTER", "PIP_USER", "PIP_TARGET")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {
        "PATH": str(PYTHON.parent) + os.pathsep + os.environ.get("PATH", ""),
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": str(ROOT / "share" / "quick"),  # what Jupyter starts faster without
        "JUPYTER_CONFIG_DIR": str(JUPYTER / "config"),
        "JUPYTER_DATA_DIR": str(JUPYTER / "data"),
        "JUPYTER_PATH": str(ROOT / "share" / "jupyter"),  # Voilà's template
        "IPYTHONDIR": str(JUPYTER / "ipython"),
        "MPLCONFIGDIR": str(JUPYTER / "matplotlib"),
    }


@contextmanager
def alone() -> Iterator[None]:
    """Let one at a time set up in a folder; the second waits, and finds everything there."""
    try:
        import fcntl
    except ImportError:  # Windows: there two at a time would only be slower
        yield
        return
    with Path(__file__).open() as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another one is setting up in this folder; this one waits for it.")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def run(module: str, *arguments: str) -> int:
    """Run a *module* in .venv; return what it returns."""
    child = subprocess.Popen(
        [str(PYTHON), "-m", module, *arguments], cwd=ROOT, env=environment()
    )
    # Who ends us means what runs here
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while True:
        # It has heard this as well, and may ask whether it is meant
        with suppress(KeyboardInterrupt):
            return child.wait()


def main(given: list[str]) -> int:
    """Set up for a target and run it: `target [argument ...]`."""
    name, *more = given or [""]
    if name not in TARGETS:
        stop(f"{name!r}: must be one of {', '.join(TARGETS)}")
    target = TARGETS[name]
    if not os.access(ROOT, os.W_OK):
        stop(LOCKED)
    try:
        with alone():
            set_up(target.extras)
    except OSError as error:
        stop(cause(str(error)))
    except KeyboardInterrupt:
        stop("Stopped.")
    say(target.says)
    for program in target.runs:
        last = program is target.runs[-1]
        if returned := run(*program, *(more if last else ())):
            return returned
    return 0
