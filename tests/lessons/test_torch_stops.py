"""What lesson 09 says of programs that stop without an error is what PyTorch does: make test-torch."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.lesson import lesson
from tools.lessons import FIELD_GUIDE

LOADERS = '''
import faulthandler, multiprocessing, os, sys, threading
from torch.utils.data import DataLoader

LOCK = threading.Lock()


class Locked:
    """Samples that need a lock of the program."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        with LOCK:  # the line of the lock
            return index


class Unanswered(Locked):
    """Samples of which one is read from where nothing ever comes."""

    def __getitem__(self, index):
        if index == 1:
            os.read(os.pipe()[0], 1)  # the line of the read
        return index


class Told(Locked):
    """Samples whose worker puts more into a queue than its pipe holds, and nothing reads it."""

    def __init__(self, queue):
        self.queue = queue

    def __getitem__(self, index):
        self.queue.put("x" * 100_000)
        return index


def show_soon(worker):
    faulthandler.dump_traceback_later(1)


def batches(data, method, timeout):
    return list(
        DataLoader(
            data, 2, num_workers=1, timeout=timeout, collate_fn=list,
            multiprocessing_context=method, worker_init_fn=show_soon,
        )
    )


def hold():
    """Let another thread hold the lock from now on."""
    held = threading.Event()

    def thread():
        with LOCK:
            held.set()
            threading.Event().wait()

    threading.Thread(target=thread, daemon=True).start()
    held.wait()
'''
HELD = """
from loaders import *

if __name__ == "__main__":
    hold()
    print(batches(Locked(), sys.argv[1], float(sys.argv[2])))
"""
UNANSWERED = """
from loaders import *

print(batches(Unanswered(), "fork", 3))
"""
LEFT = """
import time
from loaders import *

context = multiprocessing.get_context("fork")
began = time.monotonic()
assert len(list(DataLoader(Told(context.Queue()), 2, num_workers=1, multiprocessing_context=context))) == 2
print("epoch", time.monotonic() - began)

queue = context.Queue()
process = context.Process(target=queue.put, args=("x" * 100_000,))
process.start()
process.join(2)
print("stands", process.is_alive())
queue.get()
process.join(10)
print("ends", not process.is_alive())
"""
SPIED = """
import subprocess
from loaders import *

hold()
found = iter(DataLoader(Locked(), 2, num_workers=1, timeout=60, multiprocessing_context="fork"))
(worker,) = found._workers
threading.Timer(1, lambda: [
    print(subprocess.run([sys.argv[1], "dump", "--pid", str(pid)], capture_output=True, text=True).stdout)
    for pid in (os.getpid(), worker.pid)
] + [worker.kill()]).start()
next(found)
"""
LAMBDA = """
from loaders import *

if __name__ == "__main__":
    found = DataLoader(
        Locked(), 2, num_workers=1, collate_fn=lambda batch: batch, multiprocessing_context="forkserver"
    )
    next(iter(found))
"""
FILES = """
import signal
from torch import multiprocessing, ones
from torch.utils.data import DataLoader


def by_name(worker=None):
    multiprocessing.set_sharing_strategy("file_system")


by_name()
found = iter(
    DataLoader([ones(1000)] * 8, 2, num_workers=1, multiprocessing_context="fork", worker_init_fn=by_name)
)
kept = next(found)
(worker,) = found._workers
print(worker.pid, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where programs find the loaders that stop."""
    pytest.importorskip("torch")
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    (tmp_path / "loaders.py").write_text(LOADERS)
    return tmp_path


def ran(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a *program* that uses the loaders."""
    (folder / "program.py").write_text(program)
    command = [sys.executable, "program.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def line_of(text: str) -> str:
    """The line of the loaders that has a *text*, as a traceback names it."""
    (number,) = (at for at, line in enumerate(LOADERS.splitlines(), 1) if text in line)
    return f'loaders.py", line {number} in __getitem__'


def test_a_worker_that_was_forked_while_a_thread_held_its_lock_waits_for_ever(
    folder: Path,
) -> None:
    stopped = ran(folder, HELD, "fork", "3")
    assert "RuntimeError: DataLoader timed out after 3.0 seconds" in stopped.stderr
    assert line_of("the line of the lock") in stopped.stderr  # said by faulthandler


def test_a_worker_of_a_fork_server_has_a_lock_of_its_own(folder: Path) -> None:
    went = ran(folder, HELD, "forkserver", "100")
    assert went.stdout == "[[0, 1], [2, 3]]\n"


def test_a_lambda_does_not_reach_a_worker_of_a_fork_server(folder: Path) -> None:
    """As with Python 3.14 on Linux, where this way of starting is the usual one."""
    stopped = ran(folder, LAMBDA)
    assert re.search("(PicklingError|AttributeError): .*lambda", stopped.stderr)


def test_a_read_that_hangs_is_told_by_the_timeout_and_shown_by_faulthandler(
    folder: Path,
) -> None:
    stopped = ran(folder, UNANSWERED)
    assert "RuntimeError: DataLoader timed out after 3 seconds" in stopped.stderr
    assert line_of("the line of the read") in stopped.stderr


def test_a_full_queue_at_the_end_stops_a_process_and_delays_a_loader_for_five_seconds(
    folder: Path,
) -> None:
    said = dict(line.split() for line in ran(folder, LEFT).stdout.splitlines())
    assert 4 < float(said["epoch"]) < 30
    assert said["stands"] == said["ends"] == "True"
    measured = lesson(FIELD_GUIDE).names["measured"]["left"]
    assert measured == pytest.approx(2 * 5, abs=1)  # of two workers, one after the other


def test_py_spy_shows_the_same_line_of_every_loop_and_the_cause_in_the_worker(
    folder: Path,
) -> None:
    spy = shutil.which("py-spy")
    if not spy:
        pytest.skip("no py-spy")
    said = ran(folder, SPIED, spy).stdout
    if "__getitem__" not in said:
        pytest.skip("py-spy may not look at other processes here")
    loop, worker = said.split("Process ")[1:3]
    assert "_try_get_data" in loop
    assert "__getitem__" not in loop
    assert "Locked.__getitem__ (loaders.py:" in worker


@pytest.mark.skipif(not shutil.which("ps"), reason="no ps")
def test_file_system_sharing_starts_a_process_that_outlives_the_program(
    folder: Path,
) -> None:
    (folder / "program.py").write_text(FILES)
    with (folder / "said").open(
        "w"
    ) as said:  # a pipe would stay open as long as that process
        subprocess.run([sys.executable, "program.py"], cwd=folder, stdout=said, timeout=120)
    assert (folder / "said").read_text()
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert "torch_shm_manager" in running
