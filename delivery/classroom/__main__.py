"""Serves the lessons to the room, takes the learners' answers, and shows them on the teacher's board.

    python -m delivery.classroom [--address IP] [--port PORT] [--answers FILE]
        [--lessons URL] [--at URL [--proxy IP]] [--with-parent]

The site is built first if it has to be. A server that starts again goes on with the answers that
its file has.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from delivery.classroom.doors import Doors, let_many_come
from delivery.classroom.room import Room
from delivery.classroom.server import application, beat
from delivery.classroom.store import Store, UnreadableError
from delivery.site import __main__ as site
from delivery.site import pages
from tools import targets

KEPT = site.ROOT / "build" / "class"
ASKS = ("lessonkit", "databound", "notebooks", "delivery/classroom")
HOST = "127.0.0.1"
LOOK = 1  # s, from one look to the next whether the parent still runs
GOODBYE = 0.3  # s, for the pages to hear that the class is over
ENDS = (
    "SIGINT",
    "SIGTERM",
    "SIGHUP",
)  # Ctrl+C, a system that shuts down, a closed terminal
MEANS = """\
From now on, everybody on the network of {ip} can read the lessons here and send answers.
Nobody sees the board without its address. Nothing is encrypted: use a network that you trust.
Answers have no names, and stay on this computer, in {kept}. Ctrl+C ends it.
Learners open {learners}
The board, for you alone: {learners}board/?key={key}"""
GOES_ON = """\
This goes on with {answers} answers of {learners} learners in that file. For another group, press
"New group" on the board, or name another file: make class ARGS='--answers build/class/9b.sqlite'"""


def addresses() -> list[str]:
    """List the addresses at which the room may reach this computer, the most likely one first."""
    cards = [one for card in psutil.net_if_addrs().values() for one in card]
    found = [one.address for one in cards if one.family == socket.AF_INET]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tried, suppress(OSError):
        tried.connect(("192.0.2.1", 9))  # sends nothing, but tells which card would
        found.sort(key=lambda one: one != tried.getsockname()[0])
    return [one for one in found if not one.startswith("127.")] or [HOST]


def questions() -> list[dict[str, Any]]:
    """Return what the lessons ask, with the answers; they are run if they have changed."""
    made_of = pages.sum_of(*(site.ROOT / name for name in ASKS))
    path = KEPT / f"questions-{made_of}.json"
    if not path.exists():
        targets.say("Collecting the lessons' questions; this takes a quarter of a minute.")
        command = [sys.executable, "-m", "delivery.classroom.questions", str(path)]
        subprocess.run(command, check=True, cwd=site.ROOT)
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def listen(server: Doors, ip: str, port: int) -> None:
    """Take a port, and say which one to choose if it is taken."""
    try:
        server.listen(port, ip, backlog=1000)
    except OSError as error:
        free = port + 1 if port < 65_535 else port - 1
        other = f"choose another one, as in: make class ARGS='--port {free}'"
        targets.stop(f"{ip}, port {port}: {error.strerror}. If the port is taken, {other}")


@dataclass
class Asked:
    """What the command line asks for, checked."""

    ip: str
    port: int
    learners: str  # the address that they open; it ends with a slash
    answers: Path
    lessons: str | None
    proxy: str
    with_parent: bool


async def serve(asked: Asked) -> None:
    """Serve a class until Ctrl+C, or until the program that started this has ended."""
    import segno

    code = segno.make(asked.learners)
    room = Room(Store(asked.answers), questions())
    beating = asyncio.create_task(beat(room))
    try:
        picture = code.svg_data_uri(scale=8, border=2)
        app = application(
            room, site.SITE, asked.learners, picture, asked.lessons, asked.proxy
        )
        doors = Doors(app, most=let_many_come(), warn=room.warn, proxy=asked.proxy)
        listen(doors, asked.ip, asked.port)
        # No request is served until the first await, so this is printed first.
        code.terminal(compact=True)
        for line in printed(asked, room):
            targets.say(line)
        await ended(asked.with_parent)
        room.end()
        doors.stop()
        await asyncio.sleep(GOODBYE)
    finally:
        beating.cancel()
        room.store.close()


def printed(asked: Asked, room: Room) -> list[str]:
    """Return what the terminal says of a class."""
    means = MEANS.format(
        ip=asked.ip, learners=asked.learners, key=room.key, kept=asked.answers
    )
    answers, learners = room.store.counts()
    goes_on = GOES_ON.format(answers=answers, learners=learners) if answers else ""
    return [*means.splitlines(), *goes_on.splitlines()]


async def ended(with_parent: bool) -> None:
    """Wait until this is to end."""
    asked = asyncio.Event()
    for name in ENDS:
        with suppress(AttributeError, NotImplementedError):  # Windows has Ctrl+C alone
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), asked.set)
    parent = os.getppid()
    while not asked.is_set() and not (with_parent and os.getppid() != parent):
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asked.wait(), LOOK)


def options() -> argparse.ArgumentParser:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(prog="make class", description=__doc__.split("\n")[0])
    say = parser.add_argument
    today = KEPT / f"{date.today()}.sqlite"
    say("--address", metavar="IP", help="the address of this computer to listen at")
    say("--port", type=int, default=site.PORT, help="the port to listen at")
    say("--answers", metavar="FILE", type=Path, default=today, help="the file for answers")
    say("--lessons", metavar="URL", help="where the lessons are, if not on the site")
    say("--at", metavar="URL", help="where learners find this server, if behind a proxy")
    say("--proxy", metavar="IP", help=f"the address of that proxy, if it is not {HOST}")
    say("--with-parent", action="store_true", help="end with the program that starts this")
    return parser


def read(given: list[str] | None = None) -> Asked:
    """Read the command line; end with a sentence if something in it makes no sense."""
    parser = options()
    asked = parser.parse_args(given)
    if not 0 < asked.port < 65_536:
        parser.error(f"--port {asked.port}: must be from 1 to 65535")
    for name in ("address", "proxy"):
        if (value := getattr(asked, name)) and not is_ip(value):
            parser.error(f"--{name} {value}: must be an IP address, such as 192.168.1.20")
    for name in ("at", "lessons"):
        value = getattr(asked, name)
        # A Hub leads to a path of its own host.
        is_path = name == "lessons" and value and value.startswith("/")
        if value and not is_path and not is_url(value):
            parser.error(
                f"--{name} {value}: must be an address, such as http://lessons.school/class/"
            )
    if asked.proxy and not asked.at:
        parser.error("--proxy: there is one only with --at, the address that it has")
    ip, *others = [asked.address] if asked.address else addresses()
    if others:
        known = ", ".join(others)
        targets.say(f"This computer has other addresses: {known}. Choose by --address.")
    host = f"[{ip}]" if ":" in ip else ip
    learners = f"{asked.at.rstrip('/')}/" if asked.at else f"http://{host}:{asked.port}/"
    proxy = (asked.proxy or HOST) if asked.at else ""
    return Asked(
        ip, asked.port, learners, asked.answers, asked.lessons, proxy, asked.with_parent
    )


def is_ip(text: str) -> bool:
    """Whether a *text* is an IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_url(text: str) -> bool:
    """Whether a *text* is the address of a page, with nothing after its path."""
    try:
        parts = urlsplit(text)
        is_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    is_bare = not (parts.query or parts.fragment)
    return is_web and is_port and is_bare and not any(one.isspace() for one in text)


def main() -> None:
    """Choose an address, and serve."""
    asked = read()
    KEPT.mkdir(mode=0o700, parents=True, exist_ok=True)
    KEPT.chmod(0o700)  # it has the right answers
    if not asked.lessons:
        site.build()
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(asked))
    except UnreadableError as error:
        targets.stop(f"--answers {error}")
    targets.say(
        f"The class is over. What was answered is in {asked.answers}, and as a table beside it."
    )


if __name__ == "__main__":
    main()
