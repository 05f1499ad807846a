"""A class for tests: its server in this process, learners without pages, and a board."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.testing import bind_unused_port
from tornado.websocket import WebSocketClientConnection, websocket_connect

from delivery.classroom.doors import Doors
from delivery.classroom.room import Room
from delivery.classroom.rounds import ASKED
from delivery.classroom.server import BOARD, LEARNER, application, beat
from delivery.classroom.store import Store
from tools.servers import HOST

# What the lessons of this class ask
NUMBER: dict[str, Any] = {
    "lesson": "00",
    "kind": "number",
    "asks": "Predict",
    "question": "How long?",
    "right": 210,
    "wrong": [[105, "That is one epoch."]],
    "unit": "ms",
    "worded": True,
    "names": None,
    "most": 1e12,
    "tolerance": 0.02,
    "why": "It adds up.",
}
CHOICE: dict[str, Any] = {
    "lesson": "00",
    "kind": "choice",
    "asks": "Vote",
    "question": "Which?",
    "right": 1,
    "choices": ["this", "that"],
    "wrong": [[0, "That is this."]],
    "worded": True,
    "names": None,
    "most": 1,
    "why": "It adds up.",
}
PLACING: dict[str, Any] = {
    "lesson": "01",
    "kind": "placing",
    "asks": "Predict",
    "question": "When?",
    "right": [0, 4],
    "wrong": [[[0, 8], "That is one after the other."]],
    "worded": False,
    "names": ["Read", "Train"],
    "within": "in place",
    "is_right": [0, 0],
    "is_alike": [0, 0],
    "given": [],
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
    "most": [8, 10],
    "why": "It waits.",
}
TASK: dict[str, Any] = {
    "lesson": "01",
    "kind": "challenge",
    "question": "Be quick.",
    "goals": ["total"],
}
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
    """A connection, and how the class stands as far as it has heard."""

    socket: WebSocketClientConnection
    standing: dict[str, Any] = field(default_factory=dict)
    number: int = 0

    def say(self, **message: Any) -> None:
        self.socket.write_message(json.dumps(message))

    def give(self, record: Any, round: int = 0, name: str = "") -> int:
        """Send a record, as a page does; the number by which the server replies."""
        self.number += 1
        about = (
            {part: record.get(part) for part in ASKED} if isinstance(record, dict) else {}
        )
        anew = [one for one in self.standing["anew"] if about.items() <= one.items()]
        turn = [self.standing["group"], anew[0]["asking"] if anew else 1]
        self.say(record=record, round=round, turn=turn, name=name, number=self.number)
        return self.number

    async def hear(self) -> Any:
        """The next message that says something, or None if the server has ended this."""
        told: Any = {}
        while told == {}:
            text = await asyncio.wait_for(self.socket.read_message(), 60)
            told = None if text is None else json.loads(text)
        self.standing = (told or {}).get("state", self.standing)
        return told

    async def answer(self, given: Any, **more: Any) -> Any:
        """Send a record, and hear what the server says of it, passing by changes of the state."""
        number = self.give(given, **more)
        while told := await self.hear():
            if told.pop("reply", 0) == number:
                break
        return told

    async def state(self, is_wanted: Callable[[Any], bool]) -> Any:
        """Wait until the class stands as one wants it."""
        while not is_wanted(self.standing):
            assert await self.hear()
        return self.standing


@dataclass
class Class:
    """A server with a class."""

    room: Room
    address: str
    loop: asyncio.AbstractEventLoop
    sockets: list[WebSocketClientConnection] = field(default_factory=list)
    cookies: dict[str, str] = field(default_factory=dict)  # of learners by their names

    async def join(self, cookie: str = "", query: str = "", **headers: str) -> str:
        """Become a learner; the cookie that the server gives, if it gives one."""
        known = {"Cookie": f"{LEARNER}={cookie}"} if cookie else {}
        known["Origin"] = self.address.rstrip("/")
        answer = await self.get(f"join{query}", "", **(known | headers))
        given: str = answer.headers.get("Set-Cookie", "")
        return given.partition(";")[0].partition("=")[2]

    async def socket(self, cookie: str = "", **headers: str) -> WebSocketClientConnection:
        """Connect as the page of a learner does, who has this *cookie* if any."""
        where = f"{self.address}answers".replace("http", "ws")
        known = {"Cookie": f"{LEARNER}={cookie}"} if cookie else {}
        known["Origin"] = self.address.rstrip("/")
        made = await websocket_connect(HTTPRequest(where, headers=known | headers))
        self.sockets.append(made)
        return made

    def cut(self) -> None:
        """End the connections of all learners, from another thread."""
        for page in list(self.room.learners):
            self.loop.call_soon_threadsafe(page.close)

    def cookie_of(self, name: str) -> str:
        """The cookie of this learner, as it was issued."""
        return self.cookies.setdefault(name, self.room.tokens.issue())

    async def learner(self, name: str = "") -> Page:
        """Connect as a learner: as the same one each time under the same name."""
        page = Page(await self.socket(self.cookie_of(name or f"learner-{next(SECONDS)}")))
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
            request_timeout=120,  # a newcomer may have to wait
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
    app = application(room, folder / "site", f"http://here{base}", **more)
    server = Doors(app, most=1000, warn=room.warn, proxy=more.get("proxy", ""))
    socket, port = bind_unused_port(address=HOST)
    server.add_socket(socket)
    address = f"http://{HOST}:{port}{base}"
    one = Class(room, address, asyncio.get_running_loop())
    beating = asyncio.create_task(beat(room))
    try:
        yield one
    finally:
        beating.cancel()
        server.stop()
        # A page that did not read all misses the goodbye, for which a polite end would wait 5 s.
        protocols: list[Any] = [page.protocol for page in one.sockets if page.protocol]
        for ended in (*one.sockets, *(protocol.stream for protocol in protocols)):
            ended.close()
        while room.learners:
            await asyncio.sleep(0)
        await server.close_all_connections()
        store.close()


def led(
    folder: Path, test: Callable[[Class], Coroutine[Any, Any, None]], **more: Any
) -> None:
    """Do something with a class that keeps its answers in this folder."""

    async def do() -> None:
        async with class_in(folder, **more) as one:
            await test(one)

    asyncio.run(do())


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
