"""The server of a class: the lessons, the learners' answers, and the teacher's board."""

import asyncio
import json
import mimetypes
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from tornado import web
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from delivery.classroom.doors import address_of
from delivery.classroom.room import Room
from delivery.classroom.store import NotKeptError

HERE = Path(__file__).parent / "page"
LASTING = ("/build/", "/extensions/", "/python-")  # the names there change with the files
MESSAGE = 64_000  # bytes
UNREAD = 100_000  # bytes that a page may leave unread; it gets a few hundred at a time
BEAT = 5  # s: a page that hears nothing for 12 says that the line is dead
BOARD, LEARNER = "lessonkit-board", "lessonkit-learner"  # cookies
GONE = WebSocketClosedError, StreamClosedError


async def beat(room: Room) -> None:
    """Let every page hear that the line is alive."""
    while True:
        await asyncio.sleep(BEAT)
        for learner in [*room.learners]:
            learner.tell()


class Answers(WebSocketHandler):
    """The connection of one learner's page, who is known by a cookie that this server has made."""

    def check_origin(self, origin: str) -> bool:
        """Take pages of this host alone, but at any port: Voilà has one of its own."""
        return urlsplit(origin).hostname == self.request.host_name

    def prepare(self) -> None:
        """Refuse who has not joined, and too many of one address."""
        self.room: Room = self.settings["room"]
        self.address = address_of(self.request, self.settings["proxy"])
        self.learner = self.room.tokens.learner(self.get_cookie(LEARNER, ""))
        self.unread = 0
        if not self.learner:
            raise web.HTTPError(403)
        if not self.room.lets_in(self.address):
            raise web.HTTPError(503)

    def open(self, *_: str, **__: str) -> None:
        self.room.learners.add(self)
        self.tell(state=self.room.for_pages())

    async def on_message(self, message: str | bytes) -> None:
        """Hear an answer. The next message is read when this one is done, and its reply is on its way."""
        await self.room.pace(self.address, len(message))
        try:
            match json.loads(message):
                case {
                    "record": _,
                    "round": int(),
                    "turn": list(),
                    "name": str(),
                    "number": int(),
                } as given:
                    reply = await self.taken(given)
                case _:
                    raise ValueError
        except (ValueError, RecursionError):
            self.close(1008, "This is not what a learner's page says.")
            return
        with suppress(*GONE):
            await self.write_message({"reply": given["number"], **reply})

    async def taken(self, given: dict[str, Any]) -> dict[str, Any]:
        """Take an answer; what to tell the page once the file has it."""
        given["name"] = "".join(filter(str.isprintable, given["name"]))[:30]
        reply = self.room.take(given, self.learner, self.address)
        try:
            await self.room.store.written()
        except NotKeptError as error:
            self.room.warn(f"The file of answers takes no more: {error}.")
            return {"again": True}
        return reply

    def tell(self, **message: Any) -> None:
        """Send a message; end the connection of who never reads."""
        text = json.dumps(message)
        if self.unread + len(text) > UNREAD:
            self.room.learners.discard(self)
            self.close(1008, "This page does not read what it is told.")
            return
        self.unread += len(text)

        def read(done: Any) -> None:
            self.unread -= len(text)
            if not done.cancelled():
                done.exception()  # of a page that has gone: nobody has to know

        with suppress(*GONE):
            asyncio.ensure_future(self.write_message(text)).add_done_callback(read)

    def on_close(self) -> None:
        self.room.learners.discard(self)


class Join(web.RequestHandler):
    """Makes a learner of whoever is none, or of somebody else who sits at the same computer now."""

    async def post(self) -> None:
        origin = self.request.headers.get("Origin", "")
        if urlsplit(origin).hostname != self.request.host_name:
            raise web.HTTPError(403)
        self.set_header("Access-Control-Allow-Origin", origin)
        self.set_header("Access-Control-Allow-Credentials", "true")
        self.set_status(204)
        room: Room = self.settings["room"]
        is_known = room.tokens.learner(self.get_cookie(LEARNER, ""))
        if is_known and not self.get_query_argument("anew", ""):
            return
        token = await room.newcomer(address_of(self.request, self.settings["proxy"]))
        if not token:
            raise web.HTTPError(503)
        base = self.settings["base"]
        self.set_cookie(
            LEARNER, token, path=base, httponly=True, samesite="Lax", expires_days=30
        )


