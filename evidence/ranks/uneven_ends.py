"""What real ranks see that run out of batches at different steps: gloo, and `DistributedDataParallel` on it.

Each rank of a case notes its steps, what the others' numbers gave it, its error, and its seconds.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from multiprocessing import get_context
from queue import Empty
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset

from evidence.ranks.measure import free_port, join
from evidence.record import Case, Conditions, Json

STEP = 0.02  # s
PATIENCE = 25  # s: a rank that has said nothing by then never comes back
WORDS = 400  # characters of an error


@dataclass
class Rank:
    """What a rank sees."""

    rank: int
    ranks: int
    timeout: float  # s, after which a rank that waits for others gives up
    steps: int = 0
    sums: list[float] = field(default_factory=list)  # of all ranks' numbers, step by step
    means: list[float] = field(default_factory=list)
    batches: list[list[int]] = field(default_factory=list)
    more: dict[str, Json] = field(default_factory=dict)

    @property
    def is_shorter(self) -> bool:
        """Whether this rank has fewer batches than the other."""
        return self.rank == 0

    def reduce(self, count: int, number: float = 0) -> None:
        """Do so many steps: each ends with an all-reduce of this *number*."""
        for _ in range(count):
            time.sleep(STEP)
            total = torch.tensor([number])
            dist.all_reduce(total)
            self.steps += 1
            self.sums.append(float(total))

    def stay(self) -> None:
        """Do something else, for longer than others wait."""
        time.sleep(2 * self.timeout)


def exits(me: Rank) -> None:
    """The shorter rank leaves the group and ends."""
    me.reduce(3 if me.is_shorter else 5)


def stays(me: Rank) -> None:
    """The shorter rank does something else meanwhile."""
    exits(me)
    if me.is_shorter:
        me.stay()


def epochs(me: Rank) -> None:
    """Two epochs of 3 and 4 batches; each all-reduce sums the numbers of the epochs."""
    for epoch in range(2):
        me.reduce(3 if me.is_shorter else 4, epoch)
    if me.is_shorter:
        me.stay()


def barrier(me: Rank) -> None:
    """The shorter rank goes to a barrier."""
    exits(me)
    dist.barrier()


def other(me: Rank) -> None:
    """The shorter rank reduces four numbers, as a validation does."""
    exits(me)
    if me.is_shorter:
        numbers = torch.ones(4)
        dist.all_reduce(numbers)
        me.more["validation"] = numbers.tolist()


def named(me: Rank) -> None:
    """A monitored barrier before each step."""
    monitored(me, me.is_shorter)


def named_by_zero(me: Rank) -> None:
    """The same, where rank 1 is the shorter one."""
    monitored(me, not me.is_shorter)


def monitored(me: Rank, is_shorter: bool) -> None:
    """Wait at most 3 s for the others before each step."""
    for _ in range(3 if is_shorter else 5):
        dist.monitored_barrier(timeout=timedelta(seconds=3))
        me.reduce(1)
    if is_shorter:
        time.sleep(6)


def agree(me: Rank) -> None:
    """Before each step all say whether they have a batch; all stop when one has none."""
    left = 3 if me.is_shorter else 5
    while True:
        has_one = torch.tensor([1.0 if left else 0.0])
        dist.all_reduce(has_one, dist.ReduceOp.MIN)
        if not has_one:
            break
        left -= 1
        me.reduce(1)
    me.more["left over"] = left


def model() -> Any:
    """A model whose gradient is its input."""
    return DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))


def gradient(net: Any, number: float) -> float:
    """Train on a number; return the gradient, which is the mean over the ranks."""
    net.zero_grad()
    net(torch.tensor([[float(number)]])).sum().backward()
    return round(float(net.module.weight.grad), 3)


def joined(me: Rank, **options: bool) -> None:
    """Join the ranks; the gradient of rank r's sample is r + 1."""
    net = model()
    with Join([net], **options):
        for _ in range(3 if me.is_shorter else 5):
            time.sleep(STEP)
            me.sums.append(gradient(net, me.rank + 1))
            me.steps += 1
    me.more["after join"] = True


def join_divides(me: Rank) -> None:
    """The same, divided by the ranks that are left."""
    joined(me, divide_by_initial_world_size=False)


def join_throws(me: Rank) -> None:
    """The same, and all stop when one has ended."""
    joined(me, throw_on_early_termination=True)


