"""What is recommended for a job, held against all that the same thing takes in other settings."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from answers_11 import on_gpu
from support.modelled_jobs import FREE, MUCH_LOST, PAID, Modelled

from databound import load_job, recommend, save_job
from databound.advise.advice import recommended as recommended_for
from databound.advise.choosing import combinations
from databound.advise.page import line_of
from databound.advise.report import Found, report
from databound.command import what_to_tell
from databound.exit_codes import Exit
from databound.measure.device import OnDevice
from databound.measure.runs import restored
from databound.measure.setting import Changes, as_arguments
from databound.measure.subject import RunRequest
from databound.measure.watching import Watch
from databound.model.job import Job
from databound.ranges import scatter_of
from databound.script.patching import GIVEN
from databound.thresholds import EPOCHS, LEFT_OUT_OF_MODELS, MOST_ROWS
from lessonkit.engine.machine import Handling
from lessonkit.pictures.drawing import PAPER
from lessonkit.words import milliseconds, percent

TAKES_LONG = Handling(take=0.012)
MODELS = {
    "data-bound": Modelled(0.020, 0.010, computes=False),
    "waits for files": Modelled(0.004, 0.010, wait=0.030, computes=False),
    "step-bound": Modelled(0.0004, 0.020, computes=False),
    "taking": Modelled(0.020, 0.010, PAID, computes=False),
    "takes long": Modelled(0.003, 0.005, TAKES_LONG, computes=False),
    "shared cores": Modelled(0.030, 0.015, FREE, MUCH_LOST),
    "slow for its device": Modelled(
        0.014, 0.001, computes=False, device=OnDevice(0.001, 0.010, 3)
    ),
    "device": Modelled(0.008, 0.001, computes=False, device=OnDevice(0.001, 0.010, 3)),
}


@pytest.fixture
def recommended(capsys: pytest.CaptureFixture[str]) -> Any:
    """A function that recommends for a model, whose loader has so many workers."""

    def of(model: Modelled, num_workers: int, noise: float = 0) -> Any:
        job = model.job()
        job.now = job.now.changed(num_workers=num_workers)
        job.numbers.noise = noise
        # Trials of a model do not differ, so they halve it, and more
        job.numbers.scatter = scatter_of([1.0, 1.0 + 2 * noise])
        found = recommended_for(job)
        capsys.readouterr()
        return found

    return of


def seconds(model: Modelled, job: Job, changes: Changes) -> float:
    """How long an epoch of a training really takes, with other settings."""
    setting = job.setting(**changes)
    trace = model.trace(
        setting.num_workers,
        step=True,
        factor=setting.prefetch_factor,
        stay=setting.persistent_workers,
        epochs=EPOCHS,
    )
    return float(trace.duration) / EPOCHS


class Congested(Modelled):
    """A storage that gives a batch each 15 ms at most, to however many workers."""

    def trace(self, workers: int, **more: Any) -> Any:
        wait, self.wait = self.wait, max(self.wait, workers * 0.015)
        try:
            return super().trace(workers, **more)
        finally:
            self.wait = wait


def test_what_a_real_run_confirms_is_what_is_really_saved(recommended: Any) -> None:
    model = Congested(0.0005, 0.001, wait=0.045, computes=False)
    found = recommended(model, 0)
    now = seconds(model, found.job, {})
    assert found.changes
    for change in found.changes:
        assert change.saves == pytest.approx(
            1 - seconds(model, found.job, change.settings) / now, abs=0.03
        )


class Refused(Modelled):
    """A server that refuses a third connection."""

    def go(self, request: RunRequest) -> Watch:
        if request.workers > 2:
            raise RuntimeError("with a worker, the loader raised: refused")
        return super().go(request)


def test_a_setting_that_fails_when_it_is_tried_is_dropped(recommended: Any) -> None:
    found = recommended(Refused(0.0005, 0.001, wait=0.045, computes=False), 0)
    assert found.changes[0].settings["num_workers"] == 2
    assert all(change.settings["num_workers"] <= 2 for change in found.changes)
    assert (
        "num_workers=16, persistent_workers=True: with a worker, the loader raised"
        in str(found)
    )


def test_every_line_to_paste_is_taken_by_the_loader(library: Any) -> None:
    load = library.utils.data.DataLoader
    written: dict[str, Any] = {
        "num_workers": 2,
        "prefetch_factor": 4,
        "persistent_workers": True,
        "multiprocessing_context": "fork",
        "timeout": 5,
    }
    job = MODELS["data-bound"].job()
    names = ("num_workers", "prefetch_factor", "persistent_workers")
    job.now = job.now.changed(**{name: written[name] for name in names})
    job.subject = SimpleNamespace(loader=load(range(8), **written))
    for changes in combinations(job):
        line = line_of(job, changes, job.setting(**changes))
        given = eval(f"dict({line[len('DataLoader(..., ') : -1]})")
        with restored():
            taken = [int(batch[0]) for batch in load(range(8), **(written | given))]
        assert taken == [*range(8)]


def test_without_workers_nothing_is_taken_back_that_nobody_gave() -> None:
    job = MODELS["data-bound"].job()
    job.now = job.now.changed(num_workers=2)
    none = {"num_workers": 0}
    loader = SimpleNamespace(prefetch_factor=2, multiprocessing_context=None, timeout=5)
    job.subject = SimpleNamespace(loader=loader)
    for given, told in (
        (None, "num_workers=0, prefetch_factor=None, timeout=0"),
        ({"num_workers", "timeout"}, "num_workers=0, timeout=0"),
    ):
        if given is not None:
            vars(loader)[GIVEN] = given
        assert line_of(job, none, job.setting(**none)) == f"DataLoader(..., {told})"


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("name", MODELS)
def test_what_comes_first_is_as_good_as_the_best(
    recommended: Any, name: str, num_workers: int
) -> None:
    found = recommended(model := MODELS[name], num_workers)
    job = found.job
    now = seconds(model, job, {})
    best = min(
        [now, *(seconds(model, job, dict(setting)) for setting in combinations(job))]
    )
    first = found.changes[0].settings if found.changes else {}
    assert seconds(model, job, first) <= 1.05 * best
    for change in found.changes:
        assert change.saves == pytest.approx(
            1 - seconds(model, job, change.settings) / now, abs=0.03
        )
        assert 1 <= len(change.settings) <= 4
    assert len(found.changes) <= 3


@pytest.mark.parametrize(
    ("name", "num_workers", "verdict"),
    [
        ("data-bound", 0, "they take turns"),
        ("data-bound", 1, "data-bound"),
        ("waits for files", 0, "they take turns"),
        ("waits for files", 2, "data-bound"),
        ("device", 0, "step-bound"),
        ("slow for its device", 0, "data-bound"),
        ("step-bound", 0, "step-bound"),
        ("step-bound", 2, "step-bound"),
        ("takes long", 2, "the loop's own time"),
        ("shared cores", 0, "they take turns"),
        ("shared cores", 2, "both want the same cores"),
    ],
)
def test_the_verdict_names_what_decides(
    recommended: Any, name: str, num_workers: int, verdict: str
) -> None:
    assert recommended(MODELS[name], num_workers).verdict == verdict


def test_where_little_can_be_saved_it_says_stop_and_nothing_else(
    recommended: Any,
) -> None:
    found = recommended(MODELS["step-bound"], 0)
    assert str(found).startswith("Step-bound: the loader keeps up with the step. Stop here")
    assert len(str(found).splitlines()) == 2
    assert found.changes == [] == found.rows()
    assert found.picture


def test_runs_that_differ_by_more_than_the_effect_tell_nothing(
    recommended: Any,
) -> None:
    found = recommended(MODELS["data-bound"], 0, noise=0.9)
    assert found.verdict == "cannot tell"
    assert found.changes == []


def test_what_a_loader_saves_is_told_apart_from_what_fewer_threads_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A step with two threads is slow beside other programs, and no loader makes it faster."""
    job = Modelled(0.020, 0.010, computes=False).job()
    job.subject = None
    alone = recommended_for(job)
    assert alone.limits() == f"No loader can save more than {percent(alone.bounds.any)}."
    job.numbers.threads[2] = replace(job.numbers.threads[1], seconds=0.100)
    job.now = job.now.changed(threads=2)
    page = recommended_for(job)
    capsys.readouterr()
    best = percent(page.bounds.any)
    assert page.bounds.any == pytest.approx(1 - 10 / 120, abs=0.01)
    said = re.fullmatch(
        r"No loader can save more than ([\d.]+) %, and none with torch\.set_num_threads\(1\) "
        rf"more than {best}.*\.",
        page.limits(),
    )
    assert said is not None
    assert float(said[1]) == pytest.approx(100 * 20 / 120, abs=1)


