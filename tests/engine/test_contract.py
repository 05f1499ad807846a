"""What every operator keeps, on random pipelines that have all of them; `docs/design/engine.md` lists it."""

import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from support.both_clocks import on_virtual
from support.helpers import eventually, helpers
from support.places import ROOT
from support.random_pipelines import STEPS, TINY, VALUES, loaded, pipeline, seeds

from lessonkit import Dataset, Machine
from lessonkit.engine.element import END
from lessonkit.engine.node import COUNTS, NodeStates, cardinality
from lessonkit.engine.operators.stream import Scope
from lessonkit.engine.trace import Name
from lessonkit.engine.virtual import Virtual

# How many of these come, only a run can say, and how many a loader gives is tested with it
NEVER_KNOWN = {"filter", "map_and_filter", "flat_map", "interleave", "DataLoader"}
SOURCES = {"range", "from_list", "from_tensor_slices"}


def counted(seed: int) -> Dataset:
    """Up to four operators after a source of which the number of elements is known."""
    draw = random.Random(seed)
    dataset: Dataset = draw.choice(VALUES)(draw.randint(0, 9), 0)
    for _ in range(draw.randint(0, 4)):
        dataset = draw.choice(STEPS)(draw, dataset, TINY)
    return dataset


def test_as_many_elements_come_as_an_operator_counts() -> None:
    known = set[str]()
    for seed in seeds(400):
        dataset = counted(seed)
        count = cardinality(dataset.node)
        if count is not None and count != math.inf:
            known.add(dataset.node.method)
            assert len(on_virtual(dataset)) == count, seed
    assert known >= COUNTS.keys() - NEVER_KNOWN - SOURCES


def asked_on(dataset: Dataset, times: int) -> list[Any]:
    """What the stream of *dataset* says when it is asked so many times more after its end."""
    run = Virtual(Machine(), NodeStates(fixed_seed=True), None)

    async def ask() -> list[Any]:
        stream = Scope(run).open(dataset.node)
        while await stream.next() is not END:
            pass
        said = [await stream.next() for _ in range(times)]
        stream.close()
        return said

    said: list[Any] = run.complete(ask(), Name("Test"))
    return said


@pytest.mark.parametrize("draw", [pipeline, loaded])
def test_an_end_stays_an_end(draw: Any) -> None:
    for seed in seeds(200):
        assert asked_on(draw(seed), 2) == [END, END], seed


def test_who_is_left_early_ends_all_that_it_has_begun() -> None:
    files = Counter[str]()

    def file() -> Iterator[int]:
        files["opened"] += 1
        try:
            yield from range(9)
        finally:
            files["closed"] += 1

    for seed in seeds(150):
        draw = random.Random(seed)
        dataset = Dataset.from_generator(file)
        for _ in range(draw.randint(1, 4)):
            dataset = draw.choice(STEPS)(draw, dataset, TINY)
        iterator = iter(dataset)
        list(islice(iterator, draw.randint(0, 3)))
        iterator.close()
    assert eventually(lambda: helpers() == 0)
    assert files["opened"] == files["closed"] > 100


def test_each_rule_of_the_contract_is_held_by_the_test_that_it_names() -> None:
    design = (ROOT / "docs" / "design" / "engine.md").read_text(encoding="utf-8")
    section = design.partition("## What an operator keeps\n")[2].partition("\n## ")[0]
    held = re.findall(r"\| `(\w+)` in `([\w/.]+)` \|$", section, re.MULTILINE)
    assert len(held) == section.count("\n| **")
    assert len(held) >= 11
    for test, file in held:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
