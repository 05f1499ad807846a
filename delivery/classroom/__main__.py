"""Serves the lessons to the room, takes the learners' answers, and shows them on the teacher's board.

    python -m delivery.classroom [--address IP] [--port PORT] [--answers FILE] [--lessons URL] [--at URL]

The site is built first if it has to be. A server that starts again goes on with the answers that
its file has.
"""

import argparse
import asyncio
import json
import socket
import subprocess
import sys
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import psutil
from tornado.httpserver import HTTPServer

from delivery.classroom.room import Room
from delivery.classroom.server import application
from delivery.classroom.store import Store
from delivery.site import __main__ as site
from delivery.site import pages
from tools import targets

KEPT = site.ROOT / "build" / "class"
ASKS = ("lessonkit", "databound", "notebooks", "delivery/classroom")
MEANS = """\
From now on, everybody on the network of {ip} can read the lessons here and send answers.
Nobody sees the board without its address. Nothing is encrypted: use a network that you trust.
Answers have no names, and stay on this computer, in {kept}. Ctrl+C ends it.
Learners open {learners}
The board, for you alone: {learners}board/?key={key}"""


def addresses() -> list[str]:
    """List the addresses at which the room may reach this computer, the most likely one first."""
    cards = [one for card in psutil.net_if_addrs().values() for one in card]
    found = [one.address for one in cards if one.family == socket.AF_INET]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tried, suppress(OSError):
        tried.connect(("192.0.2.1", 9))  # sends nothing, but tells which card would
        found.sort(key=lambda one: one != tried.getsockname()[0])
    return [one for one in found if not one.startswith("127.")] or ["127.0.0.1"]


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


def listen(server: HTTPServer, ip: str, port: int) -> None:
    """Take a port, and say which one to choose if it is taken."""
    try:
        server.listen(port, ip, backlog=1000)
    except OSError as error:
        other = f"choose another one, as in: make class ARGS='--port {port + 1}'"
        targets.stop(f"{ip}, port {port}: {error.strerror}. If the port is taken, {other}")


def let_many_come() -> None:
    """Allow more connections than the usual 1,024, where the system has such a limit."""
    with suppress(ImportError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, most))


async def serve(ip: str, asked: argparse.Namespace) -> None:
    """Serve a class until Ctrl+C."""
    import segno

    learners = asked.at or f"http://{ip}:{asked.port}/"
    code = segno.make(learners)
    room = Room(Store(asked.answers), questions())
    picture = code.svg_data_uri(scale=8, border=2)
    app = application(room, site.SITE, learners, picture, asked.lessons)
    limits = {"idle_connection_timeout": 60, "body_timeout": 10, "max_body_size": 10_000}
    listen(HTTPServer(app, xheaders=bool(asked.at), **limits), ip, asked.port)
    # No request is served until the first await, so this is printed first.
    code.terminal(compact=True)
    for line in MEANS.splitlines():
        targets.say(line.format(ip=ip, learners=learners, key=room.key, kept=asked.answers))
    await asyncio.Event().wait()


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
    return parser


def main() -> None:
    """Choose an address, and serve."""
    asked = options().parse_args()
    ip, *others = [asked.address] if asked.address else addresses()
    if others:
        known = ", ".join(others)
        targets.say(f"This computer has other addresses: {known}. Choose by --address.")
    if not asked.lessons:
        site.build()
    let_many_come()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(ip, asked))
    targets.say("The class is over; what was answered is kept.")


if __name__ == "__main__":
    main()
