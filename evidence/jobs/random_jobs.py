"""Random training jobs of all kinds, the same for the same seed."""

import random
from dataclasses import replace
from math import exp, log

from databound.measure.device import OnDevice
from databound.measure.setting import Setting
from evidence.jobs.virtual_jobs import Costs, Load, VirtualJob

MS = 0.001  # s
FACTORS = 997  # how many factors a job with uneven batches has; then they come again


def between(draw: random.Random, least: float, most: float) -> float:
    """Return a random number of which each order of magnitude is as likely as the next."""
    return exp(draw.uniform(log(least), log(most)))


def random_job(seed: int) -> VirtualJob:
    """Return the random job with a *seed*; its `kinds` name what is special about it."""
    draw = random.Random(seed)
    kinds: list[str] = []
    cores = draw.choice([1, 2, 2, 4, 4, 4, 8, 8, 16])
    batch = between(draw, 0.2 * MS, 30)
    # One in 25 is long: it shows no more than one of 400, and takes as long to run as all others
    most = 10_000 if draw.random() < 0.04 else 400
    batches = round(between(draw, 3 if most == 400 else 400, most))
    costs = of_making(draw, batch, kinds)
    stream = draw.random() < 0.15
    repeats = stream and draw.random() < 0.2
    if stream:
        kinds.append("stream")
    costs = with_starts(costs, draw, batch, kinds)
    costs = with_step(costs, draw, batch, kinds)
    most_threads = draw.choice([1, cores, cores]) if costs.computes else 1
    costs = with_the_loops_own(costs, draw)
    kinds.append(length_of(max(batch, costs.step)))
    now = present_setting(draw, cores, most_threads)
    of_batch = factors_of_batches(draw, batches, kinds)
    of_step = factors_of_steps(draw, batches, kinds)
    return VirtualJob(
        costs=costs,
        now=now,
        batches=batches,
        cores=cores,
        of_batch=of_batch,
        of_step=of_step,
        load=random_load(draw, batch, cores, kinds),
        noise=draw.choice([0.003, 0.01, 0.03]),
        run_noise=draw.choice([0.0, 0.005, 0.02]),
        stream=stream,
        repeats=repeats,
        most_threads=most_threads,
        seed=seed,
        kinds=tuple(kinds),
    )


def length_of(seconds: float) -> str:
    """Return the kind of a job whose batch or step takes so long: of longer ones a run sees fewer."""
    if seconds < 0.1:
        return "up to 0.1 s a batch"
    return "up to 1 s a batch" if seconds < 1 else "seconds a batch"


def of_making(draw: random.Random, batch: float, kinds: list[str]) -> Costs:
    """Return the costs of making a batch that takes so many seconds, alone."""
    waits_for, works_for = draw.choice([(0, 1), (0.1, 0.9), (0.5, 0.5), (0.9, 0.1), (1, 0)])
    waits = waits_for * batch
    works = works_for * batch
    kinds.append("computes" if works > waits else "waits")
    if waits and draw.random() < 0.3:
        kinds.append("shared storage")
        return Costs(works=works, reads=waits, readers=draw.choice([1, 1.5, 2, 3, 4, 6]))
    return Costs(works=works, waits=waits)


def with_starts(costs: Costs, draw: random.Random, batch: float, kinds: list[str]) -> Costs:
    """Return *costs* with what happens once: to a worker, or in an epoch."""
    first = 0.0
    if draw.random() < 0.3:
        first = between(draw, 0.3, 10) * batch
        kinds.append("slow first samples")
    opens = 0.0
    if draw.random() < 0.15:
        opens = between(draw, 1, 100) * batch
        kinds.append("opens an archive")
    start = between(draw, 2 * MS, 20 * MS)
    ready = between(draw, 5 * MS, 50 * MS)
    if draw.random() < 0.15:
        ready = between(draw, 0.3, 3)
        kinds.append("slow starts")
    return replace(costs, first=first, opens=opens, start=start, ready=ready)


