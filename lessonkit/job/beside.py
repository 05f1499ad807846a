"""How a step and the workers beside it slow each other down: by the time that they spent together."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

from lessonkit.engine.machine import Sharing
from lessonkit.engine.slices import between
from lessonkit.job.numbers import Beside, JobNumbers, StepNumbers
from lessonkit.job.watching import Watch

MOST_SLOWED, LEAST_SLOWED = 6.0, 0.5  # a factor outside is no slowing down, but a mistake
FEW_STEPS = 5  # steps; fewer in a run say nothing
NO_PROGRESS = 1e-3  # a rate below this is one of a mistake

AtOnce = dict[tuple[bool, int], float]  # seconds: whether a step went on, and beside how many workers


def sharing(known: JobNumbers, step: StepNumbers, beside: Beside) -> Sharing:
    """Work out what is lost on shared cores beyond each one's part of them.

    A step that makes progress at rate 1 by itself, and at rate r beside workers, has done all its work in the
    times that it spent so: that gives r. Likewise for the workers.
    """
    cores, step_cores = known.cores, min(max(1.0, step.cores), known.cores)
    steps, others = [1.0, 1.0], [1.0, known.workers]
    for place, run in enumerate((beside.one, beside.full) if step.computes else ()):
        times, done_steps, done_batches = at_once(run, *seen_whole(run))
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


def seen_whole(run: Watch) -> tuple[float, float]:
    """Return from when to when all that the workers of *run* did is known: what nobody took is not."""
    firsts, lasts = dict[int, float](), dict[int, float]()
    for made in run.made:
        firsts.setdefault(made.pid, made.began)
        lasts[made.pid] = made.done
    return max(firsts.values(), default=0.0), min(lasts.values(), default=0.0)


def at_once(run: Watch, begin: float, end: float) -> tuple[AtOnce, float, float]:
    """Add up who was at work at once between *begin* and *end*; and count steps and batches done."""
    marks, done = [(end, 0, 0)], [0.0, 0.0]
    work = [(taken.got, taken.stepped, 0) for taken in run.taken]
    for start, stop, kind in [*work, *((made.began, made.done, 1) for made in run.made)]:
        inside = max(begin, start), min(end, stop)
        if inside[0] < inside[1]:
            done[kind] += (inside[1] - inside[0]) / (stop - start)
            marks += [(inside[0], kind, 1), (inside[1], kind, -1)]
    times: AtOnce = defaultdict(float)
    now, since = [0, 0], begin
    for time, kind, change in sorted(marks):
        times[now[0] > 0, now[1]] += time - since
        now[kind] += change
        since = time
    return times, done[0], done[1]
