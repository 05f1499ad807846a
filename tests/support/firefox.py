"""Firefox for tests, by WebDriver BiDi over its own websocket: one page, its errors and what it asks for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from websocket import WebSocket, create_connection  # JupyterLab has it

from tools.browser import OWN
from tools.firefox import MISSING, environment, find_firefox
from tools.servers import await_start, process

LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
STEP, LOOK = 60, 0.5  # s: an answer may take so long, from one look to the next
# It looks for nothing newer, and reports nothing.
QUIET = {
    "app.update.enabled": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}


class Firefox:
    """One page in it. What goes wrong there is in `errors`, what it asks for in `requests`."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket, self.asked = socket, 0
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask(
            "session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"]
        )
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command; return its result, and take down what happens meanwhile."""
        self.asked += 1
        self.socket.send(json.dumps({"id": self.asked, "method": method, "params": params}))
        while (told := json.loads(self.socket.recv())).get("id") != self.asked:
            self.take_down(told.get("method"), told.get("params"))
        if told["type"] == "error":
            raise RuntimeError(f"{method}: {told['error']}: {told['message']}")
        return told["result"]

    def take_down(self, event: str, told: Any) -> None:
        """Keep what the page asked for, and its errors."""
        if event == "network.beforeRequestSent":
            self.requests.append(told["request"]["url"])
        elif told["type"] == "javascript" and told["level"] == "error":
            self.errors.append(told["text"])

    def open(self, address: str) -> None:
        """Go to a page and wait until it is loaded."""
        self.ask(
            "browsingContext.navigate",
            context=self.context,
            url=address,
            wait="complete",
        )

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, also a promised one: a text, a number or a truth value."""
        target = {"context": self.context}
        told = self.ask(
            "script.evaluate", expression=expression, target=target, awaitPromise=True
        )
        if told["type"] == "exception":
            raise RuntimeError(told["exceptionDetails"]["text"])
        return told["result"].get("value")

    def elsewhere(self) -> list[str]:
        """What was asked of any server but our own."""
        return [url for url in self.requests if not url.startswith(OWN)]

    def wait_for(self, expression: str, seconds: float) -> None:
        """Wait until an expression is true."""
        until = monotonic() + seconds
        while not self.evaluate(expression):
            assert monotonic() < until, f"after {seconds} s still not: {expression}"
            sleep(LOOK)


@contextmanager
def firefox() -> Iterator[Firefox]:
    """A Firefox with a profile of its own, and nobody in front of it."""
    program = find_firefox()
    assert program, MISSING
    with TemporaryDirectory(
        prefix="lessonkit-firefox-", ignore_cleanup_errors=True
    ) as profile:
        log = Path(profile, "log")
        chosen = (
            f"user_pref({json.dumps(name)}, {json.dumps(value)});"
            for name, value in QUIET.items()
        )
        Path(profile, "user.js").write_text("\n".join(chosen))
        command = [
            program,
            "--headless",
            "--no-remote",
            "--profile",
            profile,
            "--remote-debugging-port=0",
        ]
        more = {"HOME": profile} | environment(program)
        with process(command, {**os.environ, **more}, log) as child:
            await_start(
                "Firefox", child, log, lambda: bool(LISTENS.search(log.read_text()))
            )
            (address,) = LISTENS.findall(log.read_text())
            with closing(
                create_connection(f"{address}/session", timeout=STEP, suppress_origin=True)
            ) as socket:
                yield Firefox(socket)
