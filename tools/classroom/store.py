"""`Store`: what a class has answered, in one SQLite file; and what counts as an answer."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

KEPT = ("said", "words", "sure", "right")  # of a try
ASKED = ("lesson", "kind", "question")  # what a record names its question by
WHEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
FORMULA = re.compile(r"\A(?=[=+\-@\t\r])")  # how one begins
LARGEST = 4000  # characters of an answer
MOST = 100_000  # pages of the file, of 4 KB
ITS = "lesson = :lesson AND kind = :kind AND question = :question"
TABLE = """
    SELECT learner,
        first_value(name) OVER (PARTITION BY learner ORDER BY time DESC) AS nickname,
        lesson, kind, question, round, json_extract(answer, '$.count') AS tries,
        json_extract(answer, '$.first.words') AS "first words",
        json_extract(answer, '$.first.sure') AS "first sure",
        json_extract(answer, '$.first.right') AS "first right",
        json_extract(answer, '$.last.words') AS words,
        json_extract(answer, '$.last.sure') AS sure,
        json_extract(answer, '$.last.right') AS right,
        (SELECT sum(json_extract(value, '$[0]')) FROM json_each(answer, '$.reached')) AS goals,
        time AS "when"
    FROM answers ORDER BY lesson, question, round, learner
"""

Json = dict[str, Any]


class RefusedError(ValueError):
    """What came is no answer; the sentence says why."""


class Store:
    """The answers of a class: of each learner, question and round the latest one."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        self.base = sqlite3.connect(path, isolation_level=None)
        self.base.text_factory = lambda text: text.decode(errors="replace")
        self.base.executescript(f"""
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
            CREATE TABLE IF NOT EXISTS class (key TEXT, state TEXT);
            CREATE TABLE IF NOT EXISTS answers (
                lesson TEXT, kind TEXT, question TEXT, learner TEXT, round INTEGER,
                name TEXT, time TEXT, answer TEXT,
                PRIMARY KEY (lesson, kind, question, learner, round));
            PRAGMA max_page_count = {MOST};
        """)

    def begin(self, key: str, state: Json) -> tuple[str, Json]:
        """Return the key and the state that are kept; these if there are none."""
        empty = "INSERT INTO class SELECT ?, ? WHERE NOT EXISTS (SELECT * FROM class)"
        self.base.execute(empty, (key, json.dumps(state)))
        key, kept = self.base.execute("SELECT key, state FROM class").fetchone()
        return key, json.loads(kept)

    def note(self, state: Json) -> None:
        """Keep how things stand."""
        self.base.execute("UPDATE class SET state = ?", (json.dumps(state),))

    def keep(self, asked: Json, answer: Json, **more: Any) -> bool:
        """Keep an *answer*; return whether it is newer than all of its learner to this question.

        A page that was loaded again, or has been away, sends what the class has already.
        Raise RefusedError if the file or the disk is full.
        """
        try:
            done = self.base.execute(
                "REPLACE INTO answers SELECT :lesson, :kind, :question, :learner, :round,"
                " :name, :time, :answer WHERE NOT EXISTS (SELECT * FROM answers"
                f" WHERE {ITS} AND learner = :learner AND time >= :time)",
                asked | more | {"answer": json.dumps(answer)},
            )
        except sqlite3.OperationalError as error:
            text = "The class has too many answers: the teacher can begin anew."
            raise RefusedError(text) from error
        return done.rowcount > 0

    def count_in(self, asked: Json) -> None:
        """Let what was answered before the first round be answers of that round."""
        self.base.execute(
            "INSERT OR IGNORE INTO answers SELECT lesson, kind, question, learner, 1,"
            f" name, time, answer FROM answers WHERE {ITS} AND round = 0",
            asked,
        )

    def answers(self, asked: Json) -> list[Json]:
        """Return what was answered to a question, and by whom, in all rounds."""
        query = f"SELECT round, learner, answer FROM answers WHERE {ITS}"
        found = self.base.execute(query, asked)
        return [{"round": of, "learner": who, **json.loads(one)} for of, who, one in found]

    def csv(self) -> str:
        """Return all answers as a table, in which no spreadsheet finds a formula."""
        to = io.StringIO()
        table, found = csv.writer(to), self.base.execute(TABLE)
        table.writerow(column[0] for column in found.description)
        for row in found:
            table.writerow(
                FORMULA.sub("'", one) if isinstance(one, str) else one for one in row
            )
        return to.getvalue()


def answer_of(record: Any) -> tuple[Json, str, Json]:
    """Return what a *record* answers, when, and what the class keeps of it.

    docs/record.json says what a page writes. Raise RefusedError if this is something else.
    """
    match {"tries": [], "reached": []} | record if isinstance(record, dict) else None:
        case {
            "schema": 1,
            "lesson": str(),
            "kind": str(),
            "question": str(),
            "when": str(when),
            "tries": list(tries),
            "reached": list(reached),
        } if (
            all(map(is_try, tries)) and all(map(is_goal, reached)) and WHEN.fullmatch(when)
        ):
            asked = {part: record[part] for part in ASKED}
        case _:
            raise RefusedError(
                "This is no record, or one of another version of the lessons."
            )
    ends: list[Any] = [{part: one[part] for part in KEPT} for one in tries[:1] + tries[-1:]]
    first, last = ends or [None, None]
    answer = {"count": len(tries), "first": first, "last": last, "reached": reached}
    if len(json.dumps(answer)) > LARGEST:
        raise RefusedError("This record is too large for an answer.")
    return asked, tries[-1]["when"] if tries else when, answer


def is_try(one: Any) -> bool:
    """Whether this is one try of a record, with what the kernel said of it."""
    match one:
        case {"said": _, "words": str(), "sure": sure, "right": bool(), "when": str(when)}:
            is_sure = sure in ("a guess", "fairly sure", "certain")
            return is_sure and WHEN.fullmatch(when) is not None
    return False


def is_goal(one: Any) -> bool:
    """Whether this is one goal of a challenge: whether it was met, and the sentence about it."""
    return isinstance(one, list) and [type(part) for part in one] == [bool, str]


def fits(question: Json, said: Any) -> bool:
    """Whether a page of this *question* can have *said* this."""
    if question["kind"] == "choice":
        return type(said) is int and said in range(len(question["choices"]))
    if question["kind"] == "number":
        return type(said) in (int, float) and 0 <= said <= 1e12
    steps = range(question.get("steps", -1) + 1)
    are_steps = isinstance(said, list) and all(
        type(one) is int and one in steps for one in said
    )
    return are_steps and len(said) == len(question.get("names", ()))
