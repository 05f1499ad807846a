"""AUTOTUNE: the numbers that are left open in a pipeline, found by hill climbing on the virtual clock."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, NamedTuple

from lessonkit import check
from lessonkit.check import AUTOTUNE
from lessonkit.dataset import Dataset
from lessonkit.engine.machine import Cost, Machine
from lessonkit.engine.node import Node, walk
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.improve.change import Tried, check_options, try_out
from lessonkit.improve.knobs import Knob, with_knobs
from lessonkit.result import Result

FEW = 8  # numbers: all are tried, where one is changed alone
AS_FAST = 1.02  # times the shortest time: a longer one is as good
# What is said if the first difference between two prices is here: less, or more
DIFFERENCES = (
    ("takes less of too much memory", "takes too much memory"),
    ("faster", "slower"),
    ("fewer calls", "no faster, more calls"),
    ("less memory", "no faster, more memory"),
    ("fewer places", "no faster"),
)

Setting = tuple[int, ...]  # a number for each name


def autotune(
    dataset: Dataset,
    machine: Machine | None = None,
    memory: int | None = None,
    train: Cost | None = None,
    *,
    most_places: int = 8,
    **options: Any,
) -> Result:
    r"""Put a number in the place of every AUTOTUNE in *dataset*; no operator is added or moved.

    Calls get no more than the cores of *machine*, a prefetch no more than *most_places*, and
    all buffers and caches together no more than *memory* bytes. Of settings within 2 % of
    the fastest the one with fewer calls is better, and then the one that takes less memory.
    *options* are those of `benchmark`, which runs the pipeline many times, with its
    functions, on the virtual clock; without an end it needs `max_elements`.

    >>> from lessonkit import AUTOTUNE, ArtificialDataset
    >>> dataset = ArtificialDataset(20).map(cost=0.030, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)
    >>> tuned = autotune(dataset, Machine(cores=2))
    >>> tuned.dataset
    ArtificialDataset(20).map(cost=0.03, num_parallel_calls=2).prefetch(1)
    >>> print(*[step for step in tuned.steps if step.accepted], sep="\n")
    + Map 1, prefetch 1: 1880.000 ms, 0 bytes: where the search begins
    + Map 1 -> 2: 1010.000 ms, 0 bytes: 46.3 % faster
    """
    check_options(options)
    check.instance("dataset", dataset, Dataset)
    machine = check.instance("machine", machine or Machine(), Machine)
    if memory is not None:
        check.integer("memory", memory, least=0)
    check.integer("most_places", most_places, least=1)
    cycles, names, most = open_numbers(dataset.node, machine.cores, most_places)

    def tuned(setting: Setting) -> Node:
        return with_knobs(dataset.node, cycles | dict(zip(names, setting, strict=True)))

    def run(setting: Setting) -> Tried:
        return try_out(tuned(setting), options | {"train": train, "machine": machine})

    if not names:
        node = tuned(())
        same = dataset if node is dataset.node else Dataset(node)
        return Result(same, [], "there is no number of calls or places to find")
    search = Search([*names.values()], most, run, memory)
    found = search.found()
    return Result(Dataset(tuned(found)), search.steps, search.reason(found))


def open_numbers(
    root: Node, cores: int, most_places: int
) -> tuple[dict[Knob, int | None], dict[Knob, str], list[int]]:
    """List how many files each interleave has open, and the knobs to set, with their names and limits.

    The order of the elements depends on the open files: their number is not to be found,
    and stays what it was.
    """
    cycles: dict[Knob, int | None] = {}
    names, limits, known = dict[Knob, str](), list[int](), Counter[str]()
    for node in dict.fromkeys(walk(root)):  # one that is used twice counts once
        arguments, most = node.arguments, cores
        calls = arguments.get("num_parallel_calls")
        name = str(arguments.get("stage", node.method))
        known[name] += 1
        name += f" {known[name]}" if known[name] > 1 else ""
        if node.method == "interleave" and AUTOTUNE in (arguments["cycle_length"], calls):
            cycle = cycle_length(arguments["cycle_length"], calls, cores)
            cycles[Knob(node, "cycle_length")] = cycle
            most = min(cores, cycle)
        if calls == AUTOTUNE:
            names[Knob(node, "num_parallel_calls")] = name
            limits.append(most)
        elif node.method == "prefetch" and arguments["buffer_size"] == AUTOTUNE:
            names[Knob(node, "buffer_size")] = name
            limits.append(most_places)
    return cycles, names, limits


class SearchStep(NamedTuple):
    """A setting that was tried: the *change* to it, what came of it, and *why* it was *accepted* or not."""

    change: str
    setting: Setting
    tried: Tried
    accepted: bool
    why: str

    @property
    def seconds(self) -> float:
        return self.tried.seconds

    def __str__(self) -> str:
        took = f"{self.seconds * 1e3:.3f} ms, {self.tried.memory} bytes"
        return f"{'+' if self.accepted else '-'} {self.change}: {took}: {self.why}"


@dataclass
class Search:
    """A search for numbers, each from 1 to its limit, by what the run of a setting takes.

    *memory* is the most bytes that a run may take. Each setting runs once.
    """

    names: list[str]
    limits: list[int]
    run: Callable[[Setting], Tried]
    memory: int | None = None
    tried: dict[Setting, Tried] = field(default_factory=dict)
    steps: list[SearchStep] = field(default_factory=list)
    enough: float = 0  # seconds a sample; less is no better

    def found(self) -> Setting:
        """Return where the search ends: first at the fastest, then at what is as fast and takes less."""
        start = (1,) * len(self.names)
        self.note(start, start, "where the search begins", accepted=True)
        fastest = self.climb(start)
        self.enough = AS_FAST * self.tried[fastest].per_sample
        return self.climb(fastest)

    def climb(self, here: Setting) -> Setting:
        """Change one number while that helps; then two together, then all."""
        together = 1
        while together <= 3:
            others = dict.fromkeys(self.others(here, together))
            new = [there for there in others if there not in self.tried]
            best = min([here, *others], key=self.price)
            for there in new:
                if there != best:
                    better = self.price(there) < self.price(here)
                    also = ", but another change is better" * better
                    self.note(here, there, self.why(here, there) + also)
            if best == here:
                together += 1
            else:
                self.note(here, best, self.why(here, best), accepted=True)
                here, together = best, 1
        return here

    def others(self, here: Setting, together: int) -> Iterator[Setting]:
        """Give other values for one number, for two, or (*together* is 3) for all alike."""
        pairs = zip(here, self.limits, strict=True)
        values = [values_near(now, most, alone=together == 1) for now, most in pairs]
        if together == 3:
            yield from zip(*values, strict=True)
            return
        for chosen in combinations(range(len(here)), together):
            of_each = (values[i] if i in chosen else [now] for i, now in enumerate(here))
            yield from product(*of_each)

    def price(self, setting: Setting) -> tuple[float, ...]:
        """Return what is to be small, the first thing most: excess, time, calls, memory, places."""
        if setting not in self.tried:
            self.tried[setting] = self.run(setting)
        took = self.tried[setting]
        time = max(took.per_sample, self.enough)
        return self.excess(took), time, took.calls, took.memory, sum(setting)

    def excess(self, tried: Tried) -> int:
        """Return by how many bytes a run took more than there are."""
        return 0 if self.memory is None else max(0, tried.memory - self.memory)

    def why(self, here: Setting, there: Setting) -> str:
        """Name the first thing in which *there* is better or worse than *here*."""
        old, new = self.price(here), self.price(there)
        first = next((i for i in range(4) if old[i] != new[i]), 4)
        text = DIFFERENCES[first][new > old]
        share = f"{abs(new[1] / (old[1] or 1) - 1) * 100:.1f} % " if first == 1 else ""
        return share + text

    def note(
        self, here: Setting, there: Setting, why: str, *, accepted: bool = False
    ) -> None:
        """Note a step from *here* to *there*: which numbers changed, at the start all of them."""
        self.price(there)
        numbers = zip(self.names, here, there, strict=True)
        changed = [f"{name} {old} -> {new}" for name, old, new in numbers if old != new]
        start = (f"{name} {new}" for name, new in zip(self.names, there, strict=True))
        words = ", ".join(changed or start)
        self.steps.append(SearchStep(words, there, self.tried[there], accepted, why))

    def reason(self, setting: Setting) -> str:
        """Say why the search ends at *setting*."""
        took = self.tried[setting]
        if self.excess(took):
            return f"nothing that was tried fits into {self.memory} bytes; this is nearest to it"
        reasons = [
            "no change of one number, of two or of all is faster; none within 2 % takes less"
        ]
        numbers = zip(self.names, setting, self.limits, strict=True)
        reasons += [
            f"{name} has the most allowed" for name, n, most in numbers if n == most
        ]
        fast = took.seconds / AS_FAST
        if any(self.excess(one) and one.seconds < fast for one in self.tried.values()):
            reasons.append(f"what is faster does not fit into {self.memory} bytes")
        return "; ".join(reasons)


def values_near(now: int, most: int, *, alone: bool) -> list[int]:
    """List values to try: near the one *now* and far off, for a step may lie after a plain."""
    if alone and most <= FEW:
        return list(range(1, most + 1))
    near_and_far = (now - 2, now - 1, now // 2, now + 1, now + 2, 2 * now, 4 * now, most)
    return [min(max(1, value), most) for value in near_and_far]
