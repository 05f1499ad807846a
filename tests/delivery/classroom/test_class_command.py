"""`make class`: what it says of wrong input, and that its one file is complete whenever it ends."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from datetime import date
from pathlib import Path
from socket import create_server
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest
from support.classes import CHOICE, NUMBER, Class, Page, class_in, record
from support.places import ROOT

from delivery.classroom import __main__ as command
from delivery.classroom.doors import RESERVED, Doors
from delivery.classroom.rounds import asked_of
from delivery.classroom.server import application
from delivery.classroom.store import Store, UnreadableError
from tools.servers import HOST, free_port


def doors() -> Doors:
    return Doors(lambda _: None, most=10, warn=print)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # tornado leaves its socket
def test_a_port_that_is_taken_is_told_with_one_to_choose() -> None:
    with create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit, match=rf"port {port}: .*--port {port + 1}"):
            command.listen(doors(), HOST, port)
    gc.collect()


def test_a_class_of_today_goes_on_with_its_answers_and_another_file_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "KEPT", tmp_path)
    first = command.read([]).answers
    assert first == command.read([]).answers
    assert first.parent == tmp_path
    assert date.today().isoformat() in first.name
    assert command.read(["--answers", "other.sqlite"]).answers == Path("other.sqlite")


def test_addresses_are_those_of_this_computer() -> None:
    assert command.addresses()
    assert all(len(one.split(".")) == 4 for one in command.addresses())


WRONG = {
    "--port 99999": "must be from 1 to 65535",
    "--port 0": "must be from 1 to 65535",
    "--port x": "invalid int value",
    "--address here": "must be an IP address",
    "--at nonsense": "must be an address, such as http://",
    "--at ftp://host/class": "must be an address, such as http://",
    "--at http:///class": "must be an address, such as http://",
    "--at http://host:99999/": "must be an address, such as http://",
    "--at http://host/class?a=1": "must be an address, such as http://",
    "--lessons nonsense": "must be an address, such as http://",
    "--proxy 10.0.0.1": "only with --at",
    "--at http://host/ --proxy here": "must be an IP address",
}


@pytest.mark.parametrize("given", WRONG)
def test_what_makes_no_sense_is_told_in_a_sentence(
    given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.read(given.split())
    name, value = given.split()[-2:]
    told = capsys.readouterr().err.splitlines()[-1]
    assert name in told
    assert value in told or name == "--proxy"
    assert WRONG[given] in told


@pytest.mark.parametrize(
    ("given", "learners", "proxy"),
    [
        ("--address 10.0.0.1", "http://10.0.0.1:8000/", ""),
        ("--address ::1", "http://[::1]:8000/", ""),
        ("--at http://host/class", "http://host/class/", HOST),
        ("--at http://host/class/ --proxy 10.0.0.1", "http://host/class/", "10.0.0.1"),
        ("--at https://host --lessons /hub/", "https://host/", HOST),
    ],
)
def test_the_address_of_learners_can_be_opened(
    given: str, learners: str, proxy: str
) -> None:
    asked = command.read(["--port", "8000", *given.split()])
    assert (asked.learners, asked.proxy) == (learners, proxy)


def test_all_that_is_served_lies_below_the_address_that_learners_open() -> None:
    class Nobody:
        room = None

    at = command.read(["--at", "http://host/class", "--address", HOST]).learners
    app = application(Nobody(), Path("site"), at)  # type: ignore[arg-type]
    (rule,) = [one for one in app.default_router.rules if hasattr(one.target, "rules")]
    patterns = [one.matcher.regex.pattern for one in rule.target.rules]
    assert all(pattern.startswith("/class/") for pattern in patterns)


def test_a_file_that_is_no_store_is_told_in_a_sentence(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("my notes\n" * 100)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE answers (a)")
    base.close()
    for path, why in {
        text: "not a database",
        tmp_path: "unable to open",
        text / "below.sqlite": "exists|Not a directory",
        other: "another version",
    }.items():
        with pytest.raises(UnreadableError, match=why) as told:
            Store(path)
        assert str(path) in str(told.value)
    assert text.read_text().startswith("my notes")


def test_who_goes_on_with_earlier_answers_is_told_so(tmp_path: Path) -> None:
    asked: Any = command.read(["--address", HOST, "--answers", str(tmp_path / "a.sqlite")])

    async def do() -> None:
        async with class_in(tmp_path) as one:
            assert "goes on" not in "".join(command.printed(asked, one.room))
            await (await one.learner()).answer(record())
            said = "\n".join(command.printed(asked, one.room))
            assert "goes on with 1 answers of 1 learners" in said
            assert "New group" in said

    asyncio.run(do())


resource = pytest.importorskip("resource")


@pytest.mark.parametrize(("soft", "hard"), [(256, 2048), (8192, 8192), (1024, 4096)])
def test_as_many_files_may_be_open_as_the_system_lets_us(soft: int, hard: int) -> None:
    """In a process of its own: a hard limit is never raised again."""
    program = f"""
