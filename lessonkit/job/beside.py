"""How a step and the workers beside it slow each other down: by the time that they spent together."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

from lessonkit.engine.machine import Sharing
from lessonkit.engine.slices import between
from lessonkit.job.numbers import JobNumbers, StepNumbers
from lessonkit.job.watching import Watch

MOST_SLOWED, LEAST_SLOWED = 6.0, 0.5  # a factor outside is no slowing down, but a mistake
FEW_STEPS = 5  # steps; fewer in a run say nothing
NO_PROGRESS = 1e-3  # a rate below this is one of a mistake

AtOnce = dict[tuple[bool, int], float]  # seconds: whether a step went on, and beside how many workers


def sharing(known: JobNumbers, step: StepNumbers, beside: list[Watch]) -> Sharing:
    """Work out what is lost on shared cores beyond each one's part of them, *beside* one worker and many.

    A step that makes progress at rate 1 by itself, and at rate r beside workers, has done all its work in the
    times that it spent so: that gives r. Likewise for the workers.
    """
    cores, step_cores = known.cores, min(max(1.0, step.cores), known.cores)
    steps, others = [1.0, 1.0], [1.0, known.workers]
    for place, run in enumerate(beside if step.computes else ()):
        times, done_steps, done_batches = at_once(run)
        both = sum(time for (stepping, many), time in times.items() if stepping and many)
        if done_steps < FEW_STEPS or not both:
            continue
        # Seconds of work of all workers, beside a step and without one; and how many they were, beside one.
        on = sum(many * time for (stepping, many), time in times.items() if stepping)
        off = sum(many * time for (stepping, many), time in times.items() if not stepping)
        many = on / both
        share = min(1.0, cores / (many + step_cores))
        rate = (done_steps * fmean(step.steps) - times[True, 0]) / both
        steps[place] = in_bounds(share / max(NO_PROGRESS, rate))
        computing = max(0.0, 1 - done_batches * fmean(known.waits) / (on + off))
        alone = min(1.0, cores / many) / between(round(many), (1.0, known.workers), cores)
        work = done_batches * (fmean(known.works) + known.put)
        rate = (work / computing - off * alone) / on if computing else 1.0
        others[place] = in_bounds(share / max(NO_PROGRESS, rate))
    return Sharing(step_cores, (steps[0], steps[1]), (others[0], others[1]), known.workers)


def in_bounds(factor: float) -> float:
    """Return *factor*, or the nearest that is one of slowing down."""
    return min(MOST_SLOWED, max(LEAST_SLOWED, factor))


def at_once(run: Watch) -> tuple[AtOnce, float, float]:
    """Add up who was at work at once, and count steps and batches done, while all is known of the workers.

    That is from the first batch of each until the last: of what nobody took nothing is known.
    """
    lasts = {batch.pid: batch.done for batch in run.batches}
    begin = max((batch.began for batch in run.firsts()), default=0.0)
    end = min(lasts.values(), default=0.0)
    marks, done = [(end, 0, 0)], [0.0, 0.0]
    for batch in run.batches:
        for kind, start, stop in ((0, batch.got, batch.stepped), (1, batch.began, batch.done)):
            first, last = max(begin, start), min(end, stop)
            if first < last:
                done[kind] += (last - first) / (stop - start)
                marks += [(first, kind, 1), (last, kind, -1)]
    times: AtOnce = defaultdict(float)
    now, since = [0, 0], begin
    for time, kind, change in sorted(marks):
        times[now[0] > 0, now[1]] += time - since
        now[kind] += change
        since = time
    return times, done[0], done[1]
