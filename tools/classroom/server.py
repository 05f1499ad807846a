"""The server of a class: the lessons, the learners' answers, and the teacher's board."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import secrets
from asyncio import get_running_loop, sleep
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from tools.classroom.store import ASKED, Json, RefusedError, Store, answer_of, fits

HERE = Path(__file__).parent / "page"
LASTING = ("/build/", "/extensions/", "/python-")  # the names there change with the files
# One address may be a class behind a proxy. What comes faster waits; nothing of it is lost.
PACE, AT_ONCE = 100, 500  # messages per second from an address, and before it has to wait
CONNECTIONS, PER_ADDRESS = 1000, 300  # of learners
LATE = 10  # s, for the first word of a connection
MESSAGE = 64_000  # bytes
TOKEN = range(16, 100)  # characters
COOKIE = "lessonkit-board"
BEGIN = {"leading": False, "round": 0, "open": False, "covered": True, "shown": []}


class Room:
    """What the server knows of a class: who is here, and which question stands how."""

    def __init__(self, store: Store, questions: list[Json]) -> None:
        self.store = store
        self.questions = questions
        self.asked = [{part: one[part] for part in ASKED} for one in questions]
        self.key, self.state = store.begin(secrets.token_urlsafe(16), BEGIN)
        if self.state.get("asked") not in self.asked:  # or the lessons have another one now
            self.state["asked"] = self.asked[0]
        self.learners: set[Answers] = set()
        self.known: dict[str, set[str]] = defaultdict(set)  # learners of an address
        self.due: dict[str, float] = defaultdict(float)
        self.warnings: list[str] = []

    def act(self, do: Any, value: Any) -> None:
        """Do what a board asks for, if it makes sense."""
        state = self.state
        match do, value:
            case "lead", bool():
                state |= {"leading": value, "open": False, "round": 0, "covered": value}
            case "choose", int() if value in range(len(self.asked)):
                state |= {
                    "asked": self.asked[value],
                    "open": False,
                    "covered": state["leading"],
                }
                rounds = [one["round"] for one in self.store.answers(state["asked"])]
                state["round"] = max(rounds, default=0)
            case "open", 1 | 2 if state["leading"]:
                if value == 1:
                    self.store.count_in(state["asked"])
                state |= {"round": value, "open": True, "covered": True}
            case "close", _:
                state["open"] = False
            case "cover", bool():
                state["covered"] = value
            case "show", _:
                state |= {"open": False, "covered": False}
                if state["asked"] not in state["shown"]:
                    state["shown"].append(state["asked"])
            case _:
                return
        self.store.note(state)
        for learner in self.learners:
            learner.tell(state=state)

    def take(self, record: Any, of: Any, learner: str, name: str) -> bool:
        """Keep an answer; return whether it came too late for its round, and is kept apart."""
        asked, time, answer = answer_of(record)
        if asked not in self.asked:
            raise RefusedError("The lessons of this class have no such question.")
        question, state = self.questions[self.asked.index(asked)], self.state
        tries = filter(None, (answer["first"], answer["last"]))
        if not all(fits(question, one["said"]) for one in tries):
            raise RefusedError("This is no answer to the question.")
        is_open = state["leading"] and state["open"] and asked == state["asked"]
        in_round = state["round"] if is_open else 0
        told = {"round": in_round, "time": time, "learner": learner, "name": name}
        is_new = self.store.keep(asked, answer, **told)
        is_late = bool(of) and of != in_round and asked not in state["shown"]
        return is_new and is_late

    async def pace(self, address: str) -> None:
        """Wait if too much comes from an *address*; each of its connections waits in turn."""
        now = get_running_loop().time()
        self.due[address] = max(self.due[address], now) + 1 / PACE
        late = self.due[address] - now - AT_ONCE / PACE
        if late > 0:
            self.warn(f"{address} sends very much, and is slowed down.")
            await sleep(late)

    def warn(self, text: str) -> None:
        """Tell the teacher, once."""
        if text not in self.warnings and len(self.warnings) < 20:
            self.warnings.append(text)

    def for_boards(self) -> Json:
        """Return what a board shows."""
        here = {one.learner: one.name for one in self.learners if one.learner}
        names = sorted(filter(None, here.values()))[:60]
        answers = self.store.answers(self.state["asked"])
        known = {"here": len(here), "names": names, "warnings": self.warnings}
        return known | {"state": self.state, "answers": answers}


class Answers(WebSocketHandler):
    """The connection of one learner's page. A learner is known by a hash of the page's token."""

    learner, name, address = "", "", ""

    def check_origin(self, origin: str) -> bool:
        """Take pages of this host alone, but at any port: Voilà has one of its own."""
        return urlsplit(origin).hostname == self.request.host_name

    def prepare(self) -> None:
        """Refuse too many connections."""
        self.room: Room = self.settings["room"]
        self.address = str(self.request.remote_ip)
        here = [one.address for one in self.room.learners]
        if here.count(self.address) >= PER_ADDRESS or len(here) >= CONNECTIONS:
            text = f"{self.address} keeps too many connections open: no more are taken."
            self.room.warn(text)
            raise web.HTTPError(503)

    def open(self, *_: str, **__: str) -> None:
        self.room.learners.add(self)
        get_running_loop().call_later(LATE, self.end_if_silent)

    def end_if_silent(self) -> None:
        """Keep no connection of somebody who says nothing."""
        if not self.learner:
            self.close()

    async def on_message(self, message: str | bytes) -> None:
        """Hear who this is, or an answer. The next message is read when this one is done."""
        await self.room.pace(self.address)
        try:
            match json.loads(message):
                case {"token": str(token), **more} if len(token) in TOKEN:
                    self.greet(token, str(more.get("name") or ""))
                    self.tell(state=self.room.state)
                case {"record": record, **more} if self.learner:
                    of = more.get("round")
                    self.tell(late=self.room.take(record, of, self.learner, self.name))
                case _:
                    raise ValueError
        except RefusedError as error:
            self.tell(refused=str(error))
        except (ValueError, RecursionError):
            self.close(1008, "This is not what a learner's page says.")

    def greet(self, token: str, name: str) -> None:
        """Note which learner this is. A connection keeps the first learner that it names."""
        self.name = "".join(filter(str.isprintable, name))[:30]
        learner = self.learner or hashlib.sha256(token.encode()).hexdigest()[:16]
        known = self.room.known[self.address]
        if len(known | {learner}) > PER_ADDRESS:
            self.room.warn(
                f"{self.address} pretends to be very many learners: no more are taken."
            )
            raise ValueError
        known.add(learner)
        self.learner = learner

    def tell(self, **message: Any) -> None:
        """Send a message, if somebody is there to hear it."""
        with suppress(WebSocketClosedError):
            self.write_message(message)

    def on_close(self) -> None:
        self.room.learners.discard(self)


class Teacher(web.RequestHandler):
    """What only somebody sees who has the teacher's key."""

    def prepare(self) -> None:
        """Let nobody in who has not the key, in the address or as a cookie."""
        self.room: Room = self.settings["room"]
        given = self.get_query_argument("key", "")
        cookie = self.get_cookie(COOKIE) or ""
        if not secrets.compare_digest((given or cookie).encode(), self.room.key.encode()):
            raise web.HTTPError(
                403, reason="The board opens at the address that the server printed"
            )
        if given:
            # Other servers of this host do not get it: on a Hub these are the learners'.
            path = f"{self.settings['base']}board"
            self.set_cookie(COOKIE, given, path=path, httponly=True, samesite="Strict")
            self.redirect(self.request.path)


