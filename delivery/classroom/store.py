"""`Store`: what a class has answered, in one SQLite file that is always complete."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from delivery.classroom.rounds import ASKED, Asked

FORMULA = re.compile(r"\A(?=[=+\-@\t\r])")  # how one begins
MOST = 100_000  # pages of the file, of 4 KB
TOGETHER = 0.002  # s: who answers within that, or while the disk is busy, shares one write
HEARD = 1000  # tries of one learner to one question, as in docs/record.json
VERSION = 2  # of the tables
TRY = ("said", "words", "sure", "right", "mistake")
TURN = ("group", "asking")  # the group of learners, and how many times it was asked
OF = (*TURN, *ASKED, "learner", "round")  # of each there is one answer, the latest
FIRST = tuple(f"first_{part}" for part in TRY)
ABOUT = ("nickname", "address", "arrived", "late", "tries", "goals", "reached", "heard")
COLUMNS = (*OF, *ABOUT, *FIRST, *TRY)
LISTED = tuple(name for name in COLUMNS if name not in ("heard", "reached"))  # in the table


def quoted(names: tuple[str, ...]) -> str:
    """Write names of columns; `group` is a word of SQL."""
    return ", ".join(f'"{name}"' for name in names)


# A copy of the file has everything at any moment: SQLite keeps what it is about to write in a
# second file, and removes that, instead of leaving the answers there as a write-ahead log does.
TABLES = f"""
    PRAGMA journal_mode = DELETE;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS class (number INTEGER PRIMARY KEY, key TEXT, secret TEXT, state TEXT);
    CREATE TABLE IF NOT EXISTS answers ({quoted(COLUMNS)}, PRIMARY KEY ({quoted(OF)}));
    PRAGMA user_version = {VERSION};
