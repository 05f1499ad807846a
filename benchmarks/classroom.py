"""A class that answers together: `python -m benchmarks.classroom [--learners 200]`.

A server of its own takes the answers of learners without pages, while a board is open in a browser
beside it, on the same computer. Then 30 browsers that were never there fetch a lesson over one line:
what one browser fetches is looked at first, and then fetched by all at the same moment.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any
from urllib.parse import urlsplit

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from benchmarks.measure import limited, line
from delivery.classroom.__main__ import questions
from delivery.classroom.server import BOARD, LEARNER
from delivery.classroom.tokens import Tokens
from delivery.site.__main__ import ROOT, SITE, build

HOST = "127.0.0.1"
PORT = 8765
EVERY = 0.4  # s, from one look of a board to the next
WITHIN = 10  # s, in which all answer
VISITS = 30  # of a class that comes for the first time
RATE = 50e6 / 8  # bytes/s of its line
LESSON = "notebooks/index.html?path=00_start_here.ipynb"
ALIVE = ".lk-live:not([inert]) .lk-predict"
SERVE = """
import asyncio, json, sys
from pathlib import Path
from delivery.classroom.doors import Doors, let_many_come
from delivery.classroom.room import Room
from delivery.classroom.server import application
from delivery.classroom.store import Store
folder, questions, site, host, port = sys.argv[1:]
async def serve():
    room = Room(Store(Path(folder, "answers.sqlite")), json.loads(Path(questions).read_text()))
    app = application(room, Path(site), "http://here/")
    # All learners are on this computer, as behind a proxy.
    Doors(app, most=let_many_come(), warn=print, proxy=host).listen(int(port), host)
    print(room.key, room.tokens.secret.decode(), flush=True)
    await asyncio.Event().wait()