TAKES_SOME = Handling(take=0.006)
SAVES_A_TENTH = Modelled(0.008, 0.010, TAKES_SOME, computes=False)


def test_noise_does_not_hide_a_change_that_saves_more(recommended: Any) -> None:
    found = recommended(MODELS["data-bound"], 0, noise=0.24)
    assert found.changes[0].saves > 0.4


@pytest.mark.parametrize(("noise", "told"), [(0.02, True), (0.3, False)])
def test_a_difference_within_the_noise_is_not_sold_as_a_gain(
    recommended: Any, noise: float, told: bool
) -> None:
    found = recommended(SAVES_A_TENTH, 0, noise=noise)
    assert found.verdict == "they take turns"
    assert bool(found.changes) == told
    # The same run was made again, and did not differ: half of the noise is left
    assert found.error == pytest.approx(noise / 2, abs=0.001)
    assert ("No change of a setting saves more than 15 %." in str(found)) != told


def slower(times: float) -> Modelled:
    """A job that takes so many times as long as SAVES_A_TENTH."""
    handling = Handling(take=0.006 * times)
    return Modelled(0.008 * times, 0.010 * times, handling, computes=False)


@pytest.mark.parametrize("times", [0.5, 0.8, 1.4, 2.0])
def test_a_page_that_differs_from_itself_by_half_does_not_say_that_nothing_is_to_change(
    times: float,
) -> None:
    """Other programs came, or went, between the measuring and the trials."""
    job = SAVES_A_TENTH.job()
    job.numbers.scatter = scatter_of([1.0, 1.6])  # so that no change is worth it
    job.subject = slower(times)
    found = recommended_for(job)
    assert found.changes == []
    changed = times in (0.5, 2.0)
    assert what_to_tell(found) == (Exit.CANNOT_TELL if changed else Exit.NOTHING_TO_CHANGE)
    epoch = 60 * (0.008 + 0.010)
    by_measuring = milliseconds(epoch)
    by_trials = milliseconds(epoch * times)
    told = (
        f"takes {by_measuring} by what was measured, and took {by_trials} when it was tried"
    )
    assert (told in report(Found(found))) == changed


