"""Every target of the Makefile, run in a fresh clone that has nothing but Python: it brings what it needs."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from support.places import ROOT

from tools import targets
from tools.servers import HOST, free_port

MOST = 900  # s, for one target: the first one installs everything
# What keeps a target short that would take minutes: tests are read and not run, because to read
# them needs all that they import.
READ = {"PYTEST_ADDOPTS": "--collect-only --quiet --cov-fail-under=0"}
BRIEF = {
    "bench": "--quick virtual",
    "notebooks": "notebooks/00_start_here.ipynb",
    "test-torch": "--collect-only",
}
SERVERS = {"lab": "--no-browser", "demo": "--no-browser", "class": f"--address={HOST}"}
NO_TORCH = "PyTorch cannot be installed"
# Each extra builds on those before it, so a target that needs less comes first: it would else find what
# another has installed.
EXTRAS = ("lessons", "demo", "class", "test")
BY_NEED = sorted(
    targets.TARGETS, key=lambda name: max(map(EXTRAS.index, targets.TARGETS[name].extras))
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fresh clone; what the site is made of is fetched only if it was never fetched here."""
    folder = tmp_path_factory.mktemp("clone") / "lessons"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    if (cache := ROOT / "build" / "cache").is_dir():
        shutil.copytree(cache, folder / "build" / "cache")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.long
@pytest.mark.parametrize("name", BY_NEED)
def test_a_target_brings_what_it_needs(clone: Path, name: str, tmp_path: Path) -> None:
    if name in SERVERS:
        return serve(clone, name, tmp_path / "log")
    command = ["make", name, f"ARGS={BRIEF.get(name, '')}"]
    pipes: Any = {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=clone, env=os.environ | READ, timeout=MOST, **pipes)
    # Without a network it says so, and that is all it can do.
    is_offline = name == "test-torch" and NO_TORCH in done.stdout
    assert is_offline or not done.returncode, done.stdout[-3000:] + done.stderr[-3000:]
    return None


def serve(clone: Path, name: str, log: Path) -> None:
    """Start a target that serves, wait until it listens, and end it as Ctrl+C does."""
    port = free_port()
    deadline = monotonic() + MOST
    command = ["make", name, f"ARGS={SERVERS[name]} --port={port}"]
    pipes: Any = {"stderr": subprocess.STDOUT, "start_new_session": True}
    with (
        log.open("w") as told,
        subprocess.Popen(command, cwd=clone, stdout=told, **pipes) as one,
    ):
        try:
            while not listens(port):
                assert one.poll() is None, log.read_text()
                assert monotonic() < deadline, log.read_text()
                sleep(0.2)
        finally:
            os.killpg(one.pid, signal.SIGINT)
    assert "Traceback" not in log.read_text()


def listens(port: int) -> bool:
    """True if a server takes connections there."""
    with socket.socket() as asked:
        return asked.connect_ex((HOST, port)) == 0
