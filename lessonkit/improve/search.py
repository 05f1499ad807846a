"""Hill climbing: turn a knob, two or all as long as a run gets faster; then save what is not needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

from lessonkit.engine.node import Node

FEW = 8  # numbers: all are tried, where one knob is turned alone
NEAR = 1.02  # times the shortest time: so much longer is as good

Setting = tuple[int, ...]  # a number for each knob
Key = Callable[[Setting], tuple[float, ...]]  # excess, time, calls, memory, places: the less, the better
WORSE = ("takes too much memory", "slower", "no faster, more calls", "no faster, more memory", "no faster")
BETTER = ("takes less of too much memory", "faster", "fewer calls", "less memory", "fewer places")


class Knob(NamedTuple):
    """A number to be found: 1 to *most*."""

    name: str
    node: Node
    argument: str
    most: int

    def probes(self, n: int, *, alone: bool) -> list[int]:
        """Where to look from *n*: nearby, and far off, for a step may lie behind a plain."""
        if alone and self.most <= FEW:
            return list(range(1, self.most + 1))
        near_and_far = (n - 2, n - 1, n // 2, n + 1, n + 2, 2 * n, 4 * n, self.most)
        return [min(max(1, number), self.most) for number in near_and_far]


class Result(NamedTuple):
    """What a setting brings, and what it takes."""

    seconds: float
    max_bytes: int


@dataclass(frozen=True)
class Step:
    """Something that was tried: which knobs were turned, from where to where, and what came of it."""

    knobs: tuple[str, ...]
    before: Setting
    after: Setting
    seconds: float
    max_bytes: int
    accepted: bool
    why: str

    @property
    def turns(self) -> str:
        """Which knobs were turned, and how; at the start, where all of them are."""
        turns = zip(self.knobs, self.before, self.after, strict=True)
        return ", ".join(
            f"{name} {before} -> {after}" if before != after else f"{name} {after}"
            for name, before, after in turns
        )

    def __str__(self) -> str:
        sign = "+" if self.accepted else "-"
        return f"{sign} {self.turns}: {self.seconds * 1e3:.3f} ms, {self.max_bytes} bytes: {self.why}"


class Search:
    """One search: what was run, and what was tried in which order."""

    def __init__(self, knobs: list[Knob], run: Callable[[Setting], Result], memory: int | None) -> None:
        self.knobs = knobs
        self.run = run
        self.memory = memory
        self.results: dict[Setting, Result] = {}
        self.steps: list[Step] = []

    def found(self) -> Setting:
        """The setting where the search ends: first the fastest, then what is as fast and takes less."""
        start = (1,) * len(self.knobs)
        self.note(start, start, "where the search begins", accepted=True)
        fastest = self.descend(start, self.slowness)
        shortest = self.result(fastest).seconds

        def price(setting: Setting) -> tuple[float, ...]:
            excess, seconds, *taken = self.slowness(setting)
            return (excess, seconds if seconds > shortest * NEAR else shortest, *taken)

        return self.descend(fastest, price)

    def result(self, setting: Setting) -> Result:
        """What comes of a setting; each is run once."""
        if setting not in self.results:
            self.results[setting] = self.run(setting)
        return self.results[setting]

    def excess(self, setting: Setting) -> int:
        """The bytes that a setting takes and that there are not."""
        return 0 if self.memory is None else max(0, self.result(setting).max_bytes - self.memory)

    def slowness(self, setting: Setting) -> tuple[float, ...]:
        """First it has to fit; then the time counts, and of the same time what it takes."""
        seconds, max_bytes = self.result(setting)
        numbers = zip(self.knobs, setting, strict=True)
        calls = sum(number for knob, number in numbers if knob.argument == "num_parallel_calls")
        return self.excess(setting), seconds, calls, max_bytes, sum(setting)

    def descend(self, here: Setting, key: Key) -> Setting:
        """Take the best turn as long as one is better: of one knob; if there is none, of more at once."""
        together = 1
        while together <= 3:
            turns = dict.fromkeys(self.turns(here, together))
            new = [there for there in turns if there not in self.results]
            best = min([here, *turns], key=key)
            for there in new:
                if there != best:
                    also = ", but another turn is better" if key(there) < key(here) else ""
                    self.note(here, there, self.why(key(here), key(there)) + also)
            if best == here:
                together += 1
            else:
                self.note(here, best, self.why(key(here), key(best)), accepted=True)
                here, together = best, 1
        return here

    def turns(self, here: Setting, together: int) -> Iterator[Setting]:
        """Other numbers for one knob, for two, or (*together* is 3) for all alike."""
        numbers = zip(self.knobs, here, strict=True)
        probes = [knob.probes(number, alone=together == 1) for knob, number in numbers]
        if together == 3:
            yield from zip(*probes, strict=True)
            return
        for chosen in combinations(range(len(here)), together):
            yield from product(*(probes[i] if i in chosen else [here[i]] for i in range(len(here))))

    def note(self, here: Setting, there: Setting, why: str, *, accepted: bool = False) -> None:
        """Take down a step: the knobs that were turned, or all of them at the start."""
        turns = list(zip((knob.name for knob in self.knobs), here, there, strict=True))
        turned = [turn for turn in turns if turn[1] != turn[2]] or turns
        names, before, after = zip(*turned, strict=True)
        self.steps.append(Step(names, before, after, *self.result(there), accepted, why))

    def why(self, here: tuple[float, ...], there: tuple[float, ...]) -> str:
        """The first thing in which one setting is better or worse than another."""
        first = next(i for i, (old, new) in enumerate(zip(here, there, strict=True)) if old != new or i == 4)
        text = (BETTER if there < here else WORSE)[first]
        return f"{abs(there[1] / (here[1] or 1) - 1) * 100:.1f} % {text}" if first == 1 else text

    def reason(self, setting: Setting) -> str:
        """Why the search ends at *setting*."""
        if self.excess(setting):
            return f"nothing that was tried fits into {self.memory} bytes; this is nearest to it"
        reasons = ["no turn of one knob, of two or of all is faster, or within 2 % and takes less"]
        numbers = zip(self.knobs, setting, strict=True)
        reasons += [f"{knob.name} has the most allowed" for knob, number in numbers if number == knob.most]
        limit = self.result(setting).seconds / NEAR
        if any(self.excess(tried) and self.result(tried).seconds < limit for tried in self.results):
            reasons.append(f"what is faster does not fit into {self.memory} bytes")
        return "; ".join(reasons)
