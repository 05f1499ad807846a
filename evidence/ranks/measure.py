"""Real ranks: a `DataLoader` in each, and an all-reduce after each step. Loads and steps sleep.

Noted is, by rank and step: when the batch was asked for, got, computed, and when all had reduced.
"""

import os
import socket
import time
import warnings
from collections.abc import Iterable, Iterator
from multiprocessing import get_context
from typing import Any

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

from evidence.record import Case, Conditions

MOST = 4  # ranks
GRADIENT = 1000  # numbers that are reduced
SOON = 0.05  # s: all begin at a time that all know before

Rows = list[list[float]]  # of a rank: for each step asked, got, computed, ended


class Loads(Dataset):
    """Batches that take a while, once *is_real* says so; before that workers only start."""

    def __init__(self, seconds: list[float]) -> None:
        self.seconds = seconds
        self.is_real = torch.zeros(1).share_memory_()

    def __len__(self) -> int:
        return len(self.seconds)

    def __getitem__(self, number: int) -> int:
        if self.is_real[0]:
            time.sleep(self.seconds[number])
        return number


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Start the ranks, let them go through all cases, and collect what each saw."""
    cases = list(cases)
    context = get_context("fork")
    port = free_port()
    results = [context.SimpleQueue() for _ in range(MOST)]
    processes = [
        context.Process(target=run_rank, args=(rank, cases, port, results[rank]))
        for rank in range(MOST)
    ]
    for process in processes:
        process.start()
    for case in cases:
        rows = [result.get() for result in results]
        yield case | {"measured": rows[: len(case["loads"])]}
    for process in processes:
        process.join()


def free_port() -> int:
    """Return a port that nobody has just now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def join(rank: int, count: int, port: int, **options: Any) -> None:
    """Become one of *count* ranks on this machine, which meet at a *port*, with one thread each."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    os.environ |= {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "GLOO_SOCKET_IFNAME": "lo",
        "TORCH_CPP_LOG_LEVEL": "ERROR",
    }
    dist.init_process_group("gloo", rank=rank, world_size=count, **options)


def run_rank(rank: int, cases: list[Case], port: int, results: Any) -> None:
    """Be one rank in all cases."""
    join(rank, MOST, port)
    groups = {count: dist.new_group([*range(count)]) for count in range(1, MOST + 1)}
    for case in cases:
        dist.barrier()
        count = len(case["loads"])
        results.put(steps(rank, case, groups[count]) if rank < count else None)
    dist.barrier()
    dist.destroy_process_group()


def steps(rank: int, case: Case, group: Any) -> Rows:
    """Go through the batches of a case together with the other ranks."""
    data = Loads(case["loads"][rank])
    options: dict[str, Any] = {}
    if case["workers"]:
        options = {"prefetch_factor": case["prefetch"], "persistent_workers": True}
    loader = DataLoader(data, batch_size=None, num_workers=case["workers"], **options)
    for _ in loader:  # so that the workers have started, and each has made something
        pass
    data.is_real[0] = 1
    began = together(group)
    time.sleep(max(0.0, began - time.perf_counter()))
    rows: Rows = []
    gradient = torch.ones(GRADIENT)
    batches = iter(loader)
    asked = time.perf_counter()
    for seconds in case["steps"][rank]:
        next(batches)
        got = time.perf_counter()
        time.sleep(seconds)
        computed = time.perf_counter()
        dist.all_reduce(gradient, group=group)
        ended = time.perf_counter()
        rows.append([round(at - began, 5) for at in (asked, got, computed, ended)])
        asked = ended
    return rows


def together(group: Any) -> float:
    """Return a time that is the same for all ranks; their clocks are one."""
    at = torch.tensor([time.perf_counter() + SOON], dtype=torch.float64)
    dist.all_reduce(at, dist.ReduceOp.MAX, group=group)
    return float(at)
