"""That nothing passes the challenges about files and calls but what their lessons say."""

from __future__ import annotations

from itertools import product
from typing import Any

from lesson import lesson, passing

from lessonkit import ArtificialDataset, Dataset, Machine, per_sample


def test_02_only_two_lanes_read_eight_files_in_time() -> None:
    found = passing(lesson("02_interleave").values["challenge"])
    calls = {min(one["num_parallel_calls"] or 0, one["cycle_length"]) for one in found}
    assert (calls, {one["cycle_length"] for one in found}) == ({2}, {2})
    assert {one["block_length"] for one in found} == {1, 2, 3, 4}


def test_02_only_two_lanes_read_24_files_in_time() -> None:
    task = lesson("02_interleave").values["further-24-task"]

    def passes(cycle: int, calls: int | None, block: int) -> bool:
        files = Dataset.range(24).interleave(
            lambda number: ArtificialDataset(open=0.300), cycle, block, num_parallel_calls=calls
        )
        return bool(task.check(lambda: (files, {"num_epochs": 1})).passed)

    settings = product(range(1, 9), (None, 1, 2, 3, 4), (1, 3))
    found = [setting for setting in settings if (setting[1] or 0) <= setting[0] and passes(*setting)]
    assert found == [(2, 2, 1), (2, 2, 3)]


DECODER: dict[str, Any] = {"cost": per_sample(0.040), "kind": "native"}
ONCE: dict[str, Any] = {"num_epochs": 1, "machine": Machine(cores=4)}


def test_03_four_calls_are_enough_only_behind_a_prefetch() -> None:
    task = lesson("03_parallel_map").values["challenge"]

    def passes(calls: int | None, before: int, behind: int, deterministic: bool) -> bool:
        source = ArtificialDataset(40, read=0.005).prefetch(before)
        decoded = source.map(**DECODER, num_parallel_calls=calls, deterministic=deterministic)
        return bool(task.check(lambda: (decoded.prefetch(behind), ONCE)).passed)

    settings = product((None, 2, 3, 4, 5, 8), (0, 1, 4), (0, 4), (True, False))
    found = [setting for setting in settings if passes(*setting)]
    assert found == list(product((4,), (1, 4), (0, 4), (True, False)))


def test_03_a_batch_is_no_way_around_the_decoder() -> None:
    task = lesson("03_parallel_map").values["challenge"]
    batches = (ArtificialDataset(40, read=0.005).batch(size).prefetch(1) for size in (2, 4, 8))
    decoded = [batch.map(**DECODER, num_parallel_calls=4).unbatch() for batch in batches]
    assert not any(task.check(lambda dataset=dataset: (dataset, ONCE)).passed for dataset in decoded)