class Led(web.RequestHandler):
    """What lets all pages of this host find the class."""

    def prepare(self) -> None:
        # As long as the browser is open; the script of a page reads it.
        found = quote(f"//{self.request.host}{self.settings['base']}", safe="")
        self.set_cookie("lessonkit-class", found)


class Elsewhere(Led, web.RedirectHandler):
    """The way to lessons that another server of this host has."""


class Files(Led, web.StaticFileHandler):
    """Files, compressed where the build has done that and the browser takes it."""

    def parse_url_path(self, url_path: str) -> str:
        if "\0" in url_path:  # no file has that in its name
            raise web.HTTPError(404)
        return super().parse_url_path(url_path)

    def validate_absolute_path(self, root: str, absolute_path: str) -> str | None:
        found = super().validate_absolute_path(root, absolute_path)
        takes = "gzip" in self.request.headers.get("Accept-Encoding", "")
        if not (found and takes and Path(f"{found}.gz").is_file()):
            return found
        self.set_header("Content-Encoding", "gzip")
        return super().validate_absolute_path(root, f"{found}.gz")

    def get_content_type(self) -> str:
        kind, _ = mimetypes.guess_type(str(self.absolute_path))
        return kind or "application/octet-stream"

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Vary", "Accept-Encoding")
        # Pages at other ports of this host load the learner's side.
        self.set_header("Access-Control-Allow-Origin", "*")
        lasts = any(part in f"/{path}" for part in LASTING)
        self.set_header("Cache-Control", "max-age=31536000" if lasts else "no-cache")


class Teacher(web.RequestHandler):
    """What only somebody gets who has the teacher's key."""

    def prepare(self) -> None:
        """Let nobody in who has not the key, in the address or as a cookie."""
        self.room: Room = self.settings["room"]
        given = self.get_query_argument("key", "")
        key = given or self.get_cookie(BOARD, "")
        if not secrets.compare_digest(key.encode(), self.room.key.encode()):
            raise web.HTTPError(
                403, reason="The board opens at the address that was printed"
            )
        if given:
            # Other servers of this host do not get it: on a Hub these are the learners'.
            path = f"{self.settings['base']}board"
            self.set_cookie(BOARD, given, path=path, httponly=True, samesite="Strict")
            self.redirect(self.request.path)


class Told(Teacher):
    """What the board asks for: the questions, how things stand, and the table of all answers."""

    def get(self, name: str) -> None:
        if name == "questions.json":
            self.write({"questions": self.room.questions, **self.settings["way_in"]})
        elif name == "now.json":
            self.write(self.room.for_boards())
        else:
            self.set_header("Content-Type", "text/csv; charset=utf-8")
            self.write(self.room.store.csv())

    def post(self, name: str) -> None:
        """Do what the teacher wants. No page of another server may ask for it."""
        if urlsplit(self.request.headers.get("Origin", "")).netloc != self.request.host:
            raise web.HTTPError(403)
        with suppress(ValueError, AttributeError):
            said = json.loads(self.request.body)
            self.room.act(said.get("do"), said.get("value"))
        self.get(name)


class BoardFiles(Teacher, Files):
    """The page of the board."""


def application(
    room: Room,
    site: Path,
    address: str,
    code: str = "",
    lessons: str | None = None,
    proxy: str = "",
) -> web.Application:
    """Return the server of a *room*, whose *address* learners open, below the path that it has.

    It serves the *site*, or sends learners on to where they find the *lessons*. The board shows
    the address, and its *code* as a picture. Only the *proxy* is believed when it says for whom
    it asks.
    """
    base = urlsplit(address).path
    page = {"path": str(HERE), "default_filename": "board.html"}
    files = {"path": str(site), "default_filename": "index.html"}
    away = {"url": lessons, "permanent": False}
    routes: list[Any] = [
        (f"{base}answers", Answers),
        (f"{base}join", Join),
        (f"{base}board/(questions.json|now.json|answers.csv)", Told),
        (f"{base}board/(.*)", BoardFiles, page),
        (f"{base}((?:learner|bar)\\.js)", Files, page),
        (base, Elsewhere, away) if lessons else (f"{base}(.*)", Files, files),
    ]
    settings: dict[str, Any] = {"way_in": {"address": address, "code": code}, "base": base}
    settings["proxy"] = proxy
    settings |= {"websocket_max_message_size": MESSAGE, "websocket_ping_interval": 30}
    return web.Application(routes, room=room, **settings, log_function=lambda _: None)
