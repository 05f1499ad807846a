"""`python -m databound`."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.modelled_jobs import Modelled

from databound import __main__ as program
from databound import recommend
from databound.page import Recommendation
from databound.verdict import Verdict


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["databound", *arguments])
    return program.main()


def test_a_module_that_parses_arguments_does_not_see_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "import sys\nassert sys.argv == ['parses_arguments']\nloader = [1, 2]"
    (tmp_path / "parses_arguments.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert call(monkeypatch, "parses_arguments:loader", "json:loads") == 2
    assert "must be a DataLoader" in capsys.readouterr().err


ENDS = {
    "syntax": "1 +",
    "exits": "import sys; sys.exit()",
    "own": "class Own(BaseException): pass\nraise Own('no')",
}


@pytest.mark.parametrize("name", ENDS)
def test_a_module_that_ends_prints_no_page(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
) -> None:
    (tmp_path / f"ends_{name}.py").write_text(ENDS[name], "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    said = [f"ends_{name}:loader", "json:loads", "--form", "html"]
    assert call(monkeypatch, *said) == 2
    assert not capsys.readouterr().out


@pytest.mark.parametrize("loader", ["gone:loader", "broken:loader", "json:gone"])
def test_what_cannot_be_measured_is_told_apart_from_what_is_to_be_changed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    loader: str,
) -> None:
    (tmp_path / "broken.py").write_text("1 +", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert call(monkeypatch, loader, "json:loads") == 2
    assert capsys.readouterr().err.startswith("databound: ")


# ---- what programs are told ----

TINY = """
import time
from databound import measuring
from databound.thresholds import Durations
from lessonkit import DataLoader, Dataset

measuring.USUAL = Durations(run=0.05, survey=0.05, again=0.0)
loader = DataLoader(Dataset.range(64).map(lambda number: number), 4)


def step(batch):
    time.sleep(0.004)


def fails(batch):
    return {}["labels"]
"""


def page(verdict: str, *, changes: bool) -> Recommendation:
    """A page with a verdict, and with something to change or not."""
    job = Modelled(0.020, 0.010, computes=False).job()
    found = recommend(replace(job, subject=None))
    found.decided = Verdict(verdict, "")
    if not changes:
        found.changes = []
    return found


@pytest.mark.parametrize(
    ("verdict", "changes", "code"),
    [
        ("they take turns", True, 1),
        ("data-bound", False, 0),
        ("step-bound", False, 0),
        ("cannot tell", False, 3),
    ],
)
def test_exit_codes_tell_what_a_page_says(verdict: str, changes: bool, code: int) -> None:
    assert program.what_to_tell(page(verdict, changes=changes)) == code
    assert f"{code} " in (program.__doc__ or "")


def run(tmp_path: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of a shell beside a module `tiny`; `databound` stands for ours."""
    (tmp_path / "tiny.py").write_text(TINY, "utf-8")
    ours = f"{sys.executable} -m databound"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        ["bash", "-c", command.replace("databound", ours)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_whoever_reads_may_go_away_before_the_end(tmp_path: Path) -> None:
    command = "databound tiny:loader tiny:step --form html | true; echo ${PIPESTATUS[0]}"
    ended = run(tmp_path, command)
    assert ended.stdout.strip() in ("0", "1", "3"), ended.stderr
    assert "BrokenPipe" not in ended.stderr


def test_an_error_comes_with_the_lines_of_the_user(tmp_path: Path) -> None:
    ended = run(tmp_path, "databound tiny:loader tiny:fails")
    assert ended.returncode == 2
    assert 'tiny.py", line' in ended.stderr
    assert 'return {}["labels"]' in ended.stderr
    assert "databound: RuntimeError: the step raised at batch 1 of an epoch" in ended.stderr
    assert "measuring.py" not in ended.stderr


def test_ctrl_c_ends_it_as_shells_expect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "recommend", stopped)
    assert call(monkeypatch, "json:loads", "json:loads") == 130
    assert capsys.readouterr().err == "databound: stopped\n"
