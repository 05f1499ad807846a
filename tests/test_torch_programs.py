"""The program text of a loader gives on real PyTorch what the loader gives here."""

import json
import re
import sys
from typing import Any

import numpy
import pytest
import torch_programs
from hypothesis import given
from hypothesis import strategies as st
from random_pipelines import loaded

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    benchmark,
    per_sample,
    straggler,
)
from lessonkit.loops.fitting import fit

MEASURED: dict[str, Any] = json.loads(torch_programs.FILE.read_text())
LOADERS = torch_programs.loaders()


def test_every_loader_was_run() -> None:
    assert list(MEASURED) == list(LOADERS)


@pytest.mark.parametrize("name", LOADERS)
def test_program_is_the_one_that_ran_on_pytorch(name: str) -> None:
    assert LOADERS[name].code("torch") == MEASURED[name]["program"]


@pytest.mark.parametrize("name", LOADERS)
def test_batches_are_those_of_pytorch(name: str) -> None:
    epochs = benchmark(LOADERS[name], num_epochs=2, keep=True).epochs
    assert [torch_programs.plain(epoch.elements) for epoch in epochs] == MEASURED[name][
        "epochs"
    ]


SOURCES: list[Any] = [
    Dataset.range,
    Dataset.range,
    lambda count: Dataset.from_list([*range(count)]),
    lambda count: ArtificialDataset(count, open=0, read=1e-6),
    lambda count: ArtificialDataset(
        count, open=lambda file: 1e-6, read=lambda sample: sample * 1e-6
    ),
    lambda count: ArtificialDataset(
        count, open=0, read=straggler(1e-6, every=3, slow=2e-6)
    ),
    lambda count: ArtificialDataset(count, open=0, read=per_sample(1e-6)),
]
NUMBERS: list[Any] = [  # what can be done to numbers, and whether pairs come out
    (lambda data: data.map(lambda x: 2 * x + 1), False),
    (lambda data: data.map(lambda x: (x, x + 1), num_parallel_calls=2), True),
    (lambda data: data.map(lambda *parts: (*parts, 7)), True),
    (lambda data: data.filter(lambda x: x % 3), False),
    (lambda data: Dataset.zip(data, data.map(lambda x: x * x)), True),
]
PAIRS: list[Any] = [
    (lambda data: data.map(lambda a, b: a + b), False),
    (lambda data: data.map(lambda a, b: (b, a)), True),
    (lambda data: data.map(max), False),
    (lambda data: data.filter(lambda a, b: a < b), True),
]
BOTH: list[Any] = [
    lambda data: data.take(-1),
    lambda data: data.take(4),
    lambda data: data.skip(-1),
    lambda data: data.skip(1),
    lambda data: data.shard(2, 1),
    lambda data: data.cache(),
    lambda data: data.prefetch(2),
    lambda data: data.map(cost=1e-6, num_parallel_calls=2),
    lambda data: data.map(cost=per_sample(1e-6)),
    lambda data: data.map(cost=straggler(1e-6, every=3, slow=2e-6)),
]


@st.composite
def pipelines(draw: st.DrawFn) -> Dataset:
    dataset: Dataset = draw(st.sampled_from(SOURCES))(draw(st.integers(0, 7)))
    are_pairs = False
    for _ in range(draw(st.integers(0, 5))):
        changed, kept = (
            PAIRS if are_pairs else NUMBERS,
            [(step, are_pairs) for step in BOTH],
        )
        step, are_pairs = draw(st.sampled_from(changed + kept))
        dataset = step(dataset)
    return dataset


def run(text: str) -> list[Any]:
    """What the training step of a program is called with; the loader is not PyTorch's, and nothing sleeps."""
    seen: list[Any] = []
    line = re.compile(r"time\.sleep\(0\.0\)  # the training step")
    assert line.search(text)
    with pytest.MonkeyPatch.context() as patch:
        for name, module in torch_programs.imitated().items():
            patch.setitem(sys.modules, name, module)
        patch.setattr("time.sleep", lambda seconds: None)
        exec(
            line.sub("SEEN.append(batch)", text),
            {"__name__": "__main__", "SEEN": seen, "print": str},
        )
    return seen


def elements(dataset: Dataset, **options: Any) -> list[Any]:
    return [
        element
        for epoch in benchmark(dataset, train=0, keep=True, **options).epochs
        for element in epoch.elements
    ]


FORMS: list[Any] = [
    lambda dataset: dataset,
    lambda dataset: DataLoader(dataset, batch_size=2),
    lambda dataset: dataset.batch(3, drop_remainder=True).prefetch(1),
    lambda dataset: DataLoader(dataset, batch_size=None).take(4),
]


