"""JupyterLab and Voilà for tests and benchmarks: on this computer only, with nothing left behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from time import monotonic, sleep
from typing import Any, NamedTuple, NoReturn

from lessonkit.lessons import files_of
from tools import targets

# s, for a server or a browser
START = 60
STOP = 10
HOST = "127.0.0.1"
ENDING = (signal.SIGTERM, signal.SIGINT)
STARTED: set[int] = set()  # the programs that run, each with a group of its own
SHARE = Path(__file__).parent.parent / "share" / "jupyter"


class Program(NamedTuple):
    """A server program: how it is started, and the paths where it answers."""

    module: str
    options: tuple[str, ...]
    started: str
    page: str  # of a notebook


LAB = Program(
    targets.LAB[0],
    (
        *targets.LAB[1:],
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--expose-app-in-browser",  # so that a page can be told to open another notebook
    ),
    "/api/status",
    "/lab/tree/{}?reset",  # reset: forget how the last page was left
)
VOILA = Program(
    targets.VOILA[0],
    ("--Voila.port_retries=0", *targets.VOILA[1:-1]),
    "/",
    "/voila/render/{}",
)  # of `make demo`, less its folder

# A server chooses free ports for a kernel, which takes them a second later. Of two servers
# that start kernels side by side both may choose the same one; Voilà then shows an empty
# page for ever. A socket that is a file in the server's own folder is nobody else's; its
# path may have 107 characters, of which ours takes 77.
SOCKETS = (
    ("--KernelManager.transport=ipc",)
    if sys.platform == "linux" and len(gettempdir()) <= 30
    else ()
)


def interrupt(*_: object) -> NoReturn:
    """End as after Ctrl+C, once: who asks again would keep us from stopping what was started."""
    for sign in ENDING:
        signal.signal(sign, signal.SIG_IGN)
    late = threading.Timer(3 * STOP, end_at_once)
    late.daemon = True
    late.start()
    raise KeyboardInterrupt


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put off until this is done that somebody ends us."""
    asked: list[int] = []
    before = {
        sign: signal.signal(sign, lambda number, _: asked.append(number)) for sign in ENDING
    }
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
    if asked:
        signal.raise_signal(asked[0])


def end_at_once() -> NoReturn:
    """End with all that was started: a page whose driver is gone may wait for ever."""
    for pid in STARTED:
        kill_group(pid)
    os._exit(1)


def kill_group(pid: int) -> None:
    """Kill a program and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


@contextmanager
def process(
    command: list[str], environment: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a group of its own; when we are done with it the whole group ends."""
    # Who ends us interrupts us: then what was started is stopped, as after Ctrl+C.
    before = signal.getsignal(signal.SIGTERM)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, interrupt)
    child = None
    try:
        # Who ends us before we know that it runs would leave it running
        with undisturbed(), log.open("wb") as output:
            child = subprocess.Popen(
                command,
                env=environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            STARTED.add(child.pid)
        yield child
    finally:
        if child is not None:
            with undisturbed():
                # A server then stops its kernels, which are groups of their own
                child.terminate()
                with suppress(subprocess.TimeoutExpired):
                    child.wait(STOP)
                kill_group(child.pid)
                child.wait()
                STARTED.discard(child.pid)
        if signal.getsignal(signal.SIGTERM) is interrupt:
            signal.signal(signal.SIGTERM, before)


def await_start(
    name: str, child: subprocess.Popen[bytes], log: Path, started: Callable[[], bool]
) -> None:
    """Wait until it has *started*, or say why it has not."""
    deadline = monotonic() + START
    while not started():
        if child.poll() is not None or monotonic() > deadline:
            raise RuntimeError(f"{name} did not start; it said:\n{log.read_text()[-2000:]}")
        sleep(0.05)


@dataclass
class Server:
    """Where a server is, and the folder with all that it uses."""

    program: Program
    url: str
    folder: Path

    def write(self, name: str, *cells: str) -> str:
        """Store a notebook with these cells; the address of its page."""
        path = self.folder / "notebooks" / f"{name}.ipynb"
        path.write_text(notebook(cells))
        return self.url + self.program.page.format(path.name)

    def store(self, path: Path) -> str:
        """Store a notebook that is kept with its outputs; the address of its page."""
        kept = json.loads(path.read_text(encoding="utf-8"))
        for cell in kept["cells"]:
            if cell["cell_type"] == "code":
                # So that a page shows which cells were run in it
                cell["execution_count"] = None
        (self.folder / "notebooks" / path.name).write_text(
            json.dumps(kept), encoding="utf-8"
        )
        for file in files_of(path):
            shutil.copy(file, self.folder / "notebooks")
        return self.url + self.program.page.format(path.name)

    def settings(self, chosen: dict[str, dict[str, Any]]) -> None:
        """Choose settings of JupyterLab for the pages opened from now on."""
        for name, values in chosen.items():
            path = self.folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))

    def theme(self, name: str) -> None:
        """Choose JupyterLab's theme: Light or Dark."""
        self.settings({"apputils-extension/themes": {"theme": f"JupyterLab {name}"}})

    def answers(self, path: str) -> bool:
        """True if it can be asked for *path*."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=START):
                return True
        except OSError:
            return False


def notebook(cells: tuple[str, ...]) -> str:
    """A notebook that has not been run, as it is stored."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    code: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
    }
    return json.dumps(
        {
            "cells": [
                code | {"id": f"cell-{place}", "source": cell}
                for place, cell in enumerate(cells)
            ],
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def environment(folder: Path) -> dict[str, str]:
    """Nothing of what this user has set up for Jupyter, and nothing left in his folders."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")
    }
    return kept | {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTER_PATH": str(SHARE),
        "IPYTHONDIR": str(folder / "ipython"),
    }


def free_port(many: int = 1) -> int:
    """The first of *many* ports in a row that nobody has, nor is given who asks for any port at all.

    Those are from 32,768 on: one of them may go to somebody else before a server has started on it.
    """
    while True:
        first = random.SystemRandom().randrange(10_000, 32_000)
        with suppress(OSError), ExitStack() as held:
            for port in range(first, first + many):
                held.enter_context(socket.socket()).bind(("", port))
            return first


@contextmanager
def serve(program: Program, options: tuple[str, ...] = ()) -> Iterator[Server]:
    """Start a server; in the end it is stopped, and its folder removed."""
    with TemporaryDirectory(prefix="lessonkit-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        port = free_port()
        notebooks = folder / "notebooks"
        log = folder / "log"
        notebooks.mkdir()
        server = Server(program, f"http://{HOST}:{port}", folder)
        command = [sys.executable, "-m", program.module, *program.options, *options]
        command += ["--no-browser", f"--port={port}", str(notebooks)]
        with process(command, environment(folder), log) as child:
            await_start(program.module, child, log, lambda: server.answers(program.started))
            yield server
