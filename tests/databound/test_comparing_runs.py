"""Runs of one script compared: what changed, and within what range the truth lies."""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from databound.origin import Origin
from databound.ranges import student
from databound.script.trying import Settings
from databound.whole_runs.comparing_runs import NotComparableError, compare, grouped, of_run
from databound.whole_runs.epochs import Epoch, Stretch
from databound.whole_runs.stored_runs import RanLoop, StoredRun, load_run, save_run

ORIGIN = Origin(
    command="databound --batches 100 train.py",
    date="2026-01-02 03:04 UTC",
    machine="Linux, 2 cores",
    python="3.11.7",
    pytorch="2.9",
    databound="1",
)


def epoch(number: int, each: list[float], share: float = 0.5, first: float = 1.0) -> Epoch:
    """An epoch of stretches of ten batches, which took so long *each*."""
    stretches = tuple(Stretch(10, 10 * one, 10 * one * share) for one in each)
    return Epoch(
        number, "train.py:23", "train.py:31", 10 * len(each) + 1, 5.0, first, stretches
    )


def run(*epochs: Epoch, settings: Settings | None = None, **options: Any) -> StoredRun:
    told = {"batch_size": 16, "num_workers": 0} | options
    loop = RanLoop("train.py:23", told, epochs)
    return StoredRun("train.py", "", settings or {}, ORIGIN, (loop,))


def steady(each: float, share: float = 0.5, **more: Any) -> StoredRun:
    return run(epoch(1, [each] * 20, share), **more)


def test_a_change_is_told_with_both_times_waits_and_first_batches() -> None:
    before = steady(0.0596, 0.71)
    after = steady(0.0312, 0.12, settings={"num_workers": 2, "threads": 1})
    found = compare([before], [after])
    assert found.change == pytest.approx(0.0312 / 0.0596 - 1)
    assert found.range == pytest.approx(0, abs=1e-9)
    assert str(found).splitlines()[:4] == [
        "train.py:23: 59.6 ms -> 31.2 ms a batch, -48 ± 0 %",
        "    waiting 71 % -> 12 %; the first batch of an epoch came after 1,000 ms -> 1,000 ms",
        "    before: as it is (201 batches in 1 run)",
        "    after:  num_workers=2,threads=1 (201 batches in 1 run)",
    ]


def test_of_one_run_each_the_range_comes_from_stretches() -> None:
    # Groups of two stretches: of 0.9 and 1.1 ms by turns, without the first one
    uneven = [0.0009, 0.0009, *[0.0011, 0.0011, 0.0009, 0.0009] * 4, 0.0011, 0.0011]
    side = of_run(run(epoch(1, uneven)).loops[0])
    assert side.freedom == 8
    each = (5 * 0.0011 + 4 * 0.0009) / 9
    squares = 5 * (0.0011 - each) ** 2 + 4 * (0.0009 - each) ** 2
    assert side.each == pytest.approx(each)
    assert side.error == pytest.approx(math.sqrt(squares / 8 / 9) / each)
    found = compare([run(epoch(1, uneven))], [steady(each)])
    assert found.change == pytest.approx(0)
    assert found.range == pytest.approx(student(16 + 1) * side.error, rel=0.02)
    assert "two runs may differ by more" in found.doubts[0]
    assert str(found).splitlines()[-2].startswith("Cannot tell which is faster")


def test_of_several_runs_the_range_comes_from_how_much_runs_differ() -> None:
    before = [steady(0.098), steady(0.102)]
    after = [steady(0.049), steady(0.051)]
    found = compare(before, after)
    # Both ways have a standard deviation of 0.02 * sqrt(2), by two degrees of freedom
    error = 0.02 * math.sqrt(2) / math.sqrt(2)
    assert found.change == pytest.approx(-0.5)
    assert found.range == pytest.approx(student(2) * math.hypot(error, error) * 0.5)
    assert found.is_clear
    assert found.doubts == ()


def test_runs_that_agree_by_chance_are_not_surer_than_their_stretches() -> None:
    uneven = [0.9, 0.9, 1.1, 1.1] * 5
    one = run(epoch(1, uneven))
    found = compare([one, one], [one, one])
    single = of_run(one.loops[0]).error
    assert found.range == pytest.approx(student(2) * single)


def test_ranges_hold_the_truth_as_often_as_they_say() -> None:
    drawn = random.Random(5)

    def drawn_run(each: float) -> StoredRun:
        own = each * drawn.gauss(1, 0.03)
        return run(epoch(1, [own * drawn.gauss(1, 0.01) for _ in range(20)]))

    held = 0
    for _ in range(400):
        before = [drawn_run(0.100) for _ in range(2)]
        after = [drawn_run(0.060) for _ in range(2)]
        found = compare(before, after)
        held += abs(found.change + 0.4) < found.range
    assert 0.92 < held / 400 < 0.98


