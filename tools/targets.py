"""What the targets of the Makefile do: set up what is missing in .venv, say so, and run something in it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
READY = VENV / "ready"  # written last: without it, .venv is only half made
ROOM, MORE = 700, 700  # MB, with what is downloaded meanwhile; the tests need more
LOG = VENV / "setup.log"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
JUPYTER = VENV / "jupyter"  # its settings and what else it would keep in the user's folders

# What goes wrong on other people's machines, as pip and uv tell it, and what to do about it.
FULL = "The disk is full. Make room (about {room} MB in this folder) and say the same again."
LOCKED = "This folder cannot be written to: copy it to where you may write, and say the same there."
OFFLINE = (
    "The package index cannot be reached. Is there a network, or a proxy to be set? Then say the same again."
)
MISSING = "The package index does not have what is needed; the last lines above say what."
CAUSES = (
    (FULL, r"No space left|Disk quota exceeded|os error 28|Errno 28|not enough space"),
    (LOCKED, r"Read-only file system|Permission denied|os error 13|os error 30"),
    (
        OFFLINE,
        r"NewConnectionError|name resolution|Name or service not known|nodename nor servname|Max retries|"
        r"dns error|error sending request|[Ff]ailed to fetch|Could not connect|[Tt]imed? ?out|unreachable|"
        r"[Cc]onnection refused",
    ),
    (MISSING, r"No matching distribution|No solution found"),
)


STEPS = re.compile(r"Collecting [^ ]+|Downloading .*|Installing collected packages|(Resolved|Installed) .*")


class Target(NamedTuple):
    """What a target needs beside the package itself, and the modules that it runs, with their arguments."""

    extras: tuple[str, ...]
    says: str
    runs: tuple[tuple[str, ...], ...]


TEST = ("demo", "test")
FIRST = "notebooks/00_start_here.ipynb"
LAB = (
    "jupyterlab",
    f"--LabApp.default_url=/lab/tree/{FIRST}",
    # It asks nobody for anything: not for news, not for newer versions, not what else is installed here.
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LanguageServerManager.autodetect=False",
    # What a lesson shows is kept with it, and is there again when its kernel is not.
    f"--LabApp.app_settings_dir={ROOT / 'share' / 'jupyter' / 'lab' / 'settings'}",
    # What a page and its kernel say is not for others on this computer.
    "--KernelManager.transport_encryption=auto",
    "--ServerApp.log_level=WARN",
    "--LabApp.log_level=WARN",
)
TARGETS = {
    "setup": Target(TEST, "Everything is set up.", ()),
    "lab": Target((), f"JupyterLab starts with {FIRST}; Ctrl+C ends it.", (LAB,)),
    "demo": Target(
        ("demo",),
        "Voilà serves the lessons without their code; Ctrl+C ends it.",
        (("voila", "--template=lessons", "--Voila.log_level=WARN", "notebooks"),),
    ),
    "test": Target(
        TEST,
        "All checks and tests run now.",
        (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",), ("tools.tests",)),
    ),
    "coverage": Target(TEST, "All tests run now, and their coverage is measured.", (("pytest", "--cov"),)),
    "wheel": Target(TEST, "A wheel is built, and tried in an empty environment.", (("tools.wheel",),)),
    "bench": Target(TEST, "All benchmarks run now; this takes more than eight minutes.", (("benchmarks",),)),
    "notebooks": Target(TEST, "All notebooks run now, and are stored.", (("tools.notebooks",),)),
}


class CannotError(Exception):
    """What keeps us from going on, as a sentence."""


def say(text: str) -> None:
    """Tell what is done."""
    print(f"lessonkit: {text}", flush=True)


# ---- what is set up ----


def wanted() -> str:
    """What pyproject.toml asks for, as a short text that changes with it."""
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()


def made() -> dict[str, Any]:
    """What .venv was made for; nothing if it is half made, was moved, or has lost its Python."""
    with suppress(OSError, ValueError):
        found = json.loads(READY.read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("place") == str(ROOT) and PYTHON.exists():
            return found
    return {}


def set_up(extras: tuple[str, ...]) -> None:
    """Make sure that .venv has the package and these extras."""
    found = made()
    has = set(found.get("extras", ()))
    if found and found["for"] == wanted() and has.issuperset(extras):
        return
    room = ROOM + (MORE if extras == TEST else 0)
    if not found:
        if shutil.disk_usage(ROOT).free < room * 1e6:
            raise CannotError(FULL.format(room=room))
        make_venv()
    say("The packages that the lessons need are installed into .venv; the first time this may take a minute.")
    asked = sorted(has.union(extras))
    try:
        run_showing(
            [*installer(), "install", *into(), "--editable", f".[{','.join(asked)}]" if asked else "."], room
        )
    except CannotError as error:
        # Without a network, what is there may be older than what is asked for, and still do.
        if str(error) != OFFLINE or not found or not has.issuperset(extras):
            raise
        say("The package index cannot be reached, so the lessons start with the packages that are here.")
        return
    READY.write_text(json.dumps({"for": wanted(), "extras": asked, "place": str(ROOT)}), encoding="utf-8")


def make_venv() -> None:
    """Make .venv anew."""
    if VENV.exists():
        say("What is in .venv is not complete, or was made elsewhere: it is made anew.")
        shutil.rmtree(VENV)
    if uv():
        VENV.mkdir()
        run_showing(
            [uv(), "venv", "--quiet", "--seed", "--allow-existing", "--python", sys.executable, str(VENV)]
        )
        return
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise CannotError(
            f"This Python lacks the module that makes environments: install it "
            f"(on Debian and Ubuntu: sudo apt install python{version}-venv), or uv, and say the same again."
        )
    say("A Python environment is made in .venv.")
    VENV.mkdir()
    run_showing([sys.executable, "-m", "venv", str(VENV)])


def uv() -> str:
    """Where uv is; empty if it is not there."""
    return shutil.which("uv") or ""


def installer() -> list[str]:
    """The program that installs."""
    return [uv(), "pip"] if uv() else [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]


def into() -> list[str]:
    """How it is told where to."""
    return ["--python", str(PYTHON)] if uv() else ["--progress-bar=off"]


# ---- running ----


def run_showing(command: list[str], room: int = 0) -> None:
    """Run a program, showing how far it has come in one line; if it fails, say why in one sentence."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as child:
        assert child.stdout
        for line in child.stdout:
            lines.append(line)
            show_step(line)
    show_step("")
    with suppress(OSError):
        LOG.write_text("".join(lines), encoding="utf-8")
    if child.returncode:
        raise CannotError(cause("".join(lines), room))


