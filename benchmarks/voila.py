"""Voilà in front of a class: `python -m benchmarks.voila [--visitors 30]`, where Voilà is installed.

It starts Voilà as `make demo` does. Visitors load a lesson one after another and stay connected, as
pages do. Counted are their kernels and what these take of memory (PSS: pages that several share are
divided among them). Then half of them go, and it is seen when their kernels end, and that those of
the others stay. At last a visitor asks for what is not the visitor's.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from benchmarks.measure import limited, line
from delivery.voila import EACH, LEFT
from tools.lesson import WRITTEN
from tools.lessons import NOTEBOOKS
from tools.servers import SOCKETS, VOILA, Server, serve

OPENS = 600  # s: a page is there when its cells have run, beside whatever else runs here
LOOK = 0.5  # s, from one look whether the kernels have ended to the next
LATER = 40  # s, after which they have ended: it looks every 10 s, and each takes a moment
KERNEL = re.compile(r'"kernelId": "([0-9a-f-]{36})"')


class Visitor(NamedTuple):
    """Somebody who reads a lesson."""

    kernel: str
    line: WebSocketClientConnection


class Memory(NamedTuple):
    """What Voilà takes, in MB."""

    server: float
    kernels: list[float]


async def fetch(url: str, **options: Any) -> Any:
    """Ask for a page, whatever the answer is."""
    asked = HTTPRequest(url, request_timeout=OPENS, **options)
    return await AsyncHTTPClient().fetch(asked, raise_error=False)


async def come(server: Server, address: str) -> Visitor:
    """Load a lesson, and connect to its kernel as its page does."""
    page = (await fetch(address)).body.decode()
    (kernel,) = set(KERNEL.findall(page))
    channels = f"{server.url}/api/kernels/{kernel}/channels".replace("http", "ws", 1)
    # It reads whatever comes: who does not, is soon not there any more.
    return Visitor(kernel, await websocket_connect(channels, on_message_callback=heard))


def heard(_: Any) -> None:
    """Do nothing with what a kernel says."""


def memory() -> Memory:
    """Look what the server and its kernels take; they are what this program has started."""
    server = 0.0
    kernels = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            taken = one.memory_full_info().pss / 1e6
            if "ipykernel_launcher" in " ".join(one.cmdline()):
                kernels.append(taken)
            else:
                server += taken
    return Memory(server, kernels)


async def ended(left: int) -> float:
    """Wait until no more than these kernels are *left*; return after how many seconds that is."""
    began = monotonic()
    while len(memory().kernels) > left and monotonic() - began < LEFT + LATER:
        await asyncio.sleep(LOOK)
    return monotonic() - began


async def asked(server: Server, other: Visitor) -> dict[str, int]:
    """Ask for what is nobody's business; return the status of each answer."""
    (server.folder / "notebooks" / "answers_00.py").write_text("right = 210")
    paths = {
        "the list of all kernels": "/api/kernels",
        "a file of answers": "/voila/files/answers_00.py",
        "the same, as a page": "/voila/render/answers_00.py",
        "a file above the lessons": "/voila/files/..%2flog",
        "the contents of the folder": "/api/contents",
    }
    found = {what: (await fetch(server.url + path)).code for what, path in paths.items()}
    # Who knows the name of a kernel may speak to it; it is a number that nobody can guess.
    guessed = f"{server.url}/api/kernels/{'0' * 8}{other.kernel[8:]}"
    found["a kernel of a similar name"] = (await fetch(guessed)).code
    return found


async def walk(server: Server, count: int) -> bool:
    """Let visitors come, read and go; print what is seen, and return whether all is as it should be."""
    address = server.store(NOTEBOOKS / f"{WRITTEN[0]}.ipynb")
    began = monotonic()
    visitors = [await come(server, address) for _ in range(count)]
    print(f"{count} visitors came one after another: {monotonic() - began:.0f} s")
    taken = memory()
    mean = sum(taken.kernels) / len(taken.kernels)
    print(limited("kernels of a visitor", len(taken.kernels) / count, 1.01, "kernels"))
    print(limited("memory of a kernel", mean, round(EACH / 1e6), "MB"))
    print(limited("the largest of them", max(taken.kernels), 120, "MB"))
    print(limited("memory of the server", taken.server, 200, "MB"), flush=True)
    gone, stay = visitors[: count // 2], visitors[count // 2 :]
    for one in gone:
        one.line.close()
    took = await ended(len(stay))
    print(limited(f"{len(gone)} have gone: their kernels end", took, LEFT + LATER, "s"))
    await asyncio.sleep(LEFT)  # nobody does anything
    here = [(await fetch(f"{server.url}/api/kernels/{one.kernel}")).code for one in stay]
    print(f"{here.count(200)} of {len(stay)} who read on have their kernel")
    statuses = await asked(server, stay[0])
    for what, status in statuses.items():
        print(f"a visitor asks for {what}: {status}")
    for one in stay:
        one.line.close()
    is_one_each = len(taken.kernels) == count
    are_refused = all(status >= 400 for status in statuses.values())
    do_stay = is_one_each and here.count(200) == len(stay)
    return do_stay and are_refused and took < LEFT + LATER


def main() -> int:
    """Measure, and print a table; return 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.voila")
    parser.add_argument("--visitors", type=int, default=30)
    count = parser.parse_args().visitors
    if count < 2:
        parser.error("--visitors: must be 2 or more")
    print(line("what", "ours", "peer", "ratio", "goal", "goal is"), flush=True)
    with serve(VOILA, SOCKETS) as server:
        is_well = asyncio.run(walk(server, count))
    return int(not is_well)


if __name__ == "__main__":
    sys.exit(main())
