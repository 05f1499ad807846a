"""`mystery`: five slow loaders, drawn from a number; name what holds each back, and one change to make."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from lessonkit import check
from lessonkit.dataset import ArtificialDataset, Dataset
from lessonkit.engine.costs import straggler
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.explain.critical_path import critical_path
from lessonkit.explain.limits import limits
from lessonkit.loops.probe import Verdict
from lessonkit.widgets.base import Page
from lessonkit.widgets.controls import RefusedError, chosen
from lessonkit.widgets.explorer import HEIGHT
from lessonkit.widgets.page_data import page_data
from lessonkit.words import milliseconds, percent

COUNT = 5  # loaders
AS_GOOD, CLEAR = (
    1.02,
    1.05,
)  # times the shortest time: a change that takes less is as good, one with more is not
CULPRITS = {  # by what the model calls them
    "no overlap": "loading and training take turns",
    "compute-bound": "training itself",
    "bursts or contention": "a slow sample now and then",
    "Open": "opening the files",
    "Read": "reading the samples",
    "Decode": "decoding: too few calls at once",
    "interpreter lock": "decoding: the interpreter lock",
}
# Costs in ms are drawn from the first to the last; each culprit has some of its own.
USUAL: dict[str, Any] = {"open": (5, 15), "read": (1, 4), "decode": (1, 4), "train": (8, 12), "slow": 0}
USUAL |= {"kind": "native", "lanes": 0, "calls": 1, "cached": False, "places": 1, "speed": 1}
MADE: dict[str, dict[str, Any]] = {
    "no overlap": {"open": (3, 8), "read": (3, 5), "train": (10, 14), "calls": None, "places": 0},
    "compute-bound": {"train": (16, 28)},
    "bursts or contention": {"slow": (60, 90), "read": (1, 2), "decode": (1, 2), "train": (11, 14)},
    "Open": {"open": (300, 450), "train": (3, 5)},
    "Read": {"read": (25, 40)},
    "Decode": {"decode": (30, 50)},
    "interpreter lock": {"decode": (25, 40), "kind": "python", "calls": 2},
}
CHANGES: dict[str, dict[str, Any]] = {
    "prefetch eight at the end": {"places": 8},
    "read two files at once": {"lanes": 2},
    "decode with four calls at once": {"calls": 4},
    "cache what was decoded": {"cached": True},
    "an accelerator 1.25 times as fast": {"speed": 1.25},
}
STAGES, DECODING = MEASURES = ("the time of each stage", "the loader alone, with four calls to decode")


def run(of: dict[str, Any]) -> Trace:
    """Run a loader of four files with twelve samples each; the last of them may be slow to decode."""

    def file(_: int) -> Dataset:
        return ArtificialDataset(12, open=of["open"], read=of["read"])

    files, lanes = Dataset.range(4), of["lanes"]
    dataset = files.interleave(file, lanes, 1, lanes) if lanes else files.flat_map(file)
    cost = straggler(of["decode"], every=12, slow=of["slow"] or of["decode"])
    dataset = dataset.map(cost=cost, kind=of["kind"], num_parallel_calls=of["calls"], stage="Decode")
    dataset = dataset.cache() if of["cached"] else dataset
    return benchmark(dataset.prefetch(of["places"]), num_epochs=2, train=of["train"] / of["speed"])


class Loader:
    """A loader, its three numbers, and what each change makes of it."""

    def __init__(self, culprit: str, random: Random) -> None:
        made = (USUAL | MADE[culprit]).items()
        self.of = {
            name: random.randint(*cost) / 1e3 if isinstance(cost, tuple) else cost for name, cost in made
        }
        self.trace = run(self.of)
        self.alone, self.step = run(self.of | {"train": 0}).per_sample, self.of["train"]
        self.probe = Verdict(self.alone, self.step, self.trace.per_sample, 1)
        self.after = {name: run(self.of | change) for name, change in CHANGES.items()}
        self.best = min(self.after, key=lambda name: self.after[name].per_sample)

    @property
    def culprit(self) -> str:
        """What holds it back: by the three numbers, or else by what decides its time."""
        limit = limits(self.trace).bounds[0].name
        decides = limit if limit in CULPRITS else next(iter(critical_path(self.trace).shares))
        return decides if self.probe.kind == "data-bound" else self.probe.kind

    def worse(self, change: str) -> float:
        """How many times as long a sample takes after *change* as after the best one."""
        return self.after[change].per_sample / self.after[self.best].per_sample

    def told(self) -> str:
        """Say its three numbers."""
        alone, step, both = map(milliseconds, self.probe[:3])
        return f"A sample takes {alone} to load, {step} to train on, and {both} with both together."

    def measured(self, which: str) -> str:
        """Say one of the measurements."""
        if which == DECODING:
            alone = run(self.of | CHANGES["decode with four calls at once"] | {"train": 0})
            return f"{milliseconds(alone.per_sample)} a sample"
        said = []
        for stage in self.trace.stages:
            times = [span.end - span.start for span in self.trace.work if span.stage == stage]
            mean, most = milliseconds(sum(times) / len(times)), milliseconds(max(times))
            said.append(f"{stage} {mean}, at most {most}, {len(times)} times")
        return "; ".join(said)

    def verdict(self, culprit: str, change: str) -> str:
        """Say whether *culprit* is right, and how far *change* is from the best."""
        before, after = milliseconds(self.trace.per_sample), milliseconds(self.after[change].per_sample)
        text = "Right" if culprit == self.culprit else f"Not {CULPRITS[culprit]}"
        text += f": it is {CULPRITS[self.culprit]}. Your change: {after} a sample in place of {before}. "
        if self.worse(change) <= AS_GOOD:
            return f"{text}No other change on the list is better."
        best = milliseconds(self.after[self.best].per_sample)
        return (
            f"{text}The best takes {best}: {self.best}. Yours takes {percent(self.worse(change) - 1)} more."
        )


def drawn(culprit: str, random: Random) -> Loader:
    """Draw costs until the model names this culprit, and no change is nearly as good as the best."""
    while True:
        made = Loader(culprit, random)
        if made.culprit == culprit and not any(AS_GOOD < made.worse(change) < CLEAR for change in CHANGES):
            return made


class Mystery(Page):
    """Show the five loaders of a *number*; the page knows three numbers of each, and asks for the rest."""

    questions = ("measure", "commit")

    def __init__(self, number: int) -> None:
        self.number, random = check.integer("number", number), Random(number)
        self.loaders = [drawn(culprit, random) for culprit in random.sample(list(MADE), COUNT)]
        culprits = {"choose": None} | {text: name for name, text in CULPRITS.items()}
        self.culprits = chosen("culprit", "what holds it back", culprits)
        self.changes = chosen("change", "one change", {"choose": None} | {name: name for name in CHANGES})
        state = {"number": number, "told": [one.told() for one in self.loaders], "measures": MEASURES}
        choices = [self.culprits.spec(), self.changes.spec()]
        super().__init__("mystery", state | {"choices": choices, "height": HEIGHT})

    def measure(self, loader: Any, which: Any) -> None:
        """Sell a measurement of a loader."""
        measure = pick(MEASURES, which)
        self.tell(
            "told", {"text": f"{measure}: {pick(self.loaders, loader).measured(measure)}"}, loader=loader
        )

    def commit(self, loader: Any, culprit: Any, change: Any) -> None:
        """Judge what was named, and show the run after the change over the one before."""
        of, named, changed = (
            pick(self.loaders, loader),
            self.culprits.value(culprit),
            self.changes.value(change),
        )
        if named is None or changed is None:
            raise RefusedError("choose what holds it back, and one change")
        scenes = {"scene": page_data(of.after[changed]), "pinned": page_data(of.trace)}
        told = {"text": of.verdict(named, changed), "right": named == of.culprit} | scenes
        self.tell("told", told, loader=loader)

    def in_words(self) -> str:
        """The three numbers of each loader."""
        told = [f"- Loader {place}. {one.told()}" for place, one in enumerate(self.loaders, 1)]
        return "\n".join([f"Mystery loaders of number {self.number}. What holds each back?", *told])


def pick(there: Sequence[Any], number: Any) -> Any:
    """Give what the page names by its *number*."""
    if type(number) is not int or not 0 <= number < len(there):
        raise RefusedError("there is no such loader or measurement")
    return there[number]


mystery = Mystery
