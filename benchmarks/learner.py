"""One of a class on a Hub, with a page that asks what JupyterLab's page asks."""

import asyncio
import json
import random
from time import perf_counter
from typing import Any
from uuid import uuid4

SECONDS = 240  # for a step of the lesson
ANSWER = 20  # s, for a picture
MOVES = 40  # of a slider
PAUSE = 0.5  # s, between two of them
AGAIN = 0.5  # s, from one try to connect to the next
# What JupyterLab's page asks its server for when it is opened.
PAGE = (
    "lab/api/settings/@jupyterlab/apputils-extension:notification",
    "lab/api/settings",
    "lab/api/workspaces/default",
    "api/kernelspecs",
    "api/contents/lessons",
    "api/sessions",
)
PROTOCOL = "v1.kernel.websocket.jupyter.org"


class Learner:
    """One of the class, as a browser with one page: *failures* are in sentences."""

    def __init__(self, name: str, hub: str) -> None:
        import httpx

        self.name = name
        self.hub = hub
        self.url = f"{hub}/user/{name}"
        # As browsers have. The proxy gives up a connection after 5 s, and a browser that uses it at
        # that moment asks again; this client would fail.
        limits = httpx.Limits(max_connections=6, keepalive_expiry=2)
        self.client = httpx.AsyncClient(
            follow_redirects=True, timeout=SECONDS, limits=limits, trust_env=False
        )
        self.waiting: dict[Any, asyncio.Future[Any]] = {}  # by the number of a question
        # Each a socket, and what listens to it
        self.tabs: list[tuple[Any, asyncio.Task[None]]] = []
        self.widgets: dict[str, dict[str, Any]] = {}  # explore's state, by its comm
        self.failures: list[str] = []
        self.took: list[float] = []  # s, for each picture

    async def enter(self, password: str, lesson: str) -> None:
        """Log in, wait for the server, and open a *lesson*."""
        await self.client.get(f"{self.hub}/hub/login")
        form = {
            "username": self.name,
            "password": password,
            "_xsrf": self.xsrf("/hub/"),
        }
        (await self.client.post(f"{self.hub}/hub/login", data=form)).raise_for_status()
        await self.started()
        (await self.client.get(f"{self.url}/lab/tree/lessons/{lesson}")).raise_for_status()
        answers = await asyncio.gather(
            *(self.client.get(f"{self.url}/{path}") for path in PAGE)
        )
        for answer in answers:
            answer.raise_for_status()
        if answers[0].json()["schema"]["properties"]["fetchNews"]["default"] != "false":
            self.failures.append("JupyterLab would ask about news")
        await self.open(lesson)

    async def open(self, lesson: str) -> None:
        """Open a *lesson* beside those that are open, and wait until its kernel answers."""
        head = {"X-XSRFToken": self.xsrf(f"/user/{self.name}/")}
        path = f"lessons/{lesson}"
        notebook = await self.client.get(f"{self.url}/api/contents/{path}", headers=head)
        cells = notebook.json()["content"]["cells"]
        self.cells = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        self.widgets = {}
        asked = {
            "path": path,
            "name": "",
            "type": "notebook",
            "kernel": {"name": "python3"},
        }
        answer = await self.client.post(
            f"{self.url}/api/sessions", json=asked, headers=head
        )
        answer.raise_for_status()
        self.kernel = answer.json()["kernel"]["id"]
        await self.connect()

    async def connect(self) -> None:
        """Wait until the kernel answers."""
        from tornado.httpclient import HTTPRequest
        from tornado.websocket import websocket_connect

        address = f"{self.url}/api/kernels/{self.kernel}/channels?session_id={uuid4()}"
        head = {
            "Cookie": self.client.build_request("GET", address).headers["cookie"],
            "Origin": self.hub,
        }
        request = HTTPRequest(
            "ws" + address.removeprefix("http"), headers=head, request_timeout=SECONDS
        )
        self.socket = await websocket_connect(request, subprotocols=[PROTOCOL])
        self.tabs.append((self.socket, asyncio.create_task(self.listen(self.socket))))
        await self.ask("kernel_info_request", {})

    def xsrf(self, path: str) -> str:
        """Return what a page of that *path* sends along to show that it is the Hub's own."""
        return str(self.client.cookies.get("_xsrf", path=path))

    async def started(self) -> None:
        """Wait for the server as the Hub's page does."""
        address = f"{self.hub}/hub/api/users/{self.name}/server/progress?_xsrf={self.xsrf('/hub/')}"
        async with self.client.stream("GET", address) as told:
            async for text in told.aiter_lines():
                progress = (
                    json.loads(text.removeprefix("data:"))
                    if text.startswith("data:")
                    else {}
                )
                if progress.get("failed"):
                    raise RuntimeError(progress.get("message", "the server did not start"))
                if progress.get("ready"):
                    return
        raise RuntimeError("the Hub does not say that the server has started")

    # ---- the kernel ----

    async def ask(self, kind: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a message to the kernel, and return the content of its reply."""
        number = await self.send(kind, content)
        self.waiting[number] = asyncio.get_running_loop().create_future()
        return dict(await asyncio.wait_for(self.waiting[number], SECONDS))

    async def send(self, kind: str, content: dict[str, Any]) -> str:
        """Send a message to the kernel, and return its number."""
        from jupyter_server.services.kernels.connection.base import (
            serialize_msg_to_ws_v1,
        )

        header = {
            "msg_id": uuid4().hex,
            "msg_type": kind,
            "username": self.name,
            "session": self.name,
        }
        header |= {"version": "5.3", "date": "2000-01-01T00:00:00Z"}
        message = {
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": content,
        }
        packed = serialize_msg_to_ws_v1(
            message, "shell", lambda part: json.dumps(part).encode()
        )
        await self.socket.write_message(packed, binary=True)
        return header["msg_id"]

    async def listen(self, socket: Any) -> None:
        """Hear all that the kernel at this *socket* says."""
        from jupyter_server.services.kernels.connection.base import (
            deserialize_msg_from_ws_v1,
        )

        while isinstance(message := await socket.read_message(), bytes):
            _, (head, parent, _, body, *_) = deserialize_msg_from_ws_v1(message)
            kind = json.loads(head)["msg_type"]
            content = json.loads(body)
            if kind.endswith("_reply"):
                self.answer(json.loads(parent)["msg_id"], content)
            elif kind == "comm_open":
                state = content["data"].get("state", {})
                if state.get("role") == "explore":
                    self.widgets[content["comm_id"]] = json.loads(state["state"])
            elif kind == "comm_msg" and content["data"].get("method") == "custom":
                self.answer(
                    content["data"]["content"].get("id"), content["data"]["content"]
                )
            elif kind == "stream" and content["name"] == "stderr":
                self.failures.append(f"a cell says {content['text'].strip()}")

    def answer(self, number: Any, content: Any) -> None:
        """Give *content* to whoever waits for the answer with this *number*."""
        if number in self.waiting and not self.waiting[number].done():
            self.waiting.pop(number).set_result(content)

    async def run_all(self) -> None:
        """Run all cells, as JupyterLab does: each is sent at once."""
        await asyncio.gather(*map(self.run, self.cells))

    async def run(self, cell: str) -> None:
        """Run a *cell*."""
        run = {
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
        }
        reply = await self.ask(
            "execute_request", run | {"code": cell, "stop_on_error": True}
        )
        if reply["status"] != "ok":
            self.failures.append(
                f"{reply.get('ename', reply['status'])} in the cell {cell[:40]!r}"
            )

    async def slide(self) -> None:
        """Move the first slider of the first picture to and fro."""
        comm, state = next(
            (comm, state) for comm, state in self.widgets.items() if state["controls"]
        )
        values = {control["name"]: control["value"] for control in state["controls"]}
        moved = next(control for control in state["controls"] if control["kind"] == "range")
        await asyncio.sleep(PAUSE * random.random())  # a class does not move in step
        for number in range(1, MOVES + 1):
            values[moved["name"]] = number % len(moved["texts"])
            picture: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self.waiting[number] = picture
            question = {"do": "show", "id": number, "values": values}
            began = perf_counter()
            await self.send(
                "comm_msg",
                {"comm_id": comm, "data": {"method": "custom", "content": question}},
            )
            try:
                await asyncio.wait_for(picture, ANSWER)
                self.took.append(perf_counter() - began)
            except TimeoutError:
                self.failures.append(f"no picture after {ANSWER} s")
            await asyncio.sleep(max(0, began + PAUSE - perf_counter()))

    async def write(self) -> None:
        """Leave something in the kernel that can be lost."""
        await self.run(f"kept = {self.name!r}")

    async def go_on(self) -> None:
        """Connect again, as a page does whose line was cut, and look whether all is there."""
        deadline = perf_counter() + SECONDS
        while True:
            try:
                await self.connect()
                break
            except Exception:  # nobody is there, or a proxy that does not know us yet
                if perf_counter() > deadline:
                    raise
                await asyncio.sleep(AGAIN)
        await self.run(f"assert kept == {self.name!r}")
        home = await self.client.get(f"{self.hub}/hub/home")
        if home.url.path != "/hub/home":
            self.failures.append("must log in again")

    async def leave(self) -> None:
        """Close the page."""
        for socket, listening in self.tabs:
            listening.cancel()
            socket.close()
        await self.client.aclose()
