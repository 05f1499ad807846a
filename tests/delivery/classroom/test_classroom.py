"""The server of a class: what it keeps, whom it lets in, and what it does with bad input."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from support.classes import (
    CHOICE,
    NUMBER,
    PLACING,
    TASK,
    Class,
    Page,
    led,
    record,
)
from support.places import ROOT
from tornado.httpclient import HTTPClientError

from delivery.classroom import room, server
from delivery.classroom.rounds import asked_of
from delivery.classroom.store import Store


def kept(one: Class, question: dict[str, Any] = NUMBER, of: int = 0) -> list[Any]:
    """What was said last to a question."""
    asked = asked_of(question)
    answers = one.room.store.answers(asked, **one.room.turn_of(asked))
    return [json.loads(answer["said"]) for answer in answers if answer["round"] == of]


def rows(one: Class) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(one.room.store.csv())))


async def ends(page: Page) -> None:
    """Wait until the server has ended this connection."""
    while await page.hear():
        pass


async def all_gone(one: Class) -> None:
    while one.room.learners:
        await asyncio.sleep(0)


# ---- what is kept ----


def test_an_answer_is_kept_once_however_often_it_comes_and_a_later_one_takes_its_place(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        learner = await one.learner("the-token-of-Anna")
        early, late = record(said=100), record(said=210)
        for given in (early, late, early, late):
            assert await learner.answer(given) == {"round": 0, "late": False}
        assert kept(one) == [210]
        again = await one.learner("the-token-of-Anna")
        await again.answer(late)
        assert kept(one) == [210]
        other = await one.learner("the-token-of-Ben")
        await other.answer(record(said=105))
        assert sorted(kept(one)) == [105, 210]

    led(tmp_path, test)


def test_answers_and_the_state_survive_a_restart_and_the_board_opens_with_the_same_address(
    tmp_path: Path,
) -> None:
    keys = []

    async def first(one: Class) -> None:
        for said in ("lead", True), ("choose", 1), ("open", 1):
            await one.lead(*said)
        await (await one.learner()).answer(record(CHOICE, 1))
        keys.append(one.room.key)

    async def second(one: Class) -> None:
        assert keys == [one.room.key]
        assert one.room.state.asked == one.room.asked[1]
        assert one.room.state.now.open
        assert kept(one, CHOICE, 1) == [1]

    led(tmp_path, first)
    led(tmp_path, second)
    assert (tmp_path / "class" / "answers.sqlite").stat().st_mode & 0o77 == 0


def test_a_server_that_slept_goes_on_and_hears_what_was_said_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(one: Class) -> None:
        learner = await one.learner()
        await one.lead("lead", True)
        await one.lead("open", 1)
        await learner.state(lambda told: told["open"])
        loop = asyncio.get_running_loop()
        awake = loop.time
        monkeypatch.setattr(
            loop, "time", lambda: awake() + 300
        )  # all deadlines have passed
        assert await learner.answer(record(), round=1)
        assert kept(one, of=1) == [210]
        told = await one.lead()
        assert (told["here"], len(told["answers"])) == (1, 1)

    led(tmp_path, test)


SERVE = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, "tests")
from support.classes import class_in

async def serve():
    async with class_in(Path(sys.argv[1])) as one:
        print(one.address, flush=True)
        await asyncio.Event().wait()

asyncio.run(serve())
"""
SLEEPS = 6  # s


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows stops no process")
def test_a_computer_that_sleeps_while_all_answer_loses_no_answer(tmp_path: Path) -> None:
    async def answer(address: str, server: subprocess.Popen[str]) -> None:
        one = Class(cast(Any, None), address, asyncio.get_running_loop())
        pages = [Page(await one.socket(await one.join())) for _ in range(50)]
        for page in pages:
            await page.hear()
        for who, page in enumerate(pages):
            if who == 25:
                server.send_signal(signal.SIGSTOP)
            page.give(record(said=100 + who))
        await asyncio.sleep(SLEEPS)
        server.send_signal(signal.SIGCONT)
        for page in pages:
            assert await page.hear() == {"reply": 1, "round": 0, "late": False}
            page.socket.close()

    command = [sys.executable, "-c", SERVE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout
            asyncio.run(answer(server.stdout.readline().strip(), server))
        finally:
            server.send_signal(signal.SIGCONT)
            server.kill()
    heard = Store(tmp_path / "class" / "answers.sqlite")
    said = [
        json.loads(one["said"])
        for one in heard.answers(asked_of(NUMBER), group=1, asking=1)
    ]
    heard.close()
    assert sorted(said) == [100 + who for who in range(50)]


def test_the_table_of_all_answers_has_no_token_and_nothing_that_a_spreadsheet_computes(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        learner = await one.learner("the-token-of-Anna")
        name = '=HYPERLINK("http://x")'
        await learner.answer(record(said=105), name=name)
        await learner.answer(record(TASK, tries=[], reached=[[True, "total 95 ms"]]))
        answer, task = rows(one)
        assert answer["nickname"] == '\'=HYPERLINK("http://x")'
        told = (answer["words"], answer["sure"], answer["right"], answer["mistake"])
        assert told == ("105 ms", "certain", "0", "That is one epoch.")
        assert (task["question"], task["goals"]) == ("Be quick.", "1")
        assert one.cookies["the-token-of-Anna"] not in one.room.store.csv()
        page = await one.get("board/answers.csv", **one.cookie)
        assert page.body.decode() == one.room.store.csv()

    led(tmp_path, test)


def test_half_a_letter_spoils_neither_the_table_nor_the_board(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        learner = await one.learner()
        for part in "words", "when":
            given = record()
            given["tries"][0][part] = "\ud800"
            await learner.answer(given)
        await learner.answer(record(CHOICE, 1), name="\ud800Anna")
        assert (await one.get("board/answers.csv", **one.cookie)).code == 200
        assert [answer["words"] for answer in (await one.lead())["answers"]] == ["210 ms"]

    led(tmp_path, test)


def test_what_the_class_has_counts_in_no_later_round_when_it_comes_again(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        learner, given = await one.learner(), record(said=105)
        for said in ("lead", True), ("open", 1):
            await one.lead(*said)
        await learner.answer(given, round=1)
        await one.lead("open", 2)
        # A page that is loaded again sends all, and what stands in the field is newer than the try
        again = given | {"when": record()["when"]}
        assert await learner.answer(again, round=2) == {"round": 2, "late": False}
        assert (kept(one, of=1), kept(one, of=2)) == ([105], [])
        await learner.answer(record(said=105), round=2)  # committed to again
        assert kept(one, of=2) == [105]

    led(tmp_path, test)


# ---- bad input, bad people ----

FORGED: list[Any] = [
    None,
    "text",
    [],
    {},
    record(schema=2),
    record(when="today"),
    record(when=5),
    record(lesson=["00"]),
    record(kind={}),
    record(tries=[5]),
    record(tries={"a": 1}),
    record(said=float("nan")),
    record(said=-1),
    record(said="210"),
    record(said=[1]),
    record(said=True),
    record(CHOICE, 2),
    record(CHOICE, 0.5),
    record(PLACING, [0]),
    record(PLACING, [0, 13]),
    record(PLACING, "ab"),
    record(TASK, tries=None, reached=[[True, "x"]]),
    record(TASK, tries=[], reached=[["x", 5]]),
    record(TASK, tries=[], reached=[[True, "x" * 5000]]),
    record(TASK, tries=[], reached=[[True, "9" * 400]]),
    record(TASK, tries=[], reached=[[True, "total 2,000,000,000,000 ms"]]),
    record(TASK, tries=[], reached=[[True, "95 ms"], [True, "95 ms"]]),
    record(PLACING, [9, 4]),
    record(PLACING, [True, 4]),
    record(question="There is no such question?"),
    record(tries=[]),
    record(tries=[record()["tries"][0] | {"said": "210"}]),
    record(tries=[record()["tries"][0] | {"sure": ""}]),
    record(PLACING, [0, 4], tries=[record()["tries"][0] | {"said": "ab"}]),
    record(tries=[record()["tries"][0] | {"sure": "<b>certain</b>"}]),
    record(tries=[record()["tries"][0] | {"words": {"a": 1}}]),
    record(tries=[record()["tries"][0] | {"right": "<b>"}]),
    record(tries=[record()["tries"][0] | {"when": "later"}]),
]


@pytest.mark.parametrize("given", FORGED, ids=range(len(FORGED)))
def test_what_no_page_writes_is_refused_in_a_sentence_and_the_page_goes_on(
    given: Any, tmp_path: Path
) -> None:
    async def test(one: Class) -> None:
        learner = await one.learner()
        assert (await learner.answer(given))["refused"].endswith(".")
        assert not rows(one)
        assert "refused" not in await learner.answer(record())

    led(tmp_path, test)


@pytest.mark.parametrize(
    "said", ["", "{", "[]", "5", '{"record": {}}', '{"token": "short"}', "[" * 60_000]
)
def test_who_does_not_speak_as_a_page_does_is_not_heard(said: str, tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        page = await one.learner()
        page.socket.write_message(said)
        await ends(page)
        await all_gone(one)

    led(tmp_path, test)


def test_a_message_of_10_mb_ends_its_connection_before_it_is_read(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        learner = await one.learner()
        learner.say(record="x" * 10_000_000)
        await ends(learner)
        assert not rows(one)
        await (await one.learner()).answer(record())
        assert kept(one) == [210]

    led(tmp_path, test)


def test_who_sends_very_many_answers_waits_and_the_others_wait_for_one_of_them_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    message = json.dumps(
        {"record": record(), "round": 0, "name": "", "turn": ["12345678-1", 1]}
    )
    monkeypatch.setattr(room, "PACE", 2000)  # or writing takes as long as waiting
    each = len(message) / room.PACE  # s

    async def slept(seconds: float) -> None:
        waited.append(seconds)
        await asyncio.sleep(seconds)

    async def test(one: Class) -> None:
        bad, good = await one.learner(), await one.learner("the-token-of-Anna")
        for said in range(100):
            bad.give(record(said=said))
        while not waited:
            await asyncio.sleep(0)
        await good.answer(record(said=105))
        assert 105 in kept(one)
        # Its next message is not even read: at any time each of the two waits with one.
        assert max(waited) < 2.1 * each
        assert any("is slowed down" in text for text in one.room.warnings)
        monkeypatch.setattr(room, "AT_ONCE", 1e9)  # to end soon

    monkeypatch.setattr(room, "sleep", slept)
    monkeypatch.setattr(room, "AT_ONCE", 5 * each)
    led(tmp_path, test)


def test_whoever_is_known_stays_who_that_is(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        await (await one.learner("Anna")).answer(record(said=105))
        bad = await one.learner("Ben")
        bad.say(token=one.cookies["Anna"], record=record(said=200), round=0, name="")
        await ends(bad)
        await (await one.learner("Ben")).answer(record(said=210))
        assert sorted(kept(one)) == [105, 210]
        told = json.dumps(await one.lead()) + one.room.store.csv()
        assert not any(cookie in told for cookie in one.cookies.values())

    led(tmp_path, test)


def test_a_page_of_another_host_is_not_heard_and_one_at_another_port_is(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        with pytest.raises(HTTPClientError, match="403"):
            await one.socket(one.cookie_of("Anna"), Origin="http://elsewhere.example")
        (await one.socket(one.cookie_of("Anna"), Origin="http://127.0.0.1:8866")).close()
        assert not await one.join(Origin="http://elsewhere.example")
        assert await one.join(Origin="http://127.0.0.1:8866")
        body, before = '{"do": "lead", "value": true}', one.room.state.written()
        for origin in {"Origin": "http://127.0.0.1:8866"}, {}:
            answer = await one.get("board/now.json", body, **one.cookie, **origin)
            assert answer.code == 403
        assert one.room.state.written() == before

    led(tmp_path, test)


FOR_TEACHERS = "", "board.js", "questions.json", "now.json", "answers.csv"


@pytest.mark.parametrize("name", [f"board/{name}" for name in FOR_TEACHERS])
def test_nobody_sees_the_board_without_the_key(name: str, tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        assert (await one.get(name)).code == 403
        assert (await one.get(f"{name}?key=guessed")).code == 403
        assert (await one.get(name, Cookie=f"{server.BOARD}=guessed")).code == 403
        before, body = one.room.state.written(), '{"do": "lead", "value": true}'
        for guess in {}, {"Cookie": f"{server.BOARD}=guessed"}:
            for asked in "board/now.json", "board/now.json?key=guessed":
                origin = one.address.rstrip("/")
                assert (await one.get(asked, body, Origin=origin, **guess)).code == 403
        assert one.room.state.written() == before
        found = await one.get(f"{name}?key={one.room.key}")
        assert found.code == 302  # and the key is no longer in the address
        assert found.headers["Location"] == f"/{name}"
        for part in "HttpOnly", "Path=/board", "SameSite=Strict":
            assert f"; {part}" in found.headers["Set-Cookie"]
        cookie = found.headers["Set-Cookie"].partition(";")[0]
        assert (await one.get(name, Cookie=cookie)).code == 200

    led(tmp_path, test)


def test_a_full_store_says_so_and_takes_what_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("delivery.classroom.store.MOST", 1)  # what an empty file has

    async def test(one: Class) -> None:
        learner = await one.learner()
        await learner.answer(record())
        assert one.room.store.base.execute("PRAGMA max_page_count").fetchone()[0] < 10
        told = {}
        for who in range(1000):
            told = await (await one.learner(f"learner {who}")).answer(record(said=who))
            if "again" in told:
                break
        assert told == {"again": True}
        assert any("database or disk is full" in text for text in one.room.warnings)
        await learner.answer(record(said=105))
        assert 105 in kept(one)

    led(tmp_path, test)


# ---- the site, and how it is found ----


def write_site(folder: Path) -> None:
    for name in "index.html", "build/a.js":
        path = folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x" * 2000)
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(b"x" * 2000))
    (folder / "class").mkdir()


def test_the_site_goes_compressed_and_its_pages_say_where_the_class_is(
    tmp_path: Path,
) -> None:
    write_site(tmp_path)

    async def test(one: Class) -> None:
        page = await one.get("", **{"Accept-Encoding": "gzip"})
        assert page.headers["Content-Encoding"] == "gzip"
        assert page.headers["Content-Type"] == "text/html"
        assert gzip.decompress(page.body) == b"x" * 2000
        port = one.address.rstrip("/").rpartition(":")[2]
        (found,) = page.headers.get_list("Set-Cookie")
        assert found == f"lessonkit-class=%2F%2F127.0.0.1%3A{port}%2F; Path=/"
        script = await one.get("build/a.js")
        assert script.body == b"x" * 2000
        assert "max-age" in script.headers["Cache-Control"]
        for outside in "../class/answers.sqlite", "..%2fclass%2fanswers.sqlite", "no":
            assert (await one.get(outside)).code in (403, 404)

    led(tmp_path, test)


def test_a_class_whose_lessons_are_elsewhere_leads_there(tmp_path: Path) -> None:
    async def test(one: Class) -> None:
        page = await one.get("")
        assert page.headers["Location"] == "http://127.0.0.1:8866/"
        assert "services%2Fclass%2F" in page.headers["Set-Cookie"]
        assert (await one.get("learner.js")).headers["Access-Control-Allow-Origin"] == "*"
        await (await one.learner()).answer(record())
        assert kept(one) == [210]

    led(tmp_path, test, base="/services/class/", lessons="http://127.0.0.1:8866/")


JOINED = {"HttpOnly", "Path=/class/", "SameSite=Lax"}


def test_who_joins_is_known_again_and_stays_the_same_until_somebody_else_sits_there(
    tmp_path: Path,
) -> None:
    async def test(one: Class) -> None:
        origin = one.address.removesuffix("/class/")
        made = await one.get("join", "", Origin=origin)
        assert made.code == 204
        cookie, *about = made.headers["Set-Cookie"].split("; ")
        assert {*about} > JOINED
        known = cookie.partition("=")[2]
        assert not await one.join(known, Origin=origin)
        assert "state" in await Page(await one.socket(known, Origin=origin)).hear()
        other = await one.join(known, "?anew=1", Origin=origin)
        assert one.room.tokens.learner(other) not in ("", one.room.tokens.learner(known))

    led(tmp_path, test, base="/class/")
