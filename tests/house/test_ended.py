"""Who ends the tests, or a target, ends all that they have started."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest
from support.places import ROOT

LONG = 60  # s, for what should take one: the machine may be busy
# A server that takes a second to stop, as one with kernels does, and has started one that
# hears nothing.
SERVER = """
import signal, subprocess, sys, time
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(99)"
child = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
child.stdout.readline()
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), sys.exit()))
print("ready", child.pid, flush=True)
time.sleep(99)
"""
IN_A_TEST = """
import os, sys, time
from pathlib import Path
from tools.servers import process
with process([sys.executable, "-c", sys.argv[1]], dict(os.environ), Path(sys.argv[2])):
    time.sleep(99)
"""
# On a busy machine we may hear that a program runs when it has long begun
IN_A_SLOW_TEST = """
import os, sys, time
from pathlib import Path
from tools import servers
class Slow(servers.subprocess.Popen):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        time.sleep(2)
servers.subprocess.Popen = Slow
with servers.process([sys.executable, "-c", sys.argv[1]], dict(os.environ), Path(sys.argv[2])):
    time.sleep(99)
"""
IN_A_TARGET = """
import sys
from tools import targets
Path = targets.Path
targets.PYTHON = Path(sys.executable)
targets.environment = lambda: dict(targets.os.environ)
targets.run("served", sys.argv[2])
"""
IN_ALL_TESTS = """
import sys
from tools import tests
tests.PARTS = {"served": (sys.executable, "-m", "served", sys.argv[2])}
tests.main([])
"""


def pid_of_the_deaf(log: Path) -> int:
    """The program that the server has started, once it is there."""
    deadline = monotonic() + LONG
    # A part of it may come first
    while not (log.exists() and (told := log.read_text()).endswith("\n")):
        assert monotonic() < deadline, "the server did not start"
        sleep(0.05)
    return int(told.split()[1])


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("again", [0, 2])
@pytest.mark.parametrize(
    ("program", "sign"),
    [
        (IN_A_TEST, signal.SIGTERM),
        (IN_A_SLOW_TEST, signal.SIGTERM),
        (IN_A_TARGET, signal.SIGTERM),
        (IN_ALL_TESTS, signal.SIGTERM),
        (IN_ALL_TESTS, signal.SIGINT),
    ],
)
def test_who_ends_us_ends_what_was_started(
    tmp_path: Path, program: str, sign: signal.Signals, again: int
) -> None:
    log = tmp_path / "log"
    (tmp_path / "served.py").write_text(
        "import os, sys\nfrom pathlib import Path\nfrom tools.servers import process\nimport time\n"
        f"with process([sys.executable, '-c', {SERVER!r}], dict(os.environ), Path(sys.argv[1])):\n"
        "    time.sleep(99)\n"
    )
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(tmp_path)])
    with subprocess.Popen(
        [sys.executable, "-c", program, SERVER, str(log)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A shell that runs us with `&` does this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    ) as started:
        deaf = pid_of_the_deaf(log)
        started.send_signal(sign)
        for _ in range(again):  # as `make` and `timeout` do, and who is impatient
            sleep(0.2)
            started.send_signal(sign)
        started.wait(LONG)
    deadline = monotonic() + LONG
    while psutil.pid_exists(deaf) and psutil.Process(deaf).status() != psutil.STATUS_ZOMBIE:
        assert monotonic() < deadline, "what a server had started goes on"
        sleep(0.05)