def show_step(line: str) -> None:
    """Show that something goes on: on a terminal in one line that changes."""
    step = re.match(
        r"Collecting [^ ]+|Downloading .*|Installing collected packages|(Resolved|Installed) .*", line.strip()
    )
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{(step[0] if step else '')[:width]:{width}}\r", end="", flush=True)
    elif step and not step[0].startswith(("Collecting", "Downloading")):
        print(f"  {step[0]}", flush=True)


def cause(told: str, room: int = 0) -> str:
    """What went wrong, as a sentence, from what a program told."""
    for sentence, pattern in CAUSES:
        if re.search(pattern, told):
            if sentence is MISSING:
                print("".join(told.splitlines(keepends=True)[-5:]), file=sys.stderr)
            return sentence.format(room=room)
    last = told.strip().splitlines()[-1:] or ["nothing"]
    return f"Setting up failed, with {last[0].strip()!r}; all that was said is in {LOG.relative_to(ROOT)}."


def environment() -> dict[str, str]:
    """The environment of everything that runs here: nothing of another Python, nothing kept outside."""
    ours = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "JUPYTER", "PIP_USER", "PIP_TARGET")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {
        "PATH": str(PYTHON.parent) + os.pathsep + os.environ.get("PATH", ""),
        "PYTHONNOUSERSITE": "1",
        "JUPYTER_CONFIG_DIR": str(JUPYTER / "config"),
        "JUPYTER_DATA_DIR": str(JUPYTER / "data"),
        "JUPYTER_RUNTIME_DIR": str(JUPYTER / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(JUPYTER / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(JUPYTER / "workspaces"),
        "JUPYTER_PATH": str(ROOT / "share" / "jupyter"),  # Voilà's template
        "IPYTHONDIR": str(JUPYTER / "ipython"),
        "MPLCONFIGDIR": str(JUPYTER / "matplotlib"),
    }


@contextmanager
def alone() -> Iterator[None]:
    """One at a time sets up in a folder; who comes second waits, and finds everything there."""
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
    """Run a module in .venv; what it returns."""
    command = [str(PYTHON), "-m", module, *arguments]
    # In a container there is often nobody but root, and JupyterLab wants to be told that this is meant.
    if module == "jupyterlab" and hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    child = subprocess.Popen(command, cwd=ROOT, env=environment())
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # it has heard this as well, and may ask whether it is meant
            continue


def main(given: list[str]) -> int:
    """Set up for a target and run it: `target [argument ...]`."""
    name, *more = given or [""]
    if name not in TARGETS:
        print(f"{name!r}: must be one of {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    target = TARGETS[name]
    try:
        if not os.access(ROOT, os.W_OK):
            raise CannotError(LOCKED)
        with alone():
            set_up(target.extras)
        say(target.says)
    except CannotError as error:
        print(f"lessonkit: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"lessonkit: {cause(str(error), ROOM)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nlessonkit: Stopped; the next time it goes on from here.", file=sys.stderr)
        return 130
    for program in target.runs:
        last = program is target.runs[-1]
        if returned := run(*program, *(more if last else ())):
            return returned
    return 0
