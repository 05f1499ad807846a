"""The program text of a loader gives on real PyTorch what the loader gives here."""

import json
import sys
from types import ModuleType
from typing import Any

import numpy
import pytest
import torch_programs
from hypothesis import given
from hypothesis import strategies as st

from lessonkit import ArtificialDataset, DataLoader, Dataset, benchmark, per_sample, straggler

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
    assert [torch_programs.plain(epoch.elements) for epoch in epochs] == MEASURED[name]["epochs"]


SOURCES: list[Any] = [
    Dataset.range,
    Dataset.range,
    lambda count: Dataset.from_list([*range(count)]),
    lambda count: ArtificialDataset(count, open=0, read=1e-6),
    lambda count: ArtificialDataset(count, open=lambda file: 1e-6, read=lambda sample: sample * 1e-6),
    lambda count: ArtificialDataset(count, open=0, read=straggler(1e-6, every=3, slow=2e-6)),
    lambda count: ArtificialDataset(count, open=0, read=per_sample(1e-6)),
]
NUMBERS: list[Any] = [  # what can be done to numbers, and whether pairs come out
    (lambda data: data.map(lambda x: 2 * x + 1), False),
    (lambda data: data.map(lambda x: (x, x + 1), num_parallel_calls=2), True),
    (lambda data: data.map(lambda *parts: (*parts, 7)), True),
    (lambda data: data.filter(lambda x: x % 3), False),
    (lambda data: data.enumerate(1), True),
    (lambda data: Dataset.zip(data, data.map(lambda x: x * x)), True),
]
PAIRS: list[Any] = [
    (lambda data: data.map(lambda a, b: a + b), False),
    (lambda data: data.map(lambda a, b: (b, a)), True),
    (lambda data: data.map(max), False),
    (lambda data: data.filter(lambda a, b: a < b), True),
    (lambda data: data.enumerate().map(lambda number, pair: pair), True),
]
BOTH: list[Any] = [
    lambda data: data.take(-1),
    lambda data: data.take(4),
    lambda data: data.skip(-1),
    lambda data: data.skip(1),
    lambda data: data.shard(2, 1),
    lambda data: data.concatenate(data.take(2)),
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
        changed, kept = PAIRS if are_pairs else NUMBERS, [(step, are_pairs) for step in BOTH]
        step, are_pairs = draw(st.sampled_from(changed + kept))
        dataset = step(dataset)
    return dataset


@given(pipelines())
def test_a_program_makes_the_samples_of_its_pipeline(dataset: Dataset) -> None:
    torch = ModuleType("torch.utils.data")  # the loader is PyTorch's, the samples are the program's
    vars(torch).update(Dataset=object, IterableDataset=object, DataLoader=lambda samples, **given: samples)
    program: dict[str, Any] = {"__name__": "a program"}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("torch", "torch.utils", "torch.utils.data"):
            patch.setitem(sys.modules, name, torch)
        exec(DataLoader(dataset, batch_size=2).code("torch"), program)
    samples = program["loader"]
    places = [*range(len(samples))] if hasattr(samples, "__len__") else None
    made = [*samples] if places is None else [samples[place] for place in places]
    assert made == [*dataset]


def test_the_arguments_of_a_loader_may_be_arrays() -> None:
    loader = DataLoader(Dataset.range(5), 2, sampler=numpy.array([2, 0, 1]))
    assert "the_ndarray = None  # put the ndarray here" in loader.code("torch")
    assert "sampler=range(3, 0, -1)" in DataLoader(Dataset.range(5), 2, sampler=range(3, 0, -1)).code("torch")


def test_without_batches_or_an_order_pytorch_asks_sample_by_sample() -> None:
    numbers = Dataset.range(5).map(lambda number: number, cost=per_sample(0.001))
    assert "__getitems__" in DataLoader(numbers, 2, getitems=True).code("torch")
    assert "def __getitem__" in DataLoader(numbers, None, getitems=True).code("torch")
    text = DataLoader(numbers.take(4), 2, getitems=True).code("torch")
    assert "lambda number: number, 0.001)" in text
