"""`make lab` and its like: what is set up when, and the sentence for everything that can go wrong."""

import ast
import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tools import start, targets

ROOT = Path(__file__).parent.parent
PIP_OFFLINE = """\
WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('Failed to establish a new
connection: [Errno -3] Temporary failure in name resolution')': /simple/setuptools/
ERROR: Could not find a version that satisfies the requirement setuptools>=77 (from versions: none)
ERROR: No matching distribution found for setuptools>=77
"""
UV_OFFLINE = "error: Failed to fetch: `https://example.org/simple/numpy/`\n  Caused by: dns error"
UV_FULL = "error: Failed to extract archive\n  Caused by: No space left on device (os error 28)"
PIP_FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
PIP_LOCKED = "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: 'x'"
PIP_MISSING = "ERROR: No matching distribution found for jupyterlab>=4.2"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A clone in which nothing is set up; the commands that would set it up are taken down."""
    venv, said = tmp_path / ".venv", list[list[str]]()
    (tmp_path / "pyproject.toml").write_text("as it is")
    places = {"ROOT": tmp_path, "VENV": venv, "READY": venv / "ready", "PYTHON": venv / "python"}
    for name, path in (places | {"LOG": venv / "log"}).items():
        monkeypatch.setattr(targets, name, path)

    def run_showing(command: list[str], room: int = 0) -> None:
        said.append(command)
        (venv / "python").touch()

    monkeypatch.setattr(targets, "run_showing", run_showing)
    monkeypatch.setattr(targets, "uv", lambda: "")
    return said


def installed(said: list[list[str]]) -> list[str]:
    return [command[-1] for command in said if "install" in command]


def offline(*_: Any) -> None:
    raise targets.CannotError(targets.OFFLINE)


def test_a_second_time_nothing_is_set_up(clone: list[list[str]]) -> None:
    targets.set_up(())
    assert installed(clone) == ["."]
    clone.clear()
    targets.set_up(())
    assert not clone


def test_a_target_adds_what_it_needs_and_keeps_what_is_there(clone: list[list[str]]) -> None:
    for extras in ((), ("demo",), (), ("demo", "test"), ("demo",)):
        targets.set_up(extras)
    assert installed(clone) == [".", ".[demo]", ".[demo,test]"]


def test_other_requirements_are_installed_into_the_same_environment(clone: list[list[str]]) -> None:
    targets.set_up(("demo",))
    (targets.VENV / "kept").touch()
    (targets.ROOT / "pyproject.toml").write_text("changed")
    targets.set_up(())
    assert installed(clone) == [".[demo]", ".[demo]"]
    assert (targets.VENV / "kept").exists()


def test_a_half_made_environment_is_made_anew(clone: list[list[str]]) -> None:
    targets.VENV.mkdir()
    (targets.VENV / "left").touch()
    targets.set_up(())
    assert not (targets.VENV / "left").exists()
    assert installed(clone) == ["."]


@pytest.mark.parametrize("stamp", ["", "[]", "{", json.dumps({"for": "?", "extras": [], "place": "/other"})])
def test_an_environment_made_elsewhere_or_by_others_is_made_anew(clone: list[list[str]], stamp: str) -> None:
    targets.set_up(())
    (targets.VENV / "left").touch()
    targets.READY.write_text(stamp)
    targets.set_up(())
    assert not (targets.VENV / "left").exists()


def test_an_environment_that_lost_its_python_is_made_anew(clone: list[list[str]]) -> None:
    targets.set_up(())
    targets.PYTHON.unlink()
    targets.set_up(())
    assert installed(clone) == [".", "."]


def test_without_a_network_what_is_there_is_used(
    clone: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    targets.set_up(())
    (targets.ROOT / "pyproject.toml").write_text("changed")
    monkeypatch.setattr(targets, "run_showing", offline)
    targets.set_up(())
    assert "start with the packages that are here" in capsys.readouterr().out
    with pytest.raises(targets.CannotError, match="cannot be reached"):
        targets.set_up(("demo",))


def test_without_a_network_a_first_time_leaves_nothing_that_counts_as_ready(
    clone: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "run_showing", offline)
    with pytest.raises(targets.CannotError):
        targets.set_up(())
    assert not targets.made()


def test_without_the_module_that_makes_environments_it_says_what_to_install(
    clone: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(targets.CannotError, match=r"apt install python3\.\d+-venv"):
        targets.set_up(())
    assert not targets.VENV.exists()


def test_too_little_room_is_said_before_anything_is_made(
    clone: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 10_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(targets.CannotError, match=r"disk is full.* 700 MB"):
        targets.set_up(())
    assert not clone


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (PIP_OFFLINE, targets.OFFLINE),
        (UV_OFFLINE, targets.OFFLINE),
        (PIP_FULL, targets.FULL.format(room=700)),
        (UV_FULL, targets.FULL.format(room=700)),
        (PIP_LOCKED, targets.LOCKED),
        (PIP_MISSING, targets.MISSING),
        ("", "Setting up failed, with 'nothing'; all that was said is in .venv/log."),
    ],
)
def test_what_an_installer_tells_becomes_a_sentence(clone: list[list[str]], told: str, sentence: str) -> None:
    assert targets.cause(told, 700) == sentence


def test_a_folder_that_cannot_be_written_to_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert targets.main(["lab"]) == 1
    assert capsys.readouterr().err == f"lessonkit: {targets.LOCKED}\n"


def test_who_comes_second_waits(capsys: pytest.CaptureFixture[str]) -> None:
    order = []

    def second() -> None:
        with targets.alone():
            order.append("second")

    with targets.alone():
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.2)
        order.append("first")
    waiting.join(10)
    assert order == ["first", "second"]
    assert "waits" in capsys.readouterr().out


def test_nothing_is_kept_outside_the_clone() -> None:
    kept = {
        name: path
        for name, path in targets.environment().items()
        if name.startswith(("JUPYTER", "IPY", "MPL"))
    }
    assert len(kept) >= 7
    assert all(Path(path).is_relative_to(targets.ROOT) for path in kept.values())


def test_nothing_of_the_user_s_own_jupyter_or_python_gets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUPYTER_CONFIG_PATH", "PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "/elsewhere")
    assert "/elsewhere" not in targets.environment().values()


def test_an_old_python_can_read_the_first_file() -> None:
    ast.parse((ROOT / "tools" / "start.py").read_text(), feature_version=(3, 6))
    ast.parse((ROOT / "tools" / "__init__.py").read_text(), feature_version=(3, 6))


def test_an_old_python_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 9, 2))
    monkeypatch.setattr(start, "NEWER", [])
    with pytest.raises(SystemExit, match=r"is too old: install Python 3\.11 or newer"):
        start.main()


def test_an_old_python_hands_over_to_a_newer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    monkeypatch.setattr("sys.version_info", (3, 9, 2))
    monkeypatch.setattr("sys.argv", ["start.py", "lab"])
    monkeypatch.setattr(start, "NEWER", ["python3.99", Path(sys.executable).name])
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setattr("os.execv", lambda path, command: taken.append(command[1:]))
    with pytest.raises(SystemExit):
        start.main()
    assert taken == [["-m", "tools.start", "lab"]]


def test_a_target_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert targets.main(["labb"]) == 2
    assert "must be one of setup, lab, demo" in capsys.readouterr().err


def test_the_makefile_has_every_target_and_no_other() -> None:
    named = re.findall(r"^\t\$\(START\) (\w+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(targets.TARGETS)
    for name in targets.TARGETS:
        told = subprocess.run(
            ["make", "-n", name], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        assert f"-m tools.start {name}" in told
