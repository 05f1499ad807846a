"""Rewriting: other operators, the same elements."""

import math
import re
from itertools import pairwise
from typing import Any

import pytest
from support.random_pipelines import seeds
from support.rewritable_pipelines import increased, rewritable

from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    Trace,
    benchmark,
    per_sample,
    work,
)
from lessonkit.engine.node import cardinality, walk
from lessonkit.optimize import RULES, rewrite

FILE = ArtificialDataset(20)


def ms(dataset: Dataset, **options: Any) -> float:
    return round(benchmark(dataset, **options).duration * 1e9) / 1e6


def elements(trace: Trace) -> list[list[Any]]:
    return [epoch.elements for epoch in trace.epochs]


def once(dataset: Dataset, rule: str) -> Dataset:
    """After one rule, which finds something once."""
    result = rewrite(dataset, [rule])
    assert [step.rule for step in result.steps] == [rule]
    return result.dataset


# ---- all rules ----

# Those by default, all of them, each one alone, and some together that keep others from finding much
SETS: list[list[str] | None] = [
    None,
    list(RULES),
    [name for name in RULES if name not in ("map_parallelization", "map_vectorization")],
    *([name] for name in RULES),
]


@pytest.mark.parametrize("rules", SETS, ids=lambda rules: "+".join(rules or ["default"]))
def test_rewritten_pipelines_give_the_same_elements_in_the_same_order(
    rules: list[str] | None,
) -> None:
    for seed in seeds(150):
        dataset = rewritable(seed)
        result = rewrite(dataset, rules)
        after = result.dataset
        if not result.steps:
            assert after is dataset
            continue
        before, now = (benchmark(each, train=1e-5, keep=True) for each in (dataset, after))
        assert elements(now) == elements(before), seed
        assert [epoch.samples for epoch in now.epochs] == [
            epoch.samples for epoch in before.epochs
        ], seed
        assert rewrite(after, rules).dataset is after, seed
        counts = cardinality(after.node), cardinality(dataset.node)
        # A batch that unbatch takes apart tells the number of elements that a map hides
        assert counts[0] == counts[1] or "unbatch" in repr(dataset), seed


@pytest.mark.parametrize("workers", [0, 2])
def test_what_a_loader_reads_stays_as_it_is(workers: int) -> None:
    samples = Dataset.range(8).map(increased, cost=0.01).map(increased, cost=0.01)
    iterable = Dataset.range(8).skip(0).map(increased)
    for loader in (
        DataLoader(read, 2, num_workers=workers) for read in (samples, iterable)
    ):
        for rules in SETS:
            assert rewrite(loader, rules).dataset is loader
            after = rewrite(loader.skip(0).map(increased), rules).dataset
            assert loader.node in [*walk(after.node)]


def test_rewritten_pipelines_give_the_same_elements_on_threads() -> None:
    for seed in seeds(75):
        after = rewrite(rewritable(seed), SETS[seed % len(SETS)]).dataset
        if re.search("shuffle.*cache", repr(after)):
            # Whether what reads ahead completes the cache before it is closed is a race
            continue
        virtual, real = (
            benchmark(after, train=1e-5, clock=clock) for clock in ("virtual", "real")
        )
        assert elements(real) == elements(virtual), seed


def test_only_what_tf_data_does_unasked_is_on_by_default() -> None:
    assert [rule.name for rule in RULES.values() if rule.by_default] == [
        "noop_elimination",
        "shuffle_and_repeat_fusion",
        "map_parallelization",
        "map_and_batch_fusion",
    ]


def test_a_step_has_the_rule_and_the_pipeline_before_and_after() -> None:
    (step,) = rewrite(Dataset.range(3).take(-1)).steps
    assert step.rule == "noop_elimination"
    assert RULES[step.rule].sentence.startswith(
        "Remove operators that do nothing. These are take(-1), skip(0)"
    )
    assert repr(step.before) == "Dataset.range(3).take(-1)"
    assert list(step.after) == list(step.before) == [0, 1, 2]
    assert str(step) == (
        "noop_elimination\n  Dataset.range(3).take(-1)\n  Dataset.range(3)"
    )


