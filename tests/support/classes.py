"""A class for tests: its server in this process, learners without pages, and a board."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.websocket import WebSocketClientConnection, websocket_connect

from delivery.classroom.room import Room
from delivery.classroom.server import BOARD, LEARNER, application
from delivery.classroom.store import Store
from tools.servers import HOST

# What the lessons of this class ask
NUMBER = {
    "lesson": "00",
    "kind": "number",
    "question": "How long?",
    "right": 210,
    "wrong": [[105, "That is one epoch."]],
    "unit": "ms",
    "choices": [],
    "worded": True,
    "names": None,
    "most": 1e12,
    "tolerance": 0.02,
    "why": "It adds up.",
}
CHOICE = {
    **NUMBER,
    "kind": "choice",
    "question": "Which?",
    "right": 1,
    "choices": ["this", "that"],
    "wrong": [[0, "That is this."]],
    "most": 1,
    "tolerance": 0,
}
PLACING = {
    "lesson": "01",
    "kind": "placing",
    "question": "When?",
    "right": [0, 4],
    "wrong": [[[0, 8], "That is one after the other."]],
    "worded": False,
    "names": ["Read", "Train"],
    "rows": [
        {"stage": "Read", "lanes": 1, "colour": "#4580bd"},
        {"stage": "Train", "lanes": 1, "colour": "#238a35"},
    ],
    "bars": [
        {"row": 0, "label": "", "length": 4, "name": "Read"},
        {"row": 1, "label": "", "length": 2, "name": "Train"},
    ],
    "step": 5000,
    "steps": 12,
    "most": 12,
    "tolerance": None,
    "why": "It waits.",
}
TASK = {"lesson": "01", "kind": "challenge", "question": "Be quick.", "goals": ["total"]}
QUESTIONS: list[dict[str, Any]] = [NUMBER, CHOICE, PLACING, TASK]
SECONDS = count()


def record(of: dict[str, Any] = NUMBER, said: Any = 210, **more: Any) -> dict[str, Any]:
    """A record with one try, later than all before."""
    time = datetime(2026, 1, 1) + timedelta(seconds=next(SECONDS))
    when = f"{time.isoformat(timespec='milliseconds')}Z"
    one = {"said": said, "words": f"{said}", "sure": "certain", "right": said == 210}
    about = {part: of[part] for part in ("lesson", "kind", "question")}
    known = {
        "schema": 1,
        "said": None if of is TASK else said,
        "sure": "certain",
        "tries": [one | {"when": when}],
        "right": one["right"],
        "when": when,
    }
    return about | known | more


@dataclass
class Page:
    """A connection, and what it has heard."""

    socket: WebSocketClientConnection
    heard: list[dict[str, Any]] = field(default_factory=list)

    def say(self, **message: Any) -> None:
        self.socket.write_message(json.dumps(message))

    def give(self, record: Any, round: int = 0, name: str = "") -> None:
        """Send a record, as a page does."""
        self.say(record=record, round=round, name=name)

    async def hear(self) -> Any:
        """The next message, or None if the server has ended this."""
        text = await asyncio.wait_for(self.socket.read_message(), 5)
        return None if text is None else json.loads(text)

    async def answer(self, given: Any, **more: Any) -> Any:
        """Send a record, and hear what the server says of it, passing by changes of the state."""
        self.give(given, **more)
        while told := await self.hear():
            if "state" not in told:
                break
        return told

    async def state(self, is_wanted: Callable[[Any], bool]) -> Any:
        """Wait for a state of a class that is as one wants it."""
        while told := await self.hear():
            if is_wanted(told):
                break
        return told


@dataclass
class Class:
    """A server with a class."""

    room: Room
    address: str
    loop: asyncio.AbstractEventLoop
    sockets: list[WebSocketClientConnection] = field(default_factory=list)

    async def socket(self, token: str = "", **headers: str) -> WebSocketClientConnection:
        """Connect as the page of a learner does, who has this *token* if any."""
        where = f"{self.address}answers".replace("http", "ws")
        known = {"Cookie": f"{LEARNER}={token}"} if token else {}
        known["Origin"] = self.address.rstrip("/")
        made = await websocket_connect(HTTPRequest(where, headers=known | headers))
        self.sockets.append(made)
        return made

    def cut(self) -> None:
        """End the connections of all learners, from another thread."""
        for page in list(self.room.learners):
            self.loop.call_soon_threadsafe(page.close)

    async def learner(self, token: str = "") -> Page:
        page = Page(await self.socket(token or f"learner-{next(SECONDS)}"))
        assert "state" in await page.hear()
        return page

    async def get(self, name: str, body: str | None = None, **headers: str) -> Any:
        """What the server answers, whatever that is."""
        request = HTTPRequest(
            f"{self.address}{name}",
            method="GET" if body is None else "POST",
            body=body,
            headers=headers,
            follow_redirects=False,
            decompress_response=False,
        )
        try:
            return await AsyncHTTPClient(force_instance=True).fetch(request)
        except HTTPClientError as error:
            return error.response

    @property
    def cookie(self) -> dict[str, str]:
        """What lets the teacher in."""
        return {"Cookie": f"{BOARD}={self.room.key}"}

    async def lead(self, *said: Any) -> Any:
        """Do what a board asks for, if anything: what to do, and a value; how things stand then."""
        body = json.dumps(dict(zip(("do", "value"), said, strict=False))) if said else None
        origin = {"Origin": self.address.rstrip("/")}
        answer = await self.get("board/now.json", body, **self.cookie, **origin)
        return json.loads(answer.body)


@asynccontextmanager
async def class_in(
    folder: Path, base: str = "/", questions: list[dict[str, Any]] = QUESTIONS, **more: Any
) -> AsyncIterator[Class]:
    """Serve a class that keeps its answers in *folder*."""
    store = Store(folder / "class" / "answers.sqlite")
    room = Room(store, questions)
    server = HTTPServer(application(room, folder / "site", f"http://here{base}", **more))
    socket, port = bind_unused_port(address=HOST)
    server.add_socket(socket)
    address = f"http://{HOST}:{port}{base}"
    one = Class(room, address, asyncio.get_running_loop())
    try:
        yield one
    finally:
        server.stop()
        # A page that did not read all misses the goodbye, for which a polite end would wait 5 s.
        protocols: list[Any] = [page.protocol for page in one.sockets if page.protocol]
        for ended in (*one.sockets, *(protocol.stream for protocol in protocols)):
            ended.close()
        while room.learners:
            await asyncio.sleep(0)
        await server.close_all_connections()
        store.base.close()


@contextmanager
def class_beside(folder: Path, questions: list[dict[str, Any]]) -> Iterator[Class]:
    """Serve a class in a thread, for pages of a browser."""
    ready: queue.Queue[Any] = queue.Queue()

    async def serve() -> None:
        async with class_in(folder, questions=questions) as one:
            end = asyncio.Event()
            ready.put((one, end))
            await end.wait()
            for page in one.room.learners:
                page.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    one, end = ready.get(timeout=30)
    try:
        yield one
    finally:
        one.loop.call_soon_threadsafe(end.set)
        thread.join()
