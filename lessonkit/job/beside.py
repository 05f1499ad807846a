"""How a step and the workers beside it slow each other down: what makes the model show what runs showed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

from lessonkit.engine.machine import Sharing
from lessonkit.engine.recorder import CALL, TRAIN
from lessonkit.engine.trace import EMPTY, Trace
from lessonkit.job.numbers import JobNumbers, StepNumbers
from lessonkit.job.watching import Watch

CORRECTIONS = 4  # further ones change little
GENTLY = 0.7  # a power: corrected in full, factors of workers run away
MOST_SLOWED, LEAST_SLOWED = 6.0, 0.5  # a factor outside is no slowing down, but a mistake
LEAST_SEEN = 4  # batches of each worker; fewer in a run say nothing

Pair = tuple[float, float]
# A run as one that was seen, and how many batches both have
AsSeen = Callable[[Watch], tuple[Trace, int]]


def find_sharing(
    known: JobNumbers, step: StepNumbers, runs: list[Watch], model: AsSeen
) -> None:
    """Set what a *step* loses beside one worker and beside many, as *runs* show it.

    The *model* runs as they did. Where its steps or its batches took less time, both are
    slowed down by that much.
    """
    step_cores = min(max(1.0, step.cores), known.cores)
    step.sharing = Sharing(step_cores, beside=(1.0, known.workers), workers=known.workers)
    for place, workers in enumerate((1, known.cores)):
        seen = [
            run
            for run in runs
            if run.workers == workers and len(run.batches) > LEAST_SEEN * workers
        ]
        for _ in range(CORRECTIONS if step.computes and seen else 0):
            steps, batches = zip(
                *(slower(run, *model(run), known.put) for run in seen), strict=True
            )
            step.sharing = replace(
                step.sharing,
                step=corrected(step.sharing.step, place, fmean(steps)),
                beside=corrected(step.sharing.beside, place, fmean(batches) ** GENTLY),
            )


def slower(seen: Watch, trace: Trace, count: int, put: float) -> Pair:
    """Return how many times as long as in the model a step took, and making a batch, in a run."""
    first = 2 * seen.workers  # workers have begun by then
    steps = batches = 0.0
    for span in trace.spans:
        if first < span.element <= count and span.kind != EMPTY:
            steps += (span.role == TRAIN) * (span.end - span.start)
            batches += (span.role == CALL) * (span.end - span.start)
    real = seen.batches[first:count]
    return sum(batch.step for batch in real) / steps, sum(
        batch.make + put for batch in real
    ) / batches


def corrected(factors: Pair, place: int, by: float) -> Pair:
    """Return *factors*, the one at a *place* multiplied."""
    new = [*factors]
    new[place] = min(MOST_SLOWED, max(LEAST_SLOWED, new[place] * by))
    return new[0], new[1]
