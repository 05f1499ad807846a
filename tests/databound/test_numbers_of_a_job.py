"""What runs come to: each number from batches whose times are written down here."""

import pytest
from support.modelled_jobs import Modelled

from databound.measure.device import OnDevice
from databound.measure.numbers import (
    StepNumbers,
    makes_of,
    making,
    mean_of,
    on_its_way,
    opening_of,
    start_of,
    step_numbers,
    take_of,
    unevenness,
)
from databound.measure.subject import RunRequest
from databound.measure.uneven import Uneven, phase_of
from databound.measure.watching import Watch, WatchedBatch
from databound.thresholds import COMPUTES, READY_FOR, WAITS_ABOVE

MS = 0.001
ALIKE = Uneven()


def run_of(
    *makes: float,
    workers: int = 1,
    wait: float = 0.0,
    step: float = 10 * MS,
    core: float = 0.0,
    load: float = 1 * MS,
) -> Watch:
    """A run whose batches take as long as *makes* says, one after the other."""
    seen = Watch(workers, began=0.0, opened=0.005 * workers)
    now = 0.1
    for number, make in enumerate(makes):
        now += make
        batch = WatchedBatch(
            pid=number % max(1, workers),
            samples=4,
            began=now - make,
            done=now,
            wait=wait * make,
            asked=now,
            got=now + load,
            stepped=now + load + step,
            step_core=core * step,
        )
        seen.batches.append(batch)
        now += load + step
    seen.ended = now
    return seen


FLAT = run_of(*[20 * MS] * 8)


@pytest.mark.parametrize("beside", [-0.001, 0.001])
def test_waiting_for_next_to_nothing_is_no_waiting(beside: float) -> None:
    one = run_of(*[20 * MS] * 8, wait=WAITS_ABOVE + beside)
    found = making(one, [], [], 0.0, ALIKE, stream=False)
    waits = (WAITS_ABOVE + beside) * 20 * MS if beside > 0 else 0.0
    assert found.waits == pytest.approx(waits)
    assert found.works == pytest.approx(20 * MS - waits)


def test_a_first_batch_of_a_worker_takes_longer_by_the_median_of_all_workers() -> None:
    one = run_of(70 * MS, *[20 * MS] * 7)
    two = run_of(50 * MS, 40 * MS, *[20 * MS] * 6, workers=2)
    assert making(one, [], [], 0.0, ALIKE, stream=False).first == pytest.approx(50 * MS)
    both = making(one, [two], [], 0.0, ALIKE, stream=False)
    assert both.first == pytest.approx(30 * MS)
    # What an epoch opens is no cost of a worker: here of the first batch, there of each worker's
    opens = making(one, [two], [], 20 * MS, ALIKE, stream=False)
    assert opens.first == pytest.approx(20 * MS)
    stream = making(one, [two], [], 20 * MS, ALIKE, stream=True)
    assert stream.first == pytest.approx(10 * MS)


def test_a_mean_leaves_out_the_first_batch_and_a_hiccup_of_more_than_three_medians() -> (
    None
):
    late = run_of(900 * MS, *[20 * MS] * 6, 300 * MS)
    assert mean_of("make", late) == pytest.approx((6 * 20 + 60) / 7 * MS)
    slower = run_of(900 * MS, *[20 * MS] * 6, 59 * MS)
    assert mean_of("make", slower) == pytest.approx((6 * 20 + 59) / 7 * MS)
    # It comes again
    assert mean_of("make", late, [late]) == pytest.approx((6 * 20 + 300) / 7 * MS)
    assert mean_of("make", run_of(50 * MS)) == pytest.approx(50 * MS)


def test_a_run_over_cheap_batches_has_the_mean_of_an_epoch() -> None:
    cheap = run_of(*[10 * MS] * 5)
    uneven = Uneven([number / 10 for number in range(10)], [0.5] * 5 + [1.5] * 5)
    assert mean_of("make", cheap, (), uneven) == pytest.approx(20 * MS)


def test_what_opens_is_what_comes_again_in_each_epoch() -> None:
    opens = run_of(120 * MS, *[20 * MS] * 5, workers=0)
    hiccup = run_of(520 * MS, *[20 * MS] * 5, workers=0)
    assert opening_of([opens]) == pytest.approx(100 * MS)
    assert opening_of([hiccup, opens]) == pytest.approx(100 * MS)
    assert opening_of([opens, FLAT]) == pytest.approx(0, abs=1e-9)
    # Two batches show nothing; three do
    assert opening_of([run_of(120 * MS, 20 * MS)]) == 0
    assert opening_of([run_of(120 * MS, 20 * MS, 20 * MS)]) == pytest.approx(100 * MS)


