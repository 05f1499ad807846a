"""One device against a class of thirty, for minutes: `make test-delivery`."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from support.classes import NUMBER, Class, Page, record
from support.places import ROOT

from delivery.classroom import doors, room
from tools.servers import HOST, free_port

EVIL = "127.0.0.2"  # another address of the same computer, which Linux alone has
LEARNERS = 30
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="needs a second address"),
]
SERVE = """
import sys
from pathlib import Path
sys.path.insert(0, "tests")
from support.classes import QUESTIONS
from delivery.classroom import __main__ as command
command.questions = lambda: QUESTIONS
command.site.build = lambda: None
command.KEPT = command.site.SITE = Path(sys.argv.pop(1))
command.main()
"""


@contextmanager
def served(folder: Path, *more: str) -> Iterator[tuple[Class, psutil.Process, Path]]:
    """`make class` in a process of its own, and the file with all that it prints."""
    (folder / "index.html").write_text("hello")
    port, log = free_port(), folder / "log"
    given = [sys.executable, "-c", SERVE, str(folder), "--address", "0.0.0.0"]
    given += ["--port", str(port), "--answers", str(folder / "a.sqlite"), *more]
    with (
        log.open("wb") as to,
        subprocess.Popen(given, stdout=to, stderr=to, cwd=ROOT) as server,
    ):
        try:
            while "board/?key=" not in (said := log.read_text()):
                assert server.poll() is None, said
            known = SimpleNamespace(key=said.rpartition("board/?key=")[2].strip())
            one: Any = Class(known, f"http://{HOST}:{port}/", None)  # type: ignore[arg-type]
            yield one, psutil.Process(server.pid), log
        finally:
            server.terminate()


async def come(one: Class) -> Page:
    """Come into the class, as a learner's page does."""
    page = Page(await one.socket(await one.join()))
    await page.hear()
    return page


async def all_answer(one: Class) -> list[Page]:
    """Thirty learners come and answer; each hears that the class has it."""
    pages = [await come(one) for _ in range(LEARNERS)]
    for who, page in enumerate(pages):
        assert await page.answer(record(said=100 + who)) == {"round": 0, "late": False}
    return pages


@contextmanager
def idle(port: int, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """So many connections of one device that never finish a request."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 1000), hard))
    opened: list[socket.socket] = []
    try:
        for _ in range(count):
            one = socket.create_connection((HOST, port), 20, source_address=(EVIL, 0))
            one.sendall(said)
            opened.append(one)
        yield opened
    finally:
        for one in opened:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_closed(one: socket.socket) -> bool:
    """Whether the server has ended a connection."""
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("count", [2000, 4200])
def test_slow_and_idle_connections_of_one_device_are_nobody_elses_business(
    count: int, tmp_path: Path
) -> None:
    half = b"GET / HTTP/1.1\r\nHost: here\r\nX-a: " if count == 2000 else b""

    async def test(one: Class, server: psutil.Process) -> None:
        port = int(one.address.rstrip("/").rpartition(":")[2])
        with idle(port, count, half) as opened:
            while sum(map(is_closed, opened)) < count - doors.PER_ADDRESS:
                await asyncio.sleep(0.1)
            pages = await all_answer(one)
            assert (await one.get("")).body == b"hello"
            told = await one.lead()
            assert len(told["answers"]) == LEARNERS
            assert [text.partition(" ")[0] for text in told["warnings"]] == [EVIL]
            # Those that were let in have to finish a request, or go.
            while not all(map(is_closed, opened)):
                await asyncio.sleep(0.1)
        spent = sum(server.cpu_times()[:2])
        before = monotonic()
        for page in pages:
            assert "late" in await page.answer(record())
            page.socket.close()
        assert sum(server.cpu_times()[:2]) - spent < 1 + monotonic() - before

    with served(tmp_path) as (one, server, log):
        asyncio.run(test(one, server))
        assert "Traceback" not in log.read_text()
        assert log.stat().st_size < 10_000


def test_288_made_up_learners_wait_and_the_teacher_leaves_them_out(tmp_path: Path) -> None:
    """One device behind a proxy brings 288 learners; thirty others answer meanwhile."""

    async def made_up(one: Class) -> bool:
        headers = {"X-Forwarded-For": f"1.2.3.4, {EVIL}"}
        cookie = await one.join(**headers)
        if not cookie:
            return False
        page = Page(await one.socket(cookie, **headers))
        await page.hear()
        told: Any = await page.answer(record(said=105))
        page.socket.close()
        return bool(told == {"round": 0, "late": False})

    async def test(one: Class) -> None:
        begun = monotonic()
        bad = [asyncio.create_task(made_up(one)) for _ in range(288)]
        good = [
            asyncio.create_task(honest(one, f"10.0.0.{who}")) for who in range(LEARNERS)
        ]
        await asyncio.gather(*good)
        told = await one.lead()
        assert len({address for address, _ in told["from"]} - {EVIL}) == LEARNERS
        came = sum(await asyncio.gather(*bad))
        took = monotonic() - begun
        assert came <= room.NEWCOMERS + took / room.EACH + 1
        assert came < 288
        told = await one.lead("leave out", EVIL)
        assert sorted(json.loads(a["said"]) for a in told["answers"]) == [210] * LEARNERS
        assert any(text.startswith(f"{EVIL} brings") for text in told["warnings"])

    async def honest(one: Class, address: str) -> None:
        headers = {"X-Forwarded-For": address}
        page = Page(await one.socket(await one.join(**headers), **headers))
        await page.hear()
        assert "late" in await page.answer(record(NUMBER, 210))
        page.socket.close()

    at = "http://lessons.school/"
    with served(tmp_path, "--at", at, "--lessons", "/hub/") as (one, _, log):
        asyncio.run(test(one))
        assert "Traceback" not in log.read_text()


def test_a_page_that_never_reads_takes_no_memory_and_prints_nothing(tmp_path: Path) -> None:
    """It sends for 25 s within its pace, and reads nothing."""

    async def test(one: Class, server: psutil.Process) -> None:
        good = await come(one)
        page = await come(one)
        before = server.memory_info().rss
        protocol: Any = page.socket.protocol
        line = protocol.stream.socket
        protocol.stream.io_loop.remove_handler(line)  # whatever comes stays in the system
        given: dict[str, Any] = {
            "record": record(),
            "round": 0,
            "turn": ["x", 1],
            "name": "",
        }
        message = json.dumps(given | {"number": 1}).encode()
        frame = b"\x81\xfe" + len(message).to_bytes(2, "big") + b"\0\0\0\0" + message
        rest, end = b"", monotonic() + 25
        while monotonic() < end:
            rest = rest or frame * 20
            with suppress(OSError):
                rest = rest[line.send(rest) :]
            await asyncio.sleep(0.01)
        assert server.memory_info().rss - before < 20e6
        assert "late" in await good.answer(record())
        line.close()
        page.socket.protocol = None  # which would warn that it was never closed
        good.socket.close()

    with served(tmp_path) as (one, server, log):
        asyncio.run(test(one, server))
        assert "Traceback" not in log.read_text()
