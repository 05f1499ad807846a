"""Steps that the loop only launches: a modelled queue, held against a device that has one."""

from dataclasses import astuple
from itertools import product
from typing import Any

import pytest
from support.stand_in_device import Clock, Device

from databound.measure.device import OnDevice, on_device
from lessonkit import Dataset, benchmark, work
from lessonkit.analysis import limits

MS = 0.001


def modelled(fetch: float, launch: float, busy: float, depth: int) -> list[float]:
    """When each batch is asked for in the model, and when the epoch ends."""
    batches = Dataset.range(7).map(cost=lambda number: fetch * (1 + number % 3))
    trace = benchmark(batches, 1, busy, step=lambda batch: work(launch), queue=depth)
    return [*trace.epochs[0].arrivals, trace.duration]


def stood_in(fetch: float, launch: float, busy: float, depth: int) -> list[float]:
    """The same by a loop over a device that only moves its clock."""
    clock = Clock()
    device, times = Device(launch, busy, depth, clock), []
    for number in range(7):
        clock.spend(fetch * (1 + number % 3))
        times.append(clock())
        device.launch()
    device.synchronize()
    return [*times, clock()]


@pytest.mark.parametrize("depth", [1, 2, 5, 100])
def test_the_loop_goes_on_as_beside_a_device_with_a_queue(depth: int) -> None:
    for fetch, launch, busy in product((0, 2 * MS, 9 * MS), (0, MS), (3 * MS, 10 * MS)):
        expected = stood_in(fetch, launch, busy, depth)
        assert modelled(fetch, launch, busy, depth) == pytest.approx(expected, abs=1e-9)


def test_a_queue_hides_what_the_loop_does_meanwhile_in_each_epoch() -> None:
    batches = Dataset.range(6).map(cost=4 * MS)
    assert benchmark(batches, 2, 10 * MS).duration == 0.168
    trace = benchmark(batches, 2, 10 * MS, queue=8)
    assert [epoch.duration for epoch in trace.epochs] == pytest.approx([64 * MS] * 2)
    assert limits(trace).bound == trace.duration
    assert limits(trace).training == 0.120


def test_with_a_queue_a_copy_is_no_longer_the_accelerators_own_time() -> None:
    trace = benchmark(Dataset.range(4), 1, 10 * MS, 3 * MS, queue=2)
    assert trace.duration == 0.043
    assert trace.busy("Train") == pytest.approx(40 / 43)


def test_an_early_end_waits_for_the_steps_that_were_launched() -> None:
    assert (
        benchmark(Dataset.range(9), 1, 10 * MS, queue=4, max_elements=2).duration == 0.020
    )


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_an_error_ends_what_is_in_the_queue(clock: str) -> None:
    def fails(number: int) -> int:
        if number == 2:
            raise OSError("no disk")
        return number

    options: dict[str, Any] = {"queue": 8, "clock": clock}
    with pytest.raises(OSError, match="no disk"):
        benchmark(Dataset.range(4).map(fails), 1, MS, **options)
    launched: list[int] = []
    assert benchmark(Dataset.range(3), 2, MS, step=launched.append, **options).samples == 6
    assert launched == [0, 1, 2] * 2


# ---- a step on a device, timed ----


def timed(launch: float, busy: float, depth: int) -> OnDevice:
    clock = Clock()
    device = Device(launch, busy, depth, clock)
    found = on_device(device.launch, None, device.synchronize, clock)
    assert found is not None
    return found


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_what_latency_and_throughput_say_of_a_device_is_what_it_is(depth: int) -> None:
    assert astuple(timed(MS, 10 * MS, depth)) == pytest.approx((MS, 10 * MS, depth))


def test_where_launching_takes_longer_than_the_device_latency_tells_what_that_takes() -> (
    None
):
    assert astuple(timed(3 * MS, 2 * MS, 5))[:2] == pytest.approx((3 * MS, 2 * MS))


def test_a_queue_that_was_never_full_is_as_deep_as_was_seen() -> None:
    assert timed(MS, 10 * MS, 1000).queue == 20
    # Fewer steps are launched of those that take long
    assert timed(MS, 100 * MS, 1000).queue == 4


def test_a_step_that_waits_for_its_result_leaves_nothing_to_the_device() -> None:
    clock = Clock()
    assert on_device(lambda batch: clock.spend(4 * MS), None, lambda: None, clock) is None


@pytest.mark.parametrize(("left", "is_queued"), [(0.9 * MS, False), (1.1 * MS, True)])
def test_a_device_that_is_left_a_tenth_of_the_launch_to_do_has_no_queue(
    left: float, is_queued: bool
) -> None:
    clock = Clock()
    found = on_device(
        lambda batch: clock.spend(10 * MS), None, lambda: clock.spend(left), clock
    )
    assert (found is not None) == is_queued


@pytest.mark.parametrize("fetch", [2 * MS, 12 * MS])
def test_a_timed_step_foretells_the_loop_over_its_device(fetch: float) -> None:
    found = timed(MS, 10 * MS, 3)
    foretold = modelled(fetch, found.launch, found.train, found.queue)
    assert foretold == pytest.approx(stood_in(fetch, MS, 10 * MS, 3))


def test_what_is_no_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="queue=-1: must be 0 or more"):
        benchmark(Dataset.range(1), queue=-1)
    with pytest.raises(TypeError, match="must be a cost or a function to call, not both"):
        benchmark(Dataset.range(1), train=1, step=print, queue=0)
