"""Jobs whose batches or steps are not alike, held against what the same thing takes to its end."""

from collections import Counter
from statistics import fmean

import pytest
from support.modelled_jobs import Modelled

from databound.measure.subject import RunRequest
from databound.measure.uneven import (
    Timed,
    Uneven,
    factors,
    spread,
    turn_of,
    whole_turns,
    without_hiccups,
)
from databound.measure.watching import Watch
from databound.thresholds import LEFT_OUT_OF_MODELS, USUAL


def settings(workers: int) -> list[bool]:
    """Whether workers stay."""
    return [False, True] if workers else [False]


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_a_first_batch_that_opens_an_archive_does_so_in_each_epoch(workers: int) -> None:
    """Also where workers stay; and it is no cost of the batches after it."""
    model = Modelled(0.0005, 0.020, wait=0.0395, computes=False, opens=1.0, batches=20)
    job = model.job()
    assert job.numbers.opening == pytest.approx(1.0)
    for stay in settings(workers):
        told = job.forecast(num_workers=workers, persistent_workers=stay)
        assert [*told] == pytest.approx(model.seconds(workers, stay=stay), rel=0.01)


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize("turn", [2, 4, 7])
def test_a_step_that_works_at_every_kth_call_is_not_cut_away(
    workers: int, turn: int
) -> None:
    """As with gradients that are added up; the median step takes next to no time."""

    def of_step(number: int) -> float:
        return 1.0 if number % turn == turn - 1 else 0.0001

    model = Modelled(0.001, 0.080, wait=0.016, computes=False, of_step=of_step, batches=56)
    job = model.job()
    for stay in settings(workers):
        told = job.forecast(num_workers=workers, persistent_workers=stay)
        assert [*told] == pytest.approx(model.seconds(workers, stay=stay), rel=0.02)


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize("batches", [100, 1000])
def test_samples_in_the_order_of_their_length_are_seen_all_over_the_epoch(
    workers: int, batches: int
) -> None:
    def of_batch(number: int) -> float:
        return 1 + 31 * number / batches

    model = Modelled(
        0.0005, 0.010, wait=0.0045, computes=False, of_batch=of_batch, batches=batches
    )
    told = model.job().forecast(num_workers=workers)
    assert [*told] == pytest.approx(model.seconds(workers), rel=0.03)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_a_straggler_now_and_then_belongs_to_an_epoch(workers: int) -> None:
    """A forecast says how far it may be off, where only some batches of an epoch were seen."""

    def of_batch(number: int) -> float:
        return 20.0 if number * 7919 % 50 == 3 else 1.0

    model = Modelled(0.020, 0.010, computes=False, of_batch=of_batch, batches=300)
    job = model.job()
    told = job.forecast(num_workers=workers)
    off = abs(told.later / model.seconds(workers)[1] - 1)
    assert off < 0.12
    assert 0.05 < job.uncertainty(num_workers=workers) < 0.15


def test_an_epoch_that_was_seen_to_its_end_is_foretold_straggler_by_straggler() -> None:
    def of_batch(number: int) -> float:
        return 10.0 if number % 7 == 2 else 1.0

    model = Modelled(0.002, 0.001, computes=False, of_batch=of_batch, batches=60)
    job = model.job()
    for workers in (0, 1, 2, 4):
        told = job.forecast(num_workers=workers)
        assert [*told] == pytest.approx(model.seconds(workers), rel=0.03)
        assert job.uncertainty(num_workers=workers) < 1.1 * LEFT_OUT_OF_MODELS


LATE = spread(80)[40]  # of an epoch of 80; no run but the survey comes so far


class Hiccup(Modelled):
    """A machine that stands still for a second in the first survey."""

    def go(self, request: RunRequest) -> Watch:
        seen = super().go(request)
        if request.seconds == USUAL.survey and self.ran.count(2) == 1:
            late = seen.batches[40]
            seen.batches[40] = late._replace(done=late.done + 1.0)
        return seen


