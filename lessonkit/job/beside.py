"""How a step and the workers beside it slow each other down: what makes the model show what runs showed."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean, median
from typing import TYPE_CHECKING

from lessonkit.engine.machine import Sharing
from lessonkit.engine.trace import EMPTY
from lessonkit.job.watching import Watch

if TYPE_CHECKING:
    from lessonkit.job.job import Job

ROUNDS = 4  # of correction; further ones change little
GENTLY = 0.7  # a power: half of what a worker loses is seen in what the step loses
MOST_SLOWED, LEAST_SLOWED = 6.0, 0.5  # a factor outside is no slowing down, but a mistake
FEW = 4  # batches of each worker; fewer in a run say nothing

Pair = tuple[float, float]


def fit(job: Job, threads: int, runs: list[Watch]) -> None:
    """Set what the step with so many *threads* loses beside one worker and beside many, as *runs* show it.

    The model runs as they did. Where its steps or its batches took less time, both are slowed down by that
    much; what then is left unexplained of a run is a factor of all times.
    """
    known, step = job.numbers, job.numbers.threads[threads]
    step_cores = min(max(1.0, step.cores), known.cores)
    step.sharing = Sharing(step_cores, beside=(1.0, known.workers), workers=known.workers)
    for place, workers in enumerate((1, known.cores)):
        seen = [run for run in runs if run.workers == workers]
        enough = [run for run in seen if len(run.batches) > FEW * workers]
        for _ in range(ROUNDS if step.computes and enough else 0):
            steps, batches = zip(*(slower(job, threads, run) for run in enough), strict=True)
            sharing = step.sharing
            step.sharing = replace(
                sharing,
                step=corrected(sharing.step, place, fmean(steps)),
                beside=corrected(sharing.beside, place, fmean(batches) ** GENTLY),
            )
        rest = [*step.rest]
        rest[place] = median(job.off(run, threads=threads) for run in seen)
        step.rest = rest[0], rest[1]


def slower(job: Job, threads: int, seen: Watch) -> Pair:
    """Return how many times as long as in the model a step took, and making a batch, in a run."""
    trace, count = job.like(seen, threads=threads)
    first = 2 * seen.workers  # workers have begun by then
    steps = batches = 0.0
    for span in trace.spans:
        if first < span.element <= count and span.kind != EMPTY:
            steps += (span.role == "train") * (span.end - span.start)
            batches += (span.role == "call") * (span.end - span.start)
    real = seen.batches[first:count]
    made = sum(batch.make + job.numbers.put for batch in real)
    return sum(batch.step for batch in real) / steps, made / batches


def corrected(factors: Pair, place: int, by: float) -> Pair:
    """Return *factors*, the one at a *place* multiplied."""
    new = [*factors]
    new[place] = min(MOST_SLOWED, max(LEAST_SLOWED, new[place] * by))
    return new[0], new[1]
