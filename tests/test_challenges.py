"""That the stated answer of each challenge is the best within its budget: every setting is tried."""

from __future__ import annotations

from lesson import lesson, passing


def test_00_only_longer_files_and_faster_reading_do() -> None:
    found = passing(lesson("00_start_here").values["challenge-busy"])
    assert {(values["open"], values["read"]) for values in found} == {(0.030, 0.0075)}
    assert [values["samples"] for values in found] == list(range(12, 21))


def test_01_four_places_are_the_fewest() -> None:
    assert passing(lesson("01_prefetch").values["challenge-depth"]) == [{"buffer": 4}]


def test_01_seven_places_are_the_fewest_for_the_rarer_sample() -> None:
    assert passing(lesson("01_prefetch").values["second-challenge"]) == [{"buffer": 7}]