def with_step(costs: Costs, draw: random.Random, batch: float, kinds: list[str]) -> Costs:
    """Return *costs* with a step: it computes, waits for a device, or only launches work there."""
    step = batch * between(draw, 0.01, 10)
    which = draw.random()
    if which < 0.4:
        kinds.append("the step computes")
        parallel = draw.choice([0, 0.5, 0.8, 0.95])
        lost = draw.choice([1.0, 1.0, between(draw, 1.02, 1.4)])
        return replace(costs, step=step, computes=True, parallel=parallel, lost=lost)
    if which > 0.7:
        kinds.append("a device's queue")
        launch = step * between(draw, 0.02, 0.5)
        return replace(
            costs, step=step, device=OnDevice(launch, step, draw.choice([1, 2, 5, 20]))
        )
    return replace(costs, step=step)


def with_the_loops_own(costs: Costs, draw: random.Random) -> Costs:
    """Return *costs* with what the loop itself does for a batch, and at the end of an epoch."""
    return replace(
        costs,
        in_loop=draw.choice([1.0, between(draw, 0.7, 1.1)]),
        way=between(draw, 0.1 * MS, MS),
        take=between(draw, 0.05 * MS, 3 * MS),
        stop=between(draw, 5 * MS, 40 * MS),
    )


def present_setting(draw: random.Random, cores: int, threads: int) -> Setting:
    """Return how the loader is set now."""
    workers = draw.choice([0, 0, 0, 1, 2, 4, cores, 2 * cores])
    if not workers:
        return Setting(threads=threads)
    depth = draw.choice([2, 2, 2, 1, 4, 8])
    return Setting(workers, depth, draw.random() < 0.4, threads)


def random_load(draw: random.Random, batch: float, cores: int, kinds: list[str]) -> Load:
    """Return what other programs want of the cores: in half of the jobs, nothing."""
    if draw.random() < 0.5:
        kinds.append("quiet")
        return Load()
    kinds.append("beside a load")
    lasts = max(3 * batch, between(draw, 0.1, 30))
    return Load(
        cores=draw.choice([0.5, 1, 1, 2, cores]),
        on=lasts,
        off=lasts * between(draw, 0.3, 5),
        seed=draw.randrange(10**6),
    )


def factors_of_batches(draw: random.Random, batches: int, kinds: list[str]) -> list[float]:
    """Return by which factors the batches of an epoch differ, and note which kind that is."""
    count = min(batches, FACTORS)
    kind = draw.choice(["even"] * 5 + ["varied", "heavy tails", "bursts", "sorted"])
    if kind == "even":
        return [1.0]
    if kind == "varied":
        return [exp(draw.gauss(0, 0.3)) for _ in range(count)]
    kinds.append(kind)
    if kind == "heavy tails":
        often = draw.choice([0.005, 0.02, 0.1])
        size = between(draw, 5, 50)
        found = [size if draw.random() < often else 1.0 for _ in range(count)]
    elif kind == "bursts":
        every = draw.randint(4, 40)
        size = between(draw, 3, 30)
        found = [size if number % every == 0 else 1.0 for number in range(count)]
    else:
        # Sorted by length, over the whole epoch
        most = between(draw, 3, 30)
        found = [1 + (most - 1) * number / batches for number in range(batches)]
    mean = sum(found) / len(found)
    return [factor / mean for factor in found]


def factors_of_steps(draw: random.Random, batches: int, kinds: list[str]) -> list[float]:
    """Return by which factors steps differ: now and then, only each k-th works."""
    if draw.random() > 0.15:
        return [1.0]
    kinds.append("accumulates")
    turn = draw.choice([turn for turn in (2, 4, 8, 16) if turn == 2 or 2 * turn <= batches])
    little = draw.choice([0.0, 0.02, 0.3])
    rest = turn - (turn - 1) * little
    return [little] * (turn - 1) + [rest]
