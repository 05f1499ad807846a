"""A run that goes on where another one stood gives what that one would have given, whatever ran."""

import math
import random
from functools import partial
from typing import Any

import pytest
from random_pipelines import loaded, pipeline

from lessonkit import DataLoader, Dataset, Trace, benchmark
from lessonkit.engine.node import walk
from lessonkit.engine.resume import State, fingerprint


def elements(trace: Trace) -> list[Any]:
    return [element for epoch in trace.epochs for element in epoch.elements]


def outcome(dataset: Dataset, **options: Any) -> tuple[list[Any], str]:
    """What was trained on, and the error that ended it, if one did."""
    seen: list[Any] = []
    try:
        benchmark(dataset, step=lambda element: seen.append(repr(element)), **options)
    except Exception as error:
        return seen, f"{type(error).__name__}: {error}"
    return seen, ""


def draws(dataset: Dataset) -> bool:
    """Tell whether a map of *dataset* draws at random each time."""
    return any(node.arguments.get("random") for node in walk(dataset.node))


def test_a_resumed_run_gives_what_the_unbroken_one_would_have_given() -> None:
    """1,000 random pipelines, half of them with loaders, and some that fail."""
    stops = failures = 0
    for seed in range(1000):
        draw = random.Random(seed)
        costs = (0, 1e-5, 3e-5)
        dataset = loaded(seed, costs, failing=True) if seed % 2 else pipeline(seed, costs, failing=True)
        options: dict[str, Any] = {"num_epochs": 1 + seed % 3}
        whole, error = outcome(dataset, **options)
        after = draw.randint(0, len(whole))
        before = benchmark(dataset, max_elements=after, train=0, **options)
        if draws(dataset):
            with pytest.raises(ValueError, match="random=True"):
                before.state(after=0)
            continue
        state = before.state(after=min(after, len(elements(before))))
        rest, same_error = outcome(dataset, resume=state, **options)
        assert (rest, same_error) == (whole[state.after :], error), (seed, dataset)
        stops += 1
        failures += bool(error)
    assert stops > 700
    assert failures > 50


def test_a_state_says_what_each_way_to_keep_it_costs() -> None:
    dataset = Dataset.range(300).map(cost=0.001, nbytes=1000).shuffle(100)
    state = benchmark(dataset, 1, train=0).state(after=50)
    assert state.contents == 99 * 1000
    assert state.position == pytest.approx(0.100)
    assert state.replay == pytest.approx(0.149)
    assert (state.after, state.passes) == (50, 1)


def test_the_epochs_before_are_not_in_what_follows() -> None:
    dataset = DataLoader(Dataset.range(10), 2, shuffle=True, num_workers=2)
    whole = benchmark(dataset, 3)
    for after, epochs in ((0, 3), (4, 3), (5, 2), (7, 2), (14, 1)):
        rest = benchmark(dataset, 3, resume=whole.state(after=after))
        assert len(rest.epochs) == epochs
        assert elements(rest) == elements(whole)[after:]
        assert sum(epoch.count for epoch in rest.epochs) == 15 - after
        assert len(rest.arrived) == epochs


def add(number: int) -> int:
    return number + 1


def test_a_state_of_another_pipeline_is_refused() -> None:
    state = benchmark(Dataset.range(6).map(add).shuffle(3), 1).state(after=2)
    same = Dataset.range(6).map(add).shuffle(3)
    assert isinstance(benchmark(same, 1, resume=state), Trace)
    for other in (
        Dataset.range(7).map(add).shuffle(3),
        Dataset.range(6).map(lambda number: number + 2).shuffle(3),
        Dataset.range(6).map(add).shuffle(4),
        Dataset.range(6).map(add).shuffle(3).batch(2),
        Dataset.from_list([0, 1, 2, 3, 4, 6]).map(add).shuffle(3),
    ):
        with pytest.raises(ValueError, match="of another pipeline"):
            benchmark(other, 1, resume=state)


def test_what_cannot_be_resumed_says_so() -> None:
    trace = benchmark(Dataset.range(6).map(lambda number: random.random(), random=True), 1)
    with pytest.raises(ValueError, match="cannot be resumed"):
        trace.state(after=2)
    with pytest.raises(ValueError, match="after=7: must be 6 or less"):
        benchmark(Dataset.range(6), 1).state(after=7)
    with pytest.raises(ValueError, match="after=-1"):
        benchmark(Dataset.range(6), 1).state(after=-1)
    unordered = Dataset.range(6).map(add, num_parallel_calls=2, deterministic=False)
    with pytest.raises(ValueError, match="hangs on times"):
        benchmark(unordered, 1, clock="real", train=0).state(after=2)
    with pytest.raises(TypeError, match="resume=3: must be a State"):
        benchmark(Dataset.range(6), 1, resume=3)
    with pytest.raises(ValueError, match="must not be given with ranks"):
        benchmark(lambda rank: Dataset.range(6), ranks=2, resume=State("", 0, 0, 0, 0, 0))


def test_a_resumed_run_can_be_resumed() -> None:
    dataset = Dataset.range(10).shuffle(4)
    whole = benchmark(dataset)
    again = benchmark(dataset, resume=whole.state(after=3))
    assert elements(benchmark(dataset, resume=again.state(after=2))) == elements(whole)[5:]


def test_pipelines_are_told_apart_by_what_their_functions_do() -> None:
    def adding(more: int) -> Dataset:
        return Dataset.range(5).map(lambda number: number + more)

    def calling(name: str) -> Dataset:
        return Dataset.range(5).map(lambda number: getattr(math, name)(number))

    different = [
        *(adding(1), adding(2), calling("sqrt"), calling("floor")),
        Dataset.range(5).map(lambda number, more=1: number + more),
        Dataset.range(5).map(lambda number, more=2: number + more),
        Dataset.range(5).map(partial(pow, 2)),
        Dataset.range(5).map(partial(pow, 3)),
        Dataset.range(5).map(lambda number: math.sqrt(number)),
        Dataset.range(5).map(lambda number: math.floor(number)),
    ]
    assert len({fingerprint(dataset.node) for dataset in different}) == len(different)
    assert fingerprint(adding(1).node) == fingerprint(adding(1).node)
