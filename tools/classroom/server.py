"""The server of a class: the lessons, the learners' answers, and the teacher's board."""

from __future__ import annotations

import hmac
import json
import mimetypes
import secrets
from asyncio import Future, get_running_loop, sleep
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from tornado.iostream import StreamClosedError
from tornado.web import (
    Application,
    HTTPError,
    RedirectHandler,
    RequestHandler,
    StaticFileHandler,
)
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from tools.classroom.store import Asked, RefusedError, Store, answer_of

HERE = Path(__file__).parent / "page"
LASTING = (
    "/build/",
    "/extensions/",
    "/python-",
)  # names that change with what is in the files
# One address may be a class behind a proxy. What comes faster waits; nothing of it is lost.
PACES = {"connection": (5, 30), "address": (100, 500)}  # per second, and how many at once
CONNECTIONS, PER_ADDRESS = 1000, 300  # of learners
LATE = 10  # s, for the first word of a connection
EVERY = 0.25  # s, from one message to a board to the next
MESSAGE = 64_000  # bytes
TOKEN = range(16, 100)  # characters
COOKIE = "lessonkit-board"


class Room:
    """What the server knows of a class: who is here, and which question stands how."""

    def __init__(self, store: Store, questions: list[dict[str, Any]]) -> None:
        self.store = store
        self.questions = questions
        self.asked: list[Asked] = [
            (one["lesson"], one["kind"], one["question"]) for one in questions
        ]
        self.number = {asked: number for number, asked in enumerate(self.asked)}
        self.key = store.recall("key", secrets.token_urlsafe(16))
        self.id = store.recall("id", secrets.token_urlsafe(6))
        begin: dict[str, Any] = {"leading": False, "asked": 0, "round": 0, "open": False}
        begin |= {"covered": True, "shown": []}
        self.state: dict[str, Any] = json.loads(store.recall("state", json.dumps(begin)))
        self.learners: set[Answers] = set()
        self.boards: set[Board] = set()
        self.addresses: Counter[str] = Counter()
        self.tokens: dict[str, set[str]] = defaultdict(set)
        self.due: dict[Any, float] = defaultdict(float)
        self.warnings: dict[str, str] = {}
        self.is_told = False

    # ---- what the teacher does ----

    def act(self, do: Any, value: Any) -> None:
        """Do what a board asks for."""
        state = self.state
        if do == "lead":
            state |= {
                "leading": bool(value),
                "open": False,
                "round": 0,
                "covered": bool(value),
            }
        elif do == "choose" and value in range(len(self.asked)):
            state |= {"asked": value, "open": False, "covered": state["leading"]}
            state["round"] = self.store.rounds(self.asked[value])
        elif do == "open" and value in (1, 2) and state["leading"]:
            if value == 1:
                self.store.count_in(self.asked[state["asked"]])
            state |= {"round": value, "open": True, "covered": True}
        elif do == "close":
            state["open"] = False
        elif do == "cover":
            state["covered"] = bool(value)
        elif do == "show":
            state |= {"open": False, "covered": False}
            state["shown"] = sorted({*state["shown"], state["asked"]})
        else:
            return
        self.store.note("state", json.dumps(state))
        for learner in self.learners:
            learner.tell(state=self.for_learners())
        self.changed()

    def for_learners(self) -> dict[str, Any]:
        """Return what each learner's page has to know."""
        parts = ("lesson", "kind", "question")
        named = [dict(zip(parts, asked, strict=True)) for asked in self.asked]
        state = {name: self.state[name] for name in ("leading", "round", "open")}
        shown = [named[number] for number in self.state["shown"]]
        return state | {"id": self.id, "asked": named[self.state["asked"]], "shown": shown}

    # ---- what the learners do ----

    def take(self, learner: int, record: Any, of: Any) -> bool:
        """Keep an answer; return whether it came too late for its round, and is kept apart."""
        asked, when, text = answer_of(record)
        if asked not in self.number:
            raise RefusedError("The lessons of this class have no such question.")
        question = self.questions[self.number[asked]]
        if not all(fits(question, one["said"]) for one in json.loads(text)["tries"]):
            raise RefusedError("This is no answer to the question.")
        state = self.state
        is_asked = self.number[asked] == state["asked"] and state["leading"]
        open_round = state["round"] if is_asked and state["open"] else 0
        self.store.keep(learner, asked, open_round, when, text)
        self.changed()
        return bool(of) and of != open_round and self.number[asked] not in state["shown"]

    async def pace(self, who: Any, kind: str) -> None:
        """Wait if too much comes from somebody."""
        rate, at_once = PACES[kind]
        now = get_running_loop().time()
        self.due[who] = max(self.due[who], now) + 1 / rate
        late = self.due[who] - now - at_once / rate
        if late > 0:
            address = who if kind == "address" else who.request.remote_ip
            self.warn(f"{address} sends very much, and is slowed down.")
            await sleep(late)

    def warn(self, text: str) -> None:
        """Tell the teacher, once."""
        if len(self.warnings) < 20:
            self.warnings[text] = text
            self.changed()

    # ---- what the boards show ----

    def changed(self) -> None:
        """Tell the boards soon, and all that has changed until then together."""
        if not self.is_told and self.boards:
            self.is_told = True
            get_running_loop().call_later(EVERY, self.tell_boards)

    def tell_boards(self) -> None:
        """Tell all boards how things stand."""
        self.is_told = False
        told = json.dumps(self.for_boards())
        for board in self.boards:
            board.tell(told)

    def for_boards(self) -> dict[str, Any]:
        """Return what a board shows."""
        state = self.state
        leads = state["leading"] and state["round"]
        rounds = range(1, state["round"] + 1) if leads else (0,)
        here = {one.learner: one.name for one in self.learners if one.learner}
        asked = self.asked[state["asked"]]
        answers = [self.store.answers(asked, of) for of in rounds]
        names = sorted(filter(None, here.values()))[:60]
        known = {"here": len(here), "names": names, "warnings": list(self.warnings)}
        return known | {"state": state, "answers": answers}