@pytest.mark.parametrize(
    ("freedom", "times"), [(1, 12.706), (2, 4.303), (3, 3.182), (10, 2.228), (30, 2.042)]
)
def test_students_t_is_that_of_the_tables(freedom: int, times: float) -> None:
    assert student(freedom) == pytest.approx(times, abs=6e-4)


def test_the_first_steps_warm_up_and_do_not_count() -> None:
    side = of_run(run(epoch(1, [9.0] + [0.1] * 19)).loops[0])
    assert side.each == pytest.approx(0.1)
    assert side.error == pytest.approx(0, abs=1e-9)


def test_the_first_batch_is_that_of_later_epochs() -> None:
    first = epoch(1, [0.1] * 20, first=30)
    later = [epoch(number, [0.1] * 20, first=number) for number in (2, 3)]
    assert of_run(run(first).loops[0]).first == 30
    assert of_run(run(first, *later).loops[0]).first == pytest.approx(2.5)


@pytest.mark.parametrize("count", [1, 2, 9, 10, 11, 19, 20, 37])
def test_neighbours_are_joined_until_ten_are_left(count: int) -> None:
    parts = [Stretch(3, 0.3 + index, 0.1) for index in range(count)]
    groups = grouped(parts)
    assert sum(group.batches for group in groups) == 3 * count
    assert sum(group.seconds for group in groups) == pytest.approx(
        sum(part.seconds for part in parts)
    )
    assert len(groups) == min(count, 10)


def test_batches_of_other_sizes_are_compared_by_samples() -> None:
    found = compare([steady(0.016)], [steady(0.016, batch_size=32)])
    assert found.change == pytest.approx(-0.5)
    assert str(found).startswith("train.py:23: 1 ms -> 0.5 ms a sample, -50 ± 0 %")
    assert "different sizes" in " ".join(found.doubts)


def test_a_batch_of_unknown_size_is_compared_with_others_of_that_alone() -> None:
    assert compare([steady(1, batch_size=None)], [steady(2, batch_size=None)]).change == 1
    with pytest.raises(NotComparableError, match="None samples"):
        compare([steady(1, batch_size=None)], [steady(2)])


def other_machine(one: StoredRun) -> StoredRun:
    return replace(one, origin=replace(ORIGIN, machine="Linux, 64 cores"))


REFUSED: dict[str, tuple[Callable[[StoredRun], StoredRun], str]] = {
    "script": (
        lambda one: replace(one, script="other.py"),
        "than one script:\n    train.py\n",
    ),
    "machine": (
        other_machine,
        "than one machine:\n    Linux, 2 cores\n    Linux, 64 cores",
    ),
    "no training": (lambda one: replace(one, loops=()), "no loop had two batches"),
    "one batch": (
        lambda one: run(epoch(1, [])),
        "`databound --batches 100 train.py`: no loop",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tells_nothing_about_each_other_is_refused(name: str) -> None:
    change, says = REFUSED[name]
    with pytest.raises(NotComparableError) as raised:
        compare([steady(1)], [change(steady(1))])
    assert says in str(raised.value)


def test_other_versions_and_other_arguments_are_told() -> None:
    other = replace(steady(1), origin=replace(ORIGIN, pytorch="3.0"), arguments="--lr 0.1")
    found = compare([steady(1)], [other])
    assert (
        "Versions differ: Python 3.11.7, PyTorch 2.9; Python 3.11.7, PyTorch 3.0."
        in found.doubts
    )
    assert found.ways[1].startswith("--lr 0.1, as it is")


def test_one_side_with_several_settings_is_told() -> None:
    found = compare([steady(1), steady(1, settings={"threads": 1})], [steady(1)] * 2)
    assert "not all run with the same settings" in " ".join(found.doubts)


def test_the_longest_loop_is_compared() -> None:
    one = steady(1)
    short = RanLoop("train.py:9", {"batch_size": 16}, (epoch(1, [0.001] * 3),))
    both = replace(one, loops=(short, *one.loops))
    assert compare([both], [both]).where == "train.py:23"


def test_a_run_is_the_same_after_it_was_stored(tmp_path: Path) -> None:
    one = run(epoch(1, [0.1, 0.2]), epoch(2, []), settings={"pin_memory": True})
    save_run(one, tmp_path / "run.json")
    assert load_run(tmp_path / "run.json") == one


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kind": "databound run"}', '{"kind": 1}']
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(ValueError, match="must be a file that databound --set or --watch"):
        load_run(tmp_path / "other.json")


def test_a_file_that_is_like_a_run_but_says_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    save_run(steady(1), path)
    path.write_text(path.read_text().replace("databound run", "another run"))
    with pytest.raises(ValueError, match="must be a file that databound --set or --watch"):
        load_run(path)
