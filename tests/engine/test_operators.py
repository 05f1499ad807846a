"""What tf.data's fused operators and four more of its methods do, and that every tool knows them."""

import math
from collections.abc import Callable
from functools import partial
from itertools import chain
from time import sleep
from typing import Any

import numpy as np
import pytest

from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    Trace,
    benchmark,
    straggler,
    work,
)
from lessonkit.analysis import (
    advise,
    critical_path,
    data_quality,
    knobs,
    limits,
    measure,
    memory,
    with_knob,
)
from lessonkit.engine.machine import number_in_hand
from lessonkit.engine.node import base_of, cardinality, walk
from lessonkit.explain.plumbing import plumbing
from lessonkit.optimize import autotune
from lessonkit.pictures.layout import layout
from lessonkit.widgets import goals, show
from lessonkit.widgets.goals import Attempt

FILE = ArtificialDataset(6, open=0.010, read=0.010)
NUMBERS = Dataset.range(6)


class PlannedError(Exception):
    """What a function that fails raises."""


def fails_on(*bad: int) -> Callable[[int], int]:
    def fails(x: int) -> int:
        if x in bad:
            raise PlannedError(x)
        return x

    return fails


def noted_in(seen: list[Any]) -> Callable[[Any], Any]:
    def noted(x: Any) -> Any:
        seen.append(x)
        return x

    return noted


def given(dataset: Dataset, most: int = 20) -> list[Any]:
    """The elements that a loop gets, with "error" in the place of each error."""
    iterator = iter(dataset)
    found: list[Any] = []
    while len(found) < most:
        try:
            found.append(next(iterator))
        except PlannedError:
            found.append("error")
        except StopIteration:
            return found
    return found


def arrivals(dataset: Dataset, train: float = 0.0, **options: Any) -> list[float]:
    (epoch,) = benchmark(dataset, 1, train, **options).epochs
    return [round(time * 1000, 6) for time in epoch.arrivals]


# ---- concatenate ----


def test_the_second_dataset_is_opened_when_the_first_has_ended() -> None:
    other = ArtificialDataset(2, open=0.050, read=0.005)
    both = ArtificialDataset(2, open=0.010, read=0.010).concatenate(other)
    assert arrivals(both) == [20, 30, 85, 90]
    # Nor is it opened ahead by a prefetch, but its opening is hidden then
    assert arrivals(both.prefetch(4), train=0.040) == [20, 60, 100, 140]


def test_concatenated_datasets_are_read_again_in_each_pass() -> None:
    assert given(NUMBERS.take(2).concatenate(NUMBERS.take(1)).repeat(2)) == [0, 1, 0] * 2
    endless = NUMBERS.take(1).concatenate(NUMBERS.repeat())
    assert given(endless, 4) == [0, 0, 1, 2]
    assert cardinality(endless.node) == math.inf


def test_one_dataset_twice_shares_its_cache() -> None:
    calls: list[int] = []
    cached = NUMBERS.map(calls.append).cache()
    assert len(list(cached.concatenate(cached))) == 12
    assert calls == [*range(6)]


def test_elements_of_both_datasets_have_numbers_of_their_own() -> None:
    found: list[Any] = []  # by which `measure` knows them
    both = NUMBERS.take(2).concatenate(NUMBERS.take(2)).concatenate(NUMBERS.take(1))
    list(both.map(lambda _: found.append(number_in_hand())).repeat(2))
    assert len(set(found)) == 5
    assert found[5:] == found[:5]


@pytest.mark.parametrize(
    "other",
    [
        Dataset.from_list(["a"]),
        Dataset.from_list([0.5]),
        NUMBERS.enumerate(),
        Dataset.from_tensor_slices({"a": [1]}),
    ],
    ids=repr,
)
def test_elements_that_are_known_to_be_of_another_kind_are_refused(other: Dataset) -> None:
    with pytest.raises(TypeError, match="must have elements like those of"):
        NUMBERS.concatenate(other)
    NUMBERS.map(abs).concatenate(other)  # what a function returns is not known


