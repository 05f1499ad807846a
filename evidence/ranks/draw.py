"""Draw ranks, their loads and their steps."""

from random import Random

from evidence.record import Case

# s, roughly: what a case takes
SHORTEST = 0.4
LONGEST = 1.8
SLOW = 10  # times as long: a straggler


def ranks(random: Random, number: int) -> Case:
    """Draw until the case takes about as long as it should."""
    while True:
        case = drawn(random, number)
        if SHORTEST <= at_least(case) <= LONGEST:
            return case


def drawn(random: Random, number: int) -> Case:
    """Draw 1 to 4 ranks: alike, with stragglers, with one slow rank, or with times that vary."""
    count = random.choice([1, 2, 3, 4, 4])
    batches = random.choice([12, 16, 20, 25])
    workers, prefetch = random.choice(
        [(0, 0), (1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (3, 2), (4, 1)]
    )
    load = random.choice([0.01, 0.02, 0.03, 0.05])
    step = random.choice([0.01, 0.02, 0.04])
    kind = random.choice(["equal", *3 * ["stragglers"], "slow rank", "jitter"])
    one_in = random.choice([5, 8, 12, 20])
    slow_rank = random.randrange(count)

    def load_of(rank: int) -> float:
        seconds = load
        if kind == "stragglers" and random.random() < 1 / one_in:
            seconds *= SLOW
        if kind == "slow rank" and rank == slow_rank:
            seconds *= random.choice([1.5, 2.5])
        if kind == "jitter":
            seconds *= random.uniform(0.3, 1.7)
        return round(seconds, 5)

    def steps_of() -> list[float]:
        spread = random.choice([0, 0.3])
        return [
            round(step * random.uniform(1 - spread, 1 + spread), 5) for _ in range(batches)
        ]

    return {
        "name": f"case {number}",
        "kind": kind,
        "one_in": one_in if kind == "stragglers" else None,
        "workers": workers,
        "prefetch": prefetch,
        "loads": [[load_of(rank) for _ in range(batches)] for rank in range(count)],
        "steps": [steps_of() for _ in range(count)],
    }


def at_least(case: Case) -> float:
    """Return what the slowest rank takes if it waits for nobody."""
    lanes = case["workers"]
    alone = []
    for loads, steps in zip(case["loads"], case["steps"], strict=True):
        load = sum(loads)
        step = sum(steps)
        alone.append(max(load / lanes, step) if lanes else load + step)
    return float(max(alone))
