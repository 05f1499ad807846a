"""A hostile student in the room: what one device can do to the others, and what the teacher sees of it."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.classes import CHOICE, NUMBER, TASK, Class, led, record
from tornado.httpclient import HTTPClientError
from tornado.web import Application, RequestHandler

from delivery.classroom import doors, room, same_computer, server
from delivery.classroom.doors import Doors
from delivery.classroom.tokens import Tokens
from tools.servers import HOST


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would stand in the teacher's terminal."""
    found: list[str] = []

    class Hear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    monkeypatch.setattr(logging.getLogger(), "handlers", [Hear()])
    return found


# ---- forged answers ----


def test_the_words_and_the_verdict_on_the_board_are_the_servers(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        for of, said, right in (NUMBER, 105, True), (NUMBER, 210, False), (CHOICE, 0, True):
            page, given = await one.learner(), record(of, said, right=right)
            given["tries"][0] |= {"right": right, "words": "MR SMITH IS AN IDIOT " * 90}
            await page.answer(given)
        told = [
            (a["words"], a["right"], a["mistake"]) for a in (await one.lead())["answers"]
        ]
        assert sorted(told) == [("105 ms", 0, "That is one epoch."), ("210 ms", 1, "")]
        (one_choice,) = (await one.lead("choose", 1))["answers"]
        assert (one_choice["words"], one_choice["right"]) == ("this", 0)
        assert "SMITH" not in json.dumps(await one.lead())

    led(tmp_path, test)


def test_what_a_challenge_reached_is_a_number_of_a_run_and_no_words(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        page = await one.learner()
        for words in (
            "9" * 400,
            "1e300 ms and 5,000,000,000,000",
            "total 9e999 ms, YOU IDIOTS",
        ):
            await page.answer(record(TASK, tries=[], reached=[[True, words]]))
        (answer,) = (await one.lead("choose", 3))["answers"]
        assert json.loads(answer["reached"]) == [[True, 9]]

    led(tmp_path, test)


@pytest.mark.parametrize("said", [{"a": 1}, 10**30, [[[]]], "x" * 999])
def test_a_try_of_a_challenge_is_nobodys_business(
    said: Any, tmp_path: Path, printed: list[str]
) -> None:
    async def test(one: Class) -> None:
        page = await one.learner()
        tries = [{"said": said, "sure": "certain", "when": record()["when"]}]
        told = await page.answer(record(TASK, tries=tries, reached=[[True, "x"]]))
        assert not told["late"]

    led(tmp_path, test)
    assert not printed


def test_no_path_prints_a_traceback(tmp_path: Path, printed: list[str]) -> None:
    (tmp_path / "site").mkdir()

    async def test(one: Class) -> None:
        for path in "%00", "index.html%00.js", "board/%00", "a" * 5000:
            assert (await one.get(path)).code in (403, 404)

    led(tmp_path, test)
    assert not printed


# ---- made-up learners ----


def test_who_has_made_up_a_cookie_is_nobody(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        (known,) = [one.cookie_of("Anna")]
        name, _, signature = known.partition(".")
        others = [
            Tokens("another secret").issue(),
            f"{name}x.{signature}",
            name,
            f"{name}.",
            "é.x",
        ]
        for made_up in ["", *others]:
            with pytest.raises((HTTPClientError, UnicodeEncodeError), match=r"403|codec"):
                await one.socket(made_up)
        assert not one.room.learners

    led(tmp_path, test)


def test_a_class_comes_all_at_once_and_who_makes_up_hundreds_waits_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def slept(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(room, "sleep", slept)
    still = SimpleNamespace(time=lambda: 1000.0)
    monkeypatch.setattr(room, "get_running_loop", lambda: still)

    async def test(one: Class) -> None:
        for _ in range(room.NEWCOMERS):
            assert await one.join()
        assert not waited
        assert not one.room.warnings
        now = [await one.join() for _ in range(288 - room.NEWCOMERS)]
        assert len(waited) == sum(map(bool, now)) == round(room.PATIENT / room.EACH)
        assert waited[0] == room.EACH
        assert waited[-1] == room.PATIENT
        warnings = (await one.lead())["warnings"]
        assert [text.partition(" ")[0] for text in warnings] == [HOST, HOST]
        assert await one.room.newcomer("10.0.0.7")  # another address waits for nobody
        assert len(waited) == round(room.PATIENT / room.EACH)

    led(tmp_path, test)


def test_the_board_says_how_many_answers_came_from_one_address(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        for name, address in ("a", "10.0.0.66"), ("b", "10.0.0.66"), ("c", "10.0.0.7"):
            cookie = one.cookie_of(name)
            page_of = {"X-Forwarded-For": f"1.2.3.4, {address}", "X-Real-Ip": "10.9.9.9"}
            page = await one.learner(name)
            page.socket.close()
            made = await one.socket(cookie, **page_of)
            page.socket = made
            await page.answer(record(said=105))
        told = await one.lead()
        assert [address for address, _ in told["from"]] == [
            "10.0.0.66",
            "10.0.0.66",
            "10.0.0.7",
        ]
        assert len((await one.lead("leave out", "10.0.0.66"))["answers"]) == 1

    led(tmp_path, test, proxy=HOST)


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Real-Ip", "X-Forwarded-Proto"])
def test_only_a_proxy_that_the_server_was_told_of_is_believed(
    name: str, tmp_path: Path
) -> None:
    async def test(one: Class) -> None:
        made = await one.socket(one.cookie_of("Anna"), **{name: "10.0.0.7"})
        await made.read_message()
        assert [page.address for page in one.room.learners] == [HOST]

    led(tmp_path, test)
    led(tmp_path, test, proxy="10.0.0.1")


# ---- connections ----


def test_one_address_has_no_more_connections_of_learners_than_a_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "PER_ADDRESS", 5)

    async def test(one: Class) -> None:
        pages = [await one.learner(f"learner {number}") for number in range(5)]
        with pytest.raises(HTTPClientError, match="503"):
            await one.learner("one more")
        pages[0].socket.close()
        while len(one.room.learners) == 5:
            await asyncio.sleep(0)
        await one.learner("one more")  # a newcomer of that address is not shut out for ever
        (warning,) = (await one.lead())["warnings"]
        assert warning.startswith(HOST)

    led(tmp_path, test)


class Hello(RequestHandler):
    def get(self) -> None:
        self.write("hello")


@asynccontextmanager
async def opened(**more: Any) -> AsyncIterator[tuple[Doors, int, list[str]]]:
    """A server with nothing behind its doors, its port, and what it warns of."""
    warned: list[str] = []
    app = Application([("/", Hello)])
    one = Doors(app, **{"most": 1000, "warn": warned.append, **more})
    listening = socket.create_server((HOST, 0))
    listening.setblocking(False)
    one.add_sockets([listening])
    try:
        yield one, listening.getsockname()[1], warned
    finally:
        one.stop()
        await one.close_all_connections()


async def come(
    port: int, source: str = HOST
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(HOST, port, local_addr=(source, 0))


async def answer(port: int, source: str = HOST) -> bytes:
    """The first line that a device gets; nothing if it is refused."""
    reader, writer = await come(port, source)
    try:
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        return await asyncio.wait_for(reader.readline(), 20)
    except OSError:
        return b""
    finally:
        writer.close()


def test_connections_count_by_address_as_soon_as_they_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doors, "PER_ADDRESS", 3)

    async def test() -> None:
        async with opened() as (_, port, warned):
            idle = [await come(port, "127.0.0.2") for _ in range(3)]
            assert await answer(port, "127.0.0.2") == b""
            assert await answer(port, "127.0.0.3") == b"HTTP/1.1 200 OK\r\n"
            assert [text.partition(" ")[0] for text in warned] == ["127.0.0.2"]
            idle[0][1].close()
            while not await answer(port, "127.0.0.2"):
                pass
            for _, writer in idle:
                writer.close()

    asyncio.run(test())


def test_a_proxy_has_as_many_as_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "PER_ADDRESS", 3)

    async def test() -> None:
        async with opened(proxy=HOST) as (_, port, warned):
            idle = [await come(port) for _ in range(10)]
            assert await answer(port) == b"HTTP/1.1 200 OK\r\n"
            assert not warned
            for _, writer in idle:
                writer.close()

    asyncio.run(test())


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux says whose they are")


@on_linux
def test_whose_a_connection_on_this_computer_is() -> None:
    with socket.create_server((HOST, 0)) as listening:
        with socket.create_connection(listening.getsockname()) as made:
            mine = made.getsockname()
            assert same_computer.owner(*mine) == os.geteuid()
            assert same_computer.stranger(*mine) == ""
        # It is closed, and Linux says of it that it is root's.
        assert same_computer.owner(*mine) is None
        assert same_computer.stranger(*mine) == "somebody on this computer"
    assert same_computer.as_listed("127.0.0.1", 8003) == "0100007F:1F43"
    assert same_computer.as_listed("::1", 80) == f"{'0' * 24}01000000:0050"
    assert same_computer.stranger("10.0.0.7", 80) == ""  # of another computer


@on_linux
def test_another_users_program_is_not_the_proxy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A learner of a Hub, who has a shell on the computer of the proxy, says to ask for somebody else."""
    monkeypatch.setattr(same_computer, "owner", lambda *_: os.geteuid() + 1)
    monkeypatch.setattr(doors, "PER_ADDRESS", 3)
    who = f"user {os.geteuid() + 1} of this computer"

    async def test(one: Class) -> None:
        page = await one.socket(one.cookie_of("Anna"), **{"X-Forwarded-For": "10.0.0.7"})
        await page.read_message()
        assert [page.address for page in one.room.learners] == [who]

    async def many() -> None:
        async with opened(proxy=HOST) as (_, port, warned):
            idle = [await come(port) for _ in range(3)]
            assert await answer(port) == b""
            assert warned == [f"{who} has more than 3 connections; more are refused."]
            for _, writer in idle:
                writer.close()

    led(tmp_path, test, proxy=HOST)
    asyncio.run(many())


def test_a_server_without_room_lets_nobody_in_until_somebody_goes() -> None:
    async def test() -> None:
        async with opened(most=5) as (one, port, warned):
            idle = [await come(port) for _ in range(5)]
            while not one.is_paused:
                await asyncio.sleep(0)
            waiting = asyncio.create_task(answer(port))
            await asyncio.sleep(0.01)
            assert not waiting.done()
            for _, writer in idle:
                writer.close()
            assert await waiting == b"HTTP/1.1 200 OK\r\n"
            assert warned == ["No more can come in for now: 5 connections are open."]

    asyncio.run(test())


def test_a_system_that_has_no_more_files_is_asked_again_in_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Full:
        """A listening socket of a process that has too many open files."""

        def accept(self) -> Any:
            raise OSError(24, "Too many open files")

    async def test() -> None:
        async with opened() as (one, port, warned):
            one.come(Full(), 1)
            assert one.is_paused
            assert warned == ["No more can come in for now: Too many open files."]
            assert await answer(port) == b"HTTP/1.1 200 OK\r\n"

    asyncio.run(test())


def test_who_does_not_finish_a_request_is_let_go() -> None:
    async def test() -> None:
        async with opened(idle_connection_timeout=0.2) as (_, port, _):
            reader, writer = await come(port)
            writer.write(b"GET / HTTP/1.1\r\nHost: here\r\nX-a: ")
            assert await asyncio.wait_for(reader.read(), 20) == b""
            writer.close()

    assert doors.TIMEOUTS["idle_connection_timeout"] == 10
    asyncio.run(test())


def test_who_never_reads_is_kept_neither_waiting_nor_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: list[str]
) -> None:
    monkeypatch.setattr(server, "UNREAD", 20_000)

    async def test(one: Class) -> None:
        address = one.address.rstrip("/")
        port = int(address.rpartition(":")[2])
        reader, writer = await asyncio.open_connection(HOST, port, limit=1024)
        key = base64.b64encode(b"1" * 16).decode()
        lines = [
            "GET /answers HTTP/1.1",
            f"Host: {HOST}:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            f"Origin: {address}",
            f"Cookie: {server.LEARNER}={one.cookie_of('evil')}",
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        await reader.readuntil(b"\r\n\r\n")
        line: Any = writer.transport
        line.pause_reading()
        good = await one.learner("Anna")
        while len(one.room.learners) == 2:
            one.room.tell_all()
            await good.hear()
        assert await good.answer(record()) == {"round": 0, "late": False}
        line.abort()

    led(tmp_path, test)
    assert not printed