def test_rules_look_at_the_whole_pipeline_one_after_the_other() -> None:
    dataset = FILE.map(abs).filter(bool).filter(bool).take(-1).map(abs).batch(2)
    assert [step.rule for step in rewrite(dataset, RULES).steps] == [
        "noop_elimination",
        "map_parallelization",
        "map_parallelization",
        "filter_fusion",
        "map_and_batch_fusion",
    ]


def test_each_sentence_says_when_the_rule_helps() -> None:
    assert all(
        "helps" in rule.sentence or "hurts" in rule.sentence for rule in RULES.values()
    )


def test_what_no_rule_touches_stays_the_same_object() -> None:
    untouched = Dataset.range(3).cache()
    assert rewrite(untouched).dataset is untouched
    after = rewrite(untouched.skip(0).map(abs)).dataset
    assert after.node.inputs[0] is untouched.node


def test_cache_keeps_what_it_holds_unless_something_before_it_changes() -> None:
    calls: list[int] = []
    noops = ["noop_elimination"]
    kept, fresh = (
        numbers.map(calls.append).cache()
        for numbers in (Dataset.range(3), Dataset.range(3).skip(0))
    )
    for dataset, called in (
        (kept, 3),
        (rewrite(kept.take(-1), noops).dataset, 0),
        (fresh, 3),
        (rewrite(fresh, noops).dataset, 3),
    ):
        calls.clear()
        assert list(dataset) == [None] * 3
        assert len(calls) == called


def test_node_that_is_used_twice_stays_one() -> None:
    shared = Dataset.range(3).skip(0).cache()
    caches = {
        node
        for node in walk(rewrite(Dataset.zip(shared, shared)).dataset.node)
        if node.method == "cache"
    }
    assert len(caches) == 1


REFUSED: list[tuple[Any, Any, type[Exception], str]] = [
    (3, None, TypeError, "dataset=3: must be a Dataset"),
    (
        FILE,
        "map_vectorization",
        TypeError,
        "rules='map_vectorization': must be a list of names",
    ),
    (FILE, 3, TypeError, "rules=3: must be a list of names"),
    (
        FILE,
        ["fusion"],
        ValueError,
        "rules='fusion': must be one of noop_elimination, shuffle_and_repeat_fusion",
    ),
]


@pytest.mark.parametrize(("dataset", "rules", "error", "message"), REFUSED)
def test_rewrite_refuses(
    dataset: Any, rules: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message.replace("[", r"\[")):
        rewrite(dataset, rules)


# ---- removal of what does nothing ----


@pytest.mark.parametrize(
    "idle",
    [
        FILE.take(-1),
        FILE.take(-5),
        FILE.skip(0),
        FILE.repeat(1),
        FILE.prefetch(0),
        FILE.shard(1, 0),
        FILE.map(),
        FILE.skip(0).repeat(1).prefetch(0),
    ],
    ids=repr,
)
def test_noop_is_removed(idle: Dataset) -> None:
    assert rewrite(idle).dataset.node is FILE.node


@pytest.mark.parametrize(
    "needed",
    [
        FILE.take(0),
        FILE.skip(-1),
        FILE.repeat(0),
        FILE.repeat(),
        FILE.prefetch(AUTOTUNE),
        FILE.shard(2, 0),
        FILE.batch(1),
        FILE.map(num_parallel_calls=1),
        FILE.map(nbytes=5),
        FILE.map(cost=0.001),
    ],
    ids=repr,
)
def test_what_does_something_stays(needed: Dataset) -> None:
    assert rewrite(needed, ["noop_elimination"]).dataset is needed


# ---- parallel calls ----