def test_what_is_tried_by_turns_counts_also_where_the_machine_has_changed() -> None:
    job = SAVES_A_TENTH.job()
    job.subject = slower(2.0)
    assert recommended_for(job).changes


@pytest.mark.parametrize(("noise", "told"), [(0.02, True), (0.2, False)])
def test_of_a_stored_job_a_difference_within_the_range_is_not_sold_as_a_gain(
    noise: float, told: bool
) -> None:
    job = SAVES_A_TENTH.job()
    job.numbers.scatter, job.subject = scatter_of([1.0, 1.0 + noise]), None
    assert bool(recommend(job).changes) == told


def test_the_stored_job_with_a_cheap_loader_has_a_change_that_is_worth_it() -> None:
    """Runs differed by 14 %, and the setting that it names really saved as much, or more."""
    found = recommend(on_gpu("features")["job"])
    assert found.changes[0].settings["num_workers"] == 2
    assert found.changes[0].saves > found.error


def test_without_matplotlib_as_in_a_browser_the_page_has_no_picture(
    recommended: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = recommended(MODELS["waits for files"], 0)
    whole = found._repr_html_()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert found._repr_html_() == re.sub("<img [^>]*>", "", whole) != whole


def test_the_page_has_every_forecast_and_the_lines_to_paste(recommended: Any) -> None:
    found = recommended(MODELS["waits for files"], 0)
    text, page = str(found), found._repr_html_()
    assert len(found.table) == len(list(combinations(found.job))) + 1
    assert 5 < len(found.rows()) <= 11
    named = [row[0] for row in found.rows()]
    assert named[:2] == ["setting", "as it is (num_workers=0, threads=1)"]
    assert {"num_workers=1", "num_workers=2", "num_workers=4"} <= {*named}
    assert {as_arguments(change.settings) for change in found.changes} <= {*named}
    for row in found.rows():
        assert all(cell in text for cell in row)
    for change in found.changes:
        assert change.line in text
        assert change.line in page
    assert "<script" not in page
    for change in found.changes:  # one number for one saving, wherever it stands
        told = f"saves {round(100 * change.saves)} ± "
        assert told in str(change)
        row = next(row for row in found.table if row.changes == change.settings)
        assert found.saved(row) == pytest.approx(change.saves, abs=0.005)
    assert f"the first change saves {round(100 * found.changes[0].saves)} ± " in page
    assert f"<pre>{found.changes[0].line}</pre>" in page
    assert f'<img alt="{found.picture.words}" src="data:image/png' in page
    numbers = json.loads(json.dumps(found.numbers()))
    assert numbers["changes"][0]["settings"] == found.changes[0].settings
    assert len(numbers["table"]) == len(found.table)
    assert any("prefetch_factor" in row["changes"] for row in numbers["table"])


def test_what_was_tried_and_what_is_only_forecast_stand_in_two_columns(
    recommended: Any,
) -> None:
    """A trial that refutes a forecast is shown, and what it found decides the last column."""
    model = Congested(0.0005, 0.001, wait=0.045, computes=False)
    found = recommended(model, 0)
    heads, *rows = found.rows()
    assert heads[4:] == ("tried", "saves")
    tried = [row for row in found.asked() if row.tried is not None]
    assert len(tried) == 5  # the job as it is, three rivals, and one with a longer queue
    for row, cells in zip(found.asked(), rows, strict=True):
        assert (cells[4] == "") == (row.tried is None)
        if row.changes:
            assert cells[5].startswith("(") == (row.tried is None)
    for row in tried[1:]:
        assert found.saved(row) == pytest.approx(1 - row.tried / tried[0].tried)
        # The storage gives less to more workers than runs for measuring said; forecasts have learnt that
        assert row.mean == pytest.approx(row.tried, rel=0.15)


@pytest.mark.parametrize(("now", "factor"), [(0, 2), (2, 3), (6, 2)])
def test_the_page_has_what_is_asked_for_whatever_the_loader_has_now(
    recommended: Any, monkeypatch: pytest.MonkeyPatch, now: int, factor: int
) -> None:
    """Other numbers of workers, a longer queue, and workers that stay."""
    written = Modelled.now.changed(prefetch_factor=factor)
    monkeypatch.setattr(Modelled, "now", written)
    found = recommended(MODELS["waits for files"], now)
    words = [row[0] for row in found.rows()]
    assert {f"num_workers={one}" for one in (1, 2, 4) if one != now} <= {*words}
    assert any("prefetch_factor=4" in row for row in words)
    assert len(words) <= 1 + MOST_ROWS
    if now:
        stays = {"persistent_workers": True}
        assert stays in [row.changes for row in found.table]


@pytest.mark.parametrize("name", ["images", "text", "features"])
def test_no_forecast_saves_more_than_any_loader_could(name: str) -> None:
    found = recommend(on_gpu(name)["job"])
    assert all(found.saved(row) <= found.most for row in found.table)


def test_a_picture_has_forecasts_with_their_range_and_what_a_real_run_took(
    recommended: Any,
) -> None:
    found = recommended(MODELS["waits for files"], 0, noise=0.1)
    panel = found.picture.figure.axes[0]
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names == [as_arguments(row.changes) or "as it is" for row in found.asked()]
    dots = [line for line in panel.lines if line.get_marker() == "o"]
    hollow = [line for line in dots if line.get_markerfacecolor() == PAPER]
    assert [*hollow[0].get_xdata()] == [found.table[0].mean]
    assert len(hollow) == len(names)
    tried = [row.tried for row in found.asked() if row.tried is not None]
    taken = [line.get_xdata()[0] for line in dots if line not in hollow]
    assert taken == tried != []
    least = [line for line in panel.lines if line.get_marker() != "o"]
    assert least[0].get_xdata()[0] == found.table[0].mean * (1 - found.most)


def test_no_setting_saves_more_than_the_cores_allow(recommended: Any) -> None:
    found = recommended(MODELS["shared cores"], 0)
    known = found.job.numbers
    assert f"of work for {known.cores} cores" in found.rest
    (most,) = re.findall(r"more than ([\d.]+) %", found.rest)
    assert float(most) < 100 * found.most
    assert all(100 * found.saved(row) <= float(most) + 0.1 for row in found.table)
    free = recommended(MODELS["waits for files"], 0)  # with cores enough
    assert "the loop's own time" in free.rest
    for page in (found, free):
        assert page.rest in str(page)


def test_of_settings_that_are_alike_the_one_that_costs_the_least_comes_first(
    recommended: Any,
) -> None:
    model = Modelled(0.009, 0.010, computes=False)
    told_apart, alike = (recommended(model, 0, noise=noise) for noise in (0, 0.1))
    assert "save the same" in str(alike)
    workers = [change.settings["num_workers"] for change in alike.changes[: alike.alike]]
    assert workers == sorted(workers)
    first, best = alike.changes[0], max(alike.changes, key=lambda one: one.saves)
    assert 1 - first.saves <= 1.05 * (1 - best.saves)
    assert all(
        row.within == pytest.approx(LEFT_OUT_OF_MODELS, abs=0.01)
        for row in told_apart.table
    )
    widest = max(row.within for row in told_apart.table)
    assert all(row.within > widest for row in alike.table)


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_job_foretells_the_same(name: str, tmp_path: Path) -> None:
    job, file = MODELS[name].job(), tmp_path / "job.json"
    save_job(job, file)
    stored = load_job(file)
    for setting in combinations(job):
        told, again = (one.forecast(**dict(setting)) for one in (job, stored))
        assert again == pytest.approx(told, rel=0.01)
    found = recommend(stored)
    assert found.verdict == recommend(job).verdict
    assert all("not tried" in str(change) for change in found.changes)


def test_another_file_is_no_job(tmp_path: Path) -> None:
    for text in ("", "{}", '{"numbers": {"threads": 3}}', "[1]"):
        (tmp_path / "job.json").write_text(text, "utf-8")
        with pytest.raises(ValueError, match="must be a file that save_job wrote"):
            load_job(tmp_path / "job.json")