# ---- enumerate ----


def test_each_pass_counts_from_the_start() -> None:
    assert given(NUMBERS.take(2).enumerate(5).repeat(2)) == [(5, 0), (6, 1)] * 2
    assert given(NUMBERS.take(2).repeat(2).enumerate(-1)) == [
        (-1, 0),
        (0, 1),
        (1, 0),
        (2, 1),
    ]


def test_an_error_uses_up_its_number() -> None:
    assert given(NUMBERS.take(3).map(fails_on(1)).enumerate()) == [(0, 0), "error", (2, 2)]


def test_a_function_gets_the_number_and_the_element() -> None:
    pairs = Dataset.zip(NUMBERS, NUMBERS).take(2).enumerate()
    assert given(pairs.map(lambda number, pair: (number, *pair))) == [(0, 0, 0), (1, 1, 1)]


# ---- from_tensor_slices ----


def test_rows_of_lists_compute_as_tensors_do() -> None:
    rows = Dataset.from_tensor_slices([(1, 2), (3, 4)])
    assert list(rows.map(lambda row: row + 1)) == [[2, 3], [4, 5]]
    (row, _) = Dataset.from_tensor_slices(np.eye(2))
    assert isinstance(row, np.ndarray)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (3, TypeError, "tensors=3: must be lists or arrays of numbers or of texts"),
    ("abc", TypeError, "tensors='abc'"),
    ({1, 2}, TypeError, "tensors={1, 2}"),
    (np.array(1), TypeError, "tensors=array"),
    ([None], TypeError, "tensors=None: must be lists or arrays"),
    ((), ValueError, "tensors=(): must have a part at least"),
    (([1, 2], [1]), ValueError, "must have parts of one length, and not of [2, 1]"),
    ([[1], [2, 3]], ValueError, "must have rows of one shape, all of numbers or all of"),
    ([1, "a"], ValueError, "must have rows of one shape"),
]


