"""`python -m databound`."""

import sys
from pathlib import Path

import pytest

from databound import __main__ as program


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
