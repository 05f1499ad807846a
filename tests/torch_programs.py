"""Loaders whose program text was run on real PyTorch: what it gave is in `data/torch_programs.json`.

Written anew, with PyTorch installed, by `python tests/torch_programs.py FILE` for a file
that `write` made.
"""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

END = object()
FILE = Path(__file__).parent / "data" / "torch_programs.json"


def loaders() -> dict[str, Any]:
    """The loaders, by name."""
    from lessonkit import (
        ArtificialDataset,
        DataLoader,
        Dataset,
        get_worker_info,
        per_sample,
        straggler,
        work,
    )

    def mine(number: int) -> bool:
        info = get_worker_info()
        return info is None or number % info.num_workers == info.id

    def rows(count: int) -> Iterator[int]:
        for row in range(count):
            work(0.001)
            yield row

    def double(number: int) -> int:
        work(0.001)
        return 2 * number

    def largest(samples: list[int]) -> int:
        return max(samples)

    def pair(number: int) -> tuple[int, str]:
        return number, f"label {number}"

    def doubled(numbers: list[int]) -> list[int]:
        return [2 * number for number in numbers]

    numbers = Dataset.range(10)
    files = Dataset.from_generator(rows, args=(9,))
    return {
        "plain": DataLoader(numbers, batch_size=3),
        "one by one": DataLoader(numbers, batch_size=None),
        "workers": DataLoader(
            numbers.map(double), batch_size=3, num_workers=2, prefetch_factor=1
        ),
        "drop": DataLoader(
            numbers, batch_size=3, drop_last=True, num_workers=3, persistent_workers=True
        ),
        "costs": DataLoader(
            numbers.map(cost=straggler(0.001, every=4, slow=0.02)), 2, num_workers=2
        ),
        "two maps": DataLoader(
            numbers.map(double, stage="Decode").map(lambda x: x + 1, cost=0.001), 4
        ),
        "texts": DataLoader(
            Dataset.from_list(["a", "b", "c"]).map(lambda text: text * 2), 2
        ),
        "pairs": DataLoader(numbers.map(pair), batch_size=4, num_workers=2),
        "one call": DataLoader(
            numbers.map(doubled, cost=per_sample(0.001)), 4, getitems=True, num_workers=2
        ),
        "sampler": DataLoader(numbers, 3, sampler=[9, 0, 5, 5, 2], num_workers=2),
        "batch sampler": DataLoader(
            numbers, batch_sampler=[[8], [0, 0, 1], [5, 4]], num_workers=2
        ),
        "cached": DataLoader(
            numbers.map(double).cache().map(lambda x: x + 1), 4, num_workers=2
        ),
        "file": DataLoader(ArtificialDataset(7, open=0.01, read=0.001), 2, num_workers=1),
        "unsharded": DataLoader(files, 2, num_workers=2),
        "sharded": DataLoader(files.filter(mine), 2, num_workers=2),
        "share of a rank": DataLoader(numbers.shard(3, 1).map(double), 2, num_workers=2),
        "parallel calls": DataLoader(
            files.map(double, num_parallel_calls=4), 4, num_workers=2
        ),
        "collate": DataLoader(
            numbers, 4, collate_fn=largest, collate=0.002, num_workers=2, start=(0.01, 0.01)
        ),
    }


def plain(value: Any) -> Any:
    """A batch without tensors or tuples."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def run(text: str) -> list[Any]:
    """The batches of a program's loader, in two epochs."""
    names: dict[str, Any] = {"__name__": "a program"}
    exec(text, names)
    return [plain(list(names["loader"])) for _ in range(2)]


class StandIn:
    """Gives what PyTorch's `DataLoader` gives, in this process."""

    worker: Any = None  # what `get_worker_info` returns

    def __init__(
        self,
        samples: Any,
        batch_size: int | None = 1,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        drop_last: bool = False,
        collate_fn: Any = None,
        **others: Any,
    ) -> None:
        self.samples, self.size, self.last = samples, batch_size, drop_last
        self.orders, self.workers = (sampler, batch_sampler), num_workers
        self.collate = collate_fn or (collated if batch_size else alone)

    def __iter__(self) -> Iterator[Any]:
        """Let each worker give a batch in turn, until it has none. A map-style data set has one order."""
        count = self.workers if hasattr(self.samples, "__iter__") else 0
        infos: list[Any] = [
            SimpleNamespace(id=place, num_workers=count) for place in range(count)
        ]
        running = [(info, self.batches()) for info in infos or [None]]
        while running:
            for turn in [*running]:
                StandIn.worker = turn[0]
                batch = next(turn[1], END)
                StandIn.worker = None
                if batch is END:
                    running.remove(turn)
                else:
                    yield batch

    def batches(self) -> Iterator[Any]:
        """The batches of one worker."""
        samples, (sampler, batch_sampler), size = self.samples, self.orders, self.size or 1
        is_iterable = hasattr(samples, "__iter__")
        places = iter(samples if is_iterable else sampler or range(len(samples)))
        for group in batch_sampler or iter(lambda: list(islice(places, size)), []):
            if self.last and len(group) < size:
                return
            if self.size and hasattr(samples, "__getitems__"):
                group = samples.__getitems__(group)
            elif not is_iterable:
                group = [samples[place] for place in group]
            yield self.collate(group if self.size else group[0])


def collated(samples: list[Any]) -> Any:
    from lessonkit.engine.element import stack

    return stack(samples)


def alone(sample: Any) -> Any:
    return sample


def imitated() -> dict[str, Any]:
    """Modules to stand in the place of PyTorch's, with the loader above."""
    data: dict[str, Any] = {
        "Dataset": object,
        "IterableDataset": object,
        "DataLoader": StandIn,
    }
    data |= {
        "get_worker_info": lambda: StandIn.worker,
        "default_collate": collated,
        "default_convert": alone,
    }
    torch = SimpleNamespace(Generator=lambda: SimpleNamespace(manual_seed=int))
    return {
        "torch": torch,
        "torch.utils": torch,
        "torch.utils.data": SimpleNamespace(**data),
    }


def main(programs: dict[str, str], runs: Callable[[str], list[Any]]) -> dict[str, Any]:
    return {
        name: {"program": text, "epochs": runs(text)} for name, text in programs.items()
    }


if __name__ == "__main__":  # in an environment that has PyTorch and not lessonkit
    given = json.loads(Path(sys.argv[1]).read_text())
    FILE.write_text(json.dumps(main(given, run), indent=1) + "\n")
