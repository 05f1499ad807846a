"""torchdata's `StatefulDataLoader`, with `state_dict` and `load_state_dict`."""

import pickle
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils.data import Dataset, IterableDataset, RandomSampler, get_worker_info
from torchdata.stateful_dataloader import StatefulDataLoader
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

from evidence.record import Case, Conditions, Json
from evidence.resumes.stops import compared, ends, listed, places, pull, refused

# Batches that are looked at, and those of a program with many
MOST = 100
MOST_OF_LONG = 12
REPEATED = 2  # batches before a state goes to another process
MISFIT = 3  # batches before a state goes into a loader that it does not fit

calls = torch.zeros(1, dtype=torch.int64).share_memory_()  # of all workers


class Map(Dataset):
    """Samples by number, of which one may fail."""

    def __init__(self, count: int = 12, fails: int | None = None) -> None:
        self.count = count
        self.fails = fails

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        calls[0] += 1
        if index == self.fails:
            raise ValueError(f"sample {index}")
        return index


class Random(Map):
    """Samples that have something random in them."""

    def __getitem__(self, index: int) -> int:
        return index * 1000 + int(torch.randint(1000, ()))


class Stream(IterableDataset):
    """An iterable without a state; each worker has its part."""

    def __init__(self, count: int = 12, fails: int | None = None) -> None:
        self.count = count
        self.fails = fails

    def mine(self) -> range:
        """Return what is this worker's."""
        info = get_worker_info()
        return range(info.id, self.count, info.num_workers) if info else range(self.count)

    def __iter__(self) -> Iterator[int]:
        for number in self.mine():
            calls[0] += 1
            if number == self.fails:
                raise ValueError(f"sample {number}")
            yield number


class Keeps(Stream):
    """An iterable that keeps where it is."""

    at = 0

    def __iter__(self) -> Iterator[int]:
        mine = self.mine()
        while self.at < len(mine):
            calls[0] += 1
            self.at += 1
            yield mine[self.at - 1]
        self.at = 0

    def state_dict(self) -> Case:
        """Return where it is."""
        return {"at": self.at}

    def load_state_dict(self, state: Case) -> None:
        """Go there."""
        self.at = state["at"]


class Shuffles(Keeps):
    """An iterable that shuffles through a buffer; its state has the generator, and the buffer or not."""

    def __init__(self, count: int = 12, buffer: int = 4, keep_buffer: bool = True) -> None:
        super().__init__(count)
        self.size = buffer
        self.keep_buffer = keep_buffer
        self.buffer: list[int] = []
        self.generator = torch.Generator().manual_seed(5)

    def __iter__(self) -> Iterator[int]:
        mine = self.mine()
        while self.at < len(mine) or self.buffer:
            while self.at < len(mine) and len(self.buffer) < self.size:
                calls[0] += 1
                self.buffer.append(mine[self.at])
                self.at += 1
            drawn = torch.randint(len(self.buffer), (), generator=self.generator)
            yield self.buffer.pop(int(drawn))
        self.at = 0

    def state_dict(self) -> Case:
        """Return where it is, and what it holds."""
        kept = list(self.buffer) if self.keep_buffer else []
        return {"at": self.at, "generator": self.generator.get_state(), "buffer": kept}

    def load_state_dict(self, state: Case) -> None:
        """Go there."""
        self.at = state["at"]
        self.buffer = list(state["buffer"])
        self.generator.set_state(state["generator"])


def seeded(seed: int = 7) -> Any:
    """Return a generator with a seed."""
    return torch.Generator().manual_seed(seed)


NAMES = {
    thing.__name__: thing
    for thing in (
        Keeps,
        Map,
        Random,
        RandomSampler,
        Shuffles,
        StatefulDataLoader,
        StatefulDistributedSampler,
        Stream,
        seeded,
    )
}


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each program through and stop it at several places, or put its state where it does not fit."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for case in cases:
        if "misfit" in case:
            yield misfit(case)
        elif "repeated" in case:
            yield repeated(case)
        else:
            yield run(case["program"])


def loader(program: str) -> Any:
    """Make a loader of a program."""
    return eval(program, dict(NAMES))


def is_long(program: str) -> bool:
    """Whether so many batches come that only some are looked at."""
    return "000" in program


def run(program: str) -> Case:
    """Run a program through, and stop it at several places."""
    most = MOST_OF_LONG if is_long(program) else MOST
    case: Case = {"program": program, "stops": []}
    torch.manual_seed(1)
    calls[0] = 0
    try:
        made = loader(program)
        whole = pull(iter(made), most, listed)
        case |= {"whole": whole, "calls of the whole": int(calls[0])}
        if not is_long(program):
            case["second epoch"] = pull(iter(made), most, listed)
    except Exception as error:  # a program that cannot run is an answer, too
        return case | refused(error, 200)
    del made
    middle = (len(whole) - ends(whole)) // 2
    for after in places(whole):
        following = case.get("second epoch") if after == middle else None
        case["stops"].append(stopped(program, whole, after, most, following))
    return case


def stopped(
    program: str, whole: list[Json], after: int, most: int, following: list[Json] | None
) -> Case:
    """Stop, take the state, load it into a new loader, and go on; also into the epoch that is *following*."""
    stop: Case = {"after": after}
    try:
        torch.manual_seed(1)
        first = loader(program)
        batches = iter(first)
        before = pull(batches, after, listed)
        stop["before equal"] = before == whole[:after]
        state = first.state_dict()
        stop["state_bytes"] = len(pickle.dumps(state))
        del batches, first
        torch.manual_seed(2)
        second = loader(program)
        second.load_state_dict(state)
        calls[0] = 0
        rest = pull(iter(second), most - after, listed)
        stop["calls after"] = int(calls[0])
        stop = compared(stop, before, rest, whole)
        if following is not None:
            stop["next epoch equal"] = pull(iter(second), most, listed) == following
    except Exception as error:  # what cannot go on says so in many ways
        stop |= refused(error, 300)
    return stop


def misfit(said: Case) -> Case:
    """Load the state of one loader into another."""
    found: Case = {key: said[key] for key in ("misfit", "state of", "into")}
    try:
        first = loader(f"StatefulDataLoader({said['state of']})")
        found["before"] = pull(iter(first), MISFIT, listed)
        second = loader(f"StatefulDataLoader({said['into']})")
        second.load_state_dict(first.state_dict())
        found["rest"] = pull(iter(second), MOST, listed)
    except (Exception, StopIteration) as error:
        found |= refused(error, 300)
    return found


def repeated(said: Case) -> Case:
    """Stop without a seed, and go on as another process would, whose generator is elsewhere."""
    found: Case = {key: said[key] for key in ("repeated", "loader")}
    first = loader(said["loader"])
    batches = iter(first)
    found["before"] = pull(batches, REPEATED, listed)
    state = first.state_dict()
    del batches, first
    torch.seed()  # where the generator of another process would be
    second = loader(said["loader"])
    second.load_state_dict(state)
    return found | {"rest": pull(iter(second), MOST, listed)}
