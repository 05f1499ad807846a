"""Loaders as the measured cases spell them, built with lessonkit, and run as those were run."""

import os
from collections.abc import Iterator
from itertools import chain
from typing import Any

from evidence import record
from lessonkit import DataLoader, Dataset, Handling, Machine, get_worker_info, work
from lessonkit.engine.element import END, Element
from lessonkit.engine.node import NodeStates
from lessonkit.engine.operators.stream import Scope
from lessonkit.engine.trace import Name
from lessonkit.engine.virtual import Virtual

ERRORS = {
    "KeyError": KeyError,
    "IndexError": IndexError,
    "RuntimeError": RuntimeError,
    "OSError": OSError,
}

# What was measured on the machine on which PyTorch ran, in ms.
# A sleep is longer than it should be; a sample takes a little by itself
NAP = 0.18
ITEM = 0.04
BEGIN = 1.0
FORK = 13.0
READY = 7.0
SEND = 0.12
HANDLING = {
    "send": SEND,
    "ask": 0.5,
    "hop": 0.25,
    "first": 0.7,
    "resume": 1.5,
    "stop": 7.5,
    "stop_each": 4.0,
}


def cases(kind: str, *names: str) -> list[dict[str, Any]]:
    """The cases of a kind, "measured" or "epochs": those kept here, or those of a named file."""
    other = os.environ.get("LESSONKIT_TORCH_CASES")
    files = [record.cases(name) for name in ([other] if other else names)]
    return [case for file in files for case in file if kind in case]


def nap(seconds: float) -> float:
    """How long a sleep of so many seconds takes."""
    return seconds + NAP / 1e3 if seconds else 0.0


class Order:
    """A sampler that gives the order of each epoch as it was measured."""

    def __init__(self, epochs: list[list[int]]) -> None:
        self.epochs = epochs
        self.passes = iter(epochs)

    def __iter__(self) -> Iterator[int]:
        return iter(next(self.passes))

    def __len__(self) -> int:
        return len(self.epochs[0])


class Samples:
    """What is behind a spec's data set: what a sample costs, and what goes wrong in it."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.said = spec["dataset"]
        self.opened: list[Any] = []  # the processes that have opened what is opened lazily

    def cost(self, index: int, file: int = 0) -> float:
        said = self.said
        if costs := said.get("file_costs"):
            return nap(costs[file % len(costs)])
        if costs := said.get("costs"):
            return nap(costs[index % len(costs)])
        slow = said.get("straggler")
        is_slow = slow and index % slow["every"] == slow.get("offset", 0)
        return nap(slow["cost"] if slow and is_slow else said.get("cost", 0))

    def fail(self, value: int) -> None:
        said = self.said
        if value in said.get("fail_on", ()):
            raise ERRORS.get(said.get("error"), ValueError)(f"bad sample {value}")
        if value in said.get("stop_on", ()):
            raise StopIteration
        if value in said.get("exit_on", ()):
            raise SystemExit(3)

    def item(self, index: int) -> tuple[int, int]:
        """`__getitem__`."""
        info = get_worker_info()
        if self.said.get("lazy_open") and not any(one is info for one in self.opened):
            self.opened.append(info)
            work(nap(self.said["lazy_open"]))
        work(self.cost(index) + ITEM / 1e3)
        self.fail(index)
        return index, info.id if info else -1

    def items(self, indices: list[int]) -> tuple[list[int], list[int]]:
        """`__getitems__`."""
        info = get_worker_info()
        work(nap(self.said.get("getitems_cost", 0)))
        for index in indices:
            self.fail(index)
        return list(indices), [info.id if info else -1] * len(indices)

    def rows(self) -> Iterator[tuple[int, int]]:
        """The iterable: files in turn, some of them or of their samples for this worker."""
        said = self.said
        info = get_worker_info()
        me, count = (info.id, info.num_workers) if info else (0, 1)
        shard = said.get("shard", "none")
        number = 0
        survives = said.get("style") == "class"
        work(nap(said.get("iter_cost", 0)))
        for file, samples in enumerate(said["files"]):
            if shard == "files" and file % count != me:
                continue
            work(nap(said.get("open", 0)))
            for index in range(samples):
                value = 100 * file + index
                mine = shard != "samples" or number % count == me
                number += 1
                if mine or not said.get("skip_free", True):
                    work(self.cost(index, file) + (ITEM / 1e3 if mine else 0))
                if mine:
                    if not survives:
                        self.fail(value)
                    yield value, info.id if info else -1

    def checked(self, value: int, worker: int) -> tuple[int, int]:
        """An iterator class raises in one `__next__` and goes on."""
        self.fail(value)
        return value, worker


def dataset(spec: dict[str, Any]) -> Dataset:
    samples = Samples(spec)
    if spec["dataset"]["kind"] == "map":
        # Or PyTorch asks one by one
        batching = spec.get("loader", {}).get("batch_size", 1) is not None
        one_call = spec["dataset"].get("getitems") and batching
        return Dataset.range(spec["dataset"]["n"]).map(
            samples.items if one_call else samples.item
        )
    rows = Dataset.from_generator(samples.rows)
    return rows.map(samples.checked) if spec["dataset"].get("style") == "class" else rows


def loader(
    spec: dict[str, Any], epochs: list[dict[str, Any]], measured_start: bool
) -> DataLoader:
    """Build the loader of a spec; its workers start as in *epochs*, or as they do on average."""
    said = dict(spec.get("loader", {}))
    asked = ("batch_size", "num_workers", "batch_sampler")
    keywords = {name: said[name] for name in asked if name in said and said[name] != []}
    for name in (
        "prefetch_factor",
        "drop_last",
        "persistent_workers",
        "in_order",
        "pin_memory",
    ):
        if said.get(name) is not None:
            keywords[name] = said[name]
    if said.get("shuffle"):
        orders = [epoch.get("order") or [*chain(*epoch["batches"])] for epoch in epochs]
        keywords |= (
            {"sampler": Order(orders)} if all(orders) and orders else {"shuffle": True}
        )
    workers = said.get("num_workers", 0)
    if workers and (spec.get("worker_init") or spec.get("init_fail")):
        keywords["worker_init_fn"] = lambda number: init(spec, number)
    first = epochs[0].get("iter_ms") if epochs else None
    start = (FORK / 1e3, READY / 1e3)
    begin = BEGIN
    if measured_start and workers and first is not None:
        start = measured(said, epochs)
        begin = 0
    handling = {name: value / 1e3 for name, value in HANDLING.items()}
    return DataLoader(
        dataset(spec),
        collate=nap(spec.get("collate", 0)),
        getitems=bool(spec["dataset"].get("getitems")),
        start=start if workers else (0, 0),
        handling=Handling(begin=(begin if workers else 0.3) / 1e3, **handling),
        **keywords,
    )


def init(spec: dict[str, Any], number: int) -> None:
    work(nap(spec.get("worker_init", 0)))
    if number in spec.get("init_fail", ()):
        raise RuntimeError(f"init failed in worker {number}")


def measured(said: dict[str, Any], epochs: list[dict[str, Any]]) -> tuple[Any, Any]:
    """The start of each worker in each epoch, as it was measured."""
    count = int(said["num_workers"])
    factor = int(said.get("prefetch_factor") or 2)

    def fork(epoch: int, worker: int) -> float:
        iter_ms = float(epochs[epoch]["iter_ms"])
        return max(0.0, iter_ms - count * factor * SEND) / count / 1e3

    def ready(epoch: int, worker: int) -> float:
        forked = (worker + 1) * fork(epoch, worker)
        at = epochs[epoch]["ready_ms"].get(str(worker))
        return READY / 1e3 if at is None else max(0.0, at / 1e3 - forked)

    return fork, ready


class Pass:
    """What one epoch of a case gave: batches, their workers, when they came, what `next` did."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.worker: list[int | None] = []
        self.arrival_ms: list[float] = []
        self.sequence: list[dict[str, Any]] = []
        self.outcome = "end"
        self.epoch_ms = 0.0