def fits(question: dict[str, Any], said: Any) -> bool:
    """Whether a page of this *question* can have *said* this."""
    if question["kind"] == "choice":
        return type(said) is int and said in range(len(question["choices"]))
    if question["kind"] == "number":
        return type(said) in (int, float) and 0 <= said <= 1e12
    steps = range(question.get("steps", -1) + 1)
    all_steps = isinstance(said, list) and all(
        type(one) is int and one in steps for one in said
    )
    return all_steps and len(said) == len(question.get("names", ()))


class Answers(WebSocketHandler):
    """The connection of one learner's page."""

    learner, token, name = 0, "", ""

    def initialize(self, room: Room) -> None:
        self.room = room

    def check_origin(self, origin: str) -> bool:
        """Take pages of this host alone, but at any port: Voilà has one of its own."""
        return urlsplit(origin).hostname == self.request.host_name

    def prepare(self) -> None:
        """Refuse too many connections."""
        here = self.room.addresses
        address = str(self.request.remote_ip)
        if here[address] >= PER_ADDRESS or here.total() >= CONNECTIONS:
            self.room.warn(f"{address} keeps too many connections open: no more are taken.")
            raise HTTPError(503)

    def open(self, *_: str, **__: str) -> None:
        self.room.addresses[str(self.request.remote_ip)] += 1
        self.room.learners.add(self)
        loop = get_running_loop()
        self.late = loop.call_later(LATE, self.end_if_silent)

    def end_if_silent(self) -> None:
        """Keep no connection of somebody who says nothing."""
        if not self.learner:
            self.close()

    async def on_message(self, message: str | bytes) -> None:
        """Hear who this is, or an answer. The next message is read when this one is done."""
        await self.room.pace(self, "connection")
        await self.room.pace(self.request.remote_ip, "address")
        try:
            said = json.loads(message)
            if not isinstance(said, dict):
                raise ValueError
            if isinstance(said.get("token"), str) and len(said["token"]) in TOKEN:
                self.name = str(said.get("name") or "")[:30]
                self.greet(said["token"])
                self.tell(state=self.room.for_learners())
                return
            if not self.learner:
                raise ValueError
        except (ValueError, RecursionError):
            self.close(1008, "This is not what a learner's page says.")
            return
        known = {"kept": said.get("key"), "stamp": said.get("stamp")}
        try:
            late = self.room.take(self.learner, said.get("record"), said.get("round"))
        except RefusedError as error:
            self.tell(**known, refused=str(error))
        else:
            self.tell(**known, late=late)

    def greet(self, token: str) -> None:
        """Know who this is. Whoever is known stays who that is."""
        address = str(self.request.remote_ip)
        tokens = self.room.tokens[address]
        if len(tokens | {token}) > PER_ADDRESS:
            self.room.warn(
                f"{address} pretends to be very many learners: no more are taken."
            )
            raise ValueError
        tokens.add(self.token or token)
        self.token = self.token or token
        self.learner = self.room.store.learner(self.token, self.name)
        self.room.changed()

    def tell(self, **message: Any) -> None:
        """Send a message, if somebody is there to hear it."""
        with suppress(WebSocketClosedError, StreamClosedError):
            self.write_message(message)

    def on_close(self) -> None:
        if self in self.room.learners:
            self.room.learners.remove(self)
            self.room.addresses[str(self.request.remote_ip)] -= 1
            self.room.due.pop(self, None)
            self.late.cancel()
            self.room.changed()


