"""The page that says how far to trust which number says what the measurements give."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

import many_cases
import test_ranks
import test_storage
import test_tfdata_timing
import test_torch_timing

PAGE = (Path(__file__).parent.parent / "docs" / "trust.md").read_text(encoding="utf-8")
ERRORS: dict[str, Callable[[], Iterable[float]]] = {
    "the time of an epoch in tf.data": lambda: [
        error
        for name in test_tfdata_timing.FILES
        for error in test_tfdata_timing.errors(name)[0]
    ],
    "the time of an epoch of a `DataLoader`": lambda: test_torch_timing.errors(True)[0],
    "the same, with one starting time": lambda: test_torch_timing.errors(False)[0],
    "the time of a job on several ranks": lambda: test_ranks.errors()[0],
    "the end of the last read": lambda: test_storage.errors()[0],
}


def test_the_table_of_errors_is_what_the_measurements_give() -> None:
    rows = re.findall(r"^\| (the .*) \| (\d+) \| ([\d.]+) % \| ([\d.]+) % \|$", PAGE, re.M)
    assert len(rows) == len(ERRORS)
    for (what, *told), (begins, errors) in zip(rows, ERRORS.items(), strict=True):
        found = sorted(map(abs, errors()))
        nine_in_ten = found[int(0.9 * len(found))]
        assert what.startswith(begins)
        computed = [str(len(found)), f"{median(found):.1%}", f"{nine_in_ten:.1%}"]
        assert told == [number.rstrip("%") for number in computed], what


def test_the_numbers_of_cases_are_those_that_are_compared() -> None:
    elements = ("tfdata_elements", "tfdata_random_elements", "tfdata_batch_elements")
    pipelines = sum(len(many_cases.cases(name)) for name in elements)
    loaders = len(many_cases.cases("torch_elements"))
    shared = len(many_cases.cases("shards"))
    assert f"tf.data 2.21 on {pipelines} pipelines" in PAGE
    assert f"`DataLoader` on {loaders} loaders" in PAGE
    assert f"in {shared} cases" in PAGE
