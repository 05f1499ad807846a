"""Random jobs on a virtual machine: what holds on every page, and jobs on which it once did not."""

from dataclasses import replace
from functools import cache
from statistics import fmean, median

import pytest
from support.modelled_jobs import Modelled

from databound.advise.advice import recommended
from databound.advise.rows import forecast_row
from databound.advise.trials import Trials, with_a_longer_queue
from databound.measure.setting import Setting
from databound.measure.subject import RunRequest
from databound.measure.watching import Watch
from databound.model.measuring import measure_subject, tell_nobody
from databound.thresholds import USUAL
from evidence.jobs.pages import contradictions
from evidence.jobs.population import Judged, Truth, judge, table
from evidence.jobs.random_jobs import random_job
from evidence.jobs.virtual_jobs import Costs, Load, VirtualJob
from evidence.jobs.virtual_machine import Process, Sleep, Use, VirtualMachine

SEEDS = range(500, 530)


@cache
def judged(seed: int) -> Judged:
    return judge(random_job(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_number_on_a_page_contradicts_another(seed: int) -> None:
    assert list(contradictions(judged(seed).page)) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_change_is_no_worse_than_its_page_says(seed: int) -> None:
    """A confirmed one saves what it is said to save, as far as its range and a tenth beside it go."""
    found = judged(seed)
    truth = Truth(found.job)
    now = truth.of(found.job.now)
    for change in found.page.changes:
        if "confirmed" not in change.sure or "not confirmed" in change.sure:
            continue
        really = 1 - truth.of(found.page.job.setting(**change.settings)) / now
        assert really > change.saves - change.within - 0.10


def test_most_pages_are_right() -> None:
    """As far as thirty jobs show; `python -m evidence.jobs.population` has the whole table."""
    all_judged = [judged(seed) for seed in SEEDS]
    gain = [one for one in all_judged if one.can_gain]
    nothing = [one for one in all_judged if not one.can_gain]
    assert len(gain) > 12
    assert fmean(one.is_right for one in gain) >= LEAST_RIGHT
    assert fmean(one.is_right for one in nothing) >= LEAST_RIGHT
    errors = [abs(error) for one in all_judged for error in one.errors]
    assert median(errors) < 0.03
    rows = list(table(all_judged))
    assert rows[2].split()[:2] == ["all", str(len(SEEDS))]


LEAST_RIGHT = 0.7


# ---- jobs that once went wrong ----


def off_by(job: VirtualJob, setting: Setting) -> float:
    """By how much the forecast of a setting is off, when the job has been measured."""
    measured = measure_subject(job, job.cores)
    told = measured.forecast(**setting.differences(measured.now)).later
    return abs(told / job.seconds(setting, 0.0)[1] - 1)


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_slow_steps_that_work_at_each_eighth_call_are_seen_beside_workers(
    workers: int,
) -> None:
    """The run without workers had seen three of them; a saving of 42 % was confirmed that was none."""
    little = [0.3] * 7
    job = VirtualJob(
        Costs(works=0.6, step=1.5),
        Setting(num_workers=4),
        batches=80,
        cores=4,
        of_step=[*little, 8 - sum(little)],
    )
    assert off_by(job, Setting(workers)) < 0.06


@pytest.mark.parametrize("stay", [False, True])
def test_first_samples_that_compute_take_longer_beside_each_other(stay: bool) -> None:
    """Eight workers on four cores, each with three batches of an epoch."""
    job = VirtualJob(
        Costs(works=0.0, waits=0.3, first=2.7, step=0.03),
        Setting(num_workers=8),
        batches=24,
        cores=4,
    )
    assert off_by(job, Setting(8, persistent_workers=stay)) < 0.08


def test_a_short_epoch_is_gone_over_again_until_a_storage_is_at_its_limit() -> None:
    """In one epoch of 28 batches eight workers only start; that more than four help was not true."""
    job = VirtualJob(
        Costs(works=0.02, reads=0.21, readers=4, first=1.2, step=0.035),
        Setting(),
        batches=28,
        cores=4,
    )
    found = judge(job)
    assert found.behind <= 1.05
    assert found.page.changes[0].settings["num_workers"] == 4


def test_what_takes_too_long_to_try_is_advised_by_its_forecast() -> None:
    job = VirtualJob(
        Costs(works=14.0, step=23.0, in_loop=0.7), Setting(), batches=11, cores=2
    )
    found = judge(job)
    (change, *_) = found.page.changes
    assert change.sure == "predicted, not tried"
    assert found.behind <= 1.05


def test_workers_beyond_those_that_were_run_share_a_storage_at_its_limit() -> None:
    """Without that, sixteen of them were said to take a quarter of the time of four."""
    job = VirtualJob(Costs(works=0.001, reads=0.06, readers=1.5), Setting(), 300, cores=4)
    measured = measure_subject(job, job.cores)
    four, sixteen = (measured.forecast(num_workers=workers).later for workers in (4, 16))
    assert four <= sixteen < 1.1 * four
    really = [job.seconds(Setting(workers), 0.0)[1] for workers in (4, 16)]
    assert really[0] == pytest.approx(really[1], rel=0.02)


def test_savings_hold_beside_programs_that_come_and_go() -> None:
    """A single range may fail, so what counts is how many of them hold."""
    found = [beside_load(seed) for seed in range(20)]
    assert [one.contradictions for one in found] == [[]] * 20
    first = [one.page.changes[0] for one in found]
    assert {change.sure for change in first} == {"confirmed by a real run"}
    held = [
        abs(one.advised - change.saves) <= change.within
        for one, change in zip(found, first, strict=True)
    ]
    assert sum(held) >= 14


def beside_load(seed: int) -> Judged:
    """Judge a page on a job beside a load of other programs, which a *seed* draws."""
    load = Load(cores=2, on=0.7, off=1.1, seed=seed)
    costs = Costs(works=0.02, step=0.01)
    return judge(VirtualJob(costs, Setting(), batches=200, cores=2, load=load))


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_workers_that_stay_begin_each_short_epoch_together(workers: int) -> None:
    """They all ask a storage at once that serves one. In a run that never pauses they do not: 25 % off."""
    job = VirtualJob(
        Costs(works=0.005, reads=0.049, readers=1, step=0.052), Setting(), 14, cores=16
    )
    assert off_by(job, Setting(workers, persistent_workers=True)) < 0.10


@pytest.mark.parametrize("stop", [0.002, 0.040])
def test_an_epoch_of_milliseconds_has_the_end_of_its_workers_in_it(stop: float) -> None:
    """It was a constant of ours: 38 % of an epoch of five batches."""
    job = VirtualJob(Costs(works=0.0002, step=0.0003, stop=stop), Setting(), 5, cores=4)
    assert off_by(job, Setting(1)) < 0.03


def test_a_long_training_is_measured_for_longer() -> None:
    """Batches of eight seconds: in a minute nobody ran a worker, and nothing was advised."""
    job = VirtualJob(
        Costs(works=0.0, waits=7.9, step=6.5), Setting(1, 8, True), 125, cores=2
    )
    found = judge(job)
    (change, *_) = found.page.changes
    assert change.tried
    assert found.behind <= 1.05
    assert found.page.job.numbers.not_measured == [
        4
    ]  # two workers are enough for such a step


def test_that_workers_stay_is_seen_in_the_runs_of_the_job_as_it_is() -> None:
    """Beside programs that come and go two runs differ by more than the start of workers."""
    job = VirtualJob(
        Costs(works=0.005, step=0.001, ready=0.020),
        Setting(2, 4),
        batches=30,
        cores=1,
        load=Load(cores=0.5, on=0.15, off=0.5, seed=3),
        noise=0.03,
    )
    found = judge(job)
    stays = [
        one for one in found.page.changes if one.settings == {"persistent_workers": True}
    ]
    assert len(stays) == 1
    assert stays[0].within < 0.03
    assert abs(stays[0].saves - found.advised) < 0.03


def test_a_longer_queue_is_tried_with_the_best_setting() -> None:
    """It hides how long a batch is on its way, of which the model knows nothing."""
    job = VirtualJob(
        Costs(works=0.0, waits=0.0003, way=0.0004, take=0.0001, step=0.00002),
        Setting(1, 1, True),
        batches=199,
        cores=2,
    )
    found = judge(job)
    assert found.behind <= 1.05
    tried = [row.changes for row in found.page.table if row.tried is not None]
    assert {"num_workers": 4, "prefetch_factor": 4} in tried


def test_a_longer_queue_that_the_job_has_already_is_no_rival_of_it() -> None:
    """A shorter queue was best by chance, and with a longer one it was the job as it is."""
    job = Modelled(0.020, 0.010, computes=False).job()
    job = replace(job, now=replace(job.now, num_workers=2, prefetch_factor=4))
    table = [forecast_row(job, {}), forecast_row(job, {"prefetch_factor": 2})]
    trials = Trials(now=[1.0, 1.0], took={1: [0.97]})
    assert with_a_longer_queue(job, table, trials) is None


def test_a_few_batches_say_how_little_they_say() -> None:
    """Of 31 that are sorted by length three or four are seen: 15 % off, and 9 % were said to be the range."""
    factors = [1 + number for number in range(31)]
    mean = fmean(factors)
    job = VirtualJob(
        Costs(works=30.0, step=0.5),
        Setting(),
        batches=31,
        cores=2,
        of_batch=[factor / mean for factor in factors],
    )
    measured = measure_subject(job, job.cores)
    told = measured.forecast().later
    assert abs(told / job.seconds(Setting(), 0.0)[1] - 1) < measured.uncertainty()


def test_forecasts_know_what_trials_came_to() -> None:
    """More workers wait for a storage than runs for measuring had; the trial of them shows it."""
    job = VirtualJob(Costs(works=0.001, reads=0.06, readers=6), Setting(), 300, cores=1)
    found = judge(job)
    (row,) = [row for row in found.page.table if row.changes == {"num_workers": 8}]
    assert row.tried is not None
    really = Truth(job).of(Setting(8))
    assert row.mean == pytest.approx(really, rel=0.03)


def test_only_what_is_beside_a_load_is_called_so() -> None:
    """Half of the jobs run beside other programs, which want cores for a part of the time."""
    jobs = [random_job(seed) for seed in range(2_000)]
    beside = [job for job in jobs if "beside a load" in job.kinds]
    assert 900 < len(beside) < 1_100
    assert all(job.load.cores for job in beside)
    assert not any(job.load.cores for job in jobs if "quiet" in job.kinds)
    shares = [job.others_until(200.0) for job in beside]
    assert 0.2 < median(shares) < 0.7


# ---- the machine, held against what is simple and against the engine ----


def run_all(machine: VirtualMachine, *uses: Use) -> list[float]:
    """When each use has ended, if all begin at once."""
    ends = [0.0] * len(uses)

    def user(number: int) -> Process:
        yield uses[number]
        ends[number] = machine.now

    def main() -> Process:
        for number in range(len(uses)):
            machine.wake(user(number))
        yield Sleep(100)

    machine.run(main())
    return ends


def test_who_computes_shares_the_cores_in_equal_slices() -> None:
    machine = VirtualMachine(cores=1, readers=9)
    assert run_all(machine, Use(machine.cores, 1), Use(machine.cores, 2)) == [2, 3]
    machine = VirtualMachine(cores=2, readers=9)
    assert run_all(machine, Use(machine.cores, 1), Use(machine.cores, 2)) == [1, 2]
    # A step with two threads wants two of the two cores
    machine = VirtualMachine(cores=2, readers=9)
    ends = run_all(machine, Use(machine.cores, 1), Use(machine.cores, 1, parts=2))
    assert ends == pytest.approx([1.5, 1.5])


def test_other_programs_take_their_slices_while_they_are_there() -> None:
    machine = VirtualMachine(cores=1, readers=9, load=[(0, 0), (1, 1), (3, 0)])
    # One second alone, two beside the other one, and what is left alone
    assert run_all(machine, Use(machine.cores, 3)) == pytest.approx([4])


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_the_engine_says_the_same_of_an_even_job(workers: int) -> None:
    """Two programs that know nothing of each other."""
    costs = Costs(
        works=0.005, waits=0.02, step=0.01, way=0.0, take=0.0, start=0.004, ready=0.006
    )
    job = VirtualJob(costs, Setting(), batches=60, cores=2)
    model = Modelled(0.005, 0.01, wait=0.02, computes=False)
    first, later = model.seconds(workers)
    told = job.seconds(Setting(workers), 0.0)
    assert [*told] == pytest.approx([first, later], rel=0.02)


def test_between_two_numbers_of_workers_that_ran_a_forecast_knows_less() -> None:
    """Eight workers were no faster than two, and four were said to be, within 6 %."""
    job = Modelled(0.020, 0.010, computes=False).job()
    (step,) = job.numbers.threads.values()
    step.unexplained = {0: 1.0, 1: 1.0, 2: 1.0, 8: 4.0}
    step.missed = dict.fromkeys(step.unexplained, 0.0)
    of_four = 1.0 + (4.0 - 1.0) * (4 - 2) / (8 - 2)
    assert job.not_run(job.setting(num_workers=4)) == pytest.approx(
        (4.0 - 1.0) / 2 / of_four
    )
    assert job.uncertainty(num_workers=4) > (4.0 - 1.0) / 2 / of_four
    for ran_or_beyond in (0, 1, 2, 8, 16):
        assert job.not_run(job.setting(num_workers=ran_or_beyond)) == 0
    # Of a worker a loop without says nothing, and so it cannot differ from it
    step.unexplained = {0: 1.0, 2: 1.5}
    assert job.not_run(job.setting(num_workers=1)) == 0


def test_a_stream_that_workers_share_out_may_have_more_of_them_than_were_counted() -> None:
    """Eight of them loaded it three times as fast, and only one and two were compared."""
    job = VirtualJob(
        Costs(works=0.0, waits=0.02, step=0.0002), Setting(2), 40, cores=1, stream=True
    )
    found = judge(job)
    assert 1 < max(found.page.job.numbers.totals) < 8
    assert found.page.changes[0].settings["num_workers"] == 8
    assert found.behind <= 1.05
    alone = VirtualJob(
        Costs(works=0.0, waits=0.02, step=0.0002), Setting(2), 4000, cores=1, stream=True
    )
    # Of one that did not end nobody knows
    rows = judge(alone).page.table
    assert {row.changes.get("num_workers", 2) for row in rows} == {0, 1, 2}


def test_no_more_workers_than_an_epoch_has_batches_are_compared() -> None:
    """The others would have nothing to do: 128 of them were tried on 75 batches, for six minutes."""
    job = VirtualJob(
        Costs(works=0.0, waits=0.3, step=0.001), Setting(), batches=11, cores=8
    )
    found = judge(job)
    tried = {row.changes.get("num_workers", 0) for row in found.page.table}
    assert max(tried) == 11
    assert found.page.changes[0].settings["num_workers"] == 11


@pytest.mark.parametrize("stream", [False, True])
def test_what_opens_an_archive_counts_in_the_time_that_a_run_takes(stream: bool) -> None:
    """Opening it took long, and each of a dozen runs opened it: nobody had said so."""
    costs = Costs(works=0.05, step=0.03, opens=16.0)
    job = VirtualJob(costs, Setting(), batches=300, cores=2, stream=stream)
    told: list[str] = []
    measured = measure_subject(job, job.cores, tell=told.append)
    # The first three runs tell how long it takes; no other one ends within a minute
    assert measured.numbers.not_measured == [1, 2, 4]
    assert job.time < 3 * 17


class Later(VirtualJob):
    """A job whose trials with workers take forty times as long as anybody could know."""

    longest = 0.0  # s; of a trial

    def go(self, request: RunRequest) -> Watch:
        began = self.time
        seen = super().go(request)
        if request.seconds == USUAL.trial and request.workers:
            self.time += 39 * (self.time - began)
            self.longest = max(self.longest, self.time - began)
        return seen


def test_a_rival_that_took_longer_than_it_should_is_not_tried_again() -> None:
    """There would be no time for a second round of it."""
    job = Later(Costs(works=0.0, waits=0.9, step=0.1), Setting(), batches=2000, cores=2)
    measured = measure_subject(job, job.cores)
    began = job.time
    recommended(measured, tell=tell_nobody)
    limit = USUAL.for_training(1e9).trials
    assert job.longest > limit / 2
    assert job.time - began < limit
