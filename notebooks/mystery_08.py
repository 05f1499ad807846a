"""`mystery` draws five slow loaders from a number, and asks what holds each back and what to change."""

from random import Random
from statistics import fmean
from typing import Any

from databound.advise.three_runs import ThreeRuns
from databound.advise.verdict import VERDICTS
from lessonkit import ArtificialDataset, Dataset, Trace, benchmark, straggler
from lessonkit.analysis import critical_path, limits
from lessonkit.engine import check
from lessonkit.widgets.controls import chosen
from lessonkit.widgets.page_data import page_data
from lessonkit.widgets.widget import Page
from lessonkit.words import milliseconds, percent

COUNT = 5  # loaders
# Times the best: a change that takes less is as good; none takes between the two
AS_GOOD, CLEAR = 1.02, 1.05
CULPRITS = {  # by what the model calls them
    "they take turns": "loading and training take turns",
    "step-bound": "training itself",
    "cannot tell": "a slow sample now and then",
    "Open": "opening the files",
    "Read": "reading the samples",
    "Decode": "decoding, with too few parallel calls",
    "interpreter lock": "decoding, under the interpreter lock",
}
# A cost is drawn between two numbers of ms; each culprit has some of its own.
TYPICAL: dict[str, Any] = {
    "open": (5, 15),
    "read": (1, 4),
    "decode": (1, 4),
    "train": (3, 12),
    "slow": 0,
}
TYPICAL |= {
    "kind": "native",
    "lanes": 1,
    "calls": 1,
    "cached": False,
    "places": 1,
    "speed": 1,
}
MADE: dict[str, dict[str, Any]] = {
    "they take turns": {
        "open": (3, 8),
        "read": (3, 5),
        "train": (10, 14),
        "calls": None,
        "places": 0,
    },
    "step-bound": {"train": (12, 28)},
    "cannot tell": {
        "slow": (60, 90),
        "read": (1, 2),
        "decode": (1, 2),
        "train": (11, 14),
    },
    "Open": {"open": (300, 450), "train": (3, 6)},
    "Read": {"read": (25, 40)},
    "Decode": {"decode": (30, 50)},
    "interpreter lock": {"decode": (25, 40), "kind": "python", "calls": 2},
}
FOUR_CALLS = {"calls": 4}
CHANGES: dict[str, dict[str, Any]] = {
    "prefetch eight at the end": {"places": 8},
    "read two files at the same time": {"lanes": 2},
    "decode with four parallel calls": FOUR_CALLS,
    "cache what was decoded": {"cached": True},
    "an accelerator 1.25 times as fast": {"speed": 1.25},
}
STAGES = "the time of each stage"
FOUR = "the loader alone, with four calls to decode"
MEASURES = (STAGES, FOUR)

# What the page says by number, and what that stands for.
CHOOSE = {"choose": None}
CULPRIT = chosen(
    CHOOSE | {text: name for name, text in CULPRITS.items()},
    "culprit",
    "what holds it back",
)
CHANGE = chosen(CHOOSE | {change: change for change in CHANGES}, "change", "one change")
MEASURE = chosen(MEASURES, "which")


def run(costs: dict[str, Any]) -> Trace:
    """Run a loader of four files with twelve samples each; the last of them may be slow to decode."""

    def file(_: int) -> Dataset:
        return ArtificialDataset(12, open=costs["open"], read=costs["read"])

    lanes = costs["lanes"]
    dataset = Dataset.range(4).interleave(
        file, lanes, num_parallel_calls=lanes if lanes > 1 else None
    )
    decode = straggler(costs["decode"], every=12, slow=costs["slow"] or costs["decode"])
    dataset = dataset.map(
        cost=decode,
        kind=costs["kind"],
        num_parallel_calls=costs["calls"],
        stage="Decode",
    )
    dataset = dataset.cache() if costs["cached"] else dataset
    return benchmark(
        dataset.prefetch(costs["places"]),
        num_epochs=2,
        train=costs["train"] / costs["speed"],
    )