@given(pipelines(), st.sampled_from(FORMS), st.none() | st.integers(0, 9))
def test_a_program_makes_the_elements_of_its_pipeline(
    dataset: Dataset, form: Any, most: int | None
) -> None:
    loader = form(dataset)
    assert run(loader.code("torch", train=0, max_elements=most)) == elements(
        loader, max_elements=most
    )


def test_a_program_of_a_random_loader_gives_its_elements_or_says_why_not() -> None:
    compared = 0
    for seed in range(100):
        dataset, in_any_order = loaded(seed), "in_order=False" in repr(loaded(seed))
        text = dataset.code("torch", train=0)
        assert "lessonkit" not in text
        if "left out" not in text and "another order" not in text:
            given, wanted = run(text), elements(dataset)
            assert (
                (sorted(given, key=repr) == sorted(wanted, key=repr))
                if in_any_order
                else given == wanted
            ), text
            compared += 1
    assert compared > 30


@pytest.mark.parametrize("failing", [False, True])
def test_a_program_of_a_random_loader_compiles_and_is_always_the_same(
    failing: bool,
) -> None:
    for seed in range(50):
        text = loaded(seed, failing=failing).code("torch")
        compile(text, "program", "exec")
        assert " at 0x" not in text
        assert text == loaded(seed, failing=failing).code("torch")


def test_what_comes_after_a_loader_goes_on_in_the_main_process() -> None:
    loader = DataLoader(Dataset.range(6).map(lambda x: x + 1), 2, num_workers=2)
    joined = Dataset.zip(Dataset.range(5), loader).skip(1)
    text = joined.code("torch", train=0)
    assert "for batch in islice(zip(range(5), loader), 1, None):" in text
    assert run(text) == elements(joined)
    both = Dataset.zip(loader, DataLoader(Dataset.range(2)))
    assert "zip(loader, loader_2)" in both.code("torch")
    assert run(both.code("torch", train=0)) == elements(both)
    assert "# unbatch has no counterpart here: it is left out." in loader.unbatch().code(
        "torch"
    )


def test_a_batch_becomes_a_loader_that_makes_it() -> None:
    mapped = Dataset.range(10).map(lambda x: x + 1, cost=0.001)
    text = mapped.batch(4, drop_remainder=True).prefetch(1).code("torch")
    assert "loader = DataLoader(Samples(), batch_size=4, drop_last=True)\n" in text
    assert "# prefetch has no counterpart here: num_workers= makes batches ahead." in text


def test_a_measured_cost_is_an_average_in_a_program_for_pytorch() -> None:
    uneven = fit([(number, 0.050 if number % 4 == 3 else 0.010) for number in range(8)])
    text = Dataset.range(8).map(cost=uneven).code("torch")
    assert "return 0.02  # on average" in text
    assert "lessonkit" not in text


def test_a_step_may_cost_something_for_each_sample_of_a_pair() -> None:
    pairs = Dataset.range(4).map(lambda x: (x, x)).batch(2)
    assert "return 0.1 * len(value[0])" in pairs.code("torch", train=per_sample(0.1))
    assert "time.sleep(train(batch))  # the training step" in pairs.code(
        "torch", train=per_sample(0.1)
    )


def test_options_without_a_counterpart_are_said() -> None:
    text = (
        Dataset.range(4).batch(2).code("torch", load=0.003, ahead=True, machine=Machine(2))
    )
    assert "time.sleep(0.003)  # the copy to the accelerator" in text
    assert (
        "# ahead= is left out: say .to(device, non_blocking=True) on a stream of its own."
        in text
    )
    assert "# machine= is left out: the program has the cores of its computer." in text


def test_without_batches_what_collates_is_given_one_sample() -> None:
    loader = DataLoader(Dataset.range(3), batch_size=None, collate=0.001)
    assert "return default_convert(samples)" in loader.code("torch")
    assert run(loader.code("torch", train=0)) == elements(loader)


def test_the_arguments_of_a_loader_may_be_arrays() -> None:
    loader = DataLoader(Dataset.range(5), 2, sampler=numpy.array([2, 0, 1]))
    assert "the_ndarray = None  # put the ndarray here" in loader.code("torch")
    assert "sampler=range(3, 0, -1)" in DataLoader(
        Dataset.range(5), 2, sampler=range(3, 0, -1)
    ).code("torch")


def test_without_batches_or_an_order_pytorch_asks_sample_by_sample() -> None:
    numbers = Dataset.range(5).map(lambda number: number, cost=per_sample(0.001))
    assert "__getitems__" in DataLoader(numbers, 2, getitems=True).code("torch")
    assert "def __getitem__" in DataLoader(numbers, None, getitems=True).code("torch")
    text = DataLoader(numbers.take(4), 2, getitems=True).code("torch")
    assert "def mapped_2(x):\n    time.sleep(0.001)\n    return mapped(x)" in text
