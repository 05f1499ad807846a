"""A run that goes on where another one stood gives what that one would have given, whatever ran."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_pipelines import loaded, pipeline, seeds

from evidence.many_cases import cases
from lessonkit import DataLoader, Dataset, Machine, Trace, benchmark, get_worker_info
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


def cannot_be_repeated(dataset: Dataset) -> bool:
    """Whether a step of *dataset* draws at random each time, or gives what comes first."""
    found = [node.arguments for node in walk(dataset.node)]
    return any(
        given.get("random") or False in (given.get("in_order"), given.get("deterministic"))
        for given in found
    )


def test_a_resumed_run_gives_what_the_unbroken_one_would_have_given() -> None:
    """Random pipelines, half of them with loaders, and some that fail."""
    stops = refused = failures = 0
    for seed in seeds(300):
        draw = random.Random(seed)
        costs = (0, 1e-5, 3e-5)
        dataset = (
            loaded(seed, costs, failing=True)
            if seed % 2
            else pipeline(seed, costs, failing=True)
        )
        options: dict[str, Any] = {"num_epochs": 1 + seed % 3}
        whole, error = outcome(dataset, **options)
        after = draw.randint(0, len(whole))
        before = benchmark(dataset, max_elements=after, train=0, **options)
        if cannot_be_repeated(dataset):
            with pytest.raises(ValueError, match="cannot be resumed"):
                before.state(after=0)
            refused += 1
            continue
        state = before.state(after=min(after, len(elements(before))))
        rest, same_error = outcome(dataset, resume=state, **options)
        assert (rest, same_error) == (whole[state.after :], error), (seed, dataset)
        stops += 1
        failures += bool(error)
    assert stops + refused == len(seeds(300))
    assert stops > 0.7 * len(seeds(300))
    assert failures > 0.05 * len(seeds(300))


def test_a_run_goes_on_as_tf_data_does() -> None:
    """What both can say, and no order that is drawn."""
    count = 0
    for case in cases("resumes_tfdata"):
        try:
            dataset = eval(case["program"], {"D": Dataset})
            whole = benchmark(dataset, 1)
        except (AttributeError, NameError, ZeroDivisionError):
            continue
        if "shuffle" not in case["program"]:
            assert json.loads(json.dumps(elements(whole))) == case["whole"][:-1], case[
                "program"
            ]
        for stop in case["stops"]:
            rest = benchmark(dataset, 1, resume=whole.state(after=stop["after"]))
            assert elements(rest) == elements(whole)[stop["after"] :], case["program"]
            count += 1
    assert count > 100


def samples(count: int = 12) -> Dataset:
    """Samples that are asked for by number."""
    return Dataset.range(count)


def stream(count: int = 12) -> Dataset:
    """An iterable, of which each worker reads its part."""

    def mine() -> Iterator[int]:
        worker = get_worker_info()
        yield from range(
            worker.id if worker else 0, count, worker.num_workers if worker else 1
        )

    return Dataset.from_generator(mine)


def stateful(
    data: Dataset, batch_size: int | None, snapshot_every_n_steps: int = 1, **said: Any
) -> Dataset:
    """Write PyTorch's loader that keeps a state as ours; how often it does so changes no element."""
    return DataLoader(data, batch_size, **said)


AS_OURS = {
    "StatefulDataLoader": stateful,
    "Map": samples,
    "Stream": stream,
    "Keeps": stream,
}
# Drawn, or of PyTorch alone
NOT_OURS = ("shuffle", "sampler", "generator", "Shuffles", "fails", "in_order")


def test_a_run_goes_on_as_pytorch_does() -> None:
    count = 0
    for case in cases("resumes_torch"):
        program = case.get("program", "")
        if not program or any(word in program for word in NOT_OURS):
            continue
        loader = eval(program, AS_OURS)
        whole = benchmark(loader, 2)
        assert json.loads(json.dumps(whole.epochs[0].elements)) == case["whole"][:-1], (
            program
        )
        assert (
            json.loads(json.dumps(whole.epochs[1].elements)) == case["second epoch"][:-1]
        ), program
        for stop in case["stops"]:
            rest = benchmark(loader, 2, resume=whole.state(after=stop["after"]))
            assert elements(rest) == elements(whole)[stop["after"] :], program
            count += stop["exact"]
    assert count > 50


class Grain:
    """Writes Grain's data sets as ours."""

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def to_iter_dataset(self) -> Grain:
        return self

    def seed(self, number: int) -> Grain:
        return self  # nothing here draws

    def map(self, function: Callable[[Any], Any]) -> Grain:
        return Grain(self.data.map(function))

    def filter(self, keep: Callable[[Any], bool]) -> Grain:
        return Grain(self.data.filter(keep))

    def batch(self, size: int, drop_remainder: bool = False) -> Grain:
        return Grain(self.data.batch(size, drop_remainder=drop_remainder))

    def repeat(self, count: int) -> Grain:
        return Grain(self.data.repeat(count))

    def __getitem__(self, part: slice) -> Grain:
        return Grain(self.data.shard(part.step, part.start))