def test_a_start_is_what_one_worker_needs() -> None:
    two = run_of(*[20 * MS] * 4, workers=2)
    two.opened = 30 * MS
    started = start_of([FLAT, two])
    assert started.in_loop == pytest.approx((5 + 15) / 2 * MS)
    assert started.until_ready == pytest.approx(95 * MS)


@pytest.mark.parametrize("beside", [-0.01, 0.01])
def test_a_step_that_holds_few_cores_waits_for_an_accelerator(beside: float) -> None:
    assert StepNumbers(10 * MS, COMPUTES + beside, 0.0).computes == (beside > 0)


def test_a_step_is_timed_with_the_cores_that_it_holds() -> None:
    alone = run_of(*[20 * MS] * 6, workers=0, core=1.8, load=25 * MS)
    found = step_numbers([alone], None, may_launch=False)
    assert found.seconds == pytest.approx(10 * MS)
    assert found.cores == pytest.approx(1.8)
    assert found.alone == pytest.approx(25 * MS)
    # Threads that only wait busily for a device hold no core of this model
    assert step_numbers([alone], None, may_launch=True).cores == 1.0
    device = OnDevice(2 * MS, 9 * MS, 3)
    launched = step_numbers([alone], device, may_launch=True)
    assert (launched.seconds, launched.cores) == (2 * MS, 0.0)


def waiting(*ways: float) -> Watch:
    """A run with one worker in which the loop waits for each batch, which is on its way so long."""
    seen = Watch(1)
    for number, way in enumerate(ways):
        done = 0.1 * number
        batch = WatchedBatch(
            1, 4, done - 0.02, done, 0.0, done - 0.01, done + way, done + way
        )
        seen.batches.append(batch)
    return seen


def test_a_batch_is_on_its_way_without_the_first_two() -> None:
    """These come while the loop starts."""
    assert on_its_way(waiting(9.0, 9.0, 0.003, 0.004, 0.005)) == pytest.approx(0.004)
    assert on_its_way(waiting(9.0, 9.0)) == 0


@pytest.mark.parametrize("beside", [-0.0005, 0.0005])
def test_the_loops_own_time_is_that_for_batches_that_lay_ready(beside: float) -> None:
    way = 0.004
    one = waiting(*[way] * 6)
    seen = Watch(2)
    for number in range(6):
        done = 0.1 * number
        asked = done + READY_FOR + way + beside
        seen.batches.append(
            WatchedBatch(1, 4, done - 0.02, done, 0.0, asked, asked + 0.001)
        )
    assert take_of(one, [seen]) == pytest.approx(0.001 if beside > 0 else way)
    seen.batches = seen.batches[:4]  # of so few a median says nothing
    assert take_of(one, [seen]) == pytest.approx(way)


@pytest.mark.parametrize(("grown", "told"), [(0.5, 1.0), (1.5, 1.5), (3.0, 2.0)])
def test_batches_of_twice_the_size_take_once_to_twice_as_long(
    grown: float, told: float
) -> None:
    class Growing(Modelled):
        """A loader whose larger batches take *grown* times as long to make."""

        def go(self, request: RunRequest) -> Watch:
            self.fetch = 20 * MS * (grown / 2 if request.size == 2 else 1)
            self.made.cache_clear()
            return super().go(request)

    job = Growing(20 * MS, 10 * MS, computes=False).job()
    assert job.numbers.growth["make"] == pytest.approx(told)


# ---- batches and steps by all runs ----


def test_a_batch_takes_what_most_runs_say_without_the_first_ones_of_workers() -> None:
    alone = run_of(*[20 * MS] * 6, workers=0)
    # Twice as slow, and its third batch was late; so it was in no other run
    two = run_of(*[90 * MS] * 2, 200 * MS, *[40 * MS] * 5, workers=2)
    third = run_of(70 * MS, *[20 * MS] * 5, workers=1)
    makes = makes_of([alone, two, third], 0.0, 0)
    assert makes[:6] == pytest.approx([20 * MS] * 6)
    # The last two are in one run alone: beside the others' batches, they took a third of them
    assert makes[6:] == pytest.approx([40 / 3 * MS] * 2)


def test_an_opening_is_no_part_of_the_first_batch() -> None:
    opens = run_of(120 * MS, *[20 * MS] * 5, workers=0)
    assert makes_of([opens], 100 * MS, 0) == pytest.approx([20 * MS] * 6)


