"""What `make lab` and `make demo` start: for this computer alone, and JupyterLab for who has the token."""

import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tools import targets
from tools.servers import START, await_start, free_port, process


@contextmanager
def started(name: str, port: int, log: Path) -> Iterator[int]:
    """The target's own command, in the environment that these tests run in."""
    *_, program = targets.TARGETS[name].runs
    command = [sys.executable, "-m", *program, "--no-browser", f"--port={port}"]
    with process(command, targets.environment(), log) as child:
        await_start(name, child, log, lambda: answer(port) != 0)
        yield child.pid


def answer(port: int, path: str = "/") -> int:
    """How a page is answered; 0 if nobody does."""
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}{path}", timeout=START
        ) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def assert_only_this_computer(pid: int) -> None:
    """Neither a server nor what it started listens to others."""
    server = psutil.Process(pid)
    every = [server, *server.children(recursive=True)]
    found = [connection for one in every for connection in one.net_connections("inet")]
    ears = {
        connection.laddr.ip
        for connection in found
        if connection.status == psutil.CONN_LISTEN
    }
    assert ears
    assert ears <= {"127.0.0.1", "::1"}


def test_voila_listens_on_this_computer_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(targets.ROOT)
    with started("demo", free_port(), tmp_path / "log") as pid:
        assert_only_this_computer(pid)


def test_jupyterlab_answers_only_this_computer_and_who_has_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(targets.ROOT)
    port = free_port()
    log = tmp_path / "log"
    with started("lab", port, log) as pid:
        assert_only_this_computer(pid)
        told = re.search(
            r"http://127\.0\.0\.1:\d+(/lab/tree/\S+)\?token=(\w{40,})", log.read_text()
        )
        assert told, log.read_text()
        assert told[1] == f"/lab/tree/{targets.FIRST}"
        assert answer(port, "/api/contents") == 403
        assert answer(port, "/api/contents?token=wrong") == 403
        assert answer(port, f"/api/contents?token={told[2]}") == 200
