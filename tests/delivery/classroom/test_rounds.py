"""The teacher's hour: rounds that are opened, closed, opened again and shown; groups; asking anew."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.classes import CHOICE, NUMBER, TASK, Class, led, record

from delivery.classroom.rounds import Standing, State, asked_of


def counted(told: Any, round: int) -> list[Any]:
    """What a board shows of a round."""
    answers = [one for one in told["answers"] if one["round"] == round]
    return sorted(json.loads(one["said"]) for one in answers)


async def opened(one: Class, round: int = 1) -> Any:
    """Lead the class, and open a round."""
    await one.lead("lead", True)
    return await one.lead("open", round)


def test_a_question_is_led_through_two_rounds_and_everybody_hears_of_each_step(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        anna, ben = await one.learner(), await one.learner()
        await anna.answer(record(said=105))  # at her own pace, before it was opened
        await opened(one)
        for learner in anna, ben:
            told = await learner.state(lambda told: told["open"])
            assert (told["asked"]["question"], told["round"]) == ("How long?", 1)
            assert told["shown"] == []
        assert not (await ben.answer(record(said=210), round=1))["late"]
        assert counted(await one.lead(), 1) == [105, 210]
        await one.lead("close")
        await ben.state(lambda told: not told["open"])
        await one.lead("open", 2)
        await anna.state(lambda told: told["round"] == 2)
        await anna.answer(record(said=210), round=2)
        told = await one.lead("show")
        assert (counted(told, 1), counted(told, 2)) == ([105, 210], [210])
        assert not told["covered"]
        told = await anna.state(lambda told: told["shown"])
        assert told["shown"] == [told["asked"]]

    led(tmp_path, test)


def test_a_closed_round_is_opened_again_and_what_came_too_late_counts_then(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        anna, ben, eve = await one.learner(), await one.learner(), await one.learner()
        await opened(one)
        await anna.answer(record(said=105), round=1)
        await one.lead("close")
        assert await ben.answer(record(said=210), round=1) == {"round": 0, "late": True}
        assert counted(await one.lead("open", 1), 1) == [105, 210]
        await one.lead("close")
        await one.lead("open", 2)
        await one.lead("close")
        assert (await eve.answer(record(said=70), round=2))["late"]
        told = await one.lead("open", 2)
        assert (counted(told, 1), counted(told, 2)) == ([105, 210], [70])
        assert (await one.lead("open", 1))["standing"]["round"] == 2  # the first is over

    led(tmp_path, test)


def test_only_the_next_round_and_the_last_one_may_be_opened_and_none_after_the_verdict() -> (
    None
):
    for standing, may in (
        (Standing(), [1]),
        (Standing(round=1), [1, 2]),
        (Standing(round=2), [2]),
        (Standing(round=1, shown=True), []),
    ):
        assert [number for number in range(-1, 5) if standing.may_open(number)] == may


def test_choosing_the_question_that_is_asked_already_changes_nothing(
    tmp_path: Path,
) -> None:
    """A board that is loaded again, or has shown the way in, chooses it once more."""

    async def test(one: Class) -> None:
        before = await opened(one)
        assert before["standing"]["open"]
        assert await one.lead("choose", before["number"]) == before

    led(tmp_path, test)


def test_an_open_round_survives_a_restart_and_another_question_closes_it_for_a_while(
    tmp_path: Path,
) -> None:
    async def first(one: Class) -> None:
        await one.lead("choose", 1)
        await opened(one)

    async def second(one: Class) -> None:
        told = await one.lead()
        assert told["standing"] == {"asking": 1, "round": 1, "open": True, "shown": False}
        assert (told["number"], told["leading"], told["covered"]) == (1, True, True)
        assert not (await one.lead("choose", 0))["standing"]["round"]
        told = await one.lead("choose", 1)
        assert (told["standing"]["round"], told["standing"]["open"]) == (1, False)
        assert (await one.lead("open", 1))["standing"]["open"]

    led(tmp_path, first)
    led(tmp_path, second)


def test_answers_are_covered_only_while_a_class_is_led(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        assert not (await one.lead())["covered"]
        assert (await one.lead("lead", True))["covered"]
        assert (await one.lead("choose", 1))["covered"]
        assert not (await one.lead("show"))["covered"]
        assert not (await one.lead("lead", False))["covered"]
        assert not (await one.lead("choose", 2))["covered"]

    led(tmp_path, test)


def test_what_one_board_does_every_other_board_shows(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        await one.lead("choose", 2)
        assert (await one.lead())["number"] == 2
        await one.lead("lead", True)
        assert (await one.lead())["leading"]

    led(tmp_path, test)


def test_nothing_that_a_page_hears_tells_an_answer(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        page = await one.learner()
        await opened(one)
        told = await page.state(lambda told: told["open"])
        known = {"group", "leading", "asked", "round", "open", "shown", "anew", "over"}
        assert told.keys() == known
        assert told["asked"] == asked_of(NUMBER)
        assert await page.answer(record(said=210), round=1) == {"round": 1, "late": False}

    led(tmp_path, test)


def test_a_question_that_is_asked_anew_begins_without_answers_and_keeps_those_of_before(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        anna = await one.learner("Anna")
        await opened(one)
        await anna.answer(given := record(said=105), round=1)
        await one.lead("show")
        assert not (await one.lead("open", 1))["standing"]["open"]
        told = await one.lead("anew")
        assert told["standing"] == {"asking": 2, "round": 0, "open": False, "shown": False}
        assert not told["answers"]
        assert told["covered"]
        stale = await one.learner("Anna")
        stale.standing = stale.standing | {
            "anew": []
        }  # a page that has not heard of it yet
        assert await stale.answer(record(said=70)) == {"gone": True}
        told = await anna.state(lambda told: told["anew"])
        assert told["anew"] == [{**asked_of(NUMBER), "asking": 2}]
        await one.lead("open", 1)
        await anna.answer(record(said=210), round=1)
        assert counted(await one.lead(), 1) == [210]
        rows = one.room.store.csv().splitlines()
        assert len(rows) == 3
        assert given["tries"][0]["when"] not in "".join(rows)

    led(tmp_path, test)


def test_a_new_group_begins_with_nothing_and_the_file_keeps_the_group_before(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        anna = await one.learner("Anna")
        await one.lead("choose", 1)
        await opened(one)
        await anna.answer(record(CHOICE, 1), round=1)
        await one.lead("show")
        group = anna.standing["group"]
        told = await one.lead("group")
        assert (told["group"], told["answers"], told["standing"]["shown"]) == (2, [], False)
        state = await anna.state(lambda told: told["group"] != group)
        assert state["shown"] == []
        await one.lead("open", 1)
        ben = await one.learner("Anna")  # somebody else at the same computer
        assert not (await ben.answer(record(CHOICE, 0), round=1))["late"]
        assert counted(await one.lead(), 1) == [0]
        assert [row.split(",")[0] for row in one.room.store.csv().splitlines()] == [
            "group",
            "1",
            "2",
        ]

    led(tmp_path, test)


def test_two_files_are_two_groups(tmp_path: Path) -> None:
    """A computer room: what a browser answered in one class is of no other one."""
    groups = []

    async def test(one: Class) -> None:
        groups.append((await one.learner()).standing["group"])

    led(tmp_path / "a", test)
    led(tmp_path / "b", test)
    led(tmp_path / "a", test)
    assert groups[0] == groups[2] != groups[1]


def test_a_clock_that_is_set_back_loses_no_answer(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        page = await one.learner()
        late, early = record(said=105), record(said=210)
        for given, time in (late, "10:05:00.000Z"), (early, "10:00:30.000Z"):
            given["tries"][0]["when"] = given["when"] = f"2026-11-27T{time}"
        early["tries"].insert(0, late["tries"][0])
        await opened(one)
        await page.answer(late, round=1)
        await one.lead("close")
        await one.lead("open", 2)
        await page.answer(early, round=2)
        assert counted(await one.lead(), 2) == [210]

    led(tmp_path, test)


def test_no_page_waits_for_a_class_that_is_over(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        page = await one.learner()
        await opened(one)
        one.room.end()
        told = await page.state(lambda told: told["over"])
        assert not told["leading"]
        assert one.room.state.leading  # which the next server goes on with

    led(tmp_path, test)


def test_a_page_hears_that_the_line_is_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("delivery.classroom.server.BEAT", 0.01)

    async def test(one: Class) -> None:
        page = await one.learner()
        assert await asyncio.wait_for(page.socket.read_message(), 5) == "{}"

    led(tmp_path, test)


def test_one_address_or_one_learner_is_left_out_and_counted_again(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        for name in "Anna", "Ben":
            await (await one.learner(name)).answer(record())
        told = await one.lead()
        assert [address for address, _ in told["from"]] == ["127.0.0.1"] * 2
        assert told["pages"] == {"127.0.0.1": 2}
        (_, first), _ = told["from"]
        assert len((await one.lead("leave out", first))["answers"]) == 1
        told = await one.lead("leave out", "127.0.0.1")
        assert not told["answers"]
        assert len(told["from"]) == 2  # or nobody could be counted again
        assert told["leftOut"] == [first, "127.0.0.1"]
        assert len((await one.lead("count again", "127.0.0.1"))["answers"]) == 1
        assert len((await one.lead("count again", first))["answers"]) == 2

    led(tmp_path, test)


SENSELESS: list[tuple[Any, Any]] = [
    ("choose", 99),
    ("choose", -1),
    ("choose", "x"),
    ("choose", 1.0),
    ("open", 1),
    ("open", 3),
    ("lead", "x"),
    ("fly", 1),
    ([], {}),
    ("count again", "10.0.0.1"),
    ("leave out", 5),
]


def test_what_a_board_asks_that_makes_no_sense_changes_nothing(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        before = await one.lead()
        origin = {"Origin": one.address.rstrip("/")}
        for said in SENSELESS:
            await one.lead(*said)
        for body in "[", "[]", "", "5":
            await one.get("board/now.json", body, **one.cookie, **origin)
        assert await one.lead() == before
        assert not (await one.lead("cover", False))["covered"]

    led(tmp_path, test)


def test_the_state_is_read_as_it_was_written() -> None:
    state = State(asked=asked_of(NUMBER), leading=True, left_out=["10.0.0.1"])
    assert state.open(1)
    state.choose(asked_of(TASK))
    assert State.read(state.written()) == state