class Told(Teacher):
    """What the board asks for: the questions, how things stand, and the table of all answers."""

    def get(self, name: str) -> None:
        self.set_header("Cache-Control", "no-store")
        if name == "questions.json":
            self.write({"questions": self.room.questions, **self.settings["way_in"]})
        elif name == "now.json":
            self.write(self.room.for_boards())
        else:
            self.set_header("Content-Type", "text/csv; charset=utf-8")
            self.write(self.room.store.csv())

    def post(self, name: str) -> None:
        """Do what the teacher wants. No page of another server may ask for it."""
        origin = self.request.headers.get("Origin", "")
        if urlsplit(origin).netloc != self.request.host:
            raise web.HTTPError(403)
        with suppress(ValueError, AttributeError):
            said = json.loads(self.request.body)
            self.room.act(said.get("do"), said.get("value"))
        self.get(name)


class Led(web.RequestHandler):
    """What lets all pages of this host find the class, for as long as the browser is open."""

    def prepare(self) -> None:
        where = f"//{self.request.host}{self.settings['base']}"
        self.set_cookie("lessonkit-class", quote(where, safe=""))


class Elsewhere(Led, web.RedirectHandler):
    """The way to lessons that another server of this host has."""


class Files(Led, web.StaticFileHandler):
    """The files of the site, compressed where the build has done that and the browser takes it."""

    def validate_absolute_path(self, root: str, absolute_path: str) -> str | None:
        found = super().validate_absolute_path(root, absolute_path)
        self.kind, _ = mimetypes.guess_type(str(found))
        takes = "gzip" in self.request.headers.get("Accept-Encoding", "")
        if not (found and takes and Path(f"{found}.gz").is_file()):
            return found
        self.set_header("Content-Encoding", "gzip")
        return super().validate_absolute_path(root, f"{found}.gz")

    def get_content_type(self) -> str:
        return self.kind or "application/octet-stream"

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Vary", "Accept-Encoding")
        # Pages at other ports of this host load the learner's side.
        self.set_header("Access-Control-Allow-Origin", "*")
        lasts = any(part in f"/{path}" for part in LASTING)
        self.set_header("Cache-Control", "max-age=31536000" if lasts else "no-cache")


class BoardFiles(Teacher, Files):
    """The page of the board."""


def application(
    room: Room, site: Path, address: str, code: str = "", base: str = "/", lessons: str = ""
) -> web.Application:
    """Return the server of a *room*, below the path *base*.

    It serves the *site*, or sends learners on to where they find the *lessons*. The board shows
    the learners' *address*, and its *code* as a picture.
    """
    page, files = str(HERE), {"path": str(site), "default_filename": "index.html"}
    board = {"path": page, "default_filename": "board.html"}
    away = {"url": lessons, "permanent": False}
    return web.Application(
        [
            (f"{base}answers", Answers),
            (f"{base}board/(questions.json|now.json|answers.csv)", Told),
            (f"{base}board/(.*)", BoardFiles, board),
            (f"{base}(learner\\.js)", Files, {"path": page}),
            (base, Elsewhere, away) if lessons else (f"{base}(.*)", Files, files),
        ],
        room=room,
        base=base,
        way_in={"address": address, "code": code},
        websocket_max_message_size=MESSAGE,
        websocket_ping_interval=30,
        websocket_ping_timeout=25,
        log_function=lambda _: None,
    )