def test_sequential_map_becomes_parallel_and_keeps_the_order() -> None:
    slow = FILE.map(lambda x: x, cost=0.030)
    parallel = once(slow, "map_parallelization")
    assert parallel.node.arguments["num_parallel_calls"] == AUTOTUNE
    assert elements(benchmark(parallel)) == elements(benchmark(slow))
    assert ms(parallel) < ms(slow)


def test_a_random_map_stays_as_it_is() -> None:
    random_map = FILE.map(cost=0.030, random=True)
    assert rewrite(random_map, ["map_parallelization"]).dataset is random_map


# ---- shuffle and repeat ----

SLOW = ArtificialDataset(8, open=0, read=0.005)


def test_shuffle_and_repeat_fusion_begins_no_pass_with_a_wait_for_a_full_buffer() -> None:
    apart = SLOW.shuffle(4, seed=1).repeat(2)
    fused = once(apart, "shuffle_and_repeat_fusion")
    gaps = [
        [round(now - before, 9) for before, now in pairwise(arrivals)]
        for arrivals in (benchmark(each, 1).epochs[0].arrivals for each in (apart, fused))
    ]
    # Four elements are read before the first of the second pass, instead of one before each
    assert gaps[0] == [0.015] * 4 + [0.010] * 3 + [0.030] + [0.015] * 4 + [0.010] * 3
    assert gaps[1] == [0.015] * 12 + [0.010] * 3


def test_shuffle_and_repeat_fusion_helps_if_a_prefetch_cannot_hide_that_wait() -> None:
    apart = SLOW.shuffle(4, seed=1).repeat(2)
    fused = once(apart, "shuffle_and_repeat_fusion")
    assert (ms(apart, num_epochs=1), ms(fused, num_epochs=1)) == (240, 240)
    assert (ms(apart.prefetch(1), num_epochs=1), ms(fused.prefetch(1), num_epochs=1)) == (
        190,
        180,
    )


def test_shuffle_and_repeat_fusion_hurts_if_nobody_asks_for_the_next_pass() -> None:
    apart = SLOW.shuffle(4, seed=1).repeat().take(8)
    fused = once(apart, "shuffle_and_repeat_fusion")
    assert (ms(apart, num_epochs=1, train=0), ms(fused, num_epochs=1, train=0)) == (40, 55)


def test_shuffle_and_repeat_fusion_leaves_what_gives_nothing() -> None:
    nothing = SLOW.shuffle(4).repeat(0)
    assert rewrite(nothing, ["shuffle_and_repeat_fusion"]).dataset is nothing


@pytest.mark.parametrize("count", [None, -1, -3])
def test_shuffle_and_repeat_fusion_knows_a_repeat_without_an_end(count: int | None) -> None:
    fused = once(
        SLOW.shuffle(4, reshuffle_each_iteration=False).repeat(count),
        "shuffle_and_repeat_fusion",
    )
    assert repr(fused) == (
        "ArtificialDataset(8, open=0.0, read=0.005)"
        ".shuffle_and_repeat(4, reshuffle_each_iteration=False)"
    )
    assert cardinality(fused.node) is math.inf


# ---- two maps ----


def test_map_fusion_saves_nothing_where_handing_elements_on_costs_nothing() -> None:
    apart = Dataset.range(8).map(cost=0.020).map(cost=0.020)
    fused = once(apart, "map_fusion")
    assert repr(fused) == "Dataset.range(8).map(cost=0.04)"
    assert (ms(apart, train=0), ms(fused, train=0)) == (640, 640)


def test_map_fusion_hurts_if_each_map_had_calls_of_its_own() -> None:
    apart = Dataset.range(8).map(cost=0.020, num_parallel_calls=AUTOTUNE)
    apart = apart.map(cost=0.020, num_parallel_calls=AUTOTUNE)
    fused = once(apart, "map_fusion")
    two = {"machine": Machine(2), "train": 0, "num_epochs": 1}
    assert (ms(apart, **two), ms(fused, **two)) == (100, 160)


