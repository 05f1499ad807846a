"""`Store`: what a class has answered, in one SQLite file; and what counts as an answer."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

SCHEMA = 1  # of records, as in lessonkit/widgets/page/record.js
SURE = ("a guess", "fairly sure", "certain")
WHEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
LARGEST = 4000  # characters of an answer
MOST = 200_000  # answers in all

Asked = tuple[str, str, str]  # lesson, kind, and the text of a question


class RefusedError(ValueError):
    """What came is no answer; the sentence says why."""


def answer_of(record: Any) -> tuple[Any, Any, str]:
    """Return of a *record* what it answers, when, and what is kept of it, as JSON.

    Raise RefusedError if it is none.
    """
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise RefusedError("This is no record, or one of another version of the lessons.")
    asked = tuple(record.get(part) for part in ("lesson", "kind", "question"))
    tries, when = record.get("tries") or [], record.get("when") or ""
    reached = record.get("reached") or []
    is_known = all(isinstance(part, str) for part in (*asked, when)) and WHEN.fullmatch(
        when
    )
    lists = isinstance(tries, list) and isinstance(reached, list)
    if (
        not is_known
        or not lists
        or not all(map(is_try, tries))
        or not all(map(is_goal, reached))
    ):
        raise RefusedError("This record has parts that no page writes.")
    parts = ("said", "words", "sure", "right", "when")
    kept = [{part: one.get(part) for part in parts} for one in tries[:1] + tries[1:][-1:]]
    known: dict[str, Any] = {
        "right": bool(record.get("right")),
        "shown": bool(record.get("shown")),
    }
    known |= {"tries": kept, "count": len(tries), "reached": reached}
    text = json.dumps(known)
    if len(text) > LARGEST or "NaN" in text or "Infinity" in text:
        raise RefusedError("This record is too large for an answer.")
    return asked, when, text


def is_try(one: Any) -> bool:
    """Whether this is one try of a record."""
    if not isinstance(one, dict) or one.get("sure") not in SURE:
        return False
    return (
        all(isinstance(one.get(part), str) for part in ("words", "when")) and "said" in one
    )


def is_goal(one: Any) -> bool:
    """Whether this is one goal of a challenge: whether it was met, and the sentence about it."""
    return isinstance(one, list) and [type(part) for part in one] == [bool, str]


class Store:
    """The answers of a class. A learner is known by a hash of the token that the page made.

    Of each learner, question and round there is one answer: that with the latest time.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        self.base = sqlite3.connect(path, isolation_level=None)
        self.base.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
            CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value TEXT);
            CREATE TABLE IF NOT EXISTS learners
                (number INTEGER PRIMARY KEY, token TEXT UNIQUE, name TEXT);
            CREATE TABLE IF NOT EXISTS answers (
                lesson TEXT, kind TEXT, question TEXT, round INTEGER, learner INTEGER,
                time TEXT, record TEXT,
                PRIMARY KEY (lesson, kind, question, round, learner)) WITHOUT ROWID;
        """)
        self.count = self.base.execute("SELECT count(*) FROM answers").fetchone()[0]

    def recall(self, name: str, default: str) -> str:
        """Return the text that is kept under a *name*, and keep the *default* if there is none."""
        self.base.execute("INSERT OR IGNORE INTO kept VALUES (?, ?)", (name, default))
        found = self.base.execute("SELECT value FROM kept WHERE name = ?", (name,))
        return str(found.fetchone()[0])

    def note(self, name: str, value: str) -> None:
        """Keep a text under a *name*."""
        self.base.execute("REPLACE INTO kept VALUES (?, ?)", (name, value))

    def learner(self, token: str, name: str) -> int:
        """Return the number of the learner with this *token*, who may have a new *name*."""
        known = hashlib.sha256(token.encode()).hexdigest()
        name = "".join(letter for letter in name if letter.isprintable())[:30]
        self.base.execute(
            "INSERT INTO learners (token, name) VALUES (?, ?)"
            " ON CONFLICT (token) DO UPDATE SET name = excluded.name",
            (known, name),
        )
        found = self.base.execute("SELECT number FROM learners WHERE token = ?", (known,))
        return int(found.fetchone()[0])

    def keep(self, learner: int, asked: Asked, of: int, when: str, record: str) -> None:
        """Keep an answer of round *of*, if it is newer than what is there; RefusedError if all is full."""
        where = (*asked, of, learner)
        changed = self.base.execute(
            "UPDATE answers SET time = ?, record = ? WHERE lesson = ? AND kind = ?"
            " AND question = ? AND round = ? AND learner = ? AND time < ?",
            (when, record, *where, when),
        )
        if changed.rowcount:
            return
        if self.count >= MOST:
            raise RefusedError(
                "The class has too many answers: the teacher can begin anew."
            )
        self.count += self.base.execute(
            "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*where, when, record),
        ).rowcount

    def rounds(self, asked: Asked) -> int:
        """Return in how many rounds a question was answered."""
        found = self.base.execute(
            "SELECT max(round) FROM answers WHERE lesson = ? AND kind = ? AND question = ?",
            asked,
        )
        return found.fetchone()[0] or 0

    def count_in(self, asked: Asked) -> None:
        """Let answers from before the first round be answers of that round."""
        self.base.execute(
            "INSERT OR IGNORE INTO answers SELECT lesson, kind, question, 1, learner, time, record"
            " FROM answers WHERE lesson = ? AND kind = ? AND question = ? AND round = 0",
            asked,
        )

    def answers(self, asked: Asked, of: int) -> list[dict[str, Any]]:
        """Return what was answered to a question in round *of*, with the number of each learner."""
        found = self.base.execute(
            "SELECT learner, record FROM answers"
            " WHERE lesson = ? AND kind = ? AND question = ? AND round = ?",
            (*asked, of),
        )
        return [{"learner": learner, **json.loads(record)} for learner, record in found]

    def csv(self) -> str:
        """Return all answers, a line for the first and the last try of each."""
        names = dict(self.base.execute("SELECT number, name FROM learners"))
        to = io.StringIO()
        table = csv.writer(to)
        head = "learner nickname lesson kind question round try words sure right goals when"
        table.writerow(head.split())
        for *asked, of, learner, when, record in self.base.execute("SELECT * FROM answers"):
            known = json.loads(record)
            first, *last = known["tries"] or [{}]
            for place, one in [(1, first), *((known["count"], one) for one in last)]:
                told = [one.get(part, "") for part in ("words", "sure", "right")]
                goals = sum(bool(goal[0]) for goal in known["reached"] or ())
                reached = goals if known["reached"] else ""
                line = [learner, names[learner], *asked, of, place, *told, reached, when]
                table.writerow(map(harmless, line))
        return to.getvalue()


def harmless(value: Any) -> Any:
    """Return a *value* that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value