def test_what_only_the_survey_saw_is_looked_at_again() -> None:
    """It tells a straggler, which belongs to an epoch, from a hiccup, which does not."""

    def of_batch(number: int) -> float:
        return 20.0 if number == LATE else 1.0

    straggler = Modelled(0.05, 0.02, computes=False, of_batch=of_batch, batches=80)
    hiccup = Hiccup(0.05, 0.02, computes=False, batches=80)
    for model in (straggler, hiccup):
        told = model.job().forecast(num_workers=0)
        assert [*told] == pytest.approx(model.seconds(0), rel=0.03)
        surveys = model.ran[3:5]  # after a warm run, one without workers and one with one
        assert surveys == [2, 2]
    even = Modelled(0.05, 0.02, computes=False, batches=80)
    even.job()
    assert even.ran[3:5] == [2, 1]


# ---- the parts ----


@pytest.mark.parametrize("count", [1, 2, 7, 100, 999])
def test_each_beginning_of_a_run_is_all_over_an_epoch(count: int) -> None:
    order = spread(count)
    assert sorted(order) == [*range(count)]
    assert order[0] == 0
    for seen in range(10, count, 37):
        tenths = Counter(place * 10 // count for place in order[:seen])
        assert all(abs(tenths[tenth] - seen / 10) <= 2 for tenth in range(10))


def timed(*seconds: float) -> list[Timed]:
    return [Timed(each, 1) for each in seconds]


def test_what_comes_again_is_no_hiccup() -> None:
    once = timed(1, 1, 1, 30, 1, 1, 1, 1)
    assert without_hiccups(once) == [1, 1, 1, 3, 1, 1, 1, 1]
    # The same batch in another run
    assert without_hiccups(once, [once]) == [1, 1, 1, 30, 1, 1, 1, 1]
    assert without_hiccups(once, [timed(2, 2, 2, 2, 60)]) == [1, 1, 1, 3, 1, 1, 1, 1]
    # Another run that did not come so far tells nothing
    assert without_hiccups(once, [timed(1, 1)]) == [1, 1, 1, 3, 1, 1, 1, 1]
    twice = timed(1, 1, 1, 30, 1, 30, 1, 1)
    assert without_hiccups(twice) == [1, 1, 1, 30, 1, 30, 1, 1]
    # Larger batches take longer
    assert without_hiccups([Timed(1, 1), Timed(1, 1), Timed(8, 8)]) == [1, 1, 8]


def test_steps_are_counted_in_whole_turns() -> None:
    steps = [0.0, 0.0, 0.0, 4.0] * 3 + [0.0]
    assert turn_of(steps) == 4
    assert fmean(whole_turns(steps)) == 1.0
    assert turn_of([1.0, 1.0, 9.0, 1.0, 1.0, 1.0, 9.0, 1.0, 9.0]) == 1
    assert turn_of([1.0] * 9) == 1


def test_batches_that_are_nearly_alike_are_alike() -> None:
    assert factors([1.0, 1.05, 0.95, 1.02]) == []
    assert factors([1.0, 3.0]) == [0.5, 1.5]
    assert factors([0.0, 0.0]) == []


def test_a_batch_that_was_not_seen_is_like_one_near_to_it() -> None:
    """And none stands for many in a row."""
    seen = [8.0 if number == 12 else 1.0 for number in range(24)]
    uneven = Uneven([number / 24 for number in range(24)], seen)
    told = uneven.of_epoch(240)
    assert fmean(told) == pytest.approx(1.0)
    late = [number for number, factor in enumerate(told) if factor > 2]
    assert 6 <= len(late) <= 14
    assert all(abs(number - 120) <= 100 for number in late)
    assert late != [*range(late[0], late[-1] + 1)]
    assert uneven.of_epoch(24) == pytest.approx([factor / fmean(seen) for factor in seen])


def test_a_mean_of_few_batches_is_less_certain_the_more_they_differ() -> None:
    places = [number / 100 for number in range(100)]
    rising = Uneven(places, [number / 50 for number in range(100)])
    jumping = Uneven(places, [0.0, 2.0] * 50)
    assert rising.sampling_error(10_000) < 0.005
    # Of a hundred, the standard error is 0.14; within 1.66 of these are nine of ten
    assert jumping.sampling_error(10_000) == pytest.approx(1.66 * 0.14, abs=0.01)
    few = Uneven(few=[0.5, 1.0, 1.5])
    assert few.sampling_error(10_000) == pytest.approx(2.92 * 0.5 / 3**0.5, rel=0.01)
    assert few.sampling_error(3) == 0
    assert jumping.sampling_error(200) < jumping.sampling_error(10_000)
    assert jumping.sampling_error(100) == 0
    assert Uneven().sampling_error(100) == 0
