"""A class on a Hub: `python -m benchmarks.hub --learners 30 --lessons 5`, where JupyterHub is installed.

It starts a Hub with the configuration that we ship, and a class of which all do at the same
moment what a browser would: log in, and for one lesson after another open it, run all
cells, move a slider twice a second. Lessons stay open, as where a link leads to the next
one. In the end the Hub is killed and started again, and all go on. Nothing is left.
"""

import argparse
import asyncio
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from typing import Any

from benchmarks.learner import Learner
from benchmarks.measure import limited, line

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "delivery" / "hub"
HOST = "127.0.0.1"
NEEDED = "jupyterhub", "jupyterlab", "httpx", "psutil", "lessonkit"
MISSING = """{}: missing here. In an environment of its own: python -m pip install ".[hub]"
and npm install --global configurable-http-proxy"""
START = 180  # s, on a machine that is busy with other work
STOP = 60  # s
EACH = 0.2  # GB for a learner, and as much again for the Hub
# What this differs in from a real class: this computer only, and a folder that is removed.
OURS = """
load_subconfig("jupyterhub_config.py", path={path!r})
c.JupyterHub.bind_url = "http://{host}:{port}"
"""
# ... and no accounts
ALIKE = """
c.Spawner.args = ["--allow-root"]  # in a container there is often nobody else
c.Spawner.environment["TMPDIR"] = {folder!r}
"""


class Hub:
    """A Hub of its own, with all that it keeps in *folder*.

    With *accounts* each learner gets one on this computer, which takes root. *more* are further
    lines of its configuration. A *board* is at `/services/class/`.
    """

    def __init__(
        self, folder: Path, *, accounts: bool = False, board: bool = False, more: str = ""
    ) -> None:
        self.folder = folder
        self.port = free_ports()
        self.address = f"http://{HOST}:{self.port}"
        self.left: list[Any] = []  # what a Hub that was killed had started
        text = OURS if accounts else OURS + ALIKE
        about = {
            "path": str(FOLDER),
            "host": HOST,
            "port": self.port,
            "folder": str(folder),
        }
        (folder / "hub.py").write_text(text.format(**about) + more)
        self.environment = {"LESSONS_PORT": str(self.port)}
        if not accounts:
            self.environment["LESSONS_ACCOUNTS"] = "no"
        if board:
            self.environment["LESSONS_CLASS"] = f"{self.address}/services/class/"

    @property
    def password(self) -> str:
        """The class's password."""
        return (self.folder / f"class-{self.port}" / "passwords").read_text().split()[0]

    @property
    def processes(self) -> list[Any]:
        """The Hub and all that it has started."""
        import psutil

        found = {process: None for process in self.left if process.is_running()}
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self.program.pid)
            found |= dict.fromkeys([root, *root.children(recursive=True)])
        return [*found]

    def start(self) -> None:
        """Start it, and wait until it answers; if it does not, end with what it said."""
        # What belongs to this process and not to a Hub
        ours = ("PYTHON", "JUPYTER", "TMPDIR")
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(ours)
        }
        with (self.folder / "log").open("ab") as log:
            self.program = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "jupyterhub",
                    "--config",
                    str(self.folder / "hub.py"),
                ],
                cwd=self.folder,
                env=kept | self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = monotonic() + START
        while True:
            with (
                suppress(OSError),
                urllib.request.urlopen(f"{self.address}/hub/api", timeout=START),
            ):
                return
            if self.program.poll() is not None or monotonic() > deadline:
                sys.exit(
                    f"lessonkit: The Hub did not start. It said:\n{self.log()[-2000:]}"
                )
            sleep(0.1)

    def log(self) -> str:
        """Return what it has said."""
        return (self.folder / "log").read_text()

    def kill(self) -> None:
        """Kill it as a system does that has no memory left; its proxy and the servers stay."""
        self.left = self.processes
        self.program.kill()
        self.program.wait()

    def end(self) -> None:
        """End it, and with it the servers; say so if it has not ended them all, and end these."""
        import psutil

        for sign in (signal.SIGINT, signal.SIGTERM):
            # Who is impatient would leave a class running
            signal.signal(sign, signal.SIG_IGN)
        family = self.processes
        self.program.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.program.wait(STOP)
        _, left = psutil.wait_procs(family, 5)
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.program.wait()
        if left:
            print(
                f"lessonkit: The Hub left {len(left)} processes, which are ended now.",
                file=sys.stderr,
            )


@contextmanager
def hub(**options: Any) -> Iterator[Hub]:
    """Start a Hub with these *options*; in the end nothing of it is left."""
    with TemporaryDirectory(prefix="lessons-") as folder:
        started = Hub(Path(folder), **options)
        try:
            started.start()
            yield started
            unknown = [
                text for text in started.log().splitlines() if "not recognized" in text
            ]
            if unknown:
                sys.exit(
                    "lessonkit: The configuration has names that nobody knows:\n"
                    + "\n".join(unknown)
                )
        finally:
            started.end()


