"""What the targets of the Makefile do: set up what is missing in .venv, say so, and run something in it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, NoReturn, TypedDict

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "pyproject.toml"
VENV = ROOT / ".venv"
READY = VENV / "ready"  # written last: without it, .venv is only half made
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
# Its settings, and what else it would keep in the user's folders
JUPYTER = VENV / "jupyter"
# MB, with what is downloaded meanwhile; `tools.new_user` in a fresh clone shows it
ROOM = 700

LESSONS = "my-lessons"  # a learner's copies: git leaves this folder alone
FIRST = f"{LESSONS}/00_start_here.ipynb"
LAB = (
    "jupyterlab",
    f"--LabApp.app_settings_dir={ROOT / 'share' / 'jupyter' / 'lab' / 'settings'}",
    # What a package that is installed has in etc/jupyter
    "--ServerApp.jpserver_extensions={'lessonkit.export': True}",
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
    # Voilà's page asks in vain for its kernel to end. These end by themselves when it has gone.
    "--VoilaConfiguration.multi_kernel_manager_class=delivery.voila.Kernels",
    "--MappingKernelManager.cull_interval=10",
    "--MappingKernelManager.cull_idle_timeout=300",  # or it never looks
    "notebooks",
)


class Target(NamedTuple):
    """The modules that a target runs, with their arguments, and the extras of the package that it needs."""

    says: str
    runs: tuple[tuple[str, ...], ...]
    extras: tuple[str, ...] = ("test",)  # it builds on all others but the Hub's


CHECKS = (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("tools.tests",))
# What is tested each time of these pages, and then what takes too long for that.
SITE = ("pytest", "tests/delivery/site", "tests/lab/test_browser_keys.py")
LONG = ("pytest", "-m", "long")
# No test of a second browser is left out where the site is walked through
FIREFOX = ("tools.firefox",)
CLASS = ("pytest", "-m", "long or not long", "tests/delivery/classroom")
OPEN = (*LAB, f"--LabApp.default_url=/lab/tree/{FIRST}")
COPY_AND_OPEN = (("lessonkit", "copy", LESSONS), ("tools.trust",), OPEN)
TARGETS = {
    "setup": Target("Everything is set up.", ()),
    "lab": Target(
        f"JupyterLab starts with {FIRST}; Ctrl+C ends it.", COPY_AND_OPEN, ("lessons",)
    ),
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
        ("lessons",),
    ),
    "class": Target(
        "The room gets the lessons, and you a board that shows what all predict.",
        (("delivery.classroom",),),
        ("demo", "class"),
    ),
    "test-site": Target(
        "All lessons are walked through, on the site and in JupyterLab.",
        (FIREFOX, SITE, LONG),
    ),
    "test-delivery": Target(
        "A class is led for an hour and attacked, which takes some minutes.", (CLASS,)
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


class Stamp(TypedDict):
    """What .venv was made for: a complete one has this in the file `ready`."""

    project: str  # the text of pyproject.toml
    extras: list[str]
    place: str  # an environment that was moved does not work


def made() -> Stamp | None:
    """Return what .venv was made for; None if it is half made, was moved, or has lost its Python."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        found: Stamp = json.loads(READY.read_text(encoding="utf-8"))
        is_ours = (
            found.keys() == Stamp.__annotations__.keys()
        )  # an older one said other things
        if is_ours and found["place"] == str(ROOT) and PYTHON.exists():
            return found
    return None


def set_up(extras: Iterable[str]) -> None:
    """Make sure that .venv has the package and these *extras*, beside those that it has already."""
    project = PROJECT.read_text(encoding="utf-8")
    found = made()
    has = set(found["extras"]) if found else set()
    wanted = has.union(extras)
    if found and found["project"] == project and has == wanted:
        return
    if not found:
        make_venv()
    say("Packages are installed into .venv; the first time this may take a minute.")
    if installs(f".[{','.join(sorted(wanted))}]"):
        stamp = Stamp(project=project, extras=sorted(wanted), place=str(ROOT))
        READY.write_text(json.dumps(stamp), encoding="utf-8")
    elif found and has == wanted:
        # What is there may be older than what is asked for, and still do.
        say("That failed, as said above. The packages that are here are used.")
    else:
        stop(
            "The packages cannot be installed; why is said above. Setting up needs a network, "
            f"and about {ROOM} MB of room in this folder ({2 * ROOM:,} MB for tests)."
        )


def make_venv() -> None:
    """Make .venv anew; end here if this Python cannot, which then has said why."""
    if VENV.exists():
        say("What is in .venv is not complete, or was made elsewhere: it is made anew.")
        shutil.rmtree(VENV)
    say("A Python environment is made in .venv.")
    if subprocess.run(
        [sys.executable, "-m", "venv", str(VENV)], env=environment()
    ).returncode:
        stop("The environment cannot be made; why is said above.")
    JUPYTER.mkdir()  # IPython warns where the folder above its own is missing


def installs(package: str) -> bool:
    """Install a *package* so that a change of its source counts; return whether that worked.

    uv does it if it is there, in half of the time that pip takes.
    """
    uv = shutil.which("uv")
    pip = [uv, "pip"] if uv else [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
    where = ["--python", str(PYTHON)] if uv else []
    command = [*pip, "install", *where, "--editable", package]
    return subprocess.run(command, cwd=ROOT, env=environment()).returncode == 0


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
    try:
        with alone():
            set_up(target.extras)
    except OSError as error:
        stop(
            str(error)
        )  # such as a disk that is full, or a folder that cannot be written to
    except KeyboardInterrupt:
        stop("Stopped.")
    say(target.says)
    for program in target.runs:
        last = program is target.runs[-1]
        if returned := run(*program, *(more if last else ())):
            return returned
    return 0
