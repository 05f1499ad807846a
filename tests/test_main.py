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


def test_a_module_that_parses_arguments_does_not_see_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "import sys\nassert sys.argv == ['parses_arguments']\nloader = [1, 2]"
    (tmp_path / "parses_arguments.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert call(monkeypatch, "recommend", "parses_arguments:loader", "json:loads") == 2
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
    said = ["recommend", f"ends_{name}:loader", "json:loads", "--form", "html"]
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
    assert call(monkeypatch, "recommend", loader, "json:loads") == 2
    assert capsys.readouterr().err.startswith("lessonkit: ")
