"""`Store`: what a class has answered, in one SQLite file."""

import csv
import io
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

FORMULA = re.compile(r"\A(?=[=+\-@\t\r])")  # how one begins
MOST = 100_000  # pages of the file, of 4 KB
TRY = ("said", "words", "sure", "right")
ASKED = ("lesson", "kind", "question")  # what a record names its question by
OF = (*ASKED, "learner", "round")  # of each there is one answer, the latest
FIRST = tuple(f"first_{part}" for part in TRY)
COLUMNS = (*OF, "nickname", "time", "tries", *FIRST, *TRY, "goals", "reached")
TABLES = f"""
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS class (number INTEGER PRIMARY KEY, key TEXT, state TEXT);
    CREATE TABLE IF NOT EXISTS answers
        ({", ".join(COLUMNS)}, PRIMARY KEY ({", ".join(OF)}));
"""
ITS = "WHERE lesson = :lesson AND kind = :kind AND question = :question"
KEEP = f"""
    REPLACE INTO answers SELECT :{", :".join(COLUMNS)} WHERE NOT EXISTS
    (SELECT * FROM answers {ITS} AND learner = :learner AND time >= :time)
"""

Json = dict[str, Any]
sqlite3.register_adapter(list, json.dumps)


class Store:
    """The answers of a class: of each learner, question and round the latest one."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        self.base = sqlite3.connect(path, isolation_level=None)
        self.base.row_factory = sqlite3.Row
        self.base.executescript(f"{TABLES} PRAGMA max_page_count = {MOST};")

    def begin(self, key: str, state: Json) -> tuple[str, Json]:
        """Return the key and the state that are kept; these if there are none."""
        values = (key, json.dumps(state))
        self.base.execute("INSERT OR IGNORE INTO class VALUES (1, ?, ?)", values)
        key, kept = self.base.execute("SELECT key, state FROM class").fetchone()
        return key, json.loads(kept)

    def note(self, state: Json) -> None:
        """Keep how things stand."""
        self.base.execute("UPDATE class SET state = ?", (json.dumps(state),))

    def keep(self, record: Json, **whose: Any) -> bool:
        """Keep what a *record* answers; return whether it is newer than what its learner has here.

        A page that was loaded again, or has been away, sends what the class has already.
        """
        tries = record.get("tries", [])
        reached = record.get("reached", [])
        told = dict.fromkeys(COLUMNS) | {part: record[part] for part in ASKED} | whose
        if tries:
            told |= tries[-1] | {f"first_{part}": value for part, value in tries[0].items()}
        told |= {"tries": len(tries), "time": [record, *tries][-1]["when"]}
        told |= {"goals": sum(met for met, _ in reached), "reached": reached}
        return self.base.execute(KEEP, told).rowcount > 0

    def count_in(self, asked: Json) -> None:
        """Let what was answered before the first round be answers of that round."""
        earlier = f"UPDATE OR IGNORE answers SET round = 1 {ITS} AND round = 0"
        self.base.execute(earlier, asked)

    def answers(self, asked: Json) -> list[Json]:
        """Return what was answered to a question, and by whom, in all rounds."""
        return list(map(dict, self.base.execute(f"SELECT * FROM answers {ITS}", asked)))

    def csv(self) -> str:
        """Return all answers as a table, in which no spreadsheet finds a formula."""
        found = self.base.execute(f"SELECT * FROM answers ORDER BY {', '.join(OF)}")
        table = csv.writer(to := io.StringIO())
        table.writerow(column for column, *_ in found.description)
        for row in found:
            table.writerow(FORMULA.sub("'", x) if isinstance(x, str) else x for x in row)
        return to.getvalue()