def test_an_epoch_that_a_run_goes_over_again_has_as_many_batches_as_before() -> None:
    twice = run_of(*[20 * MS, 40 * MS, 20 * MS] * 2, workers=0)
    assert makes_of([twice], 0.0, 3) == pytest.approx([20 * MS, 40 * MS, 20 * MS])
    assert len(makes_of([twice], 0.0, 0)) == 6
    # A batch that was late in one of the two is not late
    late = run_of(*[50 * MS, 40 * MS, 20 * MS], *[20 * MS, 40 * MS, 20 * MS], workers=0)
    assert makes_of([late], 0.0, 3) == pytest.approx([20 * MS, 40 * MS, 20 * MS])


def stepping(*steps: float, workers: int = 0) -> Watch:
    """A run whose steps take as long as *steps* says, with a core as long as they take."""
    seen = run_of(*[1 * MS] * len(steps), workers=workers)
    now = 0.0
    for number, (batch, step) in enumerate(zip(seen.batches, steps, strict=True)):
        seen.batches[number] = batch._replace(got=now, stepped=now + step, step_core=step)
        now += step
    return seen


def test_each_fourth_step_that_works_is_found_in_the_run_that_saw_it_twice() -> None:
    few = stepping(1 * MS, 1 * MS, 1 * MS)
    many = stepping(*[1 * MS, 1 * MS, 1 * MS, 97 * MS] * 3, 1 * MS, workers=2)
    found = unevenness([], [few], [few, many], 0.0)
    assert found.turn == 4
    assert found.steps == pytest.approx([0.04, 0.04, 0.04, 3.88])
    told = step_numbers([few, many], None, may_launch=False, uneven=found)
    assert told.seconds == pytest.approx(25 * MS)  # of whole turns
    assert told.cores == pytest.approx(1.0)
    # A run that has a whole turn is better if it has no workers
    alone = stepping(*[2 * MS, 2 * MS, 2 * MS, 90 * MS] * 2, *[2 * MS] * 3)
    told = step_numbers([alone, many], None, may_launch=False, uneven=found)
    assert told.seconds == pytest.approx(24 * MS)


def test_a_longer_run_that_a_hiccup_disturbed_hides_no_turn() -> None:
    turns = [1 * MS, 1 * MS, 1 * MS, 97 * MS] * 3
    disturbed = stepping(*turns, *[1 * MS, 97 * MS], *turns)
    found = unevenness([], [disturbed], [disturbed, stepping(*turns)], 0.0)
    assert found.turn == 4


def test_the_place_of_a_step_in_its_turn_is_where_the_long_one_is() -> None:
    pattern = [0.0, 0.0, 0.0, 4.0]
    assert phase_of([0.0, 8.0, 0.0, 0.0, 0.0, 8.0], pattern) == 2
    assert phase_of([8.0, 0.0, 0.0, 0.0], pattern) == 3
    assert phase_of([], pattern) == 0


def test_of_a_first_batch_what_computes_is_told_from_what_waits() -> None:
    one = run_of(70 * MS, *[20 * MS] * 7)
    one.batches[0] = one.batches[0]._replace(wait=40 * MS)
    found = making(one, [], [], 0.0, ALIKE, stream=False)
    assert found.first == pytest.approx(50 * MS)
    assert found.first_works == pytest.approx(10 * MS)
    assert found.first_works <= found.first


# ---- what the thresholds mean, in the words of a user ----


@pytest.mark.parametrize(("cores", "computes"), [(0.2, False), (0.5, True), (1.0, True)])
def test_a_step_that_holds_half_a_core_computes_and_one_with_a_fifth_waits(
    cores: float, computes: bool
) -> None:
    alone = run_of(*[20 * MS] * 6, workers=0, core=cores)
    assert step_numbers([alone], None, may_launch=False).computes == computes


@pytest.mark.parametrize(("share", "waits"), [(0.05, 0.0), (0.1, 2 * MS), (0.9, 18 * MS)])
def test_a_tenth_of_a_batch_that_waits_is_known_as_waiting(
    share: float, waits: float
) -> None:
    one = run_of(*[20 * MS] * 8, wait=share)
    found = making(one, [], [], 0.0, ALIKE, stream=False)
    assert found.waits == pytest.approx(waits)


def test_the_first_batches_of_two_workers_count_as_much_as_that_of_one() -> None:
    one = run_of(30 * MS, *[20 * MS] * 7)
    two = run_of(60 * MS, 80 * MS, *[20 * MS] * 6, workers=2)
    found = making(one, [two], [], 0.0, ALIKE, stream=False)
    assert found.first == pytest.approx(40 * MS)  # the median of 10, 40 and 60