class MysteryLoader:
    """A loader with costs drawn for a *culprit*, its three numbers, and its run after each change."""

    def __init__(self, culprit: str, random: Random) -> None:
        settings = TYPICAL | MADE[culprit]
        ranges = {name: ends for name, ends in settings.items() if isinstance(ends, tuple)}
        self.costs = settings | {
            name: random.randint(*ends) / 1e3 for name, ends in ranges.items()
        }
        self.trace, alone = run(self.costs), run(self.costs | {"train": 0})
        self.probe = ThreeRuns(
            alone.per_sample, self.costs["train"], self.trace.per_sample, 1
        )
        self.after = {name: run(self.costs | change) for name, change in CHANGES.items()}
        self.best = min(self.after, key=lambda name: self.after[name].per_sample)

    @property
    def culprit(self) -> str:
        """Name what holds it back, by the three numbers or else by the bottleneck of its run."""
        limit = limits(self.trace).bounds[0].name
        decides = (
            limit if limit in CULPRITS else next(iter(critical_path(self.trace).shares))
        )
        return decides if self.probe.kind == "data-bound" else self.probe.kind

    def worse(self, change: str) -> float:
        """The time of a sample after *change*, divided by that after the best change."""
        return self.after[change].per_sample / self.after[self.best].per_sample

    def told(self) -> str:
        """Say its three numbers."""
        alone, step, both = map(milliseconds, self.probe[:3])
        return f"A sample takes {alone} to load, {step} to train on, and {both} with both together."

    def measured(self, which: str) -> str:
        """Say one of the measurements."""
        if which == FOUR:
            return f"{milliseconds(run(self.costs | FOUR_CALLS | {'train': 0}).per_sample)} per sample"
        each = [(stage, self.trace.times(stage)) for stage in self.trace.stages]
        return ", ".join(
            f"{stage} {milliseconds(fmean(ns) / 1e9)} ({len(ns)} times)"
            for stage, ns in each
        )

    def verdict(self, culprit: str, change: str) -> str:
        """Say whether *culprit* is right, and how far *change* is from the best."""
        times = self.trace, self.after[change], self.after[self.best]
        before, after, best = (milliseconds(trace.per_sample) for trace in times)
        kind, begin = (
            self.probe.kind,
            "Right" if culprit == self.culprit else f'Not "{CULPRITS[culprit]}"',
        )
        text = f'{begin}: the answer is "{CULPRITS[self.culprit]}". '
        text += f"probe says {kind}: {VERDICTS[kind]}. "
        difference = f"takes {after} instead of {before}"
        if after == before:
            difference = f"still takes {before}"
        text += f"With your change a sample {difference}. "
        if self.worse(change) <= AS_GOOD:
            return f"{text}No other change on the list is better."
        more = percent(self.worse(change) - 1)
        return f'{text}The best change is "{self.best}", with {best}. Yours takes {more} longer.'


def drawn(culprit: str, random: Random) -> MysteryLoader:
    """Draw costs until the model names this *culprit*, and no change is nearly as good as the best."""
    while True:
        loader = MysteryLoader(culprit, random)
        has_close_second = any(AS_GOOD < loader.worse(change) < CLEAR for change in CHANGES)
        if loader.culprit == culprit and not has_close_second:
            return loader


class Mystery(Page):
    """Show five loaders; name what holds each back, and one change that would help most.

    The *number*, a whole one of 0 or more, says which five: it gives the same loaders
    everywhere. The page knows three times of each, and asks for the rest. Raise TypeError
    or ValueError for any other *number*.
    """

    questions = ("measure", "commit")

    def __init__(self, number: int) -> None:
        self.number = check.integer("number", number, least=0)
        random = Random(number)
        self.loaders = [
            drawn(culprit, random) for culprit in random.sample(list(MADE), COUNT)
        ]
        self.place = chosen(self.loaders, "loader")
        state = {
            "number": str(number),
            "told": [loader.told() for loader in self.loaders],
            "measures": MEASURES,
            "choices": [CULPRIT.spec(), CHANGE.spec()],
        }
        super().__init__("mystery", state)

    def measure(self, loader: Any, which: Any) -> None:
        """Sell a measurement of a loader."""
        measurement = MEASURE.value(which)
        text = f"{measurement}: {self.place.value(loader).measured(measurement)}"
        self.tell("told", {"text": text, "which": which}, loader=loader)

    def commit(self, loader: Any, culprit: Any, change: Any) -> None:
        """Judge what was named, and show the run after the change over the one before."""
        judge = self.place.value(loader)
        named = CULPRIT.value(culprit)
        tried = CHANGE.value(change)
        if named is None or tried is None:
            self.tell("error", text="Choose what holds it back, and one change.")
            return
        answer = {
            "text": judge.verdict(named, tried),
            "right": named == judge.culprit,
            "scene": page_data(judge.after[tried]),
            "pinned": page_data(judge.trace),
        }
        self.tell("told", answer, loader=loader)

    def __repr__(self) -> str:
        """The three numbers of each loader."""
        told = [
            f"- Loader {place}. {loader.told()}"
            for place, loader in enumerate(self.loaders, 1)
        ]
        return "\n".join(
            [f"Mystery loaders of number {self.number}. What holds each back?", *told]
        )


mystery = Mystery
