"""Serves the lessons to the room, takes the learners' answers, and shows them on the teacher's board.

    python -m tools.classroom [--address IP] [--port PORT] [--new] [--lessons URL] [--at URL]

The site is built first if it has to be. What is answered is kept in build/class, and a server that
starts again goes on from there.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import socket
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from tornado.httpserver import HTTPServer

from tools import targets
from tools.classroom.server import Room, application
from tools.classroom.store import Store
from tools.site import __main__ as site
from tools.site import pages

PORT = 8000
KEPT = site.ROOT / "build" / "class"
ASKS = ("lessonkit", "notebooks", "tools/classroom")
MEANS = """\
lessonkit: From now on, everybody on the network of {ip} can read the lessons here and send answers.
lessonkit: Nobody sees the board without its address. Nothing is encrypted: use a network that you trust.
lessonkit: Answers have no names, and stay on this computer, in {kept}. Ctrl+C ends it.
"""


def addresses() -> list[str]:
    """List the addresses at which the room may reach this computer, the most likely one first."""
    found = [
        one.address
        for cards in psutil.net_if_addrs().values()
        for one in cards
        if one.family == socket.AF_INET and not one.address.startswith("127.")
    ]
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tried,
        contextlib.suppress(OSError),
    ):
        tried.connect(("192.0.2.1", 9))  # sends nothing, but tells which card would
        found.sort(key=lambda one: one != tried.getsockname()[0])
    return found or ["127.0.0.1"]


def questions(kept: Path = KEPT) -> list[dict[str, Any]]:
    """Return what the lessons ask, with the answers; they are run if they have changed."""
    made_of = pages.sum_of(*(site.ROOT / name for name in ASKS))
    path = kept / f"questions-{made_of}.json"
    if not path.exists():
        targets.say(
            "Collecting the questions of the lessons; this takes a quarter of a minute."
        )
        for old in kept.glob("questions-*.json"):
            old.unlink()
        command = [sys.executable, "-m", "tools.classroom.questions", str(path)]
        subprocess.run(command, check=True, cwd=site.ROOT)
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


async def serve(store: Store, asked: argparse.Namespace, ip: str) -> None:
    """Serve a class until Ctrl+C."""
    room = Room(store, questions())
    learners = asked.at or f"http://{ip}:{asked.port}/"
    base = urlsplit(learners).path
    app = application(room, asked.site, learners, base, asked.lessons)
    limits = {"idle_connection_timeout": 60, "body_timeout": 10, "max_body_size": 10_000}
    server = HTTPServer(app, xheaders=bool(asked.at), **limits)
    print(MEANS.format(ip=ip, kept=KEPT), end="", flush=True)
    try:
        server.listen(asked.port, ip)
    except OSError as error:
        targets.stop(why_not(error, ip, asked.port))
    show_code(learners)
    targets.say(f"Learners open {learners}")
    targets.say(f"The board, for you alone: {learners}board/?key={room.key}")
    await asyncio.Event().wait()


def why_not(error: OSError, ip: str, port: int) -> str:
    """Say why the server cannot listen."""
    if "in use" in str(error):
        more = f"make class ARGS='--port {port + 1}'"
        return f"Port {port} is taken: choose another one, as in: {more}"
    return f"{ip} port {port} cannot be used: {error.strerror}"


def show_code(address: str) -> None:
    """Print the QR code of an address."""
    try:
        import segno
    except ImportError:
        targets.say("Without the package segno there is no QR code.")
    else:
        segno.make(address).terminal(compact=True)


def begin_anew(path: Path) -> None:
    """Put the answers of the last class aside."""
    if path.exists():
        when = datetime.fromtimestamp(path.stat().st_mtime)
        path.rename(path.with_stem(f"answers-until-{when:%Y-%m-%d-%H%M%S}"))


def main() -> None:
    """Choose an address, and serve."""
    parser = argparse.ArgumentParser(prog="make class", description=__doc__.split("\n")[0])
    say = parser.add_argument
    say("--address", metavar="IP", help="the address of this computer to listen at")
    say("--port", type=int, default=PORT, help="the port to listen at")
    say("--new", action="store_true", help="begin anew, and put the earlier answers aside")
    say(
        "--lessons",
        default="",
        metavar="URL",
        help="where learners work, if not on the site",
    )
    say("--at", metavar="URL", help="where learners find this server, if behind a proxy")
    say("--site", type=Path, default=site.SITE, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.site == site.SITE and not asked.lessons:
        site.build()
    found = addresses()
    ip = asked.address or found[0]
    if len(found) > 1 and not asked.address:
        others = ", ".join(found[1:])
        targets.say(f"This computer has other addresses: {others}. Choose by --address.")
    path = KEPT / "answers.sqlite"
    if asked.new:
        begin_anew(path)
    store = Store(path)
    if store.count and not asked.new:
        targets.say(f"Going on with {store.count} answers of before; --new begins anew.")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        asyncio.run(serve(store, asked, ip))
    except KeyboardInterrupt:
        targets.say("The class is over; what was answered is kept.")


if __name__ == "__main__":
    main()
