"""What real PyTorch does where a lesson says so: measured here, and told by lessons 09 and 11 from a file.

Needs PyTorch, NumPy and PyAV. Each figure is a median, of what is compared by turns.

python -m evidence.facts --store notebooks
"""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

ROUNDS = 5
# Of data in memory
SAMPLES = 100_000
FEATURES = 64
BATCH = 64


def seconds(
    loop: Callable[[], Iterable[Any]], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return how long it takes by *clock* to go through what *loop* makes, and to make it."""
    began = clock()
    for _ in loop():
        pass
    return clock() - began


def by_turns(
    clock: Callable[[], float] = time.perf_counter, **loops: Callable[[], Iterable[Any]]
) -> dict[str, float]:
    """Return the median seconds of each of *loops*, by *clock*."""
    times: dict[str, list[float]] = {name: [] for name in loops}
    for turn in range(ROUNDS + 1):
        for name, loop in loops.items():
            taken = seconds(loop, clock)
            if turn:  # the first is to warm up
                times[name].append(taken)
    return {name: median(each) for name, each in times.items()}


class Arrays(Dataset[Any]):
    """Images that are there already, as bytes or as floats."""

    def __init__(self, kind: Any, count: int = 256) -> None:
        self.kind = kind
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return torch.ones(3, 224, 224, dtype=self.kind)


class Products(Dataset[Any]):
    """Samples that a library computes with threads of its own."""

    def __init__(self, count: int = 192) -> None:
        self.array = np.ones((320, 320), dtype="float32")
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return float((self.array @ self.array)[0, 0])


class Opened(Dataset[Any]):
    """Numbers in one file: opened before the workers start, or by each of them."""

    def __init__(self, path: Path, count: int, early: bool) -> None:
        self.path = path
        self.count = count
        self.file: Any = path.open("rb", buffering=0) if early else None

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        if self.file is None:
            self.file = self.path.open("rb", buffering=0)
        self.file.seek(8 * index)
        time.sleep(0.0002)  # as a slower storage would
        return int.from_bytes(self.file.read(8), "little")


def wrong(early: bool, count: int = 2_000) -> int:
    """Return how many samples of *count* two workers read wrongly from one file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "numbers"
        path.write_bytes(b"".join(number.to_bytes(8, "little") for number in range(count)))
        loader = DataLoader(Opened(path, count, early), batch_size=10, num_workers=2)
        got = [int(number) for batch in loader for number in batch]
    return sum(one != number for number, one in enumerate(got))


def threads_in_workers() -> dict[str, float]:
    """Measure two workers whose library takes as many threads as it likes, or one each."""
    from threadpoolctl import threadpool_limits

    def loader(threads: int) -> Any:
        def limited(worker: int) -> None:
            threadpool_limits(threads)

        return DataLoader(Products(), batch_size=8, num_workers=2, worker_init_fn=limited)

    return by_turns(one=lambda: loader(1), two=lambda: loader(2), eight=lambda: loader(8))


def starts() -> dict[str, float]:
    """Measure the time until the first batch of one worker, by the way in which it starts."""

    def first(method: str) -> Iterable[Any]:
        loader = DataLoader(
            Arrays(torch.uint8, 8), 1, num_workers=1, multiprocessing_context=method
        )
        return [next(iter(loader))]

    return by_turns(
        **{method: lambda method=method: first(method) for method in ("fork", "spawn")}
    )


class Told(Dataset[Any]):
    """Samples whose worker also puts text into a queue that nothing reads."""

    def __init__(self, queue: Any) -> None:
        self.queue = queue

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        self.queue.put("x" * 100_000)  # more than a pipe holds
        return index


def left_in_a_queue() -> float:
    """Return the seconds of an epoch whose two workers have not got rid of what they put into a queue."""
    context = multiprocessing.get_context("fork")
    return seconds(
        lambda: DataLoader(
            Told(context.Queue()), 2, num_workers=2, multiprocessing_context=context
        )
    )


FRAMES = 600  # of a video
SIZE = (480, 640)
RATE = 30
PICKED = 40  # frames that are asked for


def video() -> dict[str, dict[str, float]]:
    """Measure a random frame of a video, by the distance of its keyframes: seconds, frames decoded, bytes.

    Also the seconds of sixteen frames in a row. Needs PyAV; one thread decodes.
    """
    import av

    draw = np.random.default_rng(0)
    height, width = SIZE
    grid = draw.integers(
        0, 128, ((height + FRAMES) // 16 + 1, (width + 2 * FRAMES) // 16 + 1, 3)
    )
    scene = np.kron(grid, np.ones((16, 16, 1))).astype(
        "uint8"
    )  # over which the camera moves
    picked = draw.integers(0, FRAMES - 20, PICKED)

    def write(path: Path, distance: int) -> None:
        with av.open(str(path), "w") as file:
            stream = file.add_stream("libx264", rate=RATE)
            stream.width = width
            stream.height = height
            stream.pix_fmt = "yuv420p"
            stream.options = {"g": str(distance), "sc_threshold": "0"}
            for at in range(FRAMES):
                seen = scene[at : at + height, 2 * at : 2 * at + width]
                noisy = seen + draw.integers(0, 16, seen.shape, dtype="uint8")
                frame = av.VideoFrame.from_ndarray(noisy, format="rgb24")
                file.mux(stream.encode(frame))
            file.mux(stream.encode(None))

    def read(path: Path, at: int, count: int) -> int:
        """Decode *count* frames from number *at* on; return how many frames that took."""
        decoded = 0
        with av.open(str(path)) as file:
            (stream,) = file.streams.video
            stream.thread_type = "NONE"
            time_of = int(at / RATE / stream.time_base)
            file.seek(time_of, stream=stream)
            for frame in file.decode(stream):
                decoded += 1
                if frame.pts >= time_of:
                    frame.to_ndarray(format="rgb24")
                    count -= 1
                    if not count:
                        break
        return decoded

    found = {}
    with TemporaryDirectory() as folder:
        for distance in (250, 30, 2):
            path = Path(folder) / f"{distance}.mp4"
            write(path, distance)
            decoded = [read(path, int(at), 1) for at in picked]
            times = by_turns(
                time.process_time,  # one thread that never waits: other programs do not count
                one=lambda path=path: (read(path, int(at), 1) for at in picked),
                row=lambda path=path: (read(path, int(at), 16) for at in picked),
            )
            found[str(distance)] = {
                "frame": times["one"] / PICKED,
                "sixteen": times["row"] / PICKED,
                "decoded": sum(decoded) / PICKED,
                "bytes": path.stat().st_size,
            }
    return found


SERVED = """
import multiprocessing, sys, time

if __name__ == "__main__" and "preload" in sys.argv:
    multiprocessing.set_forkserver_preload(["torch"])

from torch.utils.data import DataLoader

if __name__ == "__main__":
    for epoch in range(2):
        began = time.perf_counter()
        list(DataLoader(range(16), 2, num_workers=2, multiprocessing_context="forkserver"))
    print(time.perf_counter() - began)
"""


def served() -> dict[str, float]:
    """Measure a second epoch of two workers of a fork server, which imports PyTorch before, or each does."""
    found: dict[str, list[float]] = {"each": [], "preload": []}
    with TemporaryDirectory() as folder:
        program = Path(folder) / "served.py"
        program.write_text(SERVED, encoding="utf-8")
        for _ in range(3):
            for name, times in found.items():
                command = [sys.executable, str(program), name]
                said = subprocess.run(command, capture_output=True, text=True, check=True)
                times.append(float(said.stdout))
    return {name: median(times) for name, times in found.items()}


def in_memory() -> dict[str, float]:
    """Measure data that is in memory: by a loader, by its workers, and by slices of a shuffled order."""
    data = TensorDataset(torch.rand(SAMPLES, FEATURES), torch.rand(SAMPLES))

    def slices() -> Iterable[Any]:
        order = torch.randperm(SAMPLES)
        return (
            tuple(each[order[at : at + BATCH]] for each in data.tensors)
            for at in range(0, SAMPLES, BATCH)
        )

    return by_turns(
        loader=lambda: DataLoader(data, BATCH, shuffle=True),
        workers=lambda: DataLoader(data, BATCH, shuffle=True, num_workers=2),
        slices=slices,
    )


def profile() -> dict[str, list[tuple[Any, ...]]]:
    """Return what torch.profiler says of a loop whose loader decides.

    The *rows* are names, calls and milliseconds; the *spans* names, and from when to when,
    in milliseconds.
    """
    from torch.profiler import ProfilerActivity, record_function
    from torch.profiler import profile as watched

    class Slow(Dataset[Any]):
        def __len__(self) -> int:
            return 32

        def __getitem__(self, index: int) -> Any:
            time.sleep(0.010)
            return torch.rand(2048)

    net = torch.nn.Linear(2048, 2048)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # steps are to be alike
    net(torch.rand(4, 2048))  # warm
    with watched(activities=[ProfilerActivity.CPU]) as found:
        for batch in DataLoader(Slow(), batch_size=4):
            with record_function("step"):
                for _ in range(12):
                    net(batch)
    torch.set_num_threads(threads)
    rows = sorted(found.key_averages(), key=lambda row: -row.cpu_time_total)[:4]
    times = [
        (one.name, one.time_range.start / 1e3, one.time_range.end / 1e3)
        for one in found.events()
    ]
    outer = sorted(
        (began, ended, name)
        for name, began, ended in times
        if name in (rows[0].key, "step")
    )
    first = outer[0][0]
    return {
        "rows": [(row.key, row.count, row.cpu_time_total / 1e3) for row in rows],
        "spans": [
            (name, round(began - first, 3), round(ended - first, 3))
            for began, ended, name in outer
        ],
    }


def main() -> None:
    """Measure all, and store it where the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    about = {
        "torch": torch.__version__.split("+")[0],
        "cores": len(os.sched_getaffinity(0)),
    }
    pipe = by_turns(
        bytes=lambda: DataLoader(Arrays(torch.uint8), 32, num_workers=1),
        floats=lambda: DataLoader(Arrays(torch.float32), 32, num_workers=1),
    )
    of_workers = {"pipe": pipe, "threads": threads_in_workers(), "starts": starts()}
    of_workers["wrong"] = {"early": wrong(early=True), "late": wrong(early=False)}
    of_workers |= {"left": left_in_a_queue(), "video": video(), "served": served()}
    of_jobs = {"memory": in_memory(), "profile": profile()}
    for lesson, found in (("09", of_workers), ("11", of_jobs)):
        text = json.dumps(about | found, indent=1) + "\n"
        print(text)
        if given.store:
            (given.store / f"measured_{lesson}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
