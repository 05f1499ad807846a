"""Roofs: the bounds of a run as samples per second, with the run below the lowest of them."""

import pytest
from support.random_runs import runs

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Handling,
    Machine,
    Storage,
    Trace,
    benchmark,
    straggler,
)
from lessonkit.analysis import Roofs, limits
from lessonkit.explain.limits import ONCE, ROOFS


def test_no_run_is_above_a_roof_and_the_lowest_is_the_limit() -> None:
    lit = set()
    for seed, _, _, trace in runs():
        found = limits(trace)
        if not trace.samples or not found.bound:
            with pytest.raises(ValueError, match="one roof at least"):
                _ = found.roofs
            continue
        roofs = found.roofs
        lowest = roofs.per_second[roofs.lowest]
        assert lowest == trace.samples / found.bound, seed
        assert roofs.run is not None
        assert roofs.run <= lowest == min(roofs.per_second.values()), seed
        lit.add(roofs.lowest)
    assert lit >= {*ROOFS.values(), *ONCE.values()} - {"copy"}


def test_each_roof_is_a_bound_of_the_same_run() -> None:
    for seed, _, _, trace in runs():
        found = limits(trace)
        if not trace.samples or not found.bound:
            continue
        names = {roof: bound for bound, roof in (ROOFS | ONCE).items()}
        seconds = {bound.name: bound.seconds for bound in found.bounds}
        for name, rate in found.roofs.per_second.items():
            bound = seconds[names[name]]
            if name == "step":
                bound = max(bound, seconds["first element"])
            assert rate == trace.samples / bound, seed


def roofs_of(trace: Trace) -> dict[str, float]:
    return dict(limits(trace).roofs.per_second)


def test_parts_stand_in_the_order_in_which_a_sample_meets_them() -> None:
    slow = Storage(bandwidth=1e6).read(10_000)
    images = Dataset.range(50).map(cost=slow, num_parallel_calls=2)
    images = images.map(cost=0.004, kind="python", num_parallel_calls=4).prefetch(2)
    trace = benchmark(images, 1, 0.005, 0.001)
    assert [*roofs_of(trace)] == ["storage", "cores", "GIL", "copy", "step"]


def test_a_step_does_not_begin_before_its_first_sample() -> None:
    """20 steps of 20 ms after 45 ms, of which the step makes 400; without a step only the wait is left."""
    files = ArtificialDataset(20).prefetch(1)
    assert roofs_of(benchmark(files, 1, 0.020))["step"] == pytest.approx(20 / 0.445)
    assert "step" not in roofs_of(benchmark(files, 1, 0))


def test_what_takes_its_time_once_is_a_roof_only_where_nothing_is_lower() -> None:
    def with_slow(seconds: float) -> Dataset:
        cost = straggler(0.001, every=8, slow=seconds)
        return Dataset.range(8).map(cost=cost, num_parallel_calls=8)

    assert [*roofs_of(benchmark(with_slow(0.001), 1))] == ["step"]
    assert limits(benchmark(with_slow(0.500), 1)).roofs.lowest == "slowest sample"


def test_more_calls_raise_the_run_and_no_roof() -> None:
    """Until it is at the lowest one: that is the knee of the curve."""

    def calling(calls: int) -> Roofs:
        mapped = ArtificialDataset(20).map(cost=0.030, num_parallel_calls=calls)
        return limits(benchmark(mapped, 1)).roofs

    found = [calling(calls) for calls in range(1, 9)]
    assert all(one.per_second == found[0].per_second for one in found)
    reached = [one.reached or 0.0 for one in found]
    assert reached[0] < reached[1] < reached[2]
    assert reached[2:] == [1.0] * 6


# ---- the copy ----


@pytest.mark.parametrize("ahead", [False, True])
def test_the_copy_to_the_accelerator_has_a_roof_of_its_own(*, ahead: bool) -> None:
    """In one stream with the step it also lowers the roof of the step; on a second one it does not."""
    images = DataLoader(Dataset.range(10), batch_size=1, pin_memory=True)
    found = roofs_of(benchmark(images, 1, train=0.010, load=0.015, ahead=ahead))
    assert found["copy"] == pytest.approx(1 / 0.015)
    # On a second stream the first copy comes before the first step, and all others beside one
    assert found["step"] == pytest.approx(10 / (0.115 if ahead else 0.250))


def test_what_the_loop_itself_needs_for_each_batch_is_a_copy() -> None:
    loader = DataLoader(
        Dataset.range(40), batch_size=4, num_workers=2, handling=Handling(take=0.020)
    )
    found = limits(benchmark(loader, 1, train=0.001)).roofs
    assert found.lowest == "copy"
    assert found.per_second["copy"] == pytest.approx(4 / 0.020)


def test_to_launch_a_step_is_no_copy() -> None:
    launched = benchmark(Dataset.range(10), 1, 0.002, queue=2, step=lambda _: None)
    assert "copy" not in roofs_of(launched)


def test_a_batch_that_is_copied_in_vain_is_not_counted() -> None:
    images = DataLoader(Dataset.range(10), batch_size=1, pin_memory=True)
    trace = benchmark(images, 1, train=0.010, load=0.002, ahead=True, max_elements=3)
    assert roofs_of(trace)["copy"] == pytest.approx(1 / 0.002)


def test_loaders_that_a_function_makes_may_copy_side_by_side() -> None:
    def files(_: int) -> Dataset:
        handling = Handling(take=0.010)
        return DataLoader(Dataset.range(4), 1, num_workers=1, handling=handling)

    trace = benchmark(Dataset.range(2).interleave(files, 2, 1, 2), 1, 0)
    assert "copy" not in roofs_of(trace)


# ---- roofs of one's own ----


def test_the_cores_and_the_lock_are_what_a_pen_says() -> None:
    """10 ms on two cores are 200 samples per second; 2 ms of Python are 500 for one lock."""
    native = Dataset.range(1000).map(cost=0.008, kind="native", num_parallel_calls=8)
    both = native.map(cost=0.002, kind="python", num_parallel_calls=8).prefetch(8)
    found = roofs_of(benchmark(both, 1, 0.001, machine=Machine(2)))
    assert found["cores"] == pytest.approx(200, rel=0.01)
    assert found["GIL"] == pytest.approx(500, rel=0.01)


def test_numbers_of_ones_own_have_roofs_too() -> None:
    roofs = Roofs({"cores": 1600, "step": 3000}, run=800, unknown={"storage": "not timed"})
    assert (roofs.lowest, roofs.next, roofs.reached) == ("cores", "step", 0.5)
    assert str(roofs).splitlines() == [
        "cores     1,600 samples/s: the lowest roof",
        "step      3,000 samples/s",
        "storage   not known: not timed",
        "the run   800 samples/s: 50 % of the lowest roof",
    ]
    assert roofs.verdict == "the run makes 800, 50 % of the lowest, cores"
    alone = Roofs({"step": 3000})
    assert (alone.next, alone.reached, alone.verdict) == (None, None, "the lowest is step")


@pytest.mark.parametrize("rate", [0, -1.0, float("inf"), float("nan")])
def test_a_roof_is_a_positive_number(rate: float) -> None:
    with pytest.raises(ValueError, match=r"cores=.*must be a positive number"):
        Roofs({"step": 3000, "cores": rate})
