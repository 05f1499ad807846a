"""`python -m lessonkit`."""

import sys
from pathlib import Path

import pytest

from lessonkit import __main__ as program
from lessonkit import install_check


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["lessonkit", *arguments])
    return program.main()


@pytest.mark.parametrize("good", [True, False])
def test_check_tells_the_version_and_fails_if_widgets_cannot_be_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], good: bool
) -> None:
    if not good:
        monkeypatch.setitem(sys.modules, "lessonkit.widgets.widget", None)
    assert call(monkeypatch, "check") == (0 if good else 1)
    told = capsys.readouterr().out
    assert f"Python {install_check.python()}\n" in told
    assert ("are installed" in told) == good


def test_copy_tells_of_newer_versions_of_lessons_that_were_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert call(monkeypatch, "copy", str(tmp_path)) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"The lessons are in {tmp_path}; nothing that you write there is overwritten."
    ]
    monkeypatch.setattr(program, "copy_lessons", lambda folder: ["a.ipynb", "b.ipynb"])
    assert call(monkeypatch, "copy", str(tmp_path)) == 0
    assert (
        "You have changed a.ipynb and b.ipynb, and there is a newer version"
        in capsys.readouterr().out
    )


def test_copy_says_why_it_cannot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(SystemExit, match=r"The lessons cannot be copied to .*a file"):
        call(monkeypatch, "copy", str(tmp_path / "a file"))