import resource
from delivery.classroom.doors import let_many_come
hard = min({hard}, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (min({soft}, hard), hard))
print(hard, let_many_come(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""
    told = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    most, connections, now = map(int, told.stdout.split())
    assert now == most
    assert connections == most - RESERVED


# ---- the one file ----


SERVE = """
import json, sys
from pathlib import Path
sys.path.insert(0, "tests")
from support.classes import QUESTIONS
from delivery.classroom import __main__ as command
command.questions = lambda: QUESTIONS
command.site.build = lambda: None
command.KEPT = Path(sys.argv.pop(1))
command.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has Ctrl+C alone")
@pytest.mark.parametrize(
    "name",
    [
        "SIGTERM",
        "SIGKILL",
        pytest.param("SIGINT", marks=pytest.mark.long),
        pytest.param("SIGHUP", marks=pytest.mark.long),
    ],
)
def test_however_it_ends_one_file_has_all_answers_and_can_be_copied(
    name: str, tmp_path: Path
) -> None:
    path, port = tmp_path / "day.sqlite", free_port()
    given = [sys.executable, "-c", SERVE, str(tmp_path), "--address", HOST]
    given += ["--port", str(port), "--answers", str(path)]

    async def answer(server: subprocess.Popen[str]) -> list[Any]:
        one = Class(SimpleNamespace(), f"http://{HOST}:{port}/", asyncio.get_running_loop())  # type: ignore[arg-type]
        page = Page(await one.socket(await one.join()))
        await page.hear()
        for given in record(said=105), record(CHOICE, 1):
            assert await page.answer(given) == {"round": 0, "late": False}
        # What is answered is in the file: it can be copied while the class goes on.
        shutil.copy(path, tmp_path / "copy.sqlite")
        server.send_signal(getattr(signal, name))
        told = []
        while message := await page.hear():
            told.append(message)
        page.socket.close()
        return told

    with subprocess.Popen(given, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout
            while "The board" not in (line := server.stdout.readline()):
                assert line
            told = asyncio.run(answer(server))
            said = server.stdout.read()
            status = server.wait(20)
        finally:
            server.kill()
    for file in tmp_path / "copy.sqlite", path:
        store = Store(file)
        for question, answers in (NUMBER, [105]), (CHOICE, [1]):
            found = store.answers(asked_of(question), group=1, asking=1)
            assert [int(one["said"]) for one in found] == answers
        store.base.close()
    left = {one.name for one in tmp_path.iterdir()}
    if name == "SIGKILL":
        assert left == {"day.sqlite", "copy.sqlite"}
    else:
        assert left == {"day.sqlite", "copy.sqlite", "day.csv"}
        assert status == 0
        assert "The class is over" in said
        assert told[-1]["state"]["over"]
        assert (tmp_path / "day.csv").read_text().count("\n") == 3


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a Hub runs on Linux")
def test_with_its_parent_it_ends(tmp_path: Path) -> None:
    """A Hub that was killed leaves no board behind."""
    port = free_port()
    given = [str(tmp_path), "--address", HOST, "--port", str(port), "--with-parent"]
    given += ["--answers", str(tmp_path / "a.sqlite")]
    starts = f"""
import subprocess, sys
one = subprocess.Popen([sys.executable, "-c", {SERVE!r}, *{given!r}], stdout=subprocess.PIPE, text=True)
while "The board" not in one.stdout.readline(): pass
print(one.pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", starts],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.kill()
    while is_alive(child):
        sleep(0.1)
    assert (tmp_path / "a.csv").exists()


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_copy_that_is_made_while_all_answer_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    store = Store(path)
    store.begin("key", "secret", "{}")
    whose = {
        "group": 1,
        "asking": 1,
        "round": 0,
        "nickname": "",
        "address": "",
        "arrived": "",
    }
    tried = {"said": "105", "words": "105 ms", "sure": "certain", "right": 0, "mistake": ""}
    for who in range(30):
        tries = [{**tried, "when": "then"}]
        more = {**whose, "learner": str(who), "late": 0, "goals": None, "reached": None}
        store.keep(asked_of(NUMBER), tries, **more)
        store.commit()
        shutil.copy(path, tmp_path / "copy.sqlite")
        copy = sqlite3.connect(tmp_path / "copy.sqlite")
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT count(*) FROM answers").fetchone() == (who + 1,)
        copy.close()
    assert {one.name for one in tmp_path.iterdir()} == {"a.sqlite", "copy.sqlite"}
    store.close()