@pytest.mark.parametrize(("tensors", "error", "message"), REFUSED, ids=repr)
def test_what_has_no_rows_is_refused(
    tensors: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        Dataset.from_tensor_slices(tensors)
    assert message in str(raised.value)


# ---- take_while ----


def test_nothing_is_read_after_the_first_refusal() -> None:
    seen: list[int] = []
    read = NUMBERS.map(noted_in(seen))
    assert list(read.take_while(lambda x: x < 2).repeat(2)) == [0, 1, 0, 1]
    assert seen == [0, 1, 2, 0, 1, 2]


def test_an_error_is_no_refusal() -> None:
    assert given(NUMBERS.map(fails_on(1)).take_while(lambda x: x < 3)) == [0, "error", 2]
    assert given(NUMBERS.take_while(lambda x: fails_on(1)(x) < 3)) == [0, "error", 2]


def test_the_predicate_takes_the_time_that_it_says() -> None:
    def is_early(x: int) -> bool:
        work(0.005)
        return x < 2

    assert arrivals(FILE.take_while(is_early)) == [25, 40]
    trace = benchmark(FILE.take_while(is_early), 1)
    assert trace.duration == pytest.approx(0.010 + 3 * 0.015 + 2 * 0.010)
    assert "Take while" in trace.stages


def test_the_length_is_not_known_and_no_loader_says_one() -> None:
    some = NUMBERS.take_while(lambda x: x < 3)
    assert cardinality(some.node) is None
    assert len(list(DataLoader(some, 1))) == 3
    with pytest.raises(TypeError, match="has no length that is known"):
        len(DataLoader(some, 1))


# ---- map_and_batch ----


def test_without_numbers_one_batch_is_mapped_at_the_same_time() -> None:
    made = partial(NUMBERS.map_and_batch, abs, 3)
    calls = [made().node, made(2).node, made(None, False, 5).node]
    assert [node.arguments["num_parallel_calls"] for node in calls] == [3, 6, 5]
    with pytest.raises(ValueError, match="num_parallel_batches=2: must not be given toget"):
        made(2, num_parallel_calls=2)


def test_calls_go_on_with_the_next_batch() -> None:
    # Read 10 ms, map 20 ms, two calls: 0 and 1 at 40 and 50 ms, 2 at 60, 3 at 70, ...
    fused = FILE.map_and_batch(None, 2, num_parallel_calls=2, cost=0.020)
    assert arrivals(fused) == [50, 80, 110]
    apart = FILE.map(cost=0.020, num_parallel_calls=2).batch(2)
    assert arrivals(apart) == [50, 80, 110]
    assert arrivals(fused, train=0.060) == [50, 110, 170]
    assert arrivals(apart, train=0.060) == [50, 110, 170]
    # One call, as a rule makes it of a map without any: it works while a batch is trained on
    one = FILE.map_and_batch(None, 2, num_parallel_calls=1, cost=0.020)
    assert arrivals(one, train=0.060) == [70, 130, 190]
    assert arrivals(FILE.map(cost=0.020).batch(2), train=0.060) == [70, 190, 310]


def test_idle_calls_begin_another_batch_while_somebody_waits() -> None:
    slow = straggler(0.010, every=3, slow=0.100)  # the third of each three
    fused = NUMBERS.map_and_batch(None, 3, num_parallel_calls=3, cost=slow)
    # While the first batch waits for its third element, 3 and 4 are made, and 5 is begun
    assert arrivals(fused) == [100, 120]


def test_a_slow_loop_finds_as_many_batches_begun_as_the_calls_need() -> None:
    read = NUMBERS.repeat(5).map(cost=0.005)
    fused = read.map_and_batch(None, 2, num_parallel_calls=4, cost=0.010, nbytes=1)
    # While the first is waited for no call is idle, because reading is the slower one
    assert benchmark(fused, 1, train=0.1).max_held == 4


def test_no_more_than_16_batches_are_begun() -> None:
    many = Dataset.range(60).map_and_batch(None, 2, num_parallel_calls=60, nbytes=1)
    trace = benchmark(many, 1, 0.010)
    assert max(held for _, held, _ in chain(*memory(trace).values())) == 32


def test_an_error_loses_its_batch_and_calls_no_further_function_for_it() -> None:
    called: list[int] = []

    def fails(x: int) -> int:
        called.append(x)
        return fails_on(1)(x)

    fused = NUMBERS.map_and_batch(fails, 3, num_parallel_calls=1)
    assert given(fused) == ["error", [3, 4, 5]]
    assert called == [0, 1, 3, 4, 5]
    dropped = NUMBERS.take(4).map_and_batch(fails_on(3), 3, drop_remainder=True)
    assert given(dropped) == [[0, 1, 2], "error"]


def test_a_batch_knows_its_members_and_its_size() -> None:
    fused = NUMBERS.map_and_batch(None, 4, nbytes=100)
    trace = benchmark(fused, 1, keep=True)
    assert trace.epochs[0].elements == [[0, 1, 2, 3], [4, 5]]
    assert [len(trace.members(key)) for key in trace.epochs[0].keys] == [4, 2]
    assert list(fused.unbatch()) == [*range(6)]


# ---- shuffle_and_repeat ----


@pytest.mark.parametrize("buffer_size", [1, 3, 7, 30])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_all_of_a_pass_comes_before_any_of_the_next(buffer_size: int, count: int) -> None:
    fused = NUMBERS.shuffle_and_repeat(buffer_size, count, seed=1)
    values = list(fused)
    assert [sorted(values[at : at + 6]) for at in range(0, 6 * count, 6)] == [
        [*range(6)]
    ] * count
    assert cardinality(fused.node) == len(values)


def test_reading_stops_with_the_first_element_of_a_fourth_pass() -> None:
    fused = NUMBERS.take(2).map(cost=0.010).shuffle_and_repeat(100, 9)
    assert arrivals(fused)[:3] == [70, 80, 90]
    assert max(held for _, held, _ in chain(*memory(benchmark(fused, 1)).values())) == 7


def test_passes_over_nothing_end() -> None:
    nothing = NUMBERS.take(0)
    assert given(nothing.shuffle_and_repeat(3)) == []
    assert given(nothing.shuffle_and_repeat(3, 4)) == []
    assert len(given(NUMBERS.shuffle_and_repeat(3), 20)) == 20


def test_a_count_of_0_is_refused_as_by_tf_data() -> None:
    for count in (0, -2):
        with pytest.raises(ValueError, match=f"count={count}: must be 1 or more, or None"):
            NUMBERS.shuffle_and_repeat(3, count)


# ---- map_and_filter ----


def test_one_call_maps_and_decides() -> None:
    def triple(x: int) -> int:
        work(0.010)
        return 3 * x

    def is_odd(x: int) -> bool:
        work(0.005)
        return x % 2 == 1

    kept = NUMBERS.map_and_filter(triple, is_odd, cost=0.005)
    assert given(kept) == [3, 9, 15]
    assert arrivals(kept) == [40, 80, 120]
    assert {span.stage for span in benchmark(kept, 1).work} == {"Map", "Train"}
    pairs = NUMBERS.map_and_filter(lambda x: (x, -x), lambda x, y: x + y == 0 and x > 3)
    assert given(pairs) == [(4, -4), (5, -5)]


def test_errors_of_both_functions_take_the_place_of_their_element() -> None:
    kept = NUMBERS.map_and_filter(fails_on(1), lambda x: fails_on(2)(x) % 2)
    assert given(kept) == ["error", "error", 3, 5]


# ---- every tool ----


def small(x: Any) -> Any:
    return x


PIPELINES: dict[str, Dataset] = {
    "concatenate": FILE.concatenate(FILE.take(2)),
    "enumerate": FILE.enumerate(1).map(lambda number, x: x, cost=0.010),
    "from_tensor_slices": Dataset.from_tensor_slices([*range(6)]).map(cost=0.010),
    "take_while": FILE.take_while(lambda x: x < 5),
    "map_and_batch": FILE.map_and_batch(small, 2, num_parallel_calls=2, cost=0.020),
    "map_and_filter": FILE.map_and_filter(small, lambda x: x != 3, cost=0.020),
    "shuffle_and_repeat": FILE.shuffle_and_repeat(4, 2, seed=1),
}


@pytest.fixture(params=PIPELINES)
def dataset(request: pytest.FixtureRequest) -> Dataset:
    return PIPELINES[request.param]


@pytest.fixture
def trace(dataset: Dataset) -> Trace:
    return benchmark(dataset, train=0.005, keep=True)


def test_an_explanation_is_as_long_as_the_run(trace: Trace) -> None:
    path = critical_path(trace)
    spent = sum(step.end_ns - step.start_ns for step in path.steps)
    assert spent / 1e9 == pytest.approx(trace.duration)
    assert limits(trace).bound <= trace.duration + 1e-9


def test_a_picture_has_a_row_for_each_stage(trace: Trace) -> None:
    assert {row.stage for row in layout(trace).rows} == {*trace.stages}


def test_parts_stand_in_the_order_of_the_data(dataset: Dataset, trace: Trace) -> None:
    assert len(plumbing(trace)) == len(list(walk(dataset.node))) + 1


def test_buffers_give_back_all_that_they_held(trace: Trace) -> None:
    assert all(held[-1][1] == 0 for held in memory(trace).values() if held)


def test_buffers_give_back_what_they_hold_when_a_loop_ends_early(dataset: Dataset) -> None:
    cut = memory(benchmark(dataset.take(1), 1, train=0.1, record=True))
    assert all(held[-1][1] == 0 for held in cut.values() if held)


def test_both_clocks_give_the_same_elements(dataset: Dataset, trace: Trace) -> None:
    real = benchmark(dataset, train=0.005, keep=True, clock="real")
    assert [epoch.elements for epoch in real.epochs] == [
        epoch.elements for epoch in trace.epochs
    ]


def test_a_run_can_be_resumed(dataset: Dataset, trace: Trace) -> None:
    state = trace.state(after=2)
    again = benchmark(dataset, train=0.005, keep=True, resume=state)
    whole = list(chain(*(epoch.elements for epoch in trace.epochs)))
    assert list(chain(*(epoch.elements for epoch in again.epochs))) == whole[2:]


def test_a_program_names_the_functions_and_compiles(dataset: Dataset) -> None:
    for language in ("lessonkit", "tf.data"):
        text = dataset.code(language)
        compile(text, language, "exec")


def test_a_widget_shows_it(dataset: Dataset) -> None:
    said = repr(show(dataset, num_epochs=1))
    assert f"{benchmark(dataset, 1).samples} samples in" in said


def test_each_number_can_be_turned(dataset: Dataset) -> None:
    for knob in knobs(dataset):
        turned = with_knob(dataset, knob, 3)
        assert [one.node.arguments[one.name] for one in knobs(turned)].count(3) == 1


def test_advice_is_given_for_it(dataset: Dataset) -> None:
    best = advise(dataset, train=0.005)[0]
    assert best.saved >= 0


def test_costs_are_measured(dataset: Dataset) -> None:
    # All of them: on a busy machine any function may seem to take time, and is not called again then
    measured = measure(dataset, elements=100).dataset
    assert benchmark(measured, 1, keep=True).epochs[0].elements == (
        benchmark(dataset, 1, keep=True).epochs[0].elements
    )


def test_fused_operators_are_written_for_tf_data_as_what_they_were_made_of() -> None:
    fused = (
        NUMBERS.map_and_filter(small, bool, cost=0.1)
        .map_and_batch(small, 2, None, True, AUTOTUNE)
        .shuffle_and_repeat(3, seed=1)
    )
    assert fused.code("tf.data").splitlines()[3:] == [
        "dataset = (",
        "    tf.data.Dataset.range(6)",
        "    .map(small)",
        "    .filter(bool)",
        "    .map(small, num_parallel_calls=tf.data.AUTOTUNE)",
        "    .batch(2, drop_remainder=True)",
        "    .shuffle(3, seed=1)",
        "    .repeat()",
        ")",
    ]


def test_other_operators_are_written_for_tf_data_as_they_are() -> None:
    dataset = (
        Dataset.from_tensor_slices({"a": [1, 2], "b": ([3, 4], ["x", "y"])})
        .enumerate(3)
        .take_while(small)
        .concatenate(Dataset.range(2).map(small))
    )
    assert dataset.code("tf.data").splitlines()[3:] == [
        "dataset = (",
        "    tf.data.Dataset.from_tensor_slices({'a': [1, 2], 'b': ([3, 4], ['x', 'y'])})",
        "    .enumerate(3)",
        "    .take_while(small)",
        "    .concatenate(tf.data.Dataset.range(2).map(small))",
        ")",
    ]


def test_autotune_finds_the_calls_of_a_fused_map_and_batch() -> None:
    fused = ArtificialDataset(20).map_and_batch(
        None, 2, num_parallel_calls=AUTOTUNE, cost=0.030
    )
    tuned = autotune(fused, Machine(4)).dataset
    assert tuned.node.arguments["num_parallel_calls"] == 3


def test_goals_count_the_calls_of_a_fused_map_and_batch() -> None:
    attempt = Attempt(benchmark(PIPELINES["map_and_batch"]))
    assert [goals.calls(at_most=most).judge(attempt).met for most in (1, 2)] == [
        False,
        True,
    ]


def test_advice_gives_a_fused_map_more_calls() -> None:
    fused = NUMBERS.repeat(4).map_and_batch(None, 2, num_parallel_calls=1, cost=0.030)
    best = advise(fused, num_epochs=1)[0]
    assert best.change == "num_parallel_calls=6 in map_and_batch"


def test_a_fused_shuffle_keeps_epochs_apart_and_one_after_it_does_not() -> None:
    fused = NUMBERS.shuffle_and_repeat(4, 3, seed=1)
    assert data_quality(benchmark(fused, 1)) == ()
    assert data_quality(benchmark(fused.shuffle(8, seed=1), 1)) == ("epochs blur",)
    frozen = NUMBERS.shuffle_and_repeat(4, 3, seed=1, reshuffle_each_iteration=False)
    assert data_quality(benchmark(frozen, 1)) == ("the same order in every epoch",)


def test_both_functions_of_a_fused_map_and_filter_are_measured() -> None:
    def doubled(x: int) -> int:
        sleep(0.003)
        return 2 * x

    def is_kept(x: int) -> bool:
        sleep(0.002)
        return x > 3

    found = measure(NUMBERS.map_and_filter(doubled, is_kept), elements=6)
    assert [step.step for step in found.steps] == ["map_and_filter", "predicate"]
    assert [step.kind for step in found.steps] == ["wait", "wait"]
    assert found.steps[0].seconds >= 0.003
    assert found.steps[1].seconds >= 0.002
    assert list(found.dataset) == [4, 6, 8, 10]


# ---- what a loader asks for by number ----

LETTERS = Dataset.from_list([*"abcdef"])


def test_a_loader_asks_for_numbered_samples_by_number() -> None:
    numbered = LETTERS.enumerate(10)
    assert base_of(numbered.node) is LETTERS.node
    batches = list(DataLoader(numbered, 2, sampler=np.array([5, 0, -2])))
    assert batches == [([15, 10], ["f", "a"]), ([14], ["e"])]
    at_once = list(DataLoader(numbered, 3, getitems=True, shuffle=True, generator=1))
    assert at_once == list(DataLoader(numbered, 3, shuffle=True, generator=1))
    for numbers, letters in at_once:
        assert letters == ["abcdef"[number - 10] for number in numbers]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_asks_for_samples_of_concatenated_datasets_by_number(workers: int) -> None:
    both = LETTERS.enumerate().concatenate(NUMBERS.map(lambda x: (x, str(x))))
    loader = DataLoader(both.enumerate(), 4, num_workers=workers)
    assert len(loader) == 3
    samples = [(number, pair[0], pair[1]) for number, pair in both.enumerate()]
    found = [[*zip(number, *pair, strict=True)] for number, pair in loader]
    assert [*chain(*found)] == samples
    backwards = DataLoader(both, 5, sampler=[11, -12, 6], num_workers=workers)
    assert list(backwards) == [([5, 0, 0], ["5", "a", "0"])]
    with pytest.raises(IndexError):
        list(DataLoader(both, 1, sampler=[-13], num_workers=workers))


def test_concatenated_datasets_are_asked_for_one_sample_at_a_time_as_in_pytorch() -> None:
    asked: list[Any] = []
    both = NUMBERS.concatenate(NUMBERS).map(noted_in(asked))
    list(DataLoader(both, 4, getitems=True))
    assert asked == [*range(6), *range(6)]


def test_a_concatenated_cache_is_no_random_access() -> None:
    assert base_of(NUMBERS.cache().concatenate(NUMBERS).node) is None
    assert base_of(NUMBERS.concatenate(NUMBERS).cache().node) is not None
    assert base_of(NUMBERS.concatenate(NUMBERS.filter(bool)).node) is None
