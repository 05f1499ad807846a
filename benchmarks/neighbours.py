"""What a learner on a Hub can reach of another one: `python -m benchmarks.neighbours`, as root.

It starts a Hub with the configuration that we ship, a board beside it, and two learners with
accounts of this computer. From a kernel of the one it tries to reach what is the other's, the
Hub's and the class's. A try that is refused says something only if it works for somebody, so each is
made first by whoever may: the other learner, or root. Hub and accounts are removed in the end.
"""

import asyncio
import json
import os
import pwd
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from secrets import token_hex
from typing import Any, NamedTuple

from benchmarks.hub import HOST, ROOT, Hub, check_environment, hub
from benchmarks.learner import Learner

OWNER = "lessons-anna"
OTHER = "lessons-mallory"
FIRST = "00_start_here.ipynb"
ADMIN = token_hex(16)
REFUSALS = ("PermissionError", "HTTPError: HTTP Error 403", "HTTPError: HTTP Error 404")
# Somebody who may ask the Hub for everything, to see that this works
MORE = f"""
c.JupyterHub.services.append({{"name": "root", "api_token": "{ADMIN}", "admin": True}})
"""
# What each try may use. A refusal is an exception.
PRELUDE = """
import glob, os, urllib.request
from pathlib import Path

def home(name):
    return Path("/home", name)

def user(name):
    import pwd
    return pwd.getpwnam(name).pw_uid

def program(name, word):  # everybody may see what runs
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if one.stat().st_uid == user(name) and word in (one / "cmdline").read_text():
                return one
        except FileNotFoundError:  # it has just ended
            pass

def kernel(name):
    return program(name, "ipykernel_launcher")

def sockets(name):
    return [one for one in glob.glob("/tmp/jupyter-*") if os.stat(one).st_uid == user(name)]

def token(name):
    texts = (program(name, "start_learner") / "environ").read_text().split("\\0")
    return dict(text.partition("=")[::2] for text in texts)["JUPYTERHUB_API_TOKEN"]

def ask(url, key):
    head = {"Authorization": f"token {key}", "Cookie": f"lessonkit-board={key}"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=head)) as answer:
        return answer.status
"""
# A program of a learner says to the board that it asks for somebody else.
POSES = """
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

head = {{"Origin": "{origin}", "X-Forwarded-For": "10.9.9.9"}}
at = "{origin}/services/class/"
joined = await AsyncHTTPClient().fetch(at + "join", method="POST", body="", headers=head)
head["Cookie"] = joined.headers["Set-Cookie"].partition(";")[0]
line = await websocket_connect(HTTPRequest(at.replace("http", "ws", 1) + "answers", headers=head))
"""


class Try(NamedTuple):
    """Something to try: an expression that raises if it is refused.

    In it, `key` is the token of whoever tries, and for root the secret of that name.
    """

    what: str
    code: str
    secret: str = ""  # who may is the other learner; or root, with this


TRIES = (
    Try("list the other's home", "os.listdir(home({owner!r}))"),
    Try("read a file of the other", "(home({owner!r}) / 'mine.txt').read_text()"),
    Try("write into the other's lessons", "(home({owner!r}) / 'lessons/new').touch()"),
    Try("find the other's kernels", "[*map(os.listdir, sockets({owner!r}))]"),
    Try("read the token of the other's server", "len(token({owner!r}))"),
    Try("read the memory of the other's kernel", "open(kernel({owner!r}) / 'mem')"),
    Try("end the other's kernel", "os.kill(int(kernel({owner!r}).name), 0)"),
    Try("ask the other's server", "ask('{hub}/user/{owner}/api/kernels', {key})"),
    Try("ask the Hub about the other", "ask('{hub}/hub/api/users/{owner}', {key})"),
    Try("ask the Hub about everybody", "ask('{hub}/hub/api/users', {key})", "admin"),
    Try("read the passwords", "open('{kept}/passwords').read(1)", "file"),
    Try(
        "read the Hub's database", "open('{kept}/jupyterhub.sqlite', 'rb').read(6)", "file"
    ),
    Try("read the right answers", "os.listdir('{project}/build/class')", "file"),
    Try("look at the board", "ask('{hub}/services/class/board/now.json', {key})", "board"),
    Try("see the proxy's routes", "ask('http://{host}:{api}/api/routes', {key})", "proxy"),
)


class Tried(NamedTuple):
    """What came of a try: a value, or an exception in words."""

    worked: bool
    found: str

    @property
    def is_refused(self) -> bool:
        """Whether somebody said no; what is not there, or went wrong, says nothing."""
        return not self.worked and self.found.startswith(REFUSALS)