class Teacher(RequestHandler):
    """What only somebody sees who has the teacher's key."""

    def initialize(self, room: Room, address: str = "") -> None:
        self.room, self.address = room, address

    def prepare(self) -> None:
        """Let nobody in who has not the key, in the address or as a cookie."""
        given = self.get_query_argument("key", "") or self.get_cookie(COOKIE) or ""
        if not hmac.compare_digest(given.encode(), self.room.key.encode()):
            raise HTTPError(
                403, reason="The board opens at the address that the server printed"
            )


class BoardPage(Teacher):
    """The page of the board, the questions with their answers, and the table of all answers."""

    def get(self, name: str) -> None:
        if key := self.get_query_argument("key", ""):
            # Other servers of this host do not get it: on a Hub these are the learners'.
            path = f"{self.settings['base']}board"
            self.set_cookie(COOKIE, key, path=path, httponly=True, samesite="Strict")
            self.redirect(self.request.path)
            return
        self.set_header("Cache-Control", "no-store")
        if name == "questions.json":
            self.write({"questions": self.room.questions})
        elif name == "answers.csv":
            self.set_header("Content-Type", "text/csv; charset=utf-8")
            self.set_header("Content-Disposition", 'attachment; filename="answers.csv"')
            self.write(self.room.store.csv())
        else:
            self.set_header(
                "Content-Security-Policy", "default-src 'self'; img-src 'self' data:"
            )
            code = code_of(self.address)
            self.render(str(HERE / "board.html"), address=self.address, code=code)


class Board(WebSocketHandler, Teacher):
    """The connection of a board."""

    sending: Future[None] | None = None

    def open(self, *_: str, **__: str) -> None:
        self.room.boards.add(self)
        self.tell(json.dumps(self.room.for_boards()))

    def tell(self, told: str) -> None:
        """Send how things stand, unless the last message is still on its way."""
        if self.sending and not self.sending.done():
            self.room.changed()
            return
        with suppress(WebSocketClosedError, StreamClosedError):
            self.sending = self.write_message(told)

    def on_message(self, message: str | bytes) -> None:
        with suppress(ValueError, AttributeError):
            said = json.loads(message)
            self.room.act(said.get("do"), said.get("value"))

    def on_close(self) -> None:
        self.room.boards.discard(self)


class Files(StaticFileHandler):
    """The files of the site, compressed where the build has done that and the browser takes it."""

    packed = False

    def validate_absolute_path(self, root: str, absolute_path: str) -> str | None:
        found = super().validate_absolute_path(root, absolute_path)
        takes = "gzip" in self.request.headers.get("Accept-Encoding", "")
        self.packed = bool(found) and takes and Path(f"{found}.gz").is_file()
        return super().validate_absolute_path(root, f"{found}.gz") if self.packed else found

    def get_content_type(self) -> str:
        kind, _ = mimetypes.guess_type(str(self.absolute_path).removesuffix(".gz"))
        return kind or "application/octet-stream"

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Vary", "Accept-Encoding")
        # Pages at other ports of this host load the learner's side.
        self.set_header("Access-Control-Allow-Origin", "*")
        if self.packed:
            self.set_header("Content-Encoding", "gzip")
        lasts = any(part in f"/{path}" for part in LASTING)
        self.set_header("Cache-Control", "max-age=31536000" if lasts else "no-cache")
        if path.endswith(("html", "/")) or not path:
            lead(self)


class Elsewhere(RedirectHandler):
    """The way to lessons that another server of this host has."""

    def get(self, *_: Any) -> None:
        lead(self)
        super().get()


def lead(handler: RequestHandler) -> None:
    """Let all pages of this host find the class, for as long as the browser is open."""
    where = f"//{handler.request.host}{handler.settings['base']}"
    handler.set_cookie("lessonkit-class", quote(where, safe=""))


def code_of(address: str) -> str:
    """Return the QR code of an *address* as a picture; nothing where segno is missing."""
    try:
        import segno
    except ImportError:
        return ""
    return str(segno.make(address).svg_data_uri(scale=8, border=2))


def application(
    room: Room, site: Path, address: str = "", base: str = "/", lessons: str = ""
) -> Application:
    """Return the server of a *room*, to which learners come at an *address*.

    It serves the *site*, or sends them on to where they find the *lessons*.
    """
    given, page = {"room": room}, {"path": str(HERE)}
    files = {"path": str(site), "default_filename": "index.html"}
    board = given | {"address": address}
    return Application(
        [
            (f"{base}answers", Answers, given),
            (f"{base}board/live", Board, given),
            (f"{base}board/(board\\.(?:js|css))", Files, page),
            (f"{base}board/(questions.json|answers.csv|)", BoardPage, board),
            (f"{base}(learner\\.js)", Files, page),
            (base, Elsewhere, {"url": lessons})
            if lessons
            else (f"{base}(.*)", Files, files),
        ],
        base=base,
        websocket_max_message_size=MESSAGE,
        websocket_ping_interval=30,
        websocket_ping_timeout=25,
        log_function=lambda _: None,
    )
