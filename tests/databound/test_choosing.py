"""What is tried and what is believed: slow batches, busy machines, and trials that promise too much."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.modelled_jobs import Modelled

from databound import recommend
from databound.advise.advice import recommended, seen_inside
from databound.advise.choosing import (
    Bounds,
    by_trials,
    choose,
    combinations,
    rank,
    with_trials,
)
from databound.advise.page import alters_of, described, needs_of, plus_or_minus
from databound.advise.rows import TableRow, forecast_row
from databound.advise.trials import Trials, seconds_with_start, trial_of, try_best
from databound.measure.runs import LoaderAndStep
from databound.measure.setting import Setting
from databound.measure.subject import RunRequest
from databound.measure.watching import Watch
from databound.model.comparing import Expected
from databound.model.job import Seen, least_batches
from databound.model.measuring import Runs, measure_subject, note_nothing, tell_nobody
from databound.ranges import Scatter
from databound.thresholds import (
    LEFT_OUT_OF_MODELS,
    MOST_UNASKED,
    ROUNDS,
    TRIED,
    USUAL,
    Durations,
    lasting,
)
from evidence.jobs.virtual_jobs import Costs, VirtualJob

SLOW = Modelled(0.30, 0.010, computes=False, batches=160)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_runs_of_slow_batches_go_on_until_they_can_be_compared(workers: int) -> None:
    """Six batches of each worker: three until buffers are full, and three that count."""
    job = SLOW.job()
    step = job.numbers.threads[1]
    assert step.unexplained[workers] == pytest.approx(1.0, abs=0.001)
    told = job.forecast(num_workers=workers)
    assert [*told] == pytest.approx(SLOW.seconds(workers), rel=0.02)


def test_measuring_ends_in_time_and_says_what_was_left_out() -> None:
    """A minute, or a twentieth of a training of ten epochs; five minutes at most."""
    short = Modelled(2.5, 0.010, computes=False, batches=20)
    told: list[str] = []
    job = measure_subject(short, 2, tell=told.append)
    assert job.numbers.not_measured == [2, 4]
    assert short.time < 60
    assert "measuring the loader and the step: about 60 s" in told[0]
    page = str(recommend(replace(job, subject=None)))
    assert "Not measured, because batches take long: num_workers=2, 4." in page
    long = Modelled(2.5, 0.010, computes=False, batches=160)
    job = measure_subject(long, 2, tell=told.append)
    assert job.numbers.not_measured == []
    assert 60 < long.time < 200
    most = Durations().for_training(1e9)
    assert (most.most, most.trials) == (MOST_UNASKED, ROUNDS * MOST_UNASKED)
    assert Durations().for_training(60) == Durations()


@pytest.mark.parametrize("minutes", [1.0, 20.0])
def test_who_asks_for_minutes_gets_them(minutes: float) -> None:
    """Half to measure and half to try settings, however long a training is."""
    asked = lasting(minutes)
    assert asked is not None
    assert asked.most + asked.trials == 60 * minutes
    assert asked.for_training(1e9) == asked
    model = Modelled(2.5, 0.010, computes=False, batches=2000)
    job = measure_subject(model, 2, asked)
    assert model.time < 30 * minutes
    assert (job.numbers.not_measured == []) == (minutes > 1)
    recommended(job, tell_nobody, durations=asked)
    assert model.time < 60 * minutes


def test_more_minutes_are_spent_where_batches_are_short_too() -> None:
    """Runs beside workers are repeated until a quarter of the minutes is over."""
    spent = list[float]()
    for minutes in (None, 4.0):
        model = Modelled(0.02, 0.010, computes=False)
        measure_subject(model, 2, lasting(minutes))
        spent.append(model.time)
    assert spent[0] == pytest.approx(USUAL.again, rel=0.25)
    assert spent[1] == pytest.approx(60 * 4.0 / 4, rel=0.10)


def test_minutes_count_for_a_job_that_was_measured_before() -> None:
    """They were forgotten, and its settings were tried for as long as usual."""
    model = Modelled(2.5, 0.010, computes=False, batches=160)
    job = model.job()
    began = model.time
    recommend(job, minutes=0.5)
    assert model.time - began < 30


def test_minutes_that_are_too_few_are_told_with_what_the_first_runs_took() -> None:
    """And nobody is told that trials are made, if none is."""
    asked = lasting(0.1)
    model = Modelled(2.5, 0.010, computes=False, batches=2000)
    told = list[tuple[str, float]]()

    def tell(sentence: str) -> None:
        told.append((sentence, model.time))

    job = measure_subject(model, 2, asked, tell)
    ((sentence, spent),) = told
    assert spent > 6
    assert f"about {math.ceil(spent)} s in all" in sentence
    recommended(job, tell, durations=asked)
    (no_trials, _) = told[1]
    assert no_trials.startswith("there is no time to try a setting")


@pytest.mark.parametrize(("minutes", "looks"), [(None, True), (1.0, True), (0.1, False)])
def test_nobody_looks_inside_a_loader_for_longer_than_the_minutes_allow(
    minutes: float | None, looks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = object()
    monkeypatch.setattr("databound.advise.advice.look_inside", lambda _: seen)
    job = Modelled(2.5, 0.010, computes=False).job()
    job.subject = object.__new__(LoaderAndStep)
    told = list[str]()
    found = seen_inside(job, told.append, lasting(minutes) or USUAL)
    assert (found is seen) == looks == bool(told)


def test_minutes_that_are_none_are_refused() -> None:
    assert lasting(None) is None
    with pytest.raises(
        ValueError, match="minutes=0: must be a number of minutes, more than 0"
    ):
        lasting(0)
    with pytest.raises(TypeError, match="minutes='ten'"):
        lasting("ten")  # type: ignore[arg-type]


def test_a_trial_that_would_take_too_long_is_not_made() -> None:
    job = SLOW.job()
    table = [forecast_row(job, {}), *rank(job, rows_of(job))]
    before = len(SLOW.ran)
    # Seven batches without workers take 2.2 s, three times; workers need as many to be compared
    trials = try_best(job, SLOW, table, Durations(trials=8.0))
    assert trials.took == {}
    assert len(trials.too_long) == len(trials.not_run) == TRIED
    assert SLOW.ran[before:] == [0, 0]
    # What was not tried is advised by its forecast
    choice = choose(job, table, trials, Bounds(any=0.99, cores=0.99), error=0.0)
    assert [table.index(one.row) for one in choice.worth] != []
    assert all("not tried" in described(job, one).sure for one in choice.worth)
    # Where the job as it is takes too long, nothing is run
    trials = try_best(job, SLOW, table, Durations(trials=1.0))
    assert trials.now == []
    assert len(SLOW.ran) == before + 2


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batches", [7, 160])
@pytest.mark.parametrize("opens", [0.0, 5.0])
def test_a_run_lasts_about_as_long_as_was_expected(
    opens: float, batches: int, workers: int
) -> None:
    """Who forgot that each run, and each pass over a short epoch, opens an archive waited for minutes."""
    costs = Costs(works=0.3, step=0.01, opens=opens)
    subject = VirtualJob(costs, Setting(), batches=batches, cores=2)
    runs = Runs(subject, 2, USUAL, tell_nobody, note_nothing)
    runs.make()
    least = least_batches(workers)

    def seconds(run: Callable[[], object]) -> float:
        began = subject.clock()
        run()
        return subject.clock() - began

    took = seconds(lambda: subject.go(RunRequest(workers, 0.0, least=least, step=True)))
    assert runs.seconds_of_run(workers) == pytest.approx(took, rel=0.15)

    job = measure_subject(subject, 2)
    row = forecast_row(job, {"num_workers": workers})
    took = seconds(lambda: trial_of(job, subject, row, USUAL, Expected(job)))
    assert seconds_with_start(job, row, USUAL) == pytest.approx(took, rel=0.15)


def test_no_more_workers_are_run_than_an_epoch_has_batches() -> None:
    model = Modelled(0.30, 0.010, computes=False, batches=3, cores=16)
    model.job()
    assert {1, 2, 3} <= {*model.ran} <= {0, 1, 2, 3}


@pytest.mark.parametrize("seconds", [*range(6, 40, 2)])
def test_trials_end_in_the_time_that_they_have(seconds: float) -> None:
    """Also where the best of them could run with a longer queue besides."""
    model = Modelled(0.30, 0.010, computes=False, batches=160)
    job = model.job()
    table = [forecast_row(job, {}), *rank(job, rows_of(job))]
    began = model.time
    try_best(job, model, table, Durations(trials=seconds, more_trials=0.0))
    assert model.time - began <= seconds


def rows_of(job: Any) -> list[TableRow]:
    return [forecast_row(job, changes) for changes in combinations(job)]


def test_rivals_are_tried_in_rounds_beside_the_job_as_it_is() -> None:
    """So a machine that becomes slower in between makes all of them slower."""
    model = Modelled(0.020, 0.010, computes=False)
    job = model.job()
    table = [forecast_row(job, {}), *rank(job, rows_of(job))]
    before = len(model.ran)
    left = list[float]()
    trials = try_best(job, model, table, note=lambda _, __, seconds: left.append(seconds))
    ran = model.ran[before:]
    assert left[-1] == 0
    assert min(left[:-1]) > 0
    rivals = ran[1 : 1 + TRIED]
    # The best of them has a longer queue as well from the second round on, in as many rounds
    (deeper, *_) = [one for one in ran[2 * TRIED + 2 :] if one]
    again = [*rivals, deeper, 0]
    assert deeper in rivals
    assert ran == [0, *rivals, 0, *again, *again]
    assert len(trials.now) == ROUNDS + 2
    assert [len(took) for took in trials.took.values()] == [ROUNDS + 1] * TRIED + [ROUNDS]


class Restless(Modelled):
    """A machine on which all runs of each other round take twice as long."""

    def go(self, request: RunRequest) -> Watch:
        seen = super().go(request)
        slower = 1 + len(self.ran) // 4 % 2
        seen.batches = [
            batch._replace(got=slower * batch.got, stepped=slower * batch.stepped)
            for batch in seen.batches
        ]
        self.time += (slower - 1) * seen.ended
        return seen


@pytest.mark.parametrize("most", [15.0, 60.0])
def test_a_job_that_differs_from_itself_is_tried_in_more_rounds(most: float) -> None:
    """As long as there is time for one more; there are two in any case."""
    model = Restless(0.020, 0.010, computes=False)
    job = Modelled(0.020, 0.010, computes=False).job()
    table = [forecast_row(job, {}), *rank(job, rows_of(job))]
    ends = list[float]()  # by what is told of the time that is left

    def note(_: str, __: float, left: float) -> None:
        ends.append(model.time + left)

    trials = try_best(job, model, table, Durations(more_trials=most), note)
    rounds = len(trials.now) - 1
    fewest = (TRIED + 1) + 1 + ROUNDS * (TRIED + 2)  # runs, with a longer queue
    assert (len(ends) > fewest) == (most > 15)
    assert set(ends[fewest:]) <= {most}
    assert max(ends[TRIED + 2 :]) <= max(most, model.time)
    assert rounds >= ROUNDS
    assert model.time < most
    assert model.time + model.time / rounds > most
    took = [len(each) for each in trials.took.values()]
    assert took == [rounds] * TRIED + [rounds - 1]  # a longer queue joins after the first


BOUNDS = Bounds(any=0.5, cores=0.4)
NOW = TableRow({}, 1.0, 1.0, 0.0, tried=1.0)
RIVAL = TableRow({"num_workers": 2}, 0.7, 0.7, 0.0, tried=0.7)


def trials_of(*took: float) -> Trials:
    return Trials(now=[1.0] * (len(took) + 1), took={1: [*took]})


@pytest.mark.parametrize(
    ("took", "saves", "believed"),
    [
        (0.7, 0.3, True),
        (0.59, 0.4, True),  # as near to the bound as settings are to each other
        (0.3, 0.4, False),
        (0.1, 0.4, False),
    ],
)
def test_nothing_is_confirmed_that_a_bound_excludes(
    took: float, saves: float, believed: bool
) -> None:
    (found,) = by_trials([NOW, RIVAL], trials_of(took, took), BOUNDS)
    assert found.saves == pytest.approx(saves)
    assert found.believed == believed
    job = Modelled(0.020, 0.010, computes=False).job()
    told = str(described(job, found))
    assert ("confirmed by a real run" in told) == believed
    assert ("tried, and not confirmed" in told) != believed


@pytest.mark.parametrize("within", [0.29, 0.31])
def test_nothing_is_confirmed_whose_range_has_no_saving_in_it_too(within: float) -> None:
    """A saving of 28 ± 94 % was confirmed, and the epoch took 59 % longer."""
    (found,) = by_trials([NOW, RIVAL], trials_of(0.7, 0.7), BOUNDS)
    job = Modelled(0.020, 0.010, computes=False).job()
    change = described(job, found._replace(within=within))
    assert change.saves == pytest.approx(0.3)
    assert ("confirmed by a real run" in change.sure) == (within < 0.3)
    assert ("leaves open whether it saves" in change.sure) == (within > 0.3)


def test_a_saving_has_the_range_in_which_rounds_differed() -> None:
    trials = trials_of(0.65, 0.75)
    scatter = trials.scatter()
    (found,) = by_trials([NOW, RIVAL], trials, BOUNDS, scatter)
    assert found.saves == pytest.approx(0.3)
    # Of two runs beside three, and of what no model has
    runs = scatter.range(1) * math.sqrt(1 / 2 + 1 / 3)
    assert found.within == pytest.approx(0.7 * math.hypot(runs, LEFT_OUT_OF_MODELS))
    assert by_trials([NOW, RIVAL], trials, BOUNDS, Scatter(0.3, 1)) == []


def test_one_busy_moment_changes_no_saving() -> None:
    """The median round counts, and the table has the seconds that fit to it."""
    trials = Trials(now=[1.0, 1.0, 1.0, 1.0], took={1: [0.7, 1.9, 0.7]})
    assert trials.saved(1) == pytest.approx(0.3)
    assert with_trials([NOW, RIVAL], trials)[1].tried == pytest.approx(0.7)


def test_a_job_that_differs_from_itself_in_the_rounds_is_less_certain() -> None:
    job = Modelled(0.020, 0.010, computes=False).job()
    # Its mean of 4/3 has a standard error of 1/3
    trials = Trials(now=[1.0, 2.0, 1.0], took={1: [0.72 * 1.5, 0.72 * 1.5]})
    assert trials.saves(1) == pytest.approx([0.28, 0.28])
    job.numbers.scatter = trials.scatter()
    choice = choose(job, [NOW, RIVAL], trials, BOUNDS, error=0.7)
    assert choice.error == pytest.approx((0.7 + 0.5) / 2)
    assert choice.worth == []
    assert choice.alike == 0


# ---- what a page says against its own numbers ----


@pytest.fixture
def page(capsys: pytest.CaptureFixture[str]) -> Any:
    """A function that gives the page of a job, and no text on the way there."""

    def of(job: Any) -> str:
        found = str(recommended(job))
        capsys.readouterr()
        return found

    return of


@pytest.mark.parametrize(("others", "named"), [(0.1, False), (1.3, True)])
def test_a_busy_machine_is_told_from_an_uneven_job(
    page: Any, others: float, named: bool
) -> None:
    model = Modelled(0.020, 0.010, computes=False)
    model.others = others
    job = model.job()
    assert job.numbers.others == others
    said = "Other programs used 1.3 of 2 cores meanwhile"
    assert (said in page(job)) == named
    job.numbers.noise = 0.9
    assert page(job).startswith("Cannot tell")
    assert ("other programs used 1.3 of the cores" in page(job)) == named


def test_what_was_seen_stands_beside_what_is_forecast(page: Any) -> None:
    job = Modelled(0.020, 0.010, computes=False).job()
    assert job.seen
    assert [*job.seen] == pytest.approx([34, 1.01, 1.01])
    agreed = page(job)
    assert "34 batches were seen to take 1,010 ms, and 1,010 ms by the forecast." in agreed
    assert "What was seen and the forecast" not in agreed
    job.seen = Seen(34, 1.01, 4.4)
    assert "What was seen and the forecast of it differ by more" in page(job)


def test_runs_that_cannot_tell_offer_no_table_of_savings(page: Any) -> None:
    job = Modelled(0.020, 0.010, computes=False).job()
    job.numbers.noise = 0.9
    found = recommended(job)
    assert found.verdict == "cannot tell"
    assert found.rows() == []
    assert "saves" not in str(found)
    assert "buffer" not in str(found)


def test_memory_is_that_of_the_processes_and_of_batches_as_far_as_it_is_known() -> None:
    job = Modelled(0.020, 0.010, computes=False).job()
    setting = Setting(num_workers=4)
    row = TableRow({"num_workers": 4}, 1.0, 1.0, 0.0)
    assert needs_of(job, row, setting) == "4 processes and 8 kB for batches"
    seen = row._replace(private=10_000_000)
    assert needs_of(job, seen, setting) == (
        "4 processes with 40 MB of their own and 8 kB for batches"
    )
    job.numbers.nbytes = 0
    assert needs_of(job, row, setting) == "4 processes"
    assert needs_of(job, row, Setting()) == "no processes"


def test_what_changes_for_the_samples_is_said_of_what_changes_it() -> None:
    job = Modelled(0.020, 0.010, computes=False).job()
    workers = alters_of(job, {"num_workers": 2}, Setting(num_workers=2))
    assert "random numbers drawn in __getitem__ are others" in workers
    stays = alters_of(job, {"persistent_workers": True}, Setting(num_workers=2))
    assert stays == "no sample changes"
    job.numbers.stream = True
    order = "the order of the samples changes"
    assert alters_of(job, {"num_workers": 2}, Setting(num_workers=2)) == order
    assert alters_of(job, {"num_workers": 1}, Setting(num_workers=1)) != order


def test_no_digit_says_more_than_is_known() -> None:
    assert plus_or_minus(0.416, 0.135) == "42 ± 14 %"
    assert plus_or_minus(0.416, 0.0) == "42 ± 1 %"


def test_a_run_that_gave_too_little_is_no_trial() -> None:
    class Short(Modelled):
        """A loader that is left after a batch, whatever is asked of it."""

        def go(self, request: RunRequest) -> Watch:
            seen = super().go(request)
            if request.workers and self.short:
                seen.batches = seen.batches[:1]
                seen.whole = False
            return seen

        short = False

    model = Short(0.020, 0.010, computes=False)
    job = model.job()
    model.short = True
    table = [forecast_row(job, {}), forecast_row(job, {"num_workers": 2})]
    trials = try_best(job, model, table)
    assert trials.took == {}
    assert trials.failed == ["num_workers=2: it gave too few batches to be compared"]


def test_a_setting_that_fails_in_a_later_round_is_dropped_with_what_it_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("databound.advise.trials.ROUNDS", 3)

    class FailsAgain(Modelled):
        """A loader that runs once with two workers when it is tried, and then no more."""

        tried = -math.inf

        def go(self, request: RunRequest) -> Watch:
            if request.workers == 2:
                self.tried += 1
                if self.tried > 1:
                    raise RuntimeError("with a worker, the loader raised")
            return super().go(request)

    model = FailsAgain(0.020, 0.010, computes=False)
    job = model.job()
    model.tried = 0
    changes: list[dict[str, int]] = [{}, {"num_workers": 2}, {"num_workers": 4}]
    trials = try_best(job, model, [forecast_row(job, each) for each in changes])
    assert model.tried == 2
    assert trials.places == [2]
    assert trials.failed == ["num_workers=2: with a worker, the loader raised"]
