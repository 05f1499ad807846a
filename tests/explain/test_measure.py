"""What `measure` fits, on made-up calls; and what it leaves alone, on real ones."""

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from lessonkit import ArtificialDataset, DataLoader, Dataset, benchmark, work
from lessonkit.analysis import compare, measure
from lessonkit.engine.node import walk
from lessonkit.explain import measure as measure_module
from lessonkit.explain.calls import SCHEDULES, Call, kind, without_core
from lessonkit.explain.fitted import costing, fit, fitted


def nap(value: Any) -> Any:
    time.sleep(0.002)
    return value


def costs(dataset: Dataset, method: str = "map") -> list[Any]:
    return [node.arguments["cost"] for node in walk(dataset.node) if node.method == method]


# ---- what fits ----


def test_an_even_cost_is_a_number_and_one_hiccup_does_not_change_it() -> None:
    assert fit([(element, 0.010) for element in range(9)]) == 0.010
    assert (
        fit([(element, 0.500 if element == 4 else 0.010) for element in range(9)]) == 0.010
    )
    assert fit([(0, 0.0)]) == 0


def test_what_was_not_seen_costs_what_others_did_and_as_often() -> None:
    cost: Any = fit(
        [(element, 0.040 if element % 5 == 4 else 0.010) for element in range(20)]
    )
    later = [cost(element) for element in range(100, 200)]
    assert set(later) == {0.010, 0.040}
    assert later.count(0.040) == pytest.approx(20, abs=2)
    cost = fit(
        [(element, 0.005 + 0.010 * (element * 7 % 40) / 40) for element in range(40)]
    )
    later = [cost(element) for element in range(1000, 1200)]
    assert sum(later) / len(later) == pytest.approx(0.010, rel=0.03)
    assert 0.005 <= min(later) < 0.006 < 0.014 < max(later) <= 0.015
    assert later == [cost(element) for element in range(1000, 1200)]


def test_what_was_seen_costs_what_it_did() -> None:
    times = {element: 0.010 + element / 1000 for element in range(20)}
    cost = fit(list(times.items()))
    assert isinstance(cost, fitted)
    assert {element: cost(element) for element in times} == times


def calls(on_core: float) -> list[Call]:
    """Ten calls of 8 ms every 10 ms, each so long on a core."""
    return [Call(began / 100, began / 100 + 0.008, on_core) for began in range(10)]


def test_time_in_which_something_else_had_the_core_is_not_the_functions_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (alone,), (beside,) = calls(0.003)[:1], [calls(0.003)[0]._replace(delayed=0.004)]
    assert kind([alone], []) == "wait"
    assert kind([beside], []) == "python"
    assert beside.seconds == pytest.approx(0.004)
    asked = count()
    monkeypatch.setattr(measure_module, "without_core", lambda: float(next(asked)))
    [cost] = costs(measure(Dataset.range(3).map(nap)).dataset)
    own = [cost(number) for number in range(3)] if callable(cost) else [cost]
    assert max(own) < 0.001  # of the 2 ms of each call: its own are what it computes


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it")
def test_each_thread_and_process_reads_for_itself_how_long_it_wanted_a_core() -> None:
    def asked() -> str:
        assert without_core() >= 0
        [(thread, file)] = SCHEDULES.items()
        return os.readlink(f"/proc/self/fd/{file}").removesuffix(
            f"/task/{thread}/schedstat"
        )

    mine = asked()
    assert mine == f"/proc/{os.getpid()}"
    with ThreadPoolExecutor(1) as other:
        assert other.submit(asked).result() == mine
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(writer, asked().encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100).decode() == f"/proc/{child}"
    os.close(reader)
    os.close(writer)


def test_the_kind_is_told_by_time_on_a_core_and_by_who_else_gets_the_lock() -> None:
    often = [tick / 4000 for tick in range(400)]
    seldom = [tick / 200 for tick in range(20)]  # as the interpreter itself lets go of it
    assert kind(calls(on_core=0.0001), often) == "wait"
    assert kind(calls(on_core=0.008), often) == "native"
    assert kind(calls(on_core=0.008), seldom) == "python"
    assert kind(calls(on_core=0.008), []) == "python"
    between = [began / 100 + 0.009 for began in range(10)]
    # Ticks while nobody is called
    assert kind(calls(on_core=0.008), between * 30) == "python"


# ---- what a measured pipeline is ----


def test_elements_and_their_order_stay() -> None:
    pipeline = (
        Dataset.range(3)
        .interleave(lambda file: Dataset.range(6 * file, 6 * file + 6).map(nap), 2, 1, 2)
        .shuffle(4, seed=1)
        .map(nap, num_parallel_calls=2)
        .filter(lambda number: nap(number) % 3 > 0)
        .prefetch(2)
        .batch(4)
    )
    traces = [benchmark(one, 1) for one in (pipeline, measure(pipeline).dataset)]
    assert traces[0].epochs[0].elements == traces[1].epochs[0].elements
    assert [
        one.arguments for one in walk(measure(Dataset.range(2).prefetch(3)).dataset.node)
    ][1:] == [{"buffer_size": 3}]


