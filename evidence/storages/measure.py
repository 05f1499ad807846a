"""Readers at the real storage of `server.py`: when each object had arrived."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier, Thread

from evidence.record import Case, Conditions

# Seconds: how long a thread keeps the lock; Python's 5 ms would hold readers up
HANDOVER = 0.0005
PAUSE = 0.02  # s, between cases, and before all readers begin


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Let the readers of each case read, and note when each of their objects ends."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(HANDOVER)
    try:
        with served() as port:
            for case in cases:
                set_limits(port, case["store"])
                yield case | {"ends": Readers(port, case).run()}
                time.sleep(PAUSE)
    finally:
        sys.setswitchinterval(before)


@contextmanager
def served() -> Iterator[int]:
    """Start the server, and give its port."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "port"
        command = [sys.executable, "-m", "evidence.storages.server", str(path)]
        with subprocess.Popen(command) as server:
            try:
                while not path.exists():
                    time.sleep(0.01)
                yield int(path.read_text(encoding="utf-8"))
            finally:
                server.terminate()


def connected(port: int) -> socket.socket:
    """Return a connection to the server that sends at once what it is given."""
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def set_limits(port: int, limits: Case) -> None:
    """Tell the server what it allows."""
    with connected(port) as sock:
        sock.sendall(b"R" + json.dumps(limits).encode() + b"\n")
        if sock.recv(2) != b"ok":
            raise ConnectionError(f"limits={limits}: the server did not take them")


class Readers:
    """The readers of a case, each on a thread of its own; reader r begins r staggers after the first."""

    def __init__(self, port: int, case: Case) -> None:
        self.port = port
        self.objects: list[list[tuple[int, float]]] = case["readers"]
        self.stagger: float = case["stagger"]
        self.barrier = Barrier(len(self.objects) + 1)
        self.began = 0.0
        self.ends: list[list[float]] = [[] for _ in self.objects]

    def run(self) -> list[list[float]]:
        """Let all read; return when each object of each reader ended, in seconds from the beginning."""
        threads = [
            Thread(target=self.read, args=(number,)) for number in range(len(self.objects))
        ]
        for thread in threads:
            thread.start()
        self.barrier.wait()  # all are connected
        time.sleep(PAUSE)
        self.began = time.perf_counter() + 0.001
        self.barrier.wait()
        for thread in threads:
            thread.join()
        return [[round(end, 6) for end in ends] for ends in self.ends]

    def read(self, number: int) -> None:
        """Read one object after the other, and compute after each."""
        buffer = bytearray(1 << 16)
        with connected(self.port) as sock:
            self.barrier.wait()
            self.barrier.wait()
            time.sleep(max(0.0, self.began + self.stagger * number - time.perf_counter()))
            for size, compute in self.objects[number]:
                sock.sendall(b"G%d\n" % size)
                left = size
                while left:
                    left -= sock.recv_into(buffer, min(left, len(buffer)))
                self.ends[number].append(time.perf_counter() - self.began)
                time.sleep(compute)
