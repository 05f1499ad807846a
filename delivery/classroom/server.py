"""The server of a class: the lessons, the learners' answers, and the teacher's board."""

import hashlib
import json
import mimetypes
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from delivery.classroom.room import Room

HERE = Path(__file__).parent / "page"
LASTING = ("/build/", "/extensions/", "/python-")  # the names there change with the files
MESSAGE = 64_000  # bytes
BOARD, LEARNER = "lessonkit-board", "lessonkit-learner"  # cookies


class Answers(WebSocketHandler):
    """The connection of one learner's page. A learner is known by a hash of a cookie."""

    def check_origin(self, origin: str) -> bool:
        """Take pages of this host alone, but at any port: Voilà has one of its own."""
        return urlsplit(origin).hostname == self.request.host_name

    def prepare(self) -> None:
        """Refuse who has never opened the address of the class, and too many of one address."""
        self.room: Room = self.settings["room"]
        self.address = str(self.request.remote_ip)
        token = self.get_cookie(LEARNER, "").encode()
        self.learner = hashlib.sha256(token).hexdigest()[:16]
        if not token:
            raise web.HTTPError(403)
        if not self.room.lets_in(self.learner, self.address):
            raise web.HTTPError(503)

    def open(self, *_: str, **__: str) -> None:
        self.room.learners.add(self)
        self.tell(state=self.room.state)

    async def on_message(self, message: str | bytes) -> None:
        """Hear an answer. The next message is read when this one is done."""
        await self.room.pace(self.address, len(message))
        try:
            match json.loads(message):
                case {"record": record, "round": meant, "name": str(name)}:
                    nickname = "".join(filter(str.isprintable, name))[:30]
                    self.tell(**self.room.take(record, meant, self.learner, nickname))
                case _:
                    raise ValueError
        except sqlite3.OperationalError:
            self.tell(refused="The class has too many answers: the teacher can begin anew.")
        except (ValueError, RecursionError):
            self.close(1008, "This is not what a learner's page says.")

    def tell(self, **message: Any) -> None:
        """Send a message, if somebody is there to hear it."""
        with suppress(WebSocketClosedError):
            self.write_message(message)

    def on_close(self) -> None:
        self.room.learners.discard(self)


class Led(web.RequestHandler):
    """What lets all pages of this host find the class, and know its learner again."""

    def prepare(self) -> None:
        base = self.settings["base"]
        # As long as the browser is open; the script of a page reads it.
        self.set_cookie("lessonkit-class", quote(f"//{self.request.host}{base}", safe=""))
        if not self.get_cookie(LEARNER):
            token = secrets.token_urlsafe(16)
            self.set_cookie(LEARNER, token, path=base, httponly=True, expires_days=30)


class Elsewhere(Led, web.RedirectHandler):
    """The way to lessons that another server of this host has."""


class Files(Led, web.StaticFileHandler):
    """Files, compressed where the build has done that and the browser takes it."""

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
    room: Room, site: Path, address: str, code: str = "", lessons: str | None = None
) -> web.Application:
    """Return the server of a *room*, whose *address* learners open, below the path that it has.

    It serves the *site*, or sends learners on to where they find the *lessons*. The board shows
    the address, and its *code* as a picture.
    """
    base = urlsplit(address).path
    page = {"path": str(HERE), "default_filename": "board.html"}
    files = {"path": str(site), "default_filename": "index.html"}
    away = {"url": lessons, "permanent": False}
    routes: list[Any] = [
        (f"{base}answers", Answers),
        (f"{base}board/(questions.json|now.json|answers.csv)", Told),
        (f"{base}board/(.*)", BoardFiles, page),
        (f"{base}(learner\\.js)", Files, page),
        (base, Elsewhere, away) if lessons else (f"{base}(.*)", Files, files),
    ]
    settings: dict[str, Any] = {"way_in": {"address": address, "code": code}, "base": base}
    settings |= {"websocket_max_message_size": MESSAGE, "websocket_ping_interval": 30}
    return web.Application(routes, room=room, **settings, log_function=lambda _: None)
