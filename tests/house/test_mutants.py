"""Changes of the package are drawn anew from the same seed, and found by the tests that run them."""

import types
from pathlib import Path

import pytest

from tools.mutants import swap
from tools.mutants.judges import Judges, definitions
from tools.mutants.mutant import Lines, Mutant
from tools.mutants.record import Ran

SOURCE = """\
LIMIT = 4


def most(numbers):
    def kept(number):
        return number <= LIMIT

    return max(filter(kept, numbers), default=0)


class Counter:
    start = 1

    @property
    def next(self):
        return self.start + 1
"""


def module(file: str) -> types.ModuleType:
    """What Python makes of the source, as if it stood in a *file*."""
    made = types.ModuleType("made")
    exec(compile(SOURCE, file, "exec"), vars(made))
    return made


@pytest.mark.parametrize(
    ("old", "new", "most", "following"),
    [
        ("max(", "min(", 1, 2),
        ("number <= LIMIT", "number < LIMIT", 3, 2),  # a function that does not exist yet
        ("self.start + 1", "self.start - 1", 4, 0),  # behind a decorator
    ],
)
def test_a_changed_function_is_put_into_the_one_that_is_there(
    old: str, new: str, most: int, following: int
) -> None:
    made = module("/made/swapped.py")
    assert (made.most([1, 3, 4, 5]), made.Counter().next) == (4, 2)
    swap.Functions("/made").swap("/made/swapped.py", SOURCE, SOURCE.replace(old, new))
    assert (made.most([1, 3, 4, 5]), made.Counter().next) == (most, following)


@pytest.mark.parametrize(
    ("old", "new"), [("LIMIT = 4", "LIMIT = 5"), ("start = 1", "start = 2")]
)
def test_a_change_on_import_needs_an_import(old: str, new: str) -> None:
    kept = module("/made/imported.py")
    functions = swap.Functions("/made")
    with pytest.raises(swap.ImportNeeded):
        functions.swap("/made/imported.py", SOURCE, SOURCE.replace(old, new))
    assert kept.LIMIT == 4


def mutant(first: int, last: int, *names: str) -> Mutant:
    return Mutant("made.py", first, "number", "", "", Lines(first, last), names, "")


def judges(**tests: Ran) -> Judges:
    """Judges of the source: `one` runs the inner function, `two` only the outer one."""
    ran = {1: {""}, 5: {"one", "two"}, 6: {"one"}, 8: {"one", "two"}}
    return Judges(
        tests,
        {"made.py": {line: frozenset(names) for line, names in ran.items()}},
        {"made.py": SOURCE.splitlines()},
        {"made.py": definitions(SOURCE)},
    )


def test_who_runs_a_line_judges_it_and_the_quickest_first() -> None:
    found = judges(one=Ran(2.0), two=Ran(1.0), three=Ran())
    assert list(found.of(mutant(8, 8), most=10)) == ["two", "one"]
    assert list(found.of(mutant(6, 6), most=10)) == ["one"]
    assert list(found.of(mutant(8, 8), most=1.5)) == ["two"]


def test_who_runs_a_line_with_the_name_of_a_constant_judges_it() -> None:
    found = judges(one=Ran(), two=Ran())
    assert list(found.of(mutant(1, 1, "LIMIT"), most=10)) == ["one"]
    assert found.on_import(mutant(1, 1, "LIMIT"))
    assert not found.on_import(mutant(6, 6))


def test_who_shares_what_another_test_has_made_judges_it_last() -> None:
    shared = {"lesson"}
    found = judges(one=Ran(2.0, True, shared), two=Ran(), three=Ran(1.0, True, shared))
    assert list(found.of(mutant(6, 6), most=10)) == ["one", "three"]


def test_who_failed_on_the_original_judges_nothing() -> None:
    found = judges(one=Ran(passed=False), two=Ran())
    assert list(found.of(mutant(8, 8), most=10)) == ["two"]


def test_the_same_seed_draws_the_same_changes(tmp_path: Path) -> None:
    draw = pytest.importorskip("tools.mutants.draw")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "source.py").write_text(SOURCE)
    found, again, others = (draw.drawn(tmp_path, ["made"], 5, seed) for seed in (1, 1, 2))
    assert found == again != others
    for one in found:
        assert one.source != SOURCE
        compile(one.source, one.file, "exec")