asyncio.run(serve())
"""


@contextmanager
def server() -> Iterator[tuple[Any, str, Tokens]]:
    """A server with a class of its own, the key of its board, and what signs its learners."""
    with TemporaryDirectory() as folder:
        asked = Path(folder, "questions.json")
        asked.write_text(json.dumps(questions()), encoding="utf-8")
        given = [folder, str(asked), str(SITE), HOST, str(PORT)]
        command = [sys.executable, "-c", SERVE, *given]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=ROOT
        ) as child:
            try:
                assert child.stdout
                key, secret = child.stdout.readline().split()
                yield psutil.Process(child.pid), key, Tokens(secret)
            finally:
                child.terminate()


def record(asked: dict[str, Any], who: int) -> dict[str, Any]:
    """What the page of a learner sends, who is wrong in three of four cases."""
    said = [asked["right"], *(known for known, _ in asked["wrong"])][who % 4]
    when = "2026-01-01T00:00:00.000Z"
    one = {"said": said, "words": f"{said:.0f} ms", "sure": "certain", "when": when}
    about = {part: asked[part] for part in ("lesson", "kind", "question")}
    known = {
        "schema": 1,
        "said": said,
        "sure": "certain",
        "right": who % 4 == 0,
        "when": when,
    }
    return {**about, **known, "tries": [one | {"right": who % 4 == 0}]}


async def connect(cookie: str) -> Any:
    """Open a connection as the page of a learner does."""
    headers = {"Origin": f"http://{HOST}:{PORT}", "Cookie": f"{LEARNER}={cookie}"}
    where = f"ws://{HOST}:{PORT}/answers"
    return await websocket_connect(HTTPRequest(where, headers=headers))


def first_number() -> int:
    """Return which question is the first that is answered by a number."""
    return next(at for at, one in enumerate(questions()) if one["kind"] == "number")


async def answers(
    learners: int, key: str, tokens: Tokens
) -> tuple[list[float], list[float], list[str]]:
    """Let all answer; the times until an answer was taken, and until the board had it, and who is there."""
    asked = questions()[first_number()]
    now = f"http://{HOST}:{PORT}/board/now.json"
    head = {"Cookie": f"{BOARD}={key}", "Origin": f"http://{HOST}:{PORT}"}
    look = HTTPRequest(now, headers=head)
    chosen = json.dumps({"do": "choose", "value": first_number()})
    await AsyncHTTPClient().fetch(now, method="POST", headers=head, body=chosen)
    pages = [await connect(tokens.issue()) for _ in range(learners)]
    groups = [json.loads(await page.read_message())["state"]["group"] for page in pages]
    taken: list[float] = []
    sent: list[float] = []
    shown: list[float] = []
    there: list[str] = []

    async def watch() -> None:
        while len(there) < learners:
            await asyncio.sleep(EVERY)
            now = json.loads((await AsyncHTTPClient().fetch(look)).body)["answers"]
            there[:] = sorted(one["learner"] for one in now)
            order = sorted(sent)
            shown.extend(perf_counter() - order[one] for one in range(len(shown), len(now)))

    async def answer(who: int) -> None:
        await asyncio.sleep(WITHIN * who / learners)
        began = perf_counter()
        sent.append(began)
        said = {"record": record(asked, who), "round": 0, "name": "", "number": 1}
        said["turn"] = [groups[who], 1]
        await pages[who].write_message(json.dumps(said))
        while "late" not in json.loads(await pages[who].read_message()):
            pass
        taken.append(perf_counter() - began)

    await asyncio.gather(watch(), *(answer(who) for who in range(learners)))
    for page in pages:
        page.close()
    return taken, shown, there


def fetched(whole: Any) -> tuple[list[str], float]:
    """What a browser fetches of a lesson until it is alive, in this order; how long that takes here."""
    context = whole.new_context()
    page = context.new_page()
    found = []
    page.on("request", lambda request: found.append(request.url))
    began = perf_counter()
    page.goto(f"http://{HOST}:{PORT}/{LESSON}")
    page.locator(ALIVE).first.wait_for(timeout=300_000)
    took = perf_counter() - began
    context.close()
    return [url for url in dict.fromkeys(found) if url.startswith(f"http://{HOST}:")], took


class Line:
    """One line of a room: what all fetch together is no more than its rate."""

    free = 0.0

    async def carry(self, count: int) -> None:
        """Wait until so many bytes have come over it."""
        now = perf_counter()
        self.free = max(self.free, now) + count / RATE
        await asyncio.sleep(self.free - now)


async def visit(over: Line, urls: list[str]) -> tuple[float, float]:
    """Fetch all by six connections, as a browser does; when the text is there, and when all is."""
    waiting = urls[::-1]
    began = perf_counter()
    read = 0.0

    async def fetch() -> None:
        nonlocal read
        while waiting:
            url = urlsplit(waiting.pop())
            reader, writer = await asyncio.open_connection(HOST, PORT, limit=2**14)
            asked = f"GET {url.path}?{url.query} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\n"
            writer.write(
                f"{asked}Accept-Encoding: gzip\r\nConnection: close\r\n\r\n".encode()
            )
            while part := await reader.read(2**14):
                await over.carry(len(part))
            writer.close()
            if "/openings/" in url.path:
                read = perf_counter() - began

    await asyncio.gather(*(fetch() for _ in range(6)))
    return read, perf_counter() - began


async def visits(urls: list[str]) -> list[tuple[float, float]]:
    """Let all come at the same moment."""
    over = Line()
    return await asyncio.gather(*(visit(over, urls) for _ in range(VISITS)))


def rows(learners: int) -> Iterator[str]:
    """Measure, and give each line as soon as it is there."""
    from tools.browser import Browser

    browser = Browser()
    with server() as (process, key, tokens):
        whole: Any = browser.context.browser
        board = whole.new_context(viewport={"width": 1920, "height": 1080}).new_page()
        board.goto(f"http://{HOST}:{PORT}/board/?key={key}")
        board.locator("#choose").select_option(str(first_number()))
        taken, shown, there = in_loop(answers(learners, key, tokens))
        late = quantiles(taken, n=20)[-1]
        what = f"{learners} learners answer within {WITHIN} s"
        yield limited(f"{what}: taken, median", median(taken) * 1000, 50, "ms")
        yield limited(f"{what}: taken, 95th percentile", late * 1000, 150, "ms")
        yield limited("... and the last to come to the board", max(shown), 1, "s")
        sleep(1)
        count, *_ = board.locator("#counts").inner_text().split()  # in the browser
        wrong = abs(learners - int(count)) + abs(learners - len(set(there)))
        yield limited(
            "... answers lost, or counted twice, on either board", wrong, 1, "answers"
        )
        yield limited("memory of the server", process.memory_info().rss / 1e6, 150, "MB")
        urls, took = fetched(whole)
        before = process.cpu_times().user + process.cpu_times().system
        times = in_loop(visits(urls))
        spent = process.cpu_times().user + process.cpu_times().system - before
        what = f"{VISITS} first visits over {RATE * 8 / 1e6:.0f} Mbit/s"
        yield limited(
            f"{what}: the last one reads", max(read for read, _ in times), 60, "s"
        )
        alive = max(end for _, end in times) + took
        yield limited("... and is alive (with the start of one browser)", alive, 120, "s")
        yield limited("... of the server's processor", spent, 60, "s")
    browser.close()


def in_loop(act: Any) -> Any:
    """Run beside playwright, which has a loop of its own in this thread."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, act).result()


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classroom")
    parser.add_argument("--learners", type=int, default=200)
    given = parser.parse_args()
    build()
    print(line("what", "ours", "peer", "ratio", "goal", "goal is"), flush=True)
    for row in rows(given.learners):
        print(row, flush=True)


if __name__ == "__main__":
    main()