def run(spec: dict[str, Any], made: DataLoader) -> list[Pass]:
    """Run the epochs of a spec on the virtual clock, as the measuring program ran them."""
    clock = Virtual(Machine(), NodeStates(fixed_seed=True), None)
    passes: list[Pass] = []
    clock.complete(epochs_of(spec, made, clock, passes), Name("loop"))
    return passes


async def epochs_of(
    spec: dict[str, Any], made: DataLoader, clock: Virtual, passes: list[Pass]
) -> None:
    limits = spec.get("consume") or []
    for number in range(spec.get("epochs", 1)):
        passes.append(Pass())
        limit = limits[number] if number < len(limits) else None
        began = clock.time
        stream: Any = Scope(clock).open(made.node)
        await one_pass(spec, stream, clock, passes[-1], limit, began)
        if passes[-1].outcome == "abandoned" and hasattr(stream, "end_workers"):
            await stream.end_workers()
        passes[-1].epoch_ms = (clock.time - began) / 1e6
        stream.close()


async def one_pass(
    spec: dict[str, Any],
    stream: Any,
    clock: Virtual,
    found: Pass,
    limit: int | None,
    began: int,
) -> None:
    train = spec.get("train", 0)
    train = train if isinstance(train, list) else [train]
    errors = extra = 0
    while True:
        if limit is not None and len(found.batches) >= limit:
            found.outcome = "abandoned"
            return
        try:
            element: Element = await stream.next()
        except AssertionError as error:
            found.outcome = "iter_error"
            found.sequence.append({"error": told(error)})
            return
        except Exception as error:
            errors += 1
            found.outcome = "error"
            found.sequence.append({"error": told(error)})
            if errors > spec.get("max_errors", 0):
                return
            continue
        if element is END:
            found.sequence.append({"end": True})
            if extra == spec.get("extra_next", 0):
                return
            extra += 1
            continue
        batch, worker = element.value
        if isinstance(batch, int):
            batch = [batch]
            worker = [worker]
        found.batches.append(list(batch))
        found.worker.append(worker[0] if worker else None)
        found.arrival_ms.append((clock.time - began) / 1e6)
        found.sequence.append({"batch": list(batch)})
        await clock.spend(round(nap(train[(len(found.batches) - 1) % len(train)]) * 1e9))


def told(error: Exception) -> dict[str, str]:
    return {"type": type(error).__name__, "msg": str(error).split("\n")[0]}
