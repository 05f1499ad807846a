"""The answers to the questions of lesson 11, and the jobs that were measured for it."""

import json
from functools import lru_cache
from io import BytesIO
from pkgutil import get_data
from statistics import fmean as mean
from typing import Any

from lessonkit import Trace, benchmark
from lessonkit.analysis import load_job, recommend
from lessonkit.loops.probe import Verdict

__all__ = [
    "Profile",
    "epoch",
    "mean",
    "measured",
    "probed",
    "stored",
    "together",
    "tried",
    "workers",
]


@lru_cache
def stored(room: str) -> Any:
    """Return the job of a *room*, as it was measured."""
    # On the site it is in an archive
    return load_job(BytesIO(get_data(__name__, f"{room}_11.json") or b""))


def probed(job: Any, **changes: Any) -> Verdict:
    """Return what `probe` says of a stored *job*: its loader alone, its step alone, both."""
    threads = job.setting(**changes)["threads"]
    loader, options = job.model(**changes)
    alone = benchmark(
        loader, num_epochs=1, **(options | {"step": None, "train": 0})
    ).epochs[0]
    both = job.run(1, **changes).epochs[0]
    step = mean(job.numbers.threads[threads].steps)
    return Verdict(
        alone.duration / alone.count,
        step,
        both.duration / both.count,
        job.said["batch_size"],
    )


def tried(room: str) -> str:
    """Say what an epoch of a *room* was foretold to take, and took: as it is, and with each change.

    The runs are real, of the two epochs that `python -m benchmarks.job --store` writes down.
    """
    job, runs = stored(room), json.loads(get_data(__name__, f"tried_{room}_11.json") or b"")
    lines = [f"{'seconds of the second epoch':58}foretold   taken"]
    for settings in [{}, *(change.settings for change in recommend(job).changes)]:
        wanted = job.setting(**settings)
        taken = [epochs[1] for said, epochs in runs if said.items() <= wanted.items()]
        words = (
            ", ".join(f"{name}={value}" for name, value in settings.items()) or "as it is"
        )
        lines += [
            f"{words:58}{job.forecast(**settings)[1]:8.3f}{each:8.3f}" for each in taken
        ]
    return "\n".join(lines)


def measured() -> Any:
    """Return what real PyTorch took, as `python -m benchmarks.facts` measured it; seconds."""
    return json.loads(get_data(__name__, "measured_11.json") or b"")


class Profile:
    """Draw *spans* as a profiler does: a row for each thread, here the only one, and in it what was called.

    Each span has a name, and from when to when it went on, in milliseconds.
    """

    wide, high, left = 1000, 26, 60

    def __init__(self, spans: list[tuple[str, float, float]]) -> None:
        self.spans = spans

    def __repr__(self) -> str:
        return f"A profiler's picture of {len(self.spans)} calls in {self.spans[-1][2]:.0f} ms."

    def _repr_svg_(self) -> str:
        scale = (self.wide - self.left - 10) / self.spans[-1][2]
        drawn = [f'<text x="4" y="{self.high - 8}">main</text>']
        for name, began, ended in self.spans:
            place, width = self.left + began * scale, (ended - began) * scale
            box = f'x="{place:.1f}" y="2" width="{width:.1f}" height="{self.high - 4}"'
            short = name.split(".")[-1][: int(width / 7)]
            drawn.append(
                f'<g><title>{name}</title><rect {box} fill="{"#8bbf7c" if name == "step" else "#f0c36d"}"/>'
            )
            drawn.append(
                f'<text x="{place + 3:.1f}" y="{self.high - 8}">{short}</text></g>'
            )
        head = f'viewBox="0 0 {self.wide} {self.high}" width="100%" role="img" aria-label="{self!r}"'
        style = "background:#fff;font:12px sans-serif"
        return f'<svg xmlns="http://www.w3.org/2000/svg" {head} style="{style}">{"".join(drawn)}</svg>'


def epoch(job: Any, **changes: Any) -> tuple[Any, dict[str, Any]]:
    """Return one epoch of a *job*, with other settings, as a question wants it."""
    loader, options = job.model(**changes)
    return loader, options | {"num_epochs": 1}


HALF, SOME, SAME, LONGER = (
    "it takes half the time",
    "it takes a seventh less",
    "it takes as long as before",
    "it takes longer",
)
CHOICES = [HALF, SOME, SAME, LONGER]


def answer(before: Trace, after: Trace) -> str:
    """Say in words how long an epoch takes, over what it took before."""
    share = after.duration / before.duration
    return (
        LONGER if share > 1.04 else SAME if share > 0.96 else SOME if share > 0.65 else HALF
    )


def workers() -> dict[str, Any]:
    """Explain what workers do on cores that the step has already."""
    wrong = [
        (
            HALF,
            "You gave each worker a core of its own. But the step already computes on both cores.",
        ),
        (
            SOME,
            "You let workers and step go on at once. They do, but on the same two cores.",
        ),
        (
            SAME,
            "You counted the work, which is the same. But threads and workers that share cores slow each "
            "other down beyond that.",
        ),
    ]
    why = "Two threads of the step and two workers want four cores. A step now takes more than twice as long."
    return {"answer": answer, "choices": CHOICES, "wrong": wrong, "why": why}


def together() -> dict[str, Any]:
    """Explain why two changes help that do harm alone."""
    wrong = [
        (
            HALF,
            "You let loader and step go on as fast as alone. But a step with one thread takes 21 ms, not 12.",
        ),
        (
            SAME,
            "You let one harm cancel the other. But each was harmful because of the other.",
        ),
        (
            LONGER,
            "You added two harms. But with one thread the step leaves a core to the workers.",
        ),
    ]
    why = "The step has one core, the workers the other: both go on at once, and nobody takes a core away."
    return {"answer": answer, "choices": CHOICES, "wrong": wrong, "why": why}