AS_GRAIN = {
    "R": lambda *ends: Grain(Dataset.range(*ends)),
    "Counted": lambda: lambda value: value,
    "Keep": lambda: lambda value: value % 3 != 0,
}
GRAINS_OWN = ("huffle", "Fails", "Big", "gp.", "ge.")  # its draws, and what only it has


def test_a_run_goes_on_as_grain_does() -> None:
    count = 0
    for case in cases("resumes_grain"):
        if any(word in case["program"] for word in GRAINS_OWN):
            continue
        dataset = eval(case["program"], AS_GRAIN).data
        whole = benchmark(dataset, 1)
        assert elements(whole) == case["whole"][:-1], case["program"]
        for stop in case["stops"]:
            rest = benchmark(dataset, 1, resume=whole.state(after=stop["after"]))
            assert elements(rest) == elements(whole)[stop["after"] :], case["program"]
            count += stop["exact"]
    assert count > 60


def test_a_state_that_does_not_fit_is_refused_where_pytorch_goes_on() -> None:
    for case in cases("resumes_torch"):
        if "misfit" in case and "seed" not in case["misfit"]:
            one, other = (
                eval(f"StatefulDataLoader({case[key]})", AS_OURS)
                for key in ("state of", "into")
            )
            with pytest.raises(ValueError, match="resume"):
                benchmark(
                    other,
                    1,
                    resume=benchmark(one, 1).state(after=len(case["before"])),
                )


def test_a_state_says_what_each_way_to_keep_it_costs() -> None:
    dataset = Dataset.range(300).map(cost=0.001, nbytes=1000).shuffle(100)
    state = benchmark(dataset, 1, train=0).state(after=50)
    assert state.contents == 99 * 1000
    assert state.position == pytest.approx(0.100)
    assert state.after == 50


def test_the_epochs_before_are_not_in_what_follows() -> None:
    dataset = DataLoader(Dataset.range(10), 2, shuffle=True, num_workers=2)
    whole = benchmark(dataset, 3)
    for after, epochs in ((0, 3), (4, 3), (5, 2), (7, 2), (14, 1)):
        rest = benchmark(dataset, 3, resume=whole.state(after=after))
        assert len(rest.epochs) == epochs
        assert elements(rest) == elements(whole)[after:]
        assert sum(epoch.count for epoch in rest.epochs) == 15 - after
        assert all(len(epoch.keys) == epoch.count for epoch in rest.epochs)


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


OTHERS = """
import math
from functools import partial
class Scaled:
    def __init__(self, by): self.by = by
    def __call__(self, x): return x * self.by
def plus(by): return lambda x: x + by
def usual(by): return lambda x, more=by: x + more
def within(x): return x in {"a", "b", "c"}
def outer(x): return inner(x)
def inner(x): return x + OFFSET if x else outer(x)
"""
CALLS = (
    *(
        "plus(2)",
        "plus(3)",
        "usual(2)",
        "usual(3)",
        "math.sqrt",
        "math.floor",
        "lambda x: math.sqrt(x)",
    ),
    *(
        "lambda x: math.floor(x)",
        "Scaled(2)",
        "Scaled(3)",
        "partial(pow, 2)",
        "partial(pow, 3)",
        "within",
    ),
    *(
        "outer",
        "[1, 2].__getitem__",
        "[1, 3].__getitem__",
        "Scaled(2).__call__",
        "plus",
    ),
)


def prints(offset: int = 1) -> list[str]:
    """Digests of pipelines with each of these functions."""
    names: dict[str, Any] = {"OFFSET": offset, "__name__": "functions"}
    exec(OTHERS, names)
    return [fingerprint(Dataset.range(3).map(eval(call, names)).node, 4) for call in CALLS]


def test_functions_are_told_apart_by_all_that_they_use() -> None:
    assert len({*prints()}) == len(CALLS)
    pairs = zip(CALLS, prints(1), prints(2), strict=True)
    assert [call for call, one, other in pairs if one != other] == ["outer"]
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    script = f"import sys; sys.path[:0] = {folders!r}\n"
    script += "import test_resume; print(*test_resume.prints())"
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        said = subprocess.check_output([sys.executable, "-c", script], env=env, text=True)
        assert said.split() == prints()


def test_what_a_resumed_run_makes_again_takes_no_training() -> None:
    """Shuffling by 16, the element after 40 is there when 56 samples were read, however long training is."""
    dataset = Dataset.range(100).map(cost=0.005).shuffle(16, seed=7)
    for train in (0, 0.010, 0.100):
        state = benchmark(dataset, 1, train).state(after=40)
        rest = benchmark(dataset, 1, train, resume=state)
        assert rest.epochs[0].arrivals[0] == pytest.approx(56 * 0.005)


