"""Draw random loaders whose epochs take a while, and not too long."""

from random import Random

from evidence.loaders.form import Data, Options, Spec, cost_of
from evidence.record import Case

# s, one after the other: what an epoch takes
SHORTEST = 0.15
LONGEST = 1.6
FEWEST = 3  # batches


def loader(random: Random, number: int) -> Case:
    """Draw until an epoch takes about as long as it should."""
    while True:
        spec = drawn(random, number)
        samples, seconds = one_by_one(spec)
        batches = -(-samples // (spec["loader"]["batch_size"] or 1))
        if SHORTEST < seconds < LONGEST and batches >= FEWEST:
            return {"spec": spec}


def milliseconds(random: Random, *choices: int) -> float:
    """Return one of these times, in seconds."""
    return random.choice(choices) / 1000


def drawn(random: Random, number: int) -> Spec:
    """Draw a data set, a loader over it, and a loop."""
    options = drawn_options(random)
    epochs = random.choices([1, 2, 3], [2, 3, 2])[0]
    if random.random() < 0.64:
        data = samples(random)
        if random.random() < 0.3:
            options |= {"shuffle": True, "seed": random.randint(0, 99)}
    else:
        data = files(random)
    spec: Spec = {
        "name": f"c{number}",
        "dataset": data,
        "loader": options,
        "train": milliseconds(random, 0, 0, 2, 5, 10, 20, 30, 40),
        "epochs": epochs,
    }
    if random.random() < 0.35:
        spec["collate"] = milliseconds(random, 2, 5, 10, 20)
    if options["num_workers"] and random.random() < 0.12:
        spec["worker_init"] = milliseconds(random, 20, 40, 60)
    if epochs > 1 and random.random() < 0.15:
        spec["consume"] = [random.randint(1, 3), *[None] * (epochs - 1)]
    return spec


def drawn_options(random: Random) -> Options:
    """Draw the arguments of the loader."""
    workers = random.choices(range(7), [1, 2, 3, 3, 3, 2, 2])[0]
    options: Options = {
        "num_workers": workers,
        "batch_size": random.randint(1, 8),
        "drop_last": random.random() < 0.25,
    }
    if workers:
        options |= {
            "prefetch_factor": random.randint(1, 4),
            "persistent_workers": random.random() < 0.45,
            "in_order": random.random() >= 0.25,
        }
    return options


def samples(random: Random) -> Data:
    """Draw a data set by number: alike, with stragglers, or each as it likes."""
    count = random.randint(8, 44)
    data: Data = {"kind": "map", "n": count}
    kind = random.random()
    if kind < 0.4:
        every = random.randint(3, 7)
        data["cost"] = milliseconds(random, 2, 5, 10, 15)
        data["straggler"] = {
            "every": every,
            "offset": random.randrange(every),
            "cost": milliseconds(random, 30, 40, 50, 60),
        }
    elif kind < 0.6:
        data["costs"] = [
            milliseconds(random, 2, 4, 7, 11, 16, 22, 30, 45, 60) for _ in range(count)
        ]
    else:
        data["cost"] = milliseconds(random, 2, 5, 10, 15, 20, 30, 40, 60)
    if random.random() < 0.18:
        data["lazy_open"] = milliseconds(random, 20, 40, 60)
    return data


def files(random: Random) -> Data:
    """Draw files, which workers share or not."""
    shard = random.choices(["files", "samples", "none"], [11, 5, 4])[0]
    is_shared = shard != "none"  # whatever is not, each worker reads
    data: Data = {
        "kind": "iterable",
        "files": [
            random.randint(1, 8 if is_shared else 5)
            for _ in range(random.randint(2, 7 if is_shared else 3))
        ],
        "open": milliseconds(random, 0, 10, 20, 30, 40),
        "shard": shard,  # type: ignore[typeddict-item]
    }
    kind = random.random()
    if kind < 0.3:
        data["file_costs"] = [
            milliseconds(random, 2, 5, 8, 12, 18, 26, 35) for _ in data["files"]
        ]
    elif kind < 0.5:
        data["cost"] = milliseconds(random, 2, 5, 10)
        data["straggler"] = {
            "every": 3,
            "offset": random.randrange(3),
            "cost": milliseconds(random, 30, 45, 60),
        }
    else:
        data["cost"] = milliseconds(random, 2, 5, 10, 15, 20, 30)
    return data


def one_by_one(spec: Spec) -> tuple[int, float]:
    """Return how many samples come, and the seconds of an epoch in which nothing overlaps."""
    data = spec["dataset"]
    if data["kind"] == "map":
        count = data["n"]
        seconds = sum(cost_of(data, index) for index in range(count))
    else:
        count = sum(data["files"])
        seconds = sum(
            data["open"] + sum(cost_of(data, index, file) for index in range(length))
            for file, length in enumerate(data["files"])
        )
        if data["shard"] == "none":
            copies = max(1, spec["loader"]["num_workers"])
            count = count * copies
            seconds = seconds * copies
    batches = -(-count // (spec["loader"]["batch_size"] or 1))
    train = spec["train"]
    each = spec.get("collate", 0) + (
        train if isinstance(train, float | int) else max(train)
    )
    return count, seconds + batches * each