async def by(learner: Learner, code: str) -> Tried:
    """Try an expression in a learner's kernel."""
    asked = {"code": "", "silent": False, "store_history": False, "allow_stdin": False}
    reply = await learner.ask(
        "execute_request", {**asked, "user_expressions": {"it": code}}
    )
    it = reply["user_expressions"]["it"]
    if it["status"] == "ok":
        return Tried(True, it["data"]["text/plain"])
    return Tried(False, f"{it['ename']}: {it['evalue']}")


def by_root(code: str) -> Tried:
    """Try an expression here."""
    known: dict[str, Any] = {}
    exec(PRELUDE, known)
    try:
        return Tried(True, repr(eval(code, known)))
    except OSError as error:
        return Tried(False, f"{type(error).__name__}: {error}")


def secrets_of(ours: Hub) -> dict[str, str]:
    """Return what root can find: the keys of the Hub, the board and the proxy."""
    (key,) = re.findall(r"/board/\?key=(\S+)", ours.log())
    proxies = [
        one for one in ours.processes if "configurable-http-proxy" in str(one.cmdline())
    ]
    token = proxies[-1].environ()["CONFIGPROXY_AUTH_TOKEN"]
    return {"admin": ADMIN, "board": key, "proxy": token, "file": ""}


async def tried(
    ours: Hub, owner: Learner, other: Learner
) -> Iterator[tuple[str, Tried, Tried]]:
    """Make all tries; of each what it is, what it gave whoever may, and what it gave the other."""
    known = {
        "owner": OWNER,
        "hub": ours.address,
        "kept": ours.folder / f"class-{ours.port}",
        "project": ROOT,
        "host": HOST,
        "api": ours.port + 2,
    }
    secrets = secrets_of(ours)
    found = []
    for what, code, secret in TRIES:
        if secret:
            allowed = by_root(code.format(**known, key=repr(secrets[secret])))
        else:
            allowed = await by(owner, code.format(**known, key=f"token({OWNER!r})"))
        given = await by(other, code.format(**known, key=f"token({OTHER!r})"))
        found.append((what, allowed, given))
    return iter(found)


async def addresses(ours: Hub, other: Learner) -> list[str]:
    """Let a learner's program pose as the proxy; return from where the board says that it comes."""
    origin = f"http://{HOST}:{ours.port + 3}"
    await other.run(POSES.format(origin=origin))
    head = {"Cookie": f"lessonkit-board={secrets_of(ours)['board']}"}
    now = urllib.request.Request(
        f"{ours.address}/services/class/board/now.json", headers=head
    )
    with urllib.request.urlopen(now) as answer:
        return [*json.load(answer)["pages"]]


async def walk(ours: Hub) -> bool:
    """Let both come, and try everything; print what came of it, and return whether all is well."""
    learners = [Learner(name, ours.address) for name in (OWNER, OTHER)]
    owner, other = learners
    try:
        for one in learners:
            await one.enter(ours.password, FIRST)
            await one.run(PRELUDE)
        await owner.run(
            "(home('" + OWNER + "') / 'mine.txt').write_text('what anna has written')"
        )
        bad = False
        for what, allowed, given in await tried(ours, owner, other):
            is_well = allowed.worked and given.is_refused
            bad |= not is_well
            told = given if allowed.worked else allowed
            says = (
                "refused" if is_well else "NOT REFUSED" if allowed.worked else "NOBODY CAN"
            )
            print(f"{what:42}{says:12}{told.found[:70]}", flush=True)
        come = await addresses(ours, other)
        is_well = not any("10.9.9.9" in one for one in come)
        says = "refused" if is_well else "NOT REFUSED"
        print(f"{'ask the board for somebody else':42}{says:12}counts as {', '.join(come)}")
        print(*owner.failures, *other.failures, sep="\n")
        return is_well and not bad and not owner.failures and not other.failures
    finally:
        for one in learners:
            await one.leave()


def remove(name: str, port: int) -> None:
    """Remove the account of a learner, if this Hub has made it."""
    with suppress(KeyError):
        if pwd.getpwnam(name).pw_gecos == f"learner of the lessons, class {port}":
            subprocess.run(["userdel", "--remove", name], stderr=subprocess.DEVNULL)


def main() -> int:
    """Try everything; return 1 if something was reached."""
    check_environment()
    if os.geteuid():
        sys.exit("lessonkit: Only root can give learners accounts.")
    for name in (OWNER, OTHER):
        with suppress(KeyError):
            pwd.getpwnam(name)
            sys.exit(f"lessonkit: {name}: there is an account of that name here.")
    with hub(accounts=True, board=True, more=MORE) as ours:
        try:
            is_well = asyncio.run(walk(ours))
        finally:
            ours.end()
            for name in (OWNER, OTHER):
                remove(name, ours.port)
    return int(not is_well)


if __name__ == "__main__":
    sys.exit(main())
