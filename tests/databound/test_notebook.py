"""`databound.here`, the command in a notebook."""

from pathlib import Path
from time import sleep

import pytest

from databound import here, load_job
from databound.advise import advice, trials
from databound.model import measuring
from databound.thresholds import Durations
from lessonkit import DataLoader, Dataset

SHORT = Durations(run=0.02, survey=0.02, again=0.0, trial=0.02)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (advice, trials, measuring):
        monkeypatch.setattr(module, "USUAL", SHORT)


def loader() -> DataLoader:
    return DataLoader(Dataset.range(40).map(lambda number: number), 4)


def test_it_prints_each_number_and_keeps_apart_what_the_step_prints(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def step(batch: object) -> None:
        print("of the step")
        sleep(0.001)

    page = here(loader(), step, save=tmp_path / "job.json")
    printed = capsys.readouterr().out
    assert "measuring the loader and the step: about" in printed
    assert "loader alone " in printed
    assert "of the step" not in printed
    stored = load_job(tmp_path / "job.json")
    assert stored.origin == page.job.origin
    assert stored.origin is not None
    assert stored.origin.command == "databound.here(loader, step)"


def test_it_shows_what_the_step_printed_before_it_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def step(batch: object) -> None:
        print("before it failed")
        raise KeyError("labels")

    with pytest.raises(RuntimeError, match="the step raised at batch"):
        here(loader(), step)
    assert "before it failed" in capsys.readouterr().out