def free_ports() -> int:
    """Return a port that nobody listens on, nor on the three after it."""
    while True:
        with suppress(OSError, OverflowError), ExitStack() as until:
            port = 0
            for further in range(4):
                one = until.enter_context(socket.socket())
                one.bind((HOST, port + further if port else 0))
                port = port or one.getsockname()[1]
            return port


async def attend(learners: list[Learner], step: str, *arguments: str) -> float:
    """Let all take the same *step* at the same moment; return after how many seconds the last is through."""

    async def take(learner: Learner) -> None:
        try:
            if not learner.failures:
                await getattr(learner, step)(*arguments)
        except Exception as error:
            learner.failures.append(f"{step}: {type(error).__name__}: {error}")

    began = perf_counter()
    await asyncio.gather(*map(take, learners))
    return perf_counter() - began


def memory(processes: list[Any]) -> dict[str, float]:
    """Return how many MB each kind of process takes; pages that several share are divided among them."""
    used = {"Hub": 0.0, "servers": 0.0, "kernels": 0.0}
    kinds = {"ipykernel_launcher": "kernels", "start_learner.py": "servers"}
    for process in processes:
        command = " ".join(process.cmdline())
        kind = next((kind for name, kind in kinds.items() if name in command), "Hub")
        used[kind] += process.memory_full_info().pss / 1e6
    return used


async def walk(ours: Hub, count: int, opened: list[str]) -> list[str]:
    """Give *count* learners the lessons *opened*; print the table, and return what failed."""
    learners = [
        Learner(f"learner-{number}", ours.address) for number in range(1, count + 1)
    ]
    try:
        print(
            limited(
                "all are in, each with a kernel",
                await attend(learners, "enter", ours.password, opened[0]),
                60,
                "s",
            )
        )
        for number, lesson in enumerate(opened):
            if number:
                print(
                    limited(
                        f"all have opened {lesson}",
                        await attend(learners, "open", lesson),
                        60,
                        "s",
                    )
                )
            print(
                limited("all cells are run", await attend(learners, "run_all"), 60, "s"),
                flush=True,
            )
            await attend(learners, "slide")
            print_steps(learners)
            print_memory(ours, count)
        print(
            limited(
                "the Hub was killed: all go on",
                await start_again(ours, learners),
                10,
                "s",
            )
        )
    finally:
        for learner in learners:
            await learner.leave()
    return [
        f"{learner.name}: {failure}" for learner in learners for failure in learner.failures
    ]


def print_steps(learners: list[Learner]) -> None:
    """Print how long a slider's steps took since this was last printed."""
    if took := [1e3 * one for learner in learners for one in learner.took]:
        what = "slider until the picture is there"
        print(limited(f"{what}, median", median(took), 15, "ms"))
        print(limited(f"{what}, 95th percentile", quantiles(took, n=20)[-1], 30, "ms"))
        print(limited(f"{what}, longest", max(took), 200, "ms"))
    for learner in learners:
        learner.took.clear()


async def start_again(ours: Hub, learners: list[Learner]) -> float:
    """Kill the Hub and start it with the same command; return after how many seconds the last goes on."""
    await attend(learners, "write")
    ours.kill()
    began = perf_counter()
    ours.start()
    await attend(learners, "go_on")
    return perf_counter() - began


def print_memory(ours: Hub, count: int) -> None:
    """Print how much memory the Hub takes with *count* learners."""
    used = memory(ours.processes)
    print(
        limited("memory in all", sum(used.values()) / 1e3, round(count * 7 / 30, 2), "GB")
    )
    for kind, size in used.items():
        print(line(f"memory of {kind}", f"{size:,.0f} MB", "", "", "", ""), flush=True)


def check_environment() -> None:
    """End with a sentence if something is missing that a Hub needs."""
    missing = [name for name in NEEDED if not importlib.util.find_spec(name)]
    missing += [name for name in ("configurable-http-proxy",) if not shutil.which(name)]
    if missing:
        sys.exit(f"lessonkit: {MISSING.format(', '.join(missing))}")


def main() -> int:
    """Measure a class; return 1 if somebody could not take part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hub", description=__doc__)
    parser.add_argument("--learners", type=int, default=30)
    parser.add_argument("--lessons", type=int, default=1)
    given = parser.parse_args()
    names = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    count = given.learners
    opened = names[: given.lessons]
    check_environment()
    import psutil

    if count < 1:
        parser.error("--learners: must be 1 or more")
    if given.lessons < 1:
        parser.error("--lessons: must be 1 or more")
    if psutil.virtual_memory().available / 1e9 < (wanted := EACH * (count + 1)):
        sys.exit(
            f"lessonkit: {count} learners need {wanted:.1f} GB of memory, which is not free here."
        )
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # whoever ends us interrupts us: so all is ended
    print(line("what", "ours", "peer", "ratio", "goal", "goal is"), flush=True)
    try:
        with hub() as ours:
            failed = asyncio.run(walk(ours, count, opened))
    except KeyboardInterrupt:
        sys.exit("lessonkit: Stopped; nothing of it is left.")
    print(*failed or [f"{count} of {count} took part in all of it."], sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
