"""Write an exam: sheets of slow jobs to diagnose, a different one for each learner, and their key.

    python -m delivery.classroom.exam build/exam --seed 480215937

This writes `sheets.html`, a page for each learner, and `key.html`, which stays with the teacher; both print.
All jobs of a sheet are run on the virtual clock, so the key is exact. The same seed gives the same sheets
and the key, so it is a long number that nobody else has: a short one can be found by trying.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape
from itertools import product
from pathlib import Path
from random import Random
from string import Template

from databound.advise.three_runs import ThreeRuns
from databound.advise.verdict import VERDICTS
from lessonkit import DataLoader, Dataset, Trace, benchmark
from lessonkit.engine.machine import Handling
from lessonkit.lessons import find_answers
from lessonkit.words import milliseconds

find_answers()

import mystery_08  # noqa: E402 - beside the lesson
from mystery_08 import (  # noqa: E402
    AS_GOOD,
    CLEAR,
    CULPRITS,
    FOUR,
    STAGES,
    MysteryLoader,
)

TEMPLATE = Path(__file__).parent / "page" / "exam.html"
SHEETS = 20  # no two neighbours have the same
# A verdict earns two points, and each of the other two answers one
QUESTIONS = {
    "What does probe say?": 2,
    "At most how many times as fast would a perfect loader make it?": 1,
    "Which one change helps most?": 1,
}
# Each of the three times may be wrong by this share and the verdict stays, so that nobody has to know
# the thresholds of `probe` to be right
CLEARLY = 0.04
# The parts by which a job of lesson 08 is data-bound; its other culprits are verdicts
DATA_BOUND = [name for name in CULPRITS if name not in VERDICTS]


@dataclass(frozen=True)
class Job:
    """A slow job: its three runs, what else was measured, and a run after each change that is offered.

    *after* has the seconds per sample. A change that is within AS_GOOD of the best is as good as it.
    """

    runs: ThreeRuns
    measured: tuple[str, ...]
    slow_part: str  # what holds it back, in the words of lesson 08
    after: Mapping[str, float]

    @property
    def times(self) -> tuple[float, float, float]:
        """The seconds per batch of the loader, of the step, and of both."""
        return self.runs.loader, self.runs.step, self.runs.both

    @property
    def at_most(self) -> float:
        """How many times as fast a loader makes it that takes no time."""
        return self.runs.both / self.runs.step

    @property
    def best(self) -> list[str]:
        """The changes that nothing on the list beats."""
        least = min(self.after.values())
        return [change for change, time in self.after.items() if time <= AS_GOOD * least]

    @property
    def is_clear(self) -> bool:
        """Whether the answers are plain: no near miss among the changes, no time near a threshold."""
        least = min(self.after.values())
        if any(AS_GOOD < time / least < CLEAR for time in self.after.values()):
            return False
        kinds = set[str]()
        for place, share in product(range(len(self.times)), (-CLEARLY, CLEARLY)):
            times = list(self.times)
            times[place] *= 1 + share
            loader, step, both = times
            kinds.add(self.runs._replace(loader=loader, step=step, both=both).kind)
        return kinds == {self.runs.kind}


def in_threads(culprit: str, random: Random) -> Job:
    """Draw a job whose loader is a pipeline of lesson 08, held back by *culprit*."""
    loader: MysteryLoader = mystery_08.drawn(culprit, random)
    measured = f"{STAGES}: {loader.measured(STAGES)}", f"{FOUR}: {loader.measured(FOUR)}"
    after = {change: trace.per_sample for change, trace in loader.after.items()}
    return Job(loader.probe, measured, CULPRITS[culprit], after)


@dataclass(frozen=True)
class Workers:
    """A job whose `DataLoader` has workers, by its costs in seconds.

    *decode* is for a sample, *take* for a batch that is ready, and *train* for a step alone.
    Beside the workers both work and step take *slowed* times as long.
    """

    workers: int
    size: int
    decode: float
    train: float
    take: float = 0.0
    slowed: float = 1.0

    BATCHES = 48

    def run(self, train: float, slowed: float = 1.0) -> Trace:
        """Run the job with a step of *train* seconds, all its work *slowed* times as long."""
        samples = Dataset.range(self.BATCHES * self.size).map(cost=self.decode * slowed)
        loader = DataLoader(
            samples,
            batch_size=self.size,
            num_workers=self.workers,
            handling=Handling(take=self.take),
        )
        return benchmark(loader, num_epochs=1, train=train * slowed)

    @property
    def per_sample(self) -> float:
        """The seconds of the job per sample, as it is."""
        return self.run(self.train, self.slowed).per_sample

    def runs(self) -> ThreeRuns:
        """Return its three runs, per batch."""
        loader, both = (
            trace.duration / self.BATCHES
            for trace in (self.run(0), self.run(self.train, self.slowed))
        )
        return ThreeRuns(loader, self.train, both, self.size, ready=self.take)


def own_time(random: Random) -> Job:
    """Draw a job whose loop spends most of its time on taking batches that are ready."""
    job = Workers(
        workers=random.choice((2, 4)),
        size=8,
        decode=random.randint(2, 4) / 1e4,
        train=random.randint(20, 40) / 1e4,
        take=random.randint(80, 120) / 1e4,
    )
    after = {
        "twice as many workers": replace(job, workers=2 * job.workers),
        "batches four times as large": replace(job, size=4 * job.size, train=4 * job.train),
        "one thread for the step": job,
    }
    measured = (
        f"{job.workers} workers, batches of {job.size} samples",
        f"taking a batch that is ready: {milliseconds(job.take)}, however large it is",
        f"the step with one thread: {milliseconds(job.train)} as well",
    )
    times = {change: other.per_sample for change, other in after.items()}
    return Job(job.runs(), measured, "taking batches that are ready", times)


def same_cores(random: Random) -> Job:
    """Draw a job whose step has as many threads as there are cores, and so have its workers."""
    job = Workers(
        workers=4,
        size=8,
        decode=random.randint(20, 40) / 1e4,
        train=random.randint(60, 100) / 1e4,
        slowed=random.randint(30, 40) / 10,
    )
    one_thread = replace(job, train=1.25 * job.train, slowed=1.0)
    after = {
        "twice as many workers": replace(job, workers=8, slowed=1.5 * job.slowed),
        "batches four times as large": replace(job, size=32, train=4 * job.train),
        "one thread for the step": one_thread,
    }
    measured = (
        "4 cores, 4 workers, and a step with 4 threads",
        f"while the workers work, the step takes {milliseconds(job.train * job.slowed)}",
        f"the step with one thread: {milliseconds(one_thread.train)}, alone and beside the workers",
    )
    times = {change: other.per_sample for change, other in after.items()}
    return Job(job.runs(), measured, "step and workers want the same cores", times)


DRAW: dict[str, Callable[[Random], Job]] = {
    "the loop's own time": own_time,
    "both want the same cores": same_cores,
}


def drawn(kind: str, part: str, random: Random, seen: Container[Job]) -> Job:
    """Draw a job with the verdict *kind* until its answers are clear, and it is none of those *seen*.

    *part* is what holds it back if it is data-bound.
    """
    while True:
        draw = DRAW.get(kind)
        culprit = part if kind == "data-bound" else kind
        job = draw(random) if draw else in_threads(culprit, random)
        if job.is_clear and job.runs.kind == kind and job not in seen:
            return job


def sheet(part: str, random: Random, seen: Container[Job]) -> list[Job]:
    """Draw the jobs of a sheet: one for each verdict but one, so the last is not what is left.

    One of them is data-bound, by this *part*. None is among those that were *seen*.
    """
    others = [kind for kind in VERDICTS if kind != "data-bound"]
    kinds = ["data-bound", *random.sample(others, len(others) - 1)]
    random.shuffle(kinds)
    return [drawn(kind, part, random, seen) for kind in kinds]


def exam(seed: int, sheets: int = SHEETS) -> list[list[Job]]:
    """Draw the jobs of all *sheets*; fewer of them are the first ones of more."""
    random = Random(seed)
    made: list[list[Job]] = []
    parts = random.sample(DATA_BOUND, len(DATA_BOUND))  # in turn, so each comes
    for number in range(sheets):
        seen = [job for jobs in made for job in jobs]
        made.append(sheet(parts[number % len(parts)], random, seen))
    return made


# ---- what is printed ----


def row(cells: Iterable[str], cell: str = "td") -> str:
    """Return a row of a table."""
    return "".join(["<tr>", *(f"<{cell}>{text}</{cell}>" for text in cells), "</tr>"])


def table(head: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table."""
    return "\n".join(["<table>", row(head, "th"), *rows, "</table>"])


