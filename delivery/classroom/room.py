"""`Room`: who is here, what a board may do, and what counts as an answer."""

from __future__ import annotations

import json
import secrets
from asyncio import get_running_loop, sleep
from collections import Counter, defaultdict
from datetime import datetime
from typing import Any, Protocol

from jsonschema import Draft202012Validator

from delivery.classroom import answers
from delivery.classroom.judge import is_answer, judged, reached
from delivery.classroom.rounds import Asked, State, asked_of
from delivery.classroom.store import Json, NotKeptError, Store
from delivery.classroom.tokens import Tokens

# One address may be a class behind a proxy. The server reads what an address sends faster later,
# and loses none of it.
PACE = 50_000  # bytes per second from an address
AT_ONCE = 5  # seconds' worth of them are read without a wait
CONNECTIONS = 1000  # of learners
PER_ADDRESS = 300  # of them
NEWCOMERS = 60  # learners whom an address may bring in at once, and then one by one
EACH = 0.5  # s that each further one waits: 300 behind one address are in after two minutes
PATIENT = 60  # s that a newcomer waits at most
RULES = json.loads(answers.SCHEMA.read_text(encoding="utf-8"))["$defs"]
RECORD = Draft202012Validator({"$ref": "#/$defs/record", "$defs": RULES})
UNFIT = "This answers no question of the class. Load the page again, for it may be an older one."
# What a board gets of an answer
SHOWN = (
    "learner",
    "round",
    "said",
    "words",
    "sure",
    "right",
    "mistake",
    "reached",
    "address",
)
FIRST = ("said", "words", "sure", "right", "mistake")


class Learner(Protocol):
    """The connection of a page."""

    learner: str
    address: str

    def tell(self, **message: Any) -> None:
        """Send a message to the page."""

    def close(self) -> None:
        """End the connection."""


