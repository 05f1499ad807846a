"""The exam: its key is what `probe` says of the numbers on the sheets, and a learner can find all of it."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from databound.advise.three_runs import ThreeRuns
from databound.advise.verdict import VERDICTS
from delivery.classroom import exam

SEED = 1
SHEETS = exam.exam(SEED)
JOBS = [job for sheet in SHEETS for job in sheet]
SHEET_ROW = re.compile(
    r"Per (?:sample|batch of (\d+)): loader <b>([\d.,]+) ms</b>, step <b>([\d.,]+) ms</b>, "
    r"both <b>([\d.,]+) ms</b>"
)
READY = re.compile(r"taking a batch that is ready: ([\d.]+) ms")


def printed(number: int, job: exam.Job) -> ThreeRuns:
    """The three runs of a job as a learner reads them."""
    text = exam.asked(number, job)
    row = SHEET_ROW.search(text)
    assert row
    samples = float(row[1] or 1)
    loader, step, both = (float(time.replace(",", "")) / 1e3 for time in row.groups()[1:])
    ready = READY.search(text)
    taking = float(ready[1]) / 1e3 if ready else 0.0
    return ThreeRuns(loader, step, both, samples, ready=taking)


def by_the_table_of_lesson_08(runs: ThreeRuns) -> str:
    """The verdict that a learner finds who knows the table and none of the thresholds."""
    waited = runs.both - runs.step
    if runs.ready and runs.ready > waited / 2:
        return "the loop's own time"
    if runs.both > 1.1 * (runs.loader + runs.step):
        return "both want the same cores"
    like = {
        "step-bound": runs.step,
        "data-bound": runs.loader,
        "they take turns": runs.loader + runs.step,
    }
    # "About as long": nearer than an eighth
    near = {kind: abs(runs.both / time - 1) for kind, time in like.items()}
    kind = min(near, key=near.__getitem__)
    return kind if near[kind] < 1 / 8 else "cannot tell"


def rows_of_the_key() -> list[list[str]]:
    """The cells of each row of the key."""
    page = exam.key_page(SHEETS, SEED)
    rows = re.findall(r"<tr><td>(.+?)</td></tr>", page)
    return [unescape(row).split("</td><td>") for row in rows]


def test_there_are_twenty_sheets_and_no_job_comes_twice() -> None:
    assert len(SHEETS) == 20
    assert all(len(sheet) == 5 for sheet in SHEETS)
    assert len({(job.times, tuple(job.after.items())) for job in JOBS}) == len(JOBS)


def test_the_key_of_all_sheets_is_what_probe_says_of_their_numbers() -> None:
    rows = rows_of_the_key()
    assert len(rows) == len(JOBS)
    for job, (number, verdict, slow_part, at_most, changes, _) in zip(
        JOBS, rows, strict=True
    ):
        runs = printed(int(number), job)
        assert runs.kind == job.runs.kind == verdict
        assert slow_part == job.slow_part
        assert float(at_most) == pytest.approx(runs.both / runs.step, rel=0.01)
        least = min(job.after.values())
        assert changes.split(" or ") == [
            change for change, time in job.after.items() if time <= 1.02 * least
        ]


def test_a_learner_who_knows_the_table_of_lesson_08_finds_every_verdict() -> None:
    for number, job in enumerate(JOBS):
        assert by_the_table_of_lesson_08(printed(number, job)) == job.runs.kind


def test_a_sheet_has_five_of_the_six_verdicts_and_the_twenty_have_all_in_every_part() -> (
    None
):
    for sheet in SHEETS:
        kinds = {job.runs.kind for job in sheet}
        assert len(kinds) == 5
        assert "data-bound" in kinds
    assert {job.runs.kind for job in JOBS} == {*VERDICTS}
    parts = {job.slow_part for job in JOBS if job.runs.kind == "data-bound"}
    assert len(parts) == len(exam.DATA_BOUND) == 4
    missing = [{*VERDICTS} - {job.runs.kind for job in sheet} for sheet in SHEETS]
    assert len({kind for kinds in missing for kind in kinds}) > 2, (
        "the missing one is always the same"
    )


def test_one_change_is_plainly_better_or_two_are_as_good() -> None:
    for job in JOBS:
        assert 1 <= len(job.best) < len(job.after)
        now = job.runs.both / job.runs.samples
        assert min(job.after.values()) < now / 1.05


def test_a_time_that_is_read_wrong_by_little_changes_no_verdict() -> None:
    assert all(job.is_clear for job in JOBS)
    near = JOBS[0].runs._replace(loader=0.010, step=0.010, both=0.0111)
    assert not replace(JOBS[0], runs=near).is_clear
    first, *_ = JOBS[0].after
    second_best = dict.fromkeys(JOBS[0].after, 1.0) | {first: 0.97}
    assert not replace(JOBS[0], after=second_best).is_clear


def test_what_workers_take_is_reckoned_as_the_text_says() -> None:
    job = exam.Workers(workers=2, size=8, decode=0.0002, train=0.003, take=0.009)
    made, steps = 8 * 0.0002, 48 * (0.003 + 0.009)
    assert job.run(job.train).duration == pytest.approx(made + steps)
    slowed = replace(job, decode=0.001, take=0.0, train=0.010, slowed=3.0)
    assert slowed.per_sample == pytest.approx((8 * 0.003 + 48 * 0.030) / (48 * 8))
    assert slowed.runs().step == 0.010


def test_a_seed_gives_the_same_sheets_and_fewer_sheets_are_the_first_of_them() -> None:
    assert exam.exam(SEED, 3) == SHEETS[:3]
    assert exam.exam(SEED + 1, 1) != SHEETS[:1]


def test_a_sheet_gives_nothing_of_the_key_away() -> None:
    for job in JOBS[:10]:
        other = replace(job, slow_part="?", after=dict.fromkeys(job.after, 1.0))
        assert exam.asked(1, other) == exam.asked(1, job)


def test_the_command_writes_both_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "exam"
    exam.main([str(folder), "--seed", str(SEED), "--sheets", "2"])
    sheets = (folder / "sheets.html").read_text(encoding="utf-8")
    key = (folder / "key.html").read_text(encoding="utf-8")
    assert capsys.readouterr().out.split() == [
        str(folder / "sheets.html"),
        str(folder / "key.html"),
    ]
    assert re.findall(r"<h2>Sheet (\d)</h2>", sheets) == ["1", "2"]
    assert sheets.count("What does probe say?") == 10
    assert re.findall(r"<h2>Key of sheet (\d)</h2>", key) == ["1", "2"]
    with pytest.raises(SystemExit):
        exam.main([str(folder)])  # whoever gives no seed would have everybody's key
