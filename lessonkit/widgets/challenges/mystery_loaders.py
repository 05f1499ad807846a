"""`mystery`: five slow loaders, drawn from a number; name what holds each back, and one change to make."""

from random import Random
from typing import Any

from lessonkit import check
from lessonkit.dataset import ArtificialDataset, Dataset
from lessonkit.engine.costs import straggler
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.explain.compare import compare
from lessonkit.explain.critical_path import critical_path
from lessonkit.explain.limits import limits
from lessonkit.loops.probe import ADVICE, Verdict
from lessonkit.widgets.controls import Control, RefusedError
from lessonkit.widgets.explorer import HEIGHT
from lessonkit.widgets.page_data import page_data
from lessonkit.widgets.widget import Page
from lessonkit.words import milliseconds, percent

COUNT = 5  # loaders
AS_GOOD, CLEAR = 1.02, 1.05  # times the best: a change that takes less is as good; none takes between the two
CULPRITS = {  # by what the model calls them
    "no overlap": "loading and training take turns",
    "compute-bound": "training itself",
    "bursts or contention": "a slow sample now and then",
    "Open": "opening the files",
    "Read": "reading the samples",
    "Decode": "decoding: too few calls at once",
    "interpreter lock": "decoding: the interpreter lock",
}
# A cost is drawn between two numbers of ms; each culprit has some of its own.
USUAL: dict[str, Any] = {"open": (5, 15), "read": (1, 4), "decode": (1, 4), "train": (3, 12), "slow": 0}
USUAL |= {"kind": "native", "lanes": 1, "readers": None, "calls": 1, "cached": False, "places": 1, "speed": 1}
MADE: dict[str, dict[str, Any]] = {
    "no overlap": {"open": (3, 8), "read": (3, 5), "train": (10, 14), "calls": None, "places": 0},
    "compute-bound": {"train": (12, 28)},
    "bursts or contention": {"slow": (60, 90), "read": (1, 2), "decode": (1, 2), "train": (11, 14)},
    "Open": {"open": (300, 450), "train": (3, 6)},
    "Read": {"read": (25, 40)},
    "Decode": {"decode": (30, 50)},
    "interpreter lock": {"decode": (25, 40), "kind": "python", "calls": 2},
}
FOUR_CALLS = {"calls": 4}
CHANGES: dict[str, dict[str, Any]] = {
    "prefetch eight at the end": {"places": 8},
    "read two files at once": {"lanes": 2, "readers": 2},
    "decode with four calls at once": FOUR_CALLS,
    "cache what was decoded": {"cached": True},
    "an accelerator 1.25 times as fast": {"speed": 1.25},
}
STAGES, FOUR = MEASURES = ("the time of each stage", "the loader alone, with four calls to decode")

# What the page says by number, and what that stands for.
CULPRIT = Control(
    "culprit", "what holds it back", "choice", (None, *CULPRITS), ("choose", *CULPRITS.values()), 0
)
CHANGE = Control("change", "one change", "choice", (None, *CHANGES), ("choose", *CHANGES), 0)
MEASURE = Control("which", "measurement", "choice", MEASURES, MEASURES, 0)


def run(of: dict[str, Any]) -> Trace:
    """Run a loader of four files with twelve samples each; the last of them may be slow to decode."""

    def file(_: int) -> Dataset:
        return ArtificialDataset(12, open=of["open"], read=of["read"])

    dataset = Dataset.range(4).interleave(file, of["lanes"], num_parallel_calls=of["readers"])
    cost = straggler(of["decode"], every=12, slow=of["slow"] or of["decode"])
    dataset = dataset.map(cost=cost, kind=of["kind"], num_parallel_calls=of["calls"], stage="Decode")
    dataset = dataset.cache() if of["cached"] else dataset
    return benchmark(dataset.prefetch(of["places"]), num_epochs=2, train=of["train"] / of["speed"])


class Loader:
    """A loader whose costs are drawn, its three numbers, and what each change makes of it."""

    def __init__(self, culprit: str, random: Random) -> None:
        made = (USUAL | MADE[culprit]).items()
        self.of = {name: random.randint(*one) / 1e3 if isinstance(one, tuple) else one for name, one in made}
        self.trace, alone = run(self.of), run(self.of | {"train": 0})
        self.probe = Verdict(alone.per_sample, self.of["train"], self.trace.per_sample, 1)
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
        if which == FOUR:
            return f"{milliseconds(run(self.of | FOUR_CALLS | {'train': 0}).per_sample)} a sample"
        stages = [(row.stage, *row.predicted) for row in compare(self.trace, self.trace).stages]
        return ", ".join(f"{stage} {milliseconds(mean)} ({count} times)" for stage, count, mean in stages)

    def verdict(self, culprit: str, change: str) -> str:
        """Say whether *culprit* is right, and how far *change* is from the best."""
        times = self.trace, self.after[change], self.after[self.best]
        before, after, best = (milliseconds(trace.per_sample) for trace in times)
        kind, begin = self.probe.kind, "Right" if culprit == self.culprit else f"Not {CULPRITS[culprit]}"
        text = f"{begin}: it is {CULPRITS[self.culprit]}. {kind.capitalize()}: {ADVICE[kind]}. "
        text += f"Your change: {after} a sample in place of {before}. "
        if self.worse(change) <= AS_GOOD:
            return f"{text}No other change on the list is better."
        more = percent(self.worse(change) - 1)
        return f"{text}The best takes {best}: {self.best}. Yours takes {more} more."


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
        self.number, random = check.integer("number", number, least=0), Random(number)
        self.loaders = [drawn(culprit, random) for culprit in random.sample(list(MADE), COUNT)]
        self.there = Control("loader", "loader", "choice", tuple(self.loaders), (), 0)
        state: dict[str, Any] = {"number": str(number)}
        state |= {"told": [one.told() for one in self.loaders], "measures": MEASURES}
        state |= {"choices": [CULPRIT.spec(), CHANGE.spec()], "height": HEIGHT}
        super().__init__("mystery", state)

    def measure(self, loader: Any, which: Any) -> None:
        """Sell a measurement of a loader."""
        what = MEASURE.value(which)
        text = f"{what}: {self.there.value(loader).measured(what)}"
        self.tell("told", {"text": text, "which": which}, loader=loader)

    def commit(self, loader: Any, culprit: Any, change: Any) -> None:
        """Judge what was named, and show the run after the change over the one before."""
        of, culprit, change = self.there.value(loader), CULPRIT.value(culprit), CHANGE.value(change)
        if culprit is None or change is None:
            raise RefusedError("Choose what holds it back, and one change.")
        answer = {"text": of.verdict(culprit, change), "right": culprit == of.culprit}
        answer |= {"scene": page_data(of.after[change]), "pinned": page_data(of.trace)}
        self.tell("told", answer, loader=loader)

    def in_words(self) -> str:
        """The three numbers of each loader."""
        told = [f"- Loader {place}. {one.told()}" for place, one in enumerate(self.loaders, 1)]
        return "\n".join([f"Mystery loaders of number {self.number}. What holds each back?", *told])


mystery = Mystery