def asked(number: int, job: Job) -> str:
    """Return a *job* as a learner gets it: what was measured, and what is asked."""
    unit = "sample" if job.runs.samples == 1 else f"batch of {job.runs.samples:g}"
    times = ", ".join(
        f"{run} <b>{milliseconds(seconds)}</b>"
        for run, seconds in zip(("loader", "step", "both"), job.times, strict=True)
    )
    more = "".join(f"<li>{escape(line)}</li>" for line in job.measured)
    first, second, third = QUESTIONS
    kinds = " ".join(f"<label>☐ {escape(kind)}</label>" for kind in VERDICTS)
    changes = " ".join(f"<label>☐ {escape(change)}</label>" for change in job.after)
    return "\n".join(
        [
            f"<section><h3>Job {number}</h3>",
            f"<p>Per {unit}: {times}</p>",
            f"<ul>{more}</ul>",
            f"<p>{first} {kinds}</p>",
            f'<p>{second} <span class="line"></span></p>',
            f"<p>{third} {changes}</p></section>",
        ]
    )


def answered(number: int, job: Job) -> str:
    """Return the row of the key for a *job*."""
    changes = " or ".join(job.best)
    now, least = job.runs.both / job.runs.samples, min(job.after.values())
    gain = f"{milliseconds(now)} → {milliseconds(least)} per sample"
    cells = (job.runs.kind, job.slow_part, f"{job.at_most:.2f}", changes, gain)
    return row([str(number), *map(escape, cells)])