class Room:
    """What the server knows of a class. All that a board or a page is told comes from here."""

    def __init__(self, store: Store, questions: list[Json]) -> None:
        self.store = store
        self.questions = questions
        self.asked = [asked_of(one) for one in questions]
        begun = State(asked=self.asked[0]).written()
        key, secret, kept = store.begin(
            secrets.token_urlsafe(16), secrets.token_hex(32), begun
        )
        self.key = key
        self.tokens = Tokens(secret)
        self.mark = self.tokens.signature("class")[
            :8
        ]  # tells this class's file from others
        self.state = State.read(kept)
        if self.state.asked not in self.asked:  # the lessons have another one now
            self.state.choose(self.asked[0])
        self.is_over = False
        self.learners: set[Learner] = set()  # the connections of their pages
        self.due: dict[str, float] = defaultdict(float)  # when all of an address is read
        self.turns: dict[str, float] = defaultdict(float)  # when its next newcomer comes in
        self.warnings: dict[str, None] = {}  # for the teacher, the first one first

    def warn(self, text: str) -> None:
        """Tell the teacher, once."""
        if len(self.warnings) < 20:
            self.warnings[text] = None

    # ---- the board ----

    def act(self, do: Any, value: Any) -> None:
        """Do what a board asks for, if it makes sense, and tell everybody."""
        if not self.changed(do, value):
            return
        self.store.note(self.state.written())
        if not self.state.now.open:
            self.store.write_table()
        self.tell_all()

    def changed(self, do: Any, value: Any) -> bool:
        """Change the state as a board asks for; return whether that makes sense."""
        state = self.state
        match do, value:
            case "lead", bool():
                state.lead(value)
            case "choose", int() if value in range(len(self.asked)):
                state.choose(self.asked[value])
            case "open", int():
                if not state.open(value):
                    return False
                self.store.count_in(state.asked, value, **self.turn_of(state.asked))
            case "close", _:
                state.now.open = False
            case "cover", bool():
                state.covered = value
            case "show", _:
                state.show()
            case "anew", _:
                state.ask_anew()
            case "group", _:
                state.begin_group()
            case "leave out", str() if value not in state.left_out:
                state.left_out.append(value[:100])
            case "count again", str() if value in state.left_out:
                state.left_out.remove(value)
            case _:
                return False
        return True

    def for_boards(self) -> Json:
        """Return what a board shows."""
        state = self.state
        found = self.store.answers(state.asked, **self.turn_of(state.asked))
        left = {*state.left_out}
        counted = [
            one for one in found if left.isdisjoint({one["learner"], one["address"]})
        ]
        pages = Counter(one.address for one in self.learners)
        return {
            "leading": state.leading,
            "covered": state.covered,
            "group": state.group,
            "number": self.asked.index(state.asked),
            "standing": vars(state.now),
            "answers": [shown(one) for one in counted],
            "from": sorted({(one["address"], one["learner"]) for one in found}),
            "pages": pages,
            "leftOut": state.left_out,
            "here": len({one.learner for one in self.learners}),
            "warnings": list(self.warnings),
        }

    # ---- the pages ----

    def for_pages(self) -> Json:
        """Return what every page may know: nothing that tells an answer."""
        told = self.state.for_pages(self.mark)
        return told | {
            "leading": told["leading"] and not self.is_over,
            "over": self.is_over,
        }

    def tell_all(self) -> None:
        """Tell all pages how things stand."""
        for learner in [*self.learners]:
            learner.tell(state=self.for_pages())

    def end(self) -> None:
        """Say goodbye: no page waits for a class that is over."""
        self.is_over = True
        self.tell_all()

    def turn_of(self, asked: Asked) -> dict[str, int]:
        """Return whose answers count now: those of this group, since it was asked last."""
        return {"group": self.state.group, "asking": self.state.of(asked).asking}

    def take(self, given: Json, learner: str, address: str) -> Json:
        """Keep what a page has *given*, in the round that is open; return what to tell the page.

        Besides its record, it says for which round of which turn that was meant. What comes too
        late for a round is kept outside of the rounds, and what was meant for an earlier group
        or asking is not kept.
        """
        record = given["record"]
        asked = asked_of(record) if RECORD.is_valid(record) else None
        if asked not in self.asked:
            return {"refused": UNFIT}
        turn = self.turn_of(asked)
        if given["turn"] != [self.for_pages()["group"], turn["asking"]]:
            return {"gone": True}
        question = self.questions[self.asked.index(asked)]
        try:
            found = answer_of(question, record)
        except ValueError:
            return {"refused": UNFIT}
        standing = self.state.of(asked)
        is_open = standing.open and asked == self.state.asked
        now = standing.round if is_open else 0
        meant = given["round"] if given["round"] in range(1, standing.round + 1) else 0
        is_late = bool(meant) and meant != now and not standing.shown
        more = {"round": now, "late": meant if is_late else 0, **turn, **found}
        more |= {"learner": learner, "address": address, "nickname": given["name"]}
        more |= {"arrived": arrival()}
        try:
            is_new = self.store.keep(asked, more.pop("tries"), **more)
        except NotKeptError as error:
            self.warn(f"The file of answers takes no more: {error}.")
            return {"again": True}
        return {"round": now, "late": is_new and is_late}

    # ---- who comes ----

    def lets_in(self, address: str) -> bool:
        """Whether there is room for one more connection of this *address*."""
        here = [one.address for one in self.learners]
        if here.count(address) < PER_ADDRESS and len(here) < CONNECTIONS:
            return True
        self.warn(f"{address} has too many connections.")
        return False

    async def newcomer(self, address: str) -> str:
        """Make one more learner of an *address*; "" if it has brought far too many.

        A class may come all at once, behind one address. Whoever makes up hundreds waits for each.
        """
        now = get_running_loop().time()
        turn = max(self.turns[address], now - NEWCOMERS * EACH) + EACH
        if turn - now > PATIENT:
            self.warn(f"{address} brings very many learners, who are kept out for now.")
            return ""
        self.turns[address] = turn
        if turn > now:
            self.warn(f"{address} brings very many learners, who come in one by one.")
            await sleep(turn - now)
        return self.tokens.issue()

    async def pace(self, address: str, size: int) -> None:
        """Wait if too much comes from an *address*; each of its connections waits in turn."""
        now = get_running_loop().time()
        self.due[address] = max(self.due[address], now - AT_ONCE) + size / PACE
        if self.due[address] > now:
            self.warn(f"{address} sends very much, and is slowed down.")
            await sleep(self.due[address] - now)


def arrival() -> str:
    """Return the time by this computer's clock, as a teacher reads it."""
    return datetime.now().isoformat(sep=" ", timespec="seconds")


def answer_of(question: Json, record: Json) -> Json:
    """Return what a *record* answers to its *question*, judged and in words of the server.

    Raises ValueError if no page of this question can have written it.
    """
    if "goals" in question:
        found = reached(record.get("reached", ()))
        if len(found) != len(question["goals"]):
            raise ValueError("it has other goals")
        goals = sum(one.met for one in found)
        return {"tries": [], "goals": goals, "reached": json.dumps(found)}
    tries = record["tries"]
    if not tries or not all(
        one["sure"] and is_answer(question, one["said"]) for one in tries
    ):
        raise ValueError("nothing was said that is an answer")
    return {"tries": [try_of(question, one) for one in tries]}


def try_of(question: Json, one: Json) -> Json:
    """Return one try as the store has it; what its page says of it counts for nothing."""
    right, words, mistake = judged(question, one["said"])
    kept = {"said": json.dumps(one["said"]), "sure": one["sure"], "when": one["when"]}
    return {**kept, "words": words, "right": right, "mistake": mistake}


def shown(answer: Json) -> Json:
    """Return what a board gets of an answer: in a round the last try, and outside the first."""
    told: Json = {name: answer[name] for name in SHOWN}
    if not answer["round"]:
        told |= {name: answer[f"first_{name}"] for name in FIRST}
    return told
