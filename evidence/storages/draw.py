"""Draw storages and readers that take a while, and not too long."""

from collections.abc import Callable
from random import Random
from typing import Any

from evidence.record import Case

# s, roughly: what a case takes
LEAST = 0.5
MOST = 2.2
STAGGER = 0.001  # s between the first requests, so that their order is known

SIZES: dict[str, Callable[[Random, float], float]] = {  # of objects, around a mean
    "equal": lambda random, mean: mean,
    "uniform": lambda random, mean: random.uniform(0.2, 1.8) * mean,
    "heavy": lambda random, mean: mean * min(8, random.paretovariate(1.5) / 2),
}


def readers(random: Random, number: int) -> Case:
    """Draw until the case takes about as long as it should."""
    while True:
        case = drawn(random, number)
        if LEAST <= at_least(case) <= MOST:
            return case


def drawn(random: Random, number: int) -> Case:
    """Draw a storage with limits, and 1 to 16 readers with their objects."""
    bandwidth = random.choice([4e6, 6e6, 8e6, 12e6, 16e6])
    store = {
        "bandwidth": bandwidth,
        "first_byte": random.choice([0, 0.002, 0.005, 0.02, 0.05]),
        "cap": random.choice([None, None, bandwidth / random.choice([1.5, 3, 6, 12])]),
        "streams": random.choice([None, None, None, random.randint(1, 8)]),
    }
    kind = random.choice([*SIZES])
    mean = random.choice([60e3, 150e3, 400e3])
    compute = random.choice([0, 0, 0.005, 0.02, 0.05])
    is_uneven = random.random() < 0.4
    each = random.randint(2, 14)

    def objects() -> list[tuple[int, float]]:
        count = random.randint(1, 2 * each) if is_uneven else each
        return [
            (
                int(SIZES[kind](random, mean)),
                round(compute * random.uniform(0.5, 1.5), 5),
            )
            for _ in range(count)
        ]

    return {
        "name": f"case {number}",
        "kind": kind,
        "store": store,
        "stagger": STAGGER,
        "readers": [objects() for _ in range(random.randint(1, 16))],
    }


def at_least(case: Case) -> float:
    """Return seconds that the case takes at least: what the link needs, or the slowest reader alone."""
    store: dict[str, Any] = case["store"]
    rate = min(store["cap"] or store["bandwidth"], store["bandwidth"])
    link: float = (
        sum(size for mine in case["readers"] for size, _ in mine) / store["bandwidth"]
    )
    alone: list[float] = [
        sum(store["first_byte"] + size / rate + compute for size, compute in mine)
        for mine in case["readers"]
    ]
    return max(link, *alone)