def page(title: str, parts: Iterable[str]) -> str:
    """Return a page that prints each of its *parts* on paper of its own."""
    articles = "\n".join(f"<article>\n{part}\n</article>" for part in parts)
    template = Template(TEMPLATE.read_text(encoding="utf-8"))
    return template.substitute(title=title, articles=articles)


def sheets_page(drawn_sheets: list[list[Job]]) -> str:
    """Return the page with all sheets."""
    points = sum(QUESTIONS.values())
    told = (
        "Three runs were made of each job: the loader alone, the step alone, and both. "
        f"Each job has {points} points: two for the verdict, one for each other answer."
    )
    parts = []
    for number, jobs in enumerate(drawn_sheets, 1):
        head = f'<h2>Sheet {number}</h2>\n<p>Name <span class="line wide"></span></p>\n<p>{told}</p>'
        parts.append("\n".join([head, *(asked(*job) for job in enumerate(jobs, 1))]))
    return page("Five slow jobs", parts)


def key_page(drawn_sheets: list[list[Job]], seed: int) -> str:
    """Return the page with the key of all sheets."""
    head = (
        "job",
        "verdict",
        "what holds it back",
        "at most",
        "the best change",
        "what it does",
    )
    parts = [
        f"<h2>Key of sheet {number}</h2>\n{table(head, (answered(*job) for job in enumerate(jobs, 1)))}"
        for number, jobs in enumerate(drawn_sheets, 1)
    ]
    return page(f"Key of the exam with the seed {seed}", parts)


def main(arguments: list[str] | None = None) -> None:
    """Write an exam as the command line asks."""
    assert __doc__
    parser = argparse.ArgumentParser(
        prog="python -m delivery.classroom.exam", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="where the two pages go")
    parser.add_argument(
        "--seed", type=int, required=True, help="a long number, and a secret"
    )
    parser.add_argument("--sheets", type=int, default=SHEETS, help=f"{SHEETS} if left out")
    given = parser.parse_args(arguments)
    made = exam(given.seed, given.sheets)
    given.folder.mkdir(parents=True, exist_ok=True)
    pages = {"sheets.html": sheets_page(made), "key.html": key_page(made, given.seed)}
    for name, text in pages.items():
        (given.folder / name).write_text(text, encoding="utf-8")
        print(given.folder / name)


if __name__ == "__main__":
    main()
