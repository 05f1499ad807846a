"""AUTOTUNE: the open numbers of a pipeline, found by hill climbing on the virtual clock."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset, Result
from lessonkit.engine import check
from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.machine import FOUR_CORES, Cost, Machine
from lessonkit.engine.node import Node, walk
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.words import milliseconds, percent, size

from .knobs import AS_FAST, Knob, Tried, check_options, try_out, with_knobs

Setting = tuple[int, ...]  # a number for each name

# Up to here every number is tried: one call more changes much where there are few
FEW = 8


def autotune(
    dataset: Dataset,
    machine: Machine = FOUR_CORES,
    memory: int | None = None,
    train: Cost | None = None,
    *,
    most_slots: int = 8,
    **options: Any,
) -> "Result[SearchStep]":
    r"""Put a number in the place of every AUTOTUNE in *dataset*; no operator is added or moved.

    A map gets no more calls than *machine* has cores, a prefetch no more than *most_slots*, and
    all buffers and caches together no more than *memory* bytes. Of settings within 2 % of the
    fastest, the one with fewer calls is better, and then the one that needs less memory.
    *options* are those of `benchmark`, which runs the pipeline many times, with its
    functions, on the virtual clock; a pipeline without an end needs `max_elements`.

    >>> from lessonkit import AUTOTUNE, ArtificialDataset
    >>> mapped = ArtificialDataset(20).map(cost=0.030, num_parallel_calls=AUTOTUNE)
    >>> tuned = autotune(mapped.prefetch(AUTOTUNE), Machine(cores=2))
    >>> tuned.dataset
    ArtificialDataset(20).map(cost=0.03, num_parallel_calls=2).prefetch(1)
    >>> print(*[step for step in tuned.steps if step.accepted], sep="\n")
    + Map 1, prefetch 1: 1,880 ms, 0 B: where the search begins
    + Map 1 -> 2: 1,010 ms, 0 B: 46.3 % faster
    """
    check_options(options)
    check.instance("dataset", dataset, Dataset)
    check.instance("machine", machine, Machine)
    if memory is not None:
        check.integer("memory", memory, least=0)
    check.integer("most_slots", most_slots, least=1)
    cycles, wanted = open_numbers(dataset.node, machine.cores, most_slots)
    options |= {"train": train, "machine": machine}

    def tuned(setting: Setting) -> Dataset:
        values = cycles | dict(zip(wanted, setting, strict=True))
        return Dataset(with_knobs(dataset.node, values)) if values else dataset

    if not wanted:
        return Result(tuned(()), [], "there is no number of calls or slots to find")

    def run(setting: Setting) -> Tried:
        return try_out(tuned(setting).node, options)

    search = Search(dict(wanted.values()), run, math.inf if memory is None else memory)
    found = search.found()
    return Result(tuned(found), search.steps, search.reason(found))


class Open(NamedTuple):
    """A number that is to be found, under a *name* that no other has: from 1 to the *most*."""

    name: str
    most: int


def open_numbers(
    root: Node, cores: int, most_slots: int
) -> tuple[dict[Knob, int | None], dict[Knob, Open]]:
    """Return how many files each interleave opens, and the knobs to set.

    The order of the elements depends on the open files: their number is not to be found,
    and stays what it was.
    """
    cycles: dict[Knob, int | None] = {}
    wanted: dict[Knob, Open] = {}
    named = Counter[str]()
    for node in dict.fromkeys(walk(root)):  # one that is used twice counts once
        arguments = node.arguments
        most = cores
        calls = arguments.get("num_parallel_calls")
        name = str(arguments.get("stage", node.method))
        named[name] += 1
        name += f" {named[name]}" if named[name] > 1 else ""
        if node.method == "interleave" and AUTOTUNE in (
            arguments["cycle_length"],
            calls,
        ):
            cycle = cycle_length(arguments["cycle_length"], calls, cores)
            cycles[Knob(node, "cycle_length")] = cycle
            most = min(cores, cycle)
        if calls == AUTOTUNE:
            wanted[Knob(node, "num_parallel_calls")] = Open(name, most)
        elif node.method == "prefetch" and arguments["buffer_size"] == AUTOTUNE:
            wanted[Knob(node, "buffer_size")] = Open(name, most_slots)
    return cycles, wanted


class SearchStep(NamedTuple):
    """A setting that was *tried*: the *change* to it, and *why* it was *accepted* or not.

    It has the number of each operator by its name, as `change` has it.
    """

    change: str
    setting: dict[str, int]
    tried: Tried
    accepted: bool
    why: str

    def __str__(self) -> str:
        took = f"{milliseconds(self.tried.seconds)}, {size(self.tried.memory)}"
        return f"{'+' if self.accepted else '-'} {self.change}: {took}: {self.why}"


class Price(NamedTuple):
    """What a setting costs. Prices compare field by field, so the first counts most."""

    excess: float  # bytes above the memory that is allowed
    time: float  # seconds per sample
    calls: int
    memory: int  # bytes
    slots: int  # all numbers of the setting together


class Words(NamedTuple):
    """What is said of a setting if one field of its price is *lower* or *higher*."""

    lower: str
    higher: str


WORDS = {
    "excess": Words("takes less memory, but still too much", "takes too much memory"),
    "time": Words("faster", "slower"),
    "calls": Words("fewer calls", "no faster, more calls"),
    "memory": Words("less memory", "no faster, more memory"),
    "slots": Words("fewer slots", "no faster"),
}


@dataclass
class Search:
    """A search for numbers, each from 1 to the one in *most*; what *run* says of a setting decides.

    Runs that take more than *memory* bytes are worse than all others. No setting runs twice.
    """

    most: dict[str, int]
    run: Callable[[Setting], Tried]
    memory: float = math.inf
    tried: dict[Setting, Tried] = field(default_factory=dict)
    steps: list[SearchStep] = field(default_factory=list)
    enough: float = 0  # seconds per sample; less is no better
    as_fast: float = AS_FAST

    def found(self) -> Setting:
        """Return the setting that takes least of those as fast as the fastest."""
        start = (1,) * len(self.most)
        self.price(start)
        self.note(start, start, "where the search begins", accepted=True)
        fastest = self.climb(start)
        self.enough = self.as_fast * self.tried[fastest].per_sample
        return self.climb(fastest)

    def climb(self, here: Setting) -> Setting:
        """Change one number while that helps; then all together."""
        for others in self.one_changed(here), self.all_alike():
            new = [there for there in others if there not in self.tried]
            best = min([here, *others], key=self.price)
            for there in new:
                if there != best:
                    self.note(here, there, self.why(best, there))
            if best != here:
                self.note(here, best, self.why(here, best), accepted=True)
                return self.climb(best)
        return here

    def one_changed(self, here: Setting) -> list[Setting]:
        """List the settings in which one number is another.

        All up to FEW are tried, then every one so far apart, and those next to the present one.
        """
        return [
            (*here[:index], value, *here[index + 1 :])
            for index, most in enumerate(self.most.values())
            for value in range(1, most + 1)
            if value <= FEW or value % FEW == 0 or abs(value - here[index]) == 1
        ]

    def all_alike(self) -> list[Setting]:
        """List the settings in which all numbers are one, or their largest if that is less."""
        most = self.most.values()
        return [tuple(min(value, one) for one in most) for value in range(1, max(most) + 1)]

    def price(self, setting: Setting) -> Price:
        """Return what *setting* costs; it is run if it was not before."""
        if setting not in self.tried:
            self.tried[setting] = self.run(setting)
        took = self.tried[setting]
        return Price(
            excess=max(0, took.memory - self.memory),
            time=max(took.per_sample, self.enough),
            calls=took.calls,
            memory=took.memory,
            slots=sum(setting),
        )

    def why(self, one: Setting, other: Setting) -> str:
        """Name the first thing in which *other* is better or worse than *one*."""
        old = self.price(one)
        new = self.price(other)
        for name, words in WORDS.items():
            before = getattr(old, name)
            after = getattr(new, name)
            if after != before:
                text = words.higher if after > before else words.lower
                if name == "time":
                    return f"{percent(abs(new.time / (old.time or 1) - 1))} {text}"
                return text
        return "no faster"  # it costs the same

    def note(
        self, here: Setting, there: Setting, why: str, *, accepted: bool = False
    ) -> None:
        """Note the numbers that changed from *here* to *there*, or all of them at the start."""
        numbers = [*zip(self.most, here, there, strict=True)]
        changed = [f"{name} {old} -> {new}" for name, old, new in numbers if old != new]
        words = ", ".join(changed or [f"{name} {new}" for name, _, new in numbers])
        setting = dict(zip(self.most, there, strict=True))
        self.steps.append(SearchStep(words, setting, self.tried[there], accepted, why))

    def reason(self, setting: Setting) -> str:
        """Say why the search ends at *setting*."""
        took = self.tried[setting]
        if took.memory > self.memory:
            return f"nothing that was tried fits into {size(self.memory)}; this is nearest to it"
        reasons = [
            "no change of one number, or of all, is faster, and none within 2 % needs less"
        ]
        for (name, most), number in zip(self.most.items(), setting, strict=True):
            if number == most:
                reasons.append(f"{name} has its largest number")
        tight = [one for one in self.tried.values() if one.memory > self.memory]
        if any(one.seconds < took.seconds / self.as_fast for one in tight):
            reasons.append(f"faster settings do not fit into {size(self.memory)}")
        return "; ".join(reasons)
