"""Hill climbing: turn a knob, two or all as long as a run gets faster; then save what is not needed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product

from lessonkit.improve.knobs import Knob

FEW = 8  # numbers: all are tried, where one knob is turned alone
AS_FAST = 1.02  # times the shortest time: so much longer is as good

Setting = tuple[int, ...]  # a value for each number
WORSE = (
    "takes too much memory",
    "slower",
    "no faster, more calls",
    "no faster, more memory",
    "no faster",
)
BETTER = (
    "takes less of too much memory",
    "faster",
    "fewer calls",
    "less memory",
    "fewer places",
)


def probes(knob: Knob, n: int, *, alone: bool) -> list[int]:
    """List where to look from *n*: nearby, and far off, for a step may lie after a plain."""
    if alone and knob.most <= FEW:
        return list(range(1, knob.most + 1))
    near_and_far = (n - 2, n - 1, n // 2, n + 1, n + 2, 2 * n, 4 * n, knob.most)
    return [min(max(1, number), knob.most) for number in near_and_far]


@dataclass(frozen=True)
class Try:
    """Something that was tried: which *knobs* were turned, from where to where, and what came of it."""

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
            f"{name} {f'{old} -> ' * (old != new)}{new}" for name, old, new in turns
        )

    def __str__(self) -> str:
        sign = "+" if self.accepted else "-"
        return f"{sign} {self.turns}: {self.seconds * 1e3:.3f} ms, {self.max_bytes} bytes: {self.why}"


@dataclass
class Search:
    """Search for values of *knobs*: *run* gives seconds and bytes of a setting, *memory* the most bytes."""

    knobs: list[Knob]
    run: Callable[[Setting], tuple[float, int]]
    memory: int | None
    results: dict[Setting, tuple[float, int]] = field(default_factory=dict)
    tries: list[Try] = field(default_factory=list)
    enough: float = 0  # seconds; less is no better

    def found(self) -> Setting:
        """Return where the search ends: first at the fastest, then at what is as fast and takes less."""
        start = (1,) * len(self.knobs)
        self.note(start, start, "where the search begins", accepted=True)
        fastest = self.descend(start)
        self.enough = AS_FAST * self.results[fastest][0]
        return self.descend(fastest)

    def excess(self, max_bytes: int) -> int:
        """Return by how much *max_bytes* are more than there are."""
        return 0 if self.memory is None else max(0, max_bytes - self.memory)

    def price(self, setting: Setting) -> tuple[float, ...]:
        """Return what counts of *setting*, the first thing most: excess, seconds, calls, memory, places."""
        if setting not in self.results:
            self.results[setting] = self.run(setting)
        seconds, max_bytes = self.results[setting]
        pairs = zip(self.knobs, setting, strict=True)
        calls = sum(value for knob, value in pairs if knob.name == "num_parallel_calls")
        return (
            self.excess(max_bytes),
            max(seconds, self.enough),
            calls,
            max_bytes,
            sum(setting),
        )

    def descend(self, here: Setting) -> Setting:
        """Take the best turn as long as one is better: of one knob; if there is none, of more at once."""
        together = 1
        while together <= 3:
            turns = dict.fromkeys(self.turns(here, together))
            new = [there for there in turns if there not in self.results]
            best = min([here, *turns], key=self.price)
            for there in new:
                if there != best:
                    also = (
                        ", but another turn is better"
                        if self.price(there) < self.price(here)
                        else ""
                    )
                    self.note(here, there, self.why(here, there) + also)
            if best == here:
                together += 1
            else:
                self.note(here, best, self.why(here, best), accepted=True)
                here, together = best, 1
        return here

    def turns(self, here: Setting, together: int) -> Iterator[Setting]:
        """Give other values for one knob, for two, or (*together* is 3) for all alike."""
        pairs = zip(self.knobs, here, strict=True)
        values = [probes(knob, value, alone=together == 1) for knob, value in pairs]
        if together == 3:
            yield from zip(*values, strict=True)
            return
        for chosen in combinations(range(len(here)), together):
            yield from product(
                *(values[i] if i in chosen else [here[i]] for i in range(len(here)))
            )

    def note(
        self, here: Setting, there: Setting, why: str, *, accepted: bool = False
    ) -> None:
        """Take down the knobs turned from *here* to *there*, or all of them at the start."""
        self.price(there)
        turns = list(zip((knob.label for knob in self.knobs), here, there, strict=True))
        turned = [turn for turn in turns if turn[1] != turn[2]] or turns
        names, before, after = zip(*turned, strict=True)
        self.tries.append(Try(names, before, after, *self.results[there], accepted, why))

    def why(self, here: Setting, there: Setting) -> str:
        """Name the first thing in which *there* is better or worse than *here*."""
        old, new = self.price(here), self.price(there)
        first = next((i for i in range(4) if old[i] != new[i]), 4)
        text = (BETTER if new < old else WORSE)[first]
        return (
            f"{abs(new[1] / (old[1] or 1) - 1) * 100:.1f} % {text}" if first == 1 else text
        )

    def reason(self, setting: Setting) -> str:
        """Say why the search ends at *setting*."""
        seconds, max_bytes = self.results[setting]
        if self.excess(max_bytes):
            return f"nothing that was tried fits into {self.memory} bytes; this is nearest to it"
        reasons = [
            "no change of one number, of two or of all is faster; none within 2 % takes less"
        ]
        pairs = zip(self.knobs, setting, strict=True)
        reasons += [
            f"{knob.label} has the most allowed"
            for knob, value in pairs
            if value == knob.most
        ]
        if any(
            self.excess(tried.max_bytes) and tried.seconds < seconds / AS_FAST
            for tried in self.tries
        ):
            reasons.append(f"what is faster does not fit into {self.memory} bytes")
        return "; ".join(reasons)
