"""Draw random pipelines whose times are worth measuring."""

from collections.abc import Callable
from random import Random

from evidence.record import Case
from evidence.tfdata.form import Pipeline, Source, Step


def milliseconds(random: Random, *choices: int) -> float:
    """Return one of these times, in seconds."""
    return random.choice(choices) / 1000


def file(random: Random, samples: int) -> Source:
    """A file that takes time to open and to read."""
    return {
        "kind": "artificial",
        "open": milliseconds(random, 10, 20, 30, 40),
        "read": milliseconds(random, 5, 10, 15, 20, 30),
        "samples": samples,
    }


# ---- pipelines of all operators that take time ----


def pipeline(random: Random, number: int) -> Case:
    """One file or several, one to three steps, and a loop that trains: two epochs."""
    source, steps = begun(random)
    for _ in range(random.randint(1, 3)):
        add_step(random, steps)
    if random.random() < 0.2:
        steps.insert(random.randint(1, len(steps)), {"op": "repeat", "count": 2})
    drawn: Pipeline = {
        "name": f"r{number}",
        "source": source,
        "ops": steps,
        "train": milliseconds(random, 0, 5, 10, 15, 20, 30),
        "epochs": 2,
    }
    return {"pipeline": drawn}


def begun(random: Random) -> tuple[Source, list[Step]]:
    """Begin with one file, or with several that are interleaved."""
    if random.random() >= 0.45:
        return file(random, random.randint(3, 6)), []
    inner = file(random, random.randint(2, 4))
    inner["stride"] = 100  # so that an element tells its file
    cycle_length = random.randint(1, 4)
    interleave: Step = {
        "op": "interleave",
        "source": inner,
        "cycle_length": cycle_length,
        "block_length": random.choice([1, 1, 2]),
        "num_parallel_calls": random.choice([None, random.randint(1, cycle_length)]),
        "deterministic": True,
    }
    return {"kind": "range", "n": random.randint(2, 6)}, [interleave]


def add_step(random: Random, steps: list[Step]) -> None:
    """Add one step, unless it does not go with those before: costs by element need single elements."""
    drawn = random.choices(list(DRAWN), [weight for weight, _ in DRAWN.values()])[0]
    step = DRAWN[drawn][1](random)
    is_batched = any(before["op"] == "batch" for before in steps)
    if not (is_batched and (step["op"] == "batch" or "cost_of" in step)):
        steps.append(step)


def sequential_map(random: Random) -> Step:
    """Map one element after the other."""
    return {"op": "map", "cost": milliseconds(random, 5, 10, 20, 30, 40)}


def parallel_map(random: Random) -> Step:
    """Map several elements at the same time, in order."""
    return {
        "op": "map",
        "cost": milliseconds(random, 10, 20, 30, 40, 60),
        "num_parallel_calls": random.randint(1, 5),
        "deterministic": True,
    }


def uneven_map(random: Random) -> Step:
    """Map several elements at the same time, one of which takes much longer."""
    slow = {str(random.randint(0, 5)): milliseconds(random, 40, 60, 80)}
    return {
        "op": "map",
        "cost": milliseconds(random, 5, 10),
        "cost_of": slow,
        "num_parallel_calls": random.randint(2, 4),
        "deterministic": random.random() < 0.6,
    }


DRAWN: dict[str, tuple[int, Callable[[Random], Step]]] = {  # how often, and what
    "map": (2, sequential_map),
    "parallel map": (5, parallel_map),
    "uneven map": (3, uneven_map),
    "prefetch": (4, lambda random: {"op": "prefetch", "buffer": random.randint(1, 4)}),
    "batch": (1, lambda random: {"op": "batch", "size": random.randint(2, 3)}),
    "cache": (2, lambda random: {"op": "cache"}),
    "shuffle": (
        1,
        lambda random: {"op": "shuffle", "buffer": random.randint(2, 5), "seed": 1},
    ),
}

# ---- pipelines in which one of tf.data's static rewrites applies ----

# By rewrite. Others than these make no difference to times that a sleep can show: what a
# function of a sleep does has a state, and tf.data leaves it sequential.
REWRITES = (
    "map_and_batch_fusion",
    "map_fusion",
    "shuffle_and_repeat_fusion",
    "map_and_filter_fusion",
    "filter_fusion",
)


def rewritable(random: Random, number: int) -> Case:
    """A file, two steps that a rewrite looks for, sometimes a prefetch, and a loop that trains."""
    rewrite = REWRITES[number % len(REWRITES)]
    steps = fusible(random, rewrite)
    if random.random() < 0.4:
        steps.append({"op": "prefetch", "buffer": random.randint(1, 2)})
    drawn: Pipeline = {
        "name": f"{rewrite} {number}",
        "source": file(random, random.randint(6, 9)),
        "ops": steps,
        "train": milliseconds(random, 0, 5, 10, 20),
        "epochs": 2,
        "rewrites": [rewrite],
    }
    return {"pipeline": drawn}


def fusible(random: Random, rewrite: str) -> list[Step]:
    """Two steps in a row that become one."""

    def mapped(calls: int | None) -> Step:
        step: Step = {"op": "map", "cost": milliseconds(random, 5, 10, 20, 30)}
        if random.random() < 0.5:
            step |= {"fn": "add", "k": 1}
        if calls is not None:
            step |= {"num_parallel_calls": calls, "deterministic": True}
        return step

    def filtered() -> Step:
        return {"op": "filter", "keep_mod": random.choice([1, 2, 3])}

    match rewrite:
        case "map_and_batch_fusion":
            batch: Step = {
                "op": "batch",
                "size": random.randint(2, 4),
                "drop_remainder": random.random() < 0.3,
            }
            return [mapped(random.choice([None, 1, 2, 3])), batch]
        case "map_fusion":
            return [mapped(None), mapped(None)]
        case "map_and_filter_fusion":
            return [mapped(None), filtered()]
        case "filter_fusion":
            return [filtered(), filtered()]
        case "shuffle_and_repeat_fusion":
            shuffle: Step = {"op": "shuffle", "buffer": random.randint(2, 6), "seed": 1}
            return [shuffle, {"op": "repeat", "count": random.randint(2, 3)}]
    raise ValueError(f"rewrite={rewrite!r}: must be of {', '.join(REWRITES)}")