def test_each_function_costs_what_it_took_and_inner_data_sets_too() -> None:
    def read(file: int) -> Iterator[int]:
        time.sleep(0.020)
        yield from (nap(line) for line in range(4))

    files = Dataset.range(3).flat_map(
        lambda file: Dataset.from_generator(read, args=(file,)).map(nap)
    )
    trace = benchmark(measure(files.filter(lambda number: nap(True))).dataset, 1, train=0)
    spent = {
        str(stage): [
            span.end_ns - span.start_ns for span in trace.spans if span.stage == stage
        ]
        for stage in trace.stages
    }
    for stage in ("Read", "Map", "Filter"):
        assert len(spent[stage]) == 12
        assert sum(spent[stage]) > 12 * 1_000_000  # half of it, for some are drawn
    assert min(spent["Read"][::4]) > 10_000_000  # the first of each file opens it


def test_costs_that_are_given_are_kept_and_not_spent() -> None:
    def says(number: int) -> int:
        work(30.0)
        return number

    began = time.monotonic()
    pipeline = (
        ArtificialDataset(9, open=30, read=30).map(cost=30).map(nap, cost=30).map(says)
    )
    measured = measure(pipeline).dataset
    assert time.monotonic() - began < 20
    assert costs(measured)[:2] == [30, 30]
    assert benchmark(measured, 1, train=0).duration == pytest.approx(
        30 + 4 * 9 * 30, rel=1e-3
    )


def test_a_node_used_twice_stays_one() -> None:
    numbers = Dataset.range(4).map(nap).cache()
    left, right = measure(Dataset.zip(numbers, numbers)).dataset.node.inputs
    assert left is right


def test_it_stops_when_each_function_was_called_often_enough() -> None:
    called: list[int] = []
    measure(Dataset.range(10_000).map(called.append).batch(8), elements=16)
    assert len(called) == 16
    called.clear()
    measure(Dataset.range(10_000).shuffle(5_000).map(called.append).prefetch(9), elements=5)
    assert len(called) == 5


def test_what_cannot_be_measured_is_refused() -> None:
    wrong: list[Any] = [3, None, [1, 2]]
    for dataset in wrong:
        with pytest.raises(TypeError, match="must be a Dataset"):
            measure(dataset)
    with pytest.raises(ValueError, match="elements=0"):
        measure(Dataset.range(3), elements=0)
    with pytest.raises(ValueError, match="gave no element"):
        measure(Dataset.range(0).map(nap))
    with pytest.raises(ZeroDivisionError):
        measure(Dataset.range(3).map(lambda number: 1 // number))
    with pytest.raises(TypeError, match="must return a Dataset"):
        measure(Dataset.range(3).flat_map(lambda number: number))


def test_a_function_with_a_cost_says_it_and_is_printed_with_it() -> None:
    priced = costing(nap, 0.5, "native")
    trace = benchmark(Dataset.range(2).filter(priced), 1, train=0)
    assert trace.duration == 1.0
    assert {span.kind for span in trace.spans} == {"native"}
    assert repr(fitted((0.01, 0.02), seen={0: 0.01})) == "fitted(times=(0.01, 0.02))"


# ---- predicted beside measured ----


def test_a_stage_that_only_one_run_has_is_not_off() -> None:
    plain = Dataset.range(2)
    mapped = Dataset.range(2).map(cost=0.010)
    found = compare(benchmark(mapped, 1), benchmark(plain, 1))
    assert [
        (row.stage, row.predicted[0], row.measured[0], row.off) for row in found.stages[:-1]
    ] == [
        ("Map", 2, 0, None),
        ("Train", 2, 2, 0.0),
    ]
    assert found.stages[-1].off == pytest.approx(1.0)
    assert (
        str(found).splitlines()[1] == "Map                 2   10.000 ms      0    0.000 ms"
    )


def test_what_is_under_a_loader_is_measured_and_its_workers_stay() -> None:
    def collate(samples: list[int]) -> int:
        time.sleep(0.004)
        return sum(samples)

    loader = DataLoader(
        Dataset.range(8).map(nap),
        2,
        num_workers=2,
        persistent_workers=True,
        prefetch_factor=1,
        collate_fn=collate,
    )
    began = time.perf_counter()
    found = measure(loader)
    # On a busy machine a sleep of 4 ms takes much longer
    took = time.perf_counter() - began
    assert [step.step for step in found.steps] == ["map", "DataLoader"]
    (root,) = (node for node in walk(found.dataset.node) if node.method == "DataLoader")
    assert (root.arguments["num_workers"], root.arguments["persistent_workers"]) == (
        2,
        True,
    )
    assert 0.004 <= root.arguments["collate"] < took
    trace = benchmark(found.dataset, 1, 0)
    assert trace.epochs[0].elements == [1, 5, 9, 13]
    assert trace.duration >= 2 * (2 * 0.002 + 0.004)  # each worker makes two batches