"""
ITS = " AND ".join(f'"{name}" = :{name}' for name in (*TURN, *ASKED))
KEEP = f"REPLACE INTO answers VALUES (:{', :'.join(COLUMNS)})"

Json = dict[str, Any]
sqlite3.register_adapter(list, json.dumps)


class UnreadableError(Exception):
    """A file that is no store of a class, or that cannot be written; its text says why."""


class NotKeptError(Exception):
    """An answer that the file did not take; its text says why."""


class Store:
    """The answers of a class: of each learner, question and round the latest one.

    Whoever has awaited `written` finds what was kept before in the file itself.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writing: asyncio.Task[None] | None = None
        # By the clock, when the disk has rested as long as it has worked
        self.next_write = 0.0
        # What has undone the write that is under way
        self.spoilt: sqlite3.Error | None = None
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            self.base = sqlite3.connect(path, isolation_level=None)
            self.base.row_factory = sqlite3.Row
            self.check()
            self.base.executescript(f"{TABLES} PRAGMA max_page_count = {MOST};")
        except (OSError, sqlite3.Error) as error:
            raise UnreadableError(f"{path}: {error}") from None

    def check(self) -> None:
        """Raise UnreadableError if the file has the answers of another version of this program."""
        (version,) = self.base.execute("PRAGMA user_version").fetchone()
        tables = self.base.execute("SELECT * FROM sqlite_master").fetchall()
        if tables and version != VERSION:
            raise UnreadableError(f"{self.path}: another version of this program wrote it")

    def begin(self, key: str, secret: str, state: str) -> tuple[str, str, str]:
        """Return the key, the secret and the state that are kept; these if there are none."""
        begun = "INSERT OR IGNORE INTO class VALUES (1, ?, ?, ?)"
        self.base.execute(begun, (key, secret, state))
        key, secret, state = self.base.execute(
            "SELECT key, secret, state FROM class"
        ).fetchone()
        return key, secret, state

    def note(self, state: str) -> None:
        """Keep how things stand, and all that waits to be written."""
        with suppress(sqlite3.Error):  # a full disk; the class goes on
            self.base.execute("UPDATE class SET state = ?", (state,))
            self.commit()

    def keep(self, asked: Asked, tries: list[Json], **more: Any) -> bool:
        """Keep an answer, which has *tries* or has *reached* goals; return whether it is news.

        A page that was loaded again, or has been away, sends what the class has already. A try
        is known by the time that its page gave it, which is a name and not a time: clocks are
        set back. Raises NotKeptError if the file does not take it.
        """
        whose = {name: more[name] for name in (*TURN, "learner")}
        before = self.base.execute(
            f"SELECT heard FROM answers WHERE {ITS} AND learner = :learner",
            {**asked, **whose},
        )
        known = [name for (names,) in before for name in json.loads(names)]
        heard = [one["when"] for one in tries]
        if tries and heard[-1] in known:
            return False
        told = dict.fromkeys(COLUMNS) | asked | more | {"tries": len(tries)}
        told["heard"] = [*dict.fromkeys(known + heard)][-HEARD:]
        if tries:
            told |= {name: tries[-1][name] for name in TRY}
            told |= {f"first_{name}": tries[0][name] for name in TRY}
        try:
            if not self.base.in_transaction:
                self.base.execute("BEGIN")
            self.base.execute(KEEP, told)
        except (sqlite3.Error, OverflowError) as error:
            if isinstance(error, sqlite3.Error) and not self.base.in_transaction:
                self.spoilt = error  # others of the same write are lost with it
            raise NotKeptError(str(error)) from None
        return True

    async def written(self) -> None:
        """Wait until all that was kept is in the file. Raises NotKeptError if it does not come there."""
        self.writing = self.writing or asyncio.create_task(self.write_soon())
        await asyncio.shield(self.writing)

    async def write_soon(self) -> None:
        """Write what is kept meanwhile in one go.

        Nobody is served while the disk writes, so that takes half of the time at most.
        """
        await asyncio.sleep(max(TOGETHER, self.next_write - monotonic()))
        self.writing = None
        spoilt, self.spoilt = self.spoilt, None
        began = monotonic()
        try:
            if spoilt:
                raise spoilt
            self.commit()
        except sqlite3.Error as error:
            raise NotKeptError(str(error)) from None
        finally:
            ended = monotonic()
            self.next_write = ended + (ended - began)

    def commit(self) -> None:
        """Write what waits; undo it if that fails."""
        try:
            if self.base.in_transaction:
                self.base.execute("COMMIT")
        except sqlite3.Error:
            with suppress(sqlite3.Error):
                self.base.execute("ROLLBACK")
            raise

    def count_in(self, asked: Asked, round: int, **turn: int) -> None:
        """Let answers that came too late for a round be answers of it.

        For the first round these are all that were given before it, too.
        """
        late = '"round" = 0 AND late IN (:round, :before)'
        earlier = f'UPDATE OR IGNORE answers SET "round" = :round WHERE {ITS} AND {late}'
        before = 0 if round == 1 else round
        with suppress(sqlite3.Error):
            self.base.execute(earlier, {**asked, **turn, "round": round, "before": before})

    def answers(self, asked: Asked, **turn: int) -> list[Json]:
        """Return what was answered to a question, and by whom, in all rounds."""
        found = self.base.execute(f"SELECT * FROM answers WHERE {ITS}", {**asked, **turn})
        return list(map(dict, found))

    def counts(self) -> tuple[int, int]:
        """Return how many answers there are, and of how many learners."""
        found = self.base.execute("SELECT count(*), count(DISTINCT learner) FROM answers")
        answers, learners = found.fetchone()
        return answers, learners

    def csv(self) -> str:
        """Return all answers as a table, in which no spreadsheet finds a formula."""
        order = f"SELECT {quoted(LISTED)} FROM answers ORDER BY {quoted(OF)}"
        table = csv.writer(to := io.StringIO())
        table.writerow(LISTED)
        for row in self.base.execute(order):
            table.writerow(FORMULA.sub("'", x) if isinstance(x, str) else x for x in row)
        return to.getvalue()

    def write_table(self) -> None:
        """Write that table beside the file, as a whole or not at all."""
        to = self.path.with_suffix(".csv")
        half = to.with_suffix(".csv.part")
        with suppress(OSError, sqlite3.Error):
            half.touch(mode=0o600)
            half.write_text(self.csv(), encoding="utf-8", newline="")
            os.replace(half, to)

    def close(self) -> None:
        """Write what waits, and let the file go."""
        if self.writing:
            self.writing.cancel()
        with suppress(sqlite3.Error):
            self.commit()
        self.write_table()
        self.base.close()
