"""Running it again tells what would help, and by how much."""

import pytest

from lessonkit import ArtificialDataset, Dataset, benchmark, work
from lessonkit.analysis.what_if import curve, knobs, turned, what_if

PREFETCHED = ArtificialDataset().prefetch(1)


def test_halving_a_stage_helps_only_where_it_decides() -> None:
    totals = what_if(PREFETCHED)
    assert totals == {
        "Open": {0.5: 0.140, 2: 0.230},
        "Read": {0.5: 0.135, 2: 0.260},
        "Train": {0.5: 0.160, 2: 0.210},  # twice as slow, it decides
    }


def test_stages_that_a_function_names_itself_can_be_rescaled_too() -> None:
    dataset = Dataset.range(4).map(lambda x: work(0.010, stage="Decode"))
    assert what_if(dataset, factors=[3], num_epochs=1, train=0)["Decode"] == {3: 0.120}


def test_how_many_workers_is_answered_by_a_curve_with_a_knee() -> None:
    dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    (knob,) = knobs(dataset)
    assert repr(knob) == "map's num_parallel_calls=1"
    found = curve(dataset, knob)
    assert dict(found.points) == pytest.approx(
        {1: 0.350, 2: 0.260, 3: 0.230, 4: 0.230, 5: 0.230, 6: 0.230, 7: 0.230, 8: 0.230}
    )
    assert found.knee == 3


def test_knobs_are_found_from_the_source_on() -> None:
    files = Dataset.range(2).interleave(lambda x: ArtificialDataset(), cycle_length=2)
    names = [knob.name for knob in knobs(files.shuffle(4).batch(2).prefetch(1))]
    interleave = ["cycle_length", "block_length", "num_parallel_calls"]
    assert names == [*interleave, "buffer_size", "batch_size", "buffer_size"]


def test_a_cache_that_is_used_twice_stays_one_when_a_knob_is_turned() -> None:
    cached = ArtificialDataset().prefetch(1).cache()
    both = turned(Dataset.zip(cached, cached), knobs(cached)[0], 2).node
    assert both.inputs[0] is both.inputs[1]


def test_turning_a_knob_leaves_what_is_above_it_as_it_is() -> None:
    dataset = ArtificialDataset().cache().prefetch(1)
    deeper = turned(dataset, knobs(dataset)[0], 3)
    assert repr(deeper) == "ArtificialDataset().cache().prefetch(3)"
    assert deeper.node.inputs[0] is dataset.node.inputs[0]
    assert benchmark(deeper).duration <= benchmark(dataset).duration