def test_a_fused_map_has_the_functions_costs_and_names_of_both() -> None:
    def increase(x: int) -> int:
        return x + 1

    def double(x: int) -> tuple[int, int]:
        return x, 2 * x

    apart = Dataset.range(3).map(increase, cost=0.1, stage="Decode")
    fused = once(apart.map(double, cost=0.2, stage="Augment", nbytes=4), "map_fusion")
    assert repr(fused) == (
        "Dataset.range(3).map(increase_and_double, cost=0.3, stage='Decode and Augment', nbytes=4)"
    )
    assert list(fused) == [(1, 2), (2, 4), (3, 6)]
    thrice = once(Dataset.range(3).map(double).map(max), "map_fusion")
    assert list(thrice) == [0, 2, 4]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"cost": 0.1, "kind": "native"}, {"cost": 0.1}),
        ({"cost": per_sample(0.1)}, {}),
        ({}, {"cost": per_sample(0.1)}),
        ({"nbytes": 3}, {}),
        ({"num_parallel_calls": 2}, {"num_parallel_calls": 2}),
        ({"num_parallel_calls": AUTOTUNE}, {}),
        (
            {"num_parallel_calls": AUTOTUNE, "deterministic": False},
            {"num_parallel_calls": AUTOTUNE},
        ),
    ],
)
def test_map_fusion_leaves_maps_that_are_no_sum(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    apart = Dataset.range(3).map(abs, **first).map(abs, **second)
    assert rewrite(apart, ["map_fusion"]).dataset is apart


def test_a_fused_map_holds_what_the_map_that_costs_time_does() -> None:
    fused = once(Dataset.range(3).map(abs).map(cost=0.1, kind="python"), "map_fusion")
    assert repr(fused) == "Dataset.range(3).map(abs, cost=0.1, kind='python')"
    assert once(Dataset.range(3).map(random=True).map(abs), "map_fusion").node.arguments[
        "random"
    ]


# ---- filters ----


def is_even(x: int) -> bool:
    work(0.005)
    return x % 2 == 0


def is_large(x: int) -> bool:
    work(0.005)
    return x > 3


def test_filter_fusion_asks_the_second_predicate_where_the_first_says_yes() -> None:
    apart = Dataset.range(8).filter(is_even).filter(is_large)
    fused = once(apart, "filter_fusion")
    assert repr(fused) == "Dataset.range(8).filter(is_even_and_is_large)"
    assert list(fused) == [4, 6]
    # Eight times the first, four times the second, as before
    assert (ms(apart, num_epochs=1, train=0), ms(fused, num_epochs=1, train=0)) == (60, 60)


def test_map_and_filter_fusion_lets_one_call_do_both() -> None:
    apart = Dataset.range(8).map(abs, cost=0.010, stage="Decode").filter(is_even)
    fused = once(apart, "map_and_filter_fusion")
    assert repr(fused) == (
        "Dataset.range(8).map_and_filter(abs, predicate=is_even, cost=0.01, stage='Decode')"
    )
    assert list(fused) == [0, 2, 4, 6]
    assert (ms(apart, num_epochs=1, train=0), ms(fused, num_epochs=1, train=0)) == (
        120,
        120,
    )
    assert [*benchmark(apart, 1).stages] == ["Decode", "Filter", "Train"]
    assert [*benchmark(fused, 1).stages] == ["Decode", "Train"]


def test_map_and_filter_fusion_hurts_if_the_map_should_get_parallel_calls() -> None:
    apart = Dataset.range(8).map(cost=0.010).filter(bool)
    fused = once(apart, "map_and_filter_fusion")
    wide = once(apart, "map_parallelization")
    assert rewrite(fused, ["map_parallelization"]).dataset is fused
    assert [ms(each, num_epochs=1, train=0) for each in (fused, wide)] == [80, 20]
    assert rewrite(wide, ["map_and_filter_fusion"]).dataset is wide


# ---- map and batch ----


def test_map_that_takes_batches_is_called_once_for_each() -> None:
    def increase(x: Any) -> Any:
        return [part + 1 for part in x] if isinstance(x, list) else x + 1

    apart = Dataset.range(6).map(increase, cost=0.010, batches=True).batch(3)
    vectorised = once(apart, "map_vectorization")
    assert [node.method for node in walk(vectorised.node)] == ["range", "batch", "map"]
    assert (ms(apart, train=0), ms(vectorised, train=0)) == (120, 40)
    assert (
        elements(benchmark(vectorised))
        == elements(benchmark(apart))
        == [[[1, 2, 3], [4, 5, 6]]] * 2
    )


def test_map_that_says_nothing_of_batches_is_not_vectorised() -> None:
    for apart in (
        Dataset.range(6).map(abs).batch(3),
        Dataset.range(6).map(abs, batches=True, nbytes=4).batch(3),
    ):
        assert rewrite(apart, ["map_vectorization"]).dataset is apart


def test_map_vectorization_hurts_if_parallel_calls_have_nothing_to_do() -> None:
    cost = per_sample(0.010)
    apart = Dataset.range(8).map(cost=cost, num_parallel_calls=4, batches=True).batch(8)
    after = once(apart, "map_vectorization")
    assert (ms(apart, num_epochs=1, train=0), ms(after, num_epochs=1, train=0)) == (20, 80)


def test_map_and_batch_fusion_helps_if_nothing_after_the_batch_is_made_ahead() -> None:
    apart = Dataset.range(8).map(cost=0.010).batch(4)
    fused = once(apart, "map_and_batch_fusion")
    assert repr(fused) == (
        "Dataset.range(8).map_and_batch(None, batch_size=4, cost=0.01, num_parallel_calls=1)"
    )
    options = {"num_epochs": 1, "train": 0.030}
    assert (ms(apart, **options), ms(fused, **options)) == (140, 110)
    ahead = (apart.prefetch(1), fused.prefetch(1))
    assert [ms(each, **options) for each in ahead] == [110, 110]


def test_map_and_batch_fusion_begins_more_batches_and_holds_them() -> None:
    apart = Dataset.range(16).map(cost=0.010, num_parallel_calls=2, nbytes=100).batch(4)
    fused = once(apart, "map_and_batch_fusion")
    assert [benchmark(each, 1, 0.1).max_held for each in (apart, fused)] == [2, 8]


def test_map_and_batch_fusion_loses_the_whole_batch_of_an_error() -> None:
    def fails(x: int) -> int:
        if x == 3:
            raise ValueError(x)
        return x

    def given(dataset: Dataset) -> list[Any]:
        batches = iter(dataset)
        found: list[Any] = []
        for _ in range(4):
            try:
                found.append(next(batches, "end"))
            except ValueError:
                found.append("error")
        return found

    apart = Dataset.range(8).map(fails).batch(3)
    assert given(apart) == [[0, 1, 2], "error", [4, 5, 6], [7]]
    fused = once(apart, "map_and_batch_fusion")
    assert given(fused) == [[0, 1, 2], "error", [6, 7], "end"]


def test_map_and_batch_fusion_leaves_a_batch_with_calls_of_its_own() -> None:
    apart = Dataset.range(7).map(abs).batch(3, num_parallel_calls=2)
    assert rewrite(apart, ["map_and_batch_fusion"]).dataset is apart


def test_map_and_batch_fusion_keeps_the_order_also_of_a_map_that_did_not() -> None:
    mixed = Dataset.range(4).map(
        cost=lambda x: 0.01 * (4 - x), num_parallel_calls=4, deterministic=False
    )
    assert elements(benchmark(mixed.batch(2), 1)) == [[[3, 2], [1, 0]]]
    fused = once(mixed.batch(2), "map_and_batch_fusion")
    assert elements(benchmark(fused, 1)) == [[[0, 1], [2, 3]]]