def test_a_state_fits_only_a_machine_with_the_same_order() -> None:
    """An interleave without a cycle has as many turns as there are cores."""

    def file(number: int) -> Dataset:
        return Dataset.range(10 * number, 10 * number + 3)

    inner = lambda number: Dataset.range(8).interleave(file)  # noqa: E731
    for dataset in (
        Dataset.range(8).interleave(file),
        Dataset.range(1).flat_map(inner),
    ):
        state = benchmark(dataset, 1, machine=Machine(4)).state(after=5)
        with pytest.raises(ValueError, match="more or fewer cores"):
            benchmark(dataset, 1, machine=Machine(2), resume=state)
    plain = Dataset.range(8).map(add, num_parallel_calls=2)
    state = benchmark(plain, 1, machine=Machine(4)).state(after=5)
    assert elements(benchmark(plain, 1, machine=Machine(2), resume=state)) == [6, 7, 8]


CHANGES = """
def inner(x): return [OFFSET + part for part in (x,)][0]
def nested(x): return (lambda part: part + OFFSET)(x)
class Adds:
    __slots__ = ("by",)
    def __init__(self, by): self.by = by
    def __call__(self, x): return x + OFFSET
    @property
    def twice(self): return 2 * OFFSET
    @staticmethod
    def once(x): return x + OFFSET
def made(x): return Adds(1)(x)
def after(x): return Adds.once(x)
"""


@pytest.mark.parametrize(
    "call", ["inner", "nested", "Adds(1)", "made", "after", "Adds(1).once"]
)
def test_a_global_that_changed_is_noticed_wherever_it_is_named(call: str) -> None:
    def digest(**names: Any) -> str:
        names["__name__"] = "functions"
        exec(CHANGES, names)
        return fingerprint(Dataset.range(3).map(eval(call, names)).node, 4)

    assert digest(OFFSET=1) == digest(OFFSET=1, other=2) != digest(OFFSET=2)


def test_a_class_whose_method_changed_is_another() -> None:
    def digest(body: str) -> str:
        names: dict[str, Any] = {"__name__": "functions"}
        exec(
            f"class Base:\n    def __call__(self, x): return {body}\nclass Of(Base): pass",
            names,
        )
        return fingerprint(Dataset.range(3).map(names["Of"]()).node, 4)

    assert digest("x + 1") == digest("x + 1") != digest("x + 2")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.zeros((4, 4)), np.eye(4)),
        ({"x": np.zeros(3)}, {"x": np.ones(3)}),
        ((1, "a"), (1, "b")),
        ([np.zeros(2000)], [np.arange(2000) == 1000]),  # whose texts are the same
        (1.25, 1.5),
        (b"a", b"b"),
        (random.Random(1), random.Random(2)),
        (deque([1]), deque([2])),
        (range(3), range(4)),
        (partial(pow, 2), partial(pow, 3)),
    ],
    ids=repr,
)
def test_values_are_told_apart_by_all_that_is_in_them(one: Any, other: Any) -> None:
    first, second = (
        fingerprint(Dataset.from_list([value]).node, 4) for value in (one, other)
    )
    assert first != second


def test_what_cannot_be_resumed_says_so() -> None:
    trace = benchmark(Dataset.range(6).map(lambda number: random.random(), random=True), 1)
    with pytest.raises(ValueError, match="cannot be resumed"):
        trace.state(after=2)
    with pytest.raises(ValueError, match="after=7: must be 6 or less"):
        benchmark(Dataset.range(6), 1).state(after=7)
    with pytest.raises(ValueError, match="after=-1"):
        benchmark(Dataset.range(6), 1).state(after=-1)
    for unordered in (
        Dataset.range(6).map(add, num_parallel_calls=2, deterministic=False),
        DataLoader(Dataset.range(6), num_workers=2, in_order=False),
        Dataset.range(6).interleave(
            Dataset.range, 2, num_parallel_calls=2, deterministic=False
        ),
        Dataset.range(6).flat_map(
            lambda n: Dataset.range(n).map(add, num_parallel_calls=2, deterministic=False)
        ),
    ):
        for clock in ("virtual", "real"):
            with pytest.raises(ValueError, match="cannot be resumed"):
                benchmark(unordered, 1, clock=clock, train=0).state(after=2)
    with pytest.raises(TypeError, match="resume=3: must be a State"):
        benchmark(Dataset.range(6), 1, resume=3)
    for after in (-3, float("nan")):
        wrong = State(benchmark(Dataset.range(6), 1).state(after=0).pipeline, after, 0, 0)  # type: ignore
        with pytest.raises((TypeError, ValueError), match=r"after=.*: must be 0 or more"):
            benchmark(Dataset.range(6), 1, resume=wrong)
    with pytest.raises(ValueError, match="ranks: must not be given with"):
        benchmark(lambda rank: Dataset.range(6), ranks=2, resume=State("", 0, 0, 0))


def test_a_resumed_run_can_be_resumed() -> None:
    dataset = Dataset.range(10).shuffle(4)
    whole = benchmark(dataset)
    again = benchmark(dataset, resume=whole.state(after=3))
    assert elements(benchmark(dataset, resume=again.state(after=2))) == elements(whole)[5:]
