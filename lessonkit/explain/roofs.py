"""Roofs: how many samples per second each part of a job allows, and how many the run makes.

It is the roofline of an input pipeline. No run is above the lowest roof, and what is gained by
lifting that one ends at the next.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from lessonkit.words import number, percent


@dataclass(frozen=True)
class Roofs:
    """The samples per second that each part allows, by its name, and those that the *run* makes.

    The parts stand in the order in which a sample meets them. Where there is no run, there is only
    what is possible. Of a part that nobody has measured, *unknown* says why, by its name.

    Raises ValueError if there is no roof, or if one is not a positive number.

    >>> bought = Roofs({"storage": 4545, "cores": 1600, "step": 3000}, run=1120)
    >>> bought.lowest, bought.next
    ('cores', 'step')
    >>> print(bought)
    storage   4,545 samples/s
    cores     1,600 samples/s: the lowest roof
    step      3,000 samples/s
    the run   1,120 samples/s: 70 % of the lowest roof
    """

    per_second: Mapping[str, float]
    run: float | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.per_second:
            raise ValueError("per_second: there must be one roof at least")
        for name, rate in self.per_second.items():
            if not 0 < rate < inf:
                raise ValueError(f"per_second: {name}={rate!r}: must be a positive number")

    @property
    def lowest(self) -> str:
        """The part that allows the least: nothing gets above it."""
        return min(self.per_second, key=self.per_second.__getitem__)

    @property
    def next(self) -> str | None:
        """The part that would allow the least if the lowest roof were gone, if there is one."""
        others = [name for name in self.per_second if name != self.lowest]
        return min(others, key=self.per_second.__getitem__, default=None)

    @property
    def reached(self) -> float | None:
        """The share of the lowest roof that the run reaches, if there is one."""
        return None if self.run is None else self.run / self.per_second[self.lowest]

    @property
    def verdict(self) -> str:
        """Which roof is the lowest, and how close to it the run is."""
        if self.run is None or self.reached is None:
            return f"the lowest is {self.lowest}"
        share = f"{percent(self.reached)} of the lowest, {self.lowest}"
        return f"the run makes {number(self.run)}, {share}"

    @property
    def words(self) -> str:
        """The roofs in one sentence, for readers that cannot see them."""
        parts = [f"{name} {number(rate)}" for name, rate in self.per_second.items()]
        return f"in samples per second, {', '.join(parts)}; {self.verdict}"

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield each part, and at the end the run, with what there is to say of it."""
        for name, rate in self.per_second.items():
            lit = ": the lowest roof" if name == self.lowest else ""
            yield name, f"{number(rate)} samples/s{lit}"
        for name, reason in self.unknown.items():
            yield name, f"not known: {reason}"
        if self.run is not None and self.reached is not None:
            share = f"{percent(self.reached)} of the lowest roof"
            yield "the run", f"{number(self.run)} samples/s: {share}"

    def __str__(self) -> str:
        rows = [*self.rows()]
        widest = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:{widest}}   {said}" for name, said in rows)
