"""Changes of the package are drawn anew from the same seed, and judged by the tests that run them."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import pytest

from tools.mutants.judges import Judges, Line, Ran
from tools.mutants.mutant import Lines, Mutant
from tools.mutants.run import Ended, Folder

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


def mutant(first: int, last: int, *names: str, source: str = "") -> Mutant:
    return Mutant("made.py", first, "number", "", "", Lines(first, last), names, source)


def judges(*ran: Ran) -> Judges:
    """Judges of the source: `one` runs the inner function, `two` only the outer one."""
    by = {5: {"one", "two"}, 6: {"one"}, 8: {"one", "two"}}
    texts = {"made.py": SOURCE.splitlines(), "other.py": ["THERE = 4"]}
    lines = {Line("made.py", number): names for number, names in by.items()}
    return Judges(ran, lines | {Line("other.py", 1): {"three"}}, texts)


ONE = Ran("one", 2.0, True)
TWO = Ran("two", 1.0, True)
THREE = Ran("three", 0.0, True)


def test_who_runs_a_line_judges_it_and_the_quickest_first() -> None:
    found = judges(ONE, TWO, THREE)
    assert found.of(mutant(8, 8), most=10) == ["two", "one"]
    assert found.of(mutant(6, 6), most=10) == ["one"]
    assert found.of(mutant(7, 7), most=10) == []


def test_some_judge_however_short_the_time_is() -> None:
    found = judges(ONE, TWO, THREE)
    assert found.of(mutant(8, 8), most=2.5) == ["two"]
    assert found.of(mutant(6, 6), most=0.5) == ["one"]


def test_who_runs_a_module_with_the_name_of_a_constant_judges_it() -> None:
    found = judges(ONE, TWO, THREE)
    assert found.of(mutant(1, 1, "LIMIT"), most=10) == ["two", "one"]
    assert found.of(mutant(1, 1, "THERE"), most=10) == ["three"]


def test_who_failed_on_the_original_judges_nothing() -> None:
    found = judges(Ran("one", 2.0, False), TWO)
    assert found.failed == ["one"]
    assert found.of(mutant(8, 8), most=10) == ["two"]


class Runs(Folder):
    """A project of one module, whose tests do not run: *fails* says which of them fail on what."""

    def __init__(self, path: Path, fails: Callable[[str, bool], bool]) -> None:
        (path / "made.py").write_text(SOURCE)
        super().__init__(path)
        self.fails = fails

    def pytest(
        self, tests: Sequence[str], *, under: Sequence[str] = (), most: float | None = None
    ) -> Ended:
        is_changed = (self.path / "made.py").read_text() != SOURCE
        failed = next((test for test in tests if self.fails(test, is_changed)), None)
        return Ended("failed", 0, f"{failed}::test") if failed else Ended("passed", 0)


def test_a_mutant_is_killed_by_a_file_that_fails_twice_and_passes_on_the_original(
    tmp_path: Path,
) -> None:
    turns = count()

    def fails(file: str, is_changed: bool) -> bool:
        if file == "unsteady":
            return next(turns) % 2 == 0
        return file == "always" or (file == "good" and is_changed)

    runs = Runs(tmp_path, fails)
    changed = mutant(6, 6, source=SOURCE.replace("<=", "<"))
    ended = runs.kills(changed, ["unsteady", "always", "good"], usual=1)
    assert ended == Ended("failed", 0, "good::test")
    assert runs.kills(changed, ["unsteady", "always"], usual=1).outcome == "passed"
    assert (tmp_path / "made.py").read_text() == SOURCE


def test_a_run_says_which_test_failed_first(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(SOURCE)
    good = "from made import most\n\ndef test_most():\n    assert most([1, 4, 5]) == 4\n"
    (tmp_path / "test_good.py").write_text(good)
    folder = Folder(tmp_path)
    with folder.changed(mutant(6, 6, source=SOURCE.replace("<=", "<"))):
        ended = folder.pytest(["test_good.py"])
    assert (ended.outcome, ended.test) == ("failed", "test_good.py::test_most")


def test_the_same_seed_draws_the_same_changes(tmp_path: Path) -> None:
    draw = pytest.importorskip("tools.mutants.draw")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "source.py").write_text(SOURCE)
    found, again, others = (draw.drawn(tmp_path, ["made"], 5, seed) for seed in (1, 1, 2))
    assert found == again != others
    for one in found:
        assert one.source != SOURCE
        compile(one.source, one.file, "exec")
