"""The line at which a loader was made, also where a framework makes it anew of the user's own."""

import gc
import sysconfig
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from databound.script.patching import (
    described,
    made_at,
    may_be_given,
    patched,
    reads_in_order,
)

LIBRARY = f"{sysconfig.get_path('purelib')}/framework/data.py"


class AsItIs:
    """Hooks that change nothing."""

    def iterate(
        self, loader: Any, begin: Callable[[], Iterator[Any]], line: object
    ) -> Iterator[Any]:
        return begin()

    def length(self, loader: Any, known: int) -> int:
        return known


def of_a_library(library: Any) -> Callable[[Any], Any]:
    """Return a function in a file of a library that makes a loader."""
    names: dict[str, Any] = {"DataLoader": library.utils.data.DataLoader}
    exec(compile("def make(data): return DataLoader(data)", LIBRARY, "exec"), names)
    made: Callable[[Any], Any] = names["make"]
    return made


@pytest.fixture
def make_anew(library: Any) -> Iterator[Callable[[Any], Any]]:
    with patched(library, AsItIs()):
        yield of_a_library(library)


def test_a_loader_made_anew_is_of_the_line_of_the_users_own(
    library: Any, make_anew: Callable[[Any], Any]
) -> None:
    data = [1, 2, 3]
    own = library.utils.data.DataLoader(data)
    line = made_at(own)
    anew = make_anew(data)
    del own
    again = make_anew(data)  # of the one that was made anew
    assert line is not None
    assert [made_at(anew), made_at(again)] == [line, line]


def test_other_data_at_the_same_place_in_memory_has_a_line_of_its_own(
    library: Any, make_anew: Callable[[Any], Any]
) -> None:
    """Python gives the place of a list that is gone to the next one."""
    data = [1, 2, 3]
    line = made_at(library.utils.data.DataLoader(data))
    place = id(data)
    del data
    gc.collect()
    others = [[4, 5, 6] for _ in range(100)]
    other = next((each for each in others if id(each) == place), None)
    if other is None:
        pytest.skip("this Python gave the place to something else")
    told = made_at(make_anew(other))
    assert told is not None
    assert told != line


def test_what_a_loader_was_made_with_is_known_of_those_whose_making_was_seen(
    library: Any,
) -> None:
    make = library.utils.data.DataLoader
    unseen = make(range(8), num_workers=2)
    with patched(library, AsItIs()):
        usual = make(range(8), num_workers=2)
        said = make(range(8), num_workers=2, prefetch_factor=2)
    assert [may_be_given(one, "prefetch_factor") for one in (unseen, usual, said)] == [
        True,
        False,
        True,
    ]


class Skipping:
    """A batch sampler around another, as Accelerate's when a training goes on."""

    def __init__(self, batch_sampler: Any) -> None:
        self.batch_sampler = batch_sampler

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batch_sampler)

    def __len__(self) -> int:
        return 0  # so it is false, and there all the same


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_loader_is_told_by_the_samplers_inside_its_own(
    library: Any, shuffle: bool
) -> None:
    data = library.utils.data
    inner = data.DataLoader(range(8), 4, shuffle=shuffle).batch_sampler
    loader = data.DataLoader(range(8), batch_sampler=Skipping(Skipping(inner)))
    assert described(loader) == "DataLoader(batch_size=4, num_workers=0)"
    assert reads_in_order(loader) is not shuffle