def ddp_alone(me: Rank) -> None:
    """The same without Join; the shorter rank stays."""
    net = model()
    for _ in range(3 if me.is_shorter else 5):
        gradient(net, me.rank + 1)
        me.steps += 1
    if me.is_shorter:
        me.stay()


def ddp_epochs(me: Rank, has_barriers: bool = False, leaves: bool = False) -> None:
    """Three epochs of 3 and 4 batches; the gradient of a sample is the number of its epoch."""
    net = model()
    for epoch in range(3):
        for _ in range(3 if me.is_shorter else 4):
            me.means.append(gradient(net, epoch))
            me.steps += 1
        if has_barriers:
            dist.barrier()
    if me.is_shorter and not leaves:
        me.stay()


def ddp_epochs_leaves(me: Rank) -> None:
    """The same; the shorter rank leaves the group and ends."""
    ddp_epochs(me, leaves=True)


def ddp_barriers(me: Rank) -> None:
    """The same with a barrier after each epoch."""
    ddp_epochs(me, has_barriers=True)


class Files(IterableDataset):
    """Files of three samples; each rank reads whole files, every so many."""

    def __init__(self, count: int, me: Rank) -> None:
        self.mine = range(count)[me.rank :: me.ranks]

    def __iter__(self) -> Iterator[int]:
        for file in self.mine:
            yield from range(10 * file, 10 * file + 3)


def files(me: Rank, count: int = 5) -> None:
    """Five files for two ranks, batches of 2."""
    for batch in DataLoader(Files(count, me), batch_size=2):
        me.batches.append(batch.tolist())
        me.reduce(1)


def files_even(me: Rank) -> None:
    """Four files for two ranks: the same number of batches."""
    files(me, 4)


def files_three(me: Rank) -> None:
    """Four files for three ranks."""
    files(me, 4)


CASES: dict[str, Callable[[Rank], None]] = {
    function.__name__: function
    for function in (
        exits,
        stays,
        epochs,
        barrier,
        other,
        named,
        named_by_zero,
        agree,
        joined,
        join_divides,
        join_throws,
        ddp_alone,
        ddp_epochs,
        ddp_epochs_leaves,
        ddp_barriers,
        files,
        files_even,
        files_three,
    )
}


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Let the ranks of each case run out, and note what each of them saw."""
    for case in cases:
        if case["case"] == "default timeout":
            default = dist.distributed_c10d._get_default_timeout("gloo")
            yield case | {"seconds": default.total_seconds()}
        else:
            saw = seen(case)
            yield case | {"saw": saw, "never came back": case["ranks"] - len(saw)}


def seen(case: Case) -> list[Case]:
    """Run the ranks of a case; return what those saw that came back."""
    context = get_context("fork")
    told = context.Queue()
    port = free_port()
    processes = [
        context.Process(target=run_rank, args=(case, rank, port, told))
        for rank in range(case["ranks"])
    ]
    for process in processes:
        process.start()
    saw = []
    for _ in processes:
        try:
            saw.append(told.get(timeout=PATIENCE))
        except Empty:
            break
    for process in processes:
        process.join(2)
        process.kill()
        process.join()
    return sorted(saw, key=lambda one: int(one["rank"]))


def run_rank(case: Case, rank: int, port: int, told: Any) -> None:
    """Be one rank of a case."""
    join(rank, case["ranks"], port, timeout=timedelta(seconds=case["timeout"]))
    dist.barrier()
    me = Rank(rank, case["ranks"], case["timeout"])
    began = time.perf_counter()
    error = ""
    try:
        CASES[case["case"]](me)
    except RuntimeError as raised:
        error = f"{type(raised).__name__}: {str(raised)[:WORDS]}"
    told.put(as_told(me, error, round(time.perf_counter() - began, 2)))
    told.close()
    told.join_thread()
    if not error:
        dist.destroy_process_group()


def as_told(me: Rank, error: str, seconds: float) -> Case:
    """Return what a rank saw as the file has it: without what it did not see."""
    found: Case = {"rank": me.rank, "steps": me.steps}
    found |= {
        name: value
        for name, value in asdict(me).items()
        if name in ("sums", "means", "batches") and value
    }
    found |= me.more
    if error:
        found["error"] = error
    return found | {"seconds": seconds}
