"""One file of answers: who has been told *Sent* is in it, and those who answer together share a write."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from support.classes import NUMBER

from delivery.classroom import store
from delivery.classroom.rounds import asked_of
from delivery.classroom.store import TOGETHER, Store

TURN = {"group": 1, "asking": 1}


async def answer(to: Store, learner: str) -> None:
    """Answer, and wait until the file has it."""
    one = {
        "said": "210",
        "words": "210 ms",
        "sure": "certain",
        "right": True,
        "mistake": "",
    }
    whose = {"learner": learner, "nickname": "", "address": "", "arrived": ""}
    to.keep(asked_of(NUMBER), [one | {"when": learner}], round=0, late=0, **TURN, **whose)
    await to.written()


def count(path: Path) -> int:
    """The answers that somebody finds who copies the file now."""
    base = sqlite3.connect(path)
    (found,) = base.execute("SELECT count(*) FROM answers").fetchone()
    base.close()
    return int(found)


def test_who_answer_together_share_one_write_and_each_is_told_after_it(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        to = Store(tmp_path / "answers.sqlite")
        done: list[str] = []
        to.base.set_trace_callback(done.append)
        found = []

        async def one(name: str) -> None:
            await answer(to, name)
            found.append(count(to.path))

        await asyncio.gather(*(one(f"learner {number}") for number in range(50)))
        assert done.count("COMMIT") == 1
        assert found == [50] * 50
        to.close()

    asyncio.run(test())


def test_the_disk_rests_as_long_as_it_has_worked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is served while it works: with a slow one the others have half of the time."""
    now = [100.0]
    slept: list[float] = []
    works = 0.03  # s

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    class Slow(Store):
        def commit(self) -> None:
            now[0] += works
            super().commit()

    async def test() -> None:
        to = Slow(tmp_path / "answers.sqlite")
        monkeypatch.setattr(store, "monotonic", lambda: now[0])
        monkeypatch.setattr(asyncio, "sleep", sleep)
        for learner in "Anna", "Ben":
            await answer(to, learner)
        now[0] += 1
        await answer(to, "Cleo")
        monkeypatch.undo()
        assert slept == [TOGETHER, pytest.approx(works), TOGETHER]
        assert count(to.path) == 3
        to.close()

    asyncio.run(test())


def test_a_write_that_fails_is_told_and_the_next_one_is_tried(tmp_path: Path) -> None:
    class Full(Store):
        is_full = True

        def commit(self) -> None:
            if self.is_full:
                self.base.execute("ROLLBACK")
                raise sqlite3.OperationalError("database or disk is full")
            super().commit()

    async def test() -> None:
        to: Any = Full(tmp_path / "answers.sqlite")
        with pytest.raises(store.NotKeptError, match="disk is full"):
            await answer(to, "Anna")
        to.is_full = False
        await answer(to, "Anna")
        assert count(to.path) == 1
        to.close()

    asyncio.run(test())
