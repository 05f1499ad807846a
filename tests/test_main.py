"""`python -m lessonkit`."""

import sys
from importlib import metadata
from pathlib import Path

import pytest
from lesson import NOTEBOOKS, WRITTEN

from lessonkit import __main__ as program
from lessonkit import install_check
from lessonkit.install_check import Finding


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["lessonkit", *arguments])
    return program.main()


@pytest.mark.parametrize("good", [True, False])
def test_check_tells_every_finding_and_fails_if_one_is_not_good(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], good: bool
) -> None:
    monkeypatch.setattr(install_check, "findings", lambda: [Finding("numpy", "2.0", True)])
    monkeypatch.setattr(install_check, "kernel", lambda: Finding("kernel", "answers", good, "Look."))
    assert call(monkeypatch, "check") == (0 if good else 1)
    assert "numpy   2.0\n" in capsys.readouterr().out


def test_a_kernel_that_does_not_start_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**options: object) -> None:
        raise RuntimeError("it died")

    monkeypatch.setattr("jupyter_client.manager.start_new_kernel", fail)
    assert install_check.kernel()[1:3] == ("RuntimeError: it died", False)


def test_copy_brings_every_lesson_and_overwrites_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / f"{WRITTEN[0]}.ipynb").write_text("what I wrote")
    assert call(monkeypatch, "copy", str(tmp_path / "mine")) == 0
    assert {path.stem for path in (tmp_path / "mine").iterdir()} == {
        path.stem for path in NOTEBOOKS.iterdir()
    }
    assert (tmp_path / "mine" / f"{WRITTEN[0]}.ipynb").read_text() == "what I wrote"
    assert "is left as it is" in capsys.readouterr().out


def test_copy_finds_the_lessons_that_an_installation_brings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    brought = [metadata.PackagePath(f"../../share/{name}") for name in ("a.ipynb", "a.js", "b.ipynb")]
    for path in brought:
        monkeypatch.setattr(path, "dist", metadata.PathDistribution(tmp_path), raising=False)
    monkeypatch.setattr(metadata, "files", lambda name: brought)
    monkeypatch.setattr(program, "HERE", tmp_path / "not there")
    assert [path.name for path in program.lessons()] == ["a.ipynb", "b.ipynb"]
