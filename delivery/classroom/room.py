"""`Room`: who is here, which question stands how, and what counts as an answer."""

import json
import secrets
from asyncio import get_running_loop, sleep
from collections import defaultdict
from typing import Any

from jsonschema import Draft202012Validator

from delivery.classroom import answers
from delivery.classroom.store import ASKED, Json, Store

# One address may be a class behind a proxy. The server reads what an address sends faster later,
# and loses none of it.
PACE = 50_000  # bytes per second from an address
AT_ONCE = 5  # seconds' worth of them are read without a wait
CONNECTIONS = 1000  # of learners
PER_ADDRESS = 300  # of them
BEGIN = {"leading": False, "round": 0, "open": False, "covered": True, "shown": []}
RULES = json.loads(answers.SCHEMA.read_text(encoding="utf-8"))["$defs"]
RECORD = Draft202012Validator({"$ref": "#/$defs/record", "$defs": RULES})
UNFIT = "This answers no question of the class. Load the page again, for it may be an older one."


class Room:
    """What the server knows of a class."""

    def __init__(self, store: Store, questions: list[Json]) -> None:
        self.store, self.questions = store, questions
        self.asked = [{part: one[part] for part in ASKED} for one in questions]
        self.key, self.state = store.begin(secrets.token_urlsafe(16), BEGIN)
        if self.state.get("asked") not in self.asked:  # or the lessons have another one now
            self.state["asked"] = self.asked[0]
        self.learners: set[Any] = set()  # the connections of their pages
        self.known: dict[str, set[str]] = defaultdict(set)  # learners of an address
        self.due: dict[str, float] = defaultdict(float)  # when all of an address is read
        self.warnings: set[str] = set()  # for the teacher

    def act(self, do: Any, value: Any) -> None:
        """Do what a board asks for, if it makes sense, and tell everybody."""
        state = self.state
        asked = state["asked"]
        new: Json
        match do, value:
            case "lead", bool():
                new = {"leading": value, "round": 0, "open": False, "covered": value}
            case "choose", int() if value in range(len(self.asked)):
                asked = self.asked[value]
                last = max((one["round"] for one in self.store.answers(asked)), default=0)
                new = {"round": last, "open": False, "covered": state["leading"]}
            case "open", 1 | 2 if state["leading"]:
                if value == 1:
                    self.store.count_in(asked)
                new = {"round": value, "open": True, "covered": True}
            case "close", _:
                new = {"open": False}
            case "cover", bool():
                new = {"covered": value}
            case "show", _:
                others = [one for one in state["shown"] if one != asked]
                new = {"open": False, "covered": False, "shown": [*others, asked]}
            case _:
                return
        self.state |= {"asked": asked, **new}
        self.store.note(self.state)
        for learner in self.learners:
            learner.tell(state=self.state)

    def take(self, record: Any, meant: Any, learner: str, nickname: str) -> Json:
        """Keep what a *record* answers, in the round that is open; return what to tell its page.

        An answer that comes too late for the round it was *meant* for is kept outside of the rounds.
        """
        asked = {part: record[part] for part in ASKED} if RECORD.is_valid(record) else {}
        place = self.asked.index(asked) if asked in self.asked else -1
        if place < 0 or not fits(self.questions[place], record):
            return {"refused": UNFIT}
        is_open = self.state["open"] and asked == self.state["asked"]
        now = self.state["round"] if is_open else 0
        is_new = self.store.keep(record, round=now, learner=learner, nickname=nickname)
        is_late = bool(meant) and meant != now and asked not in self.state["shown"]
        return {"late": is_new and is_late}

    def lets_in(self, learner: str, address: str) -> bool:
        """Whether there is room for one more connection; note that its learner is known."""
        here = [one.address for one in self.learners]
        known = self.known[address] | {learner}
        of_it = max(here.count(address) + 1, len(known))
        if of_it > PER_ADDRESS or len(here) >= CONNECTIONS:
            self.warnings.add(f"{address} is too many learners, or too many connections.")
            return False
        self.known[address] = known
        return True

    async def pace(self, address: str, size: int) -> None:
        """Wait if too much comes from an *address*; each of its connections waits in turn."""
        now = get_running_loop().time()
        self.due[address] = max(self.due[address], now - AT_ONCE) + size / PACE
        if self.due[address] > now:
            self.warnings.add(f"{address} sends very much, and is slowed down.")
            await sleep(self.due[address] - now)

    def for_boards(self) -> Json:
        """Return what a board shows."""
        asked = self.state["asked"]
        return {
            "state": self.state,
            "number": self.asked.index(asked),
            "shown": asked in self.state["shown"],
            "answers": self.store.answers(asked),
            "here": len({one.learner for one in self.learners}),
            "warnings": sorted(self.warnings)[:20],
        }


def fits(question: Json, record: Json) -> bool:
    """Whether a page of this *question* can have written this, and its kernel has judged it."""
    if "goals" in question:
        return len(record.get("reached", ())) == len(question["goals"])
    tries = record["tries"]
    judged = all(one["sure"] and {"words", "right"} <= one.keys() for one in tries)
    return judged and bool(tries) and all(is_answer(question, one["said"]) for one in tries)


def is_answer(question: Json, said: Any) -> bool:
    """Whether what was *said* has the shape of an answer: a number, or one for each of its names."""
    names = question["names"]
    if isinstance(said, list) != bool(names):
        return False
    numbers = said if names else [said]
    return len(numbers) == len(names or "1") and all(
        0 <= number <= question["most"] for number in numbers
    )
