"""`make lab` and its like: what is set up when, and the sentence for everything that can go wrong."""

import ast
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from tools import start, targets, trust
from tools.lesson import WRITTEN

ROOT = Path(__file__).parents[2]
PIP_OFFLINE = """\
WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('Failed to establish a new
connection: [Errno -3] Temporary failure in name resolution')': /simple/setuptools/
ERROR: Could not find a version that satisfies the requirement setuptools>=77 (from versions: none)
ERROR: No matching distribution found for setuptools>=77
"""
UV_OFFLINE = (
    "error: Failed to fetch: `https://example.org/simple/numpy/`\n  Caused by: dns error"
)
UV_FULL = (
    "error: Failed to extract archive\n  Caused by: No space left on device (os error 28)"
)
PIP_FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
PIP_LOCKED = "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: 'x'"
PIP_MISSING = "ERROR: No matching distribution found for jupyterlab>=4.2"
KEPT = """
from IPython.paths import get_ipython_dir
from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir
from jupyterlab.commands import get_user_settings_dir, get_workspaces_dir
from matplotlib import get_cachedir

for found in (jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir, get_user_settings_dir,
              get_workspaces_dir, get_ipython_dir, get_cachedir):
    print(found())
"""
PROJECT = '[project]\nname = "lessons"\n'


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A clone in which nothing is set up; the commands that would set it up are taken down."""
    venv, said = tmp_path / ".venv", list[list[str]]()
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    places = {
        "ROOT": tmp_path,
        "VENV": venv,
        "READY": venv / "ready",
        "PYTHON": venv / "python",
    }
    places["JUPYTER"] = venv / "jupyter"
    for name, path in places.items():
        monkeypatch.setattr(targets, name, path)

    def run_showing(command: list[str]) -> str:
        said.append(command)
        venv.mkdir(exist_ok=True)
        (venv / "python").touch()
        return ""

    monkeypatch.setattr(targets, "run_showing", run_showing)
    return said


def installed(said: list[list[str]]) -> list[str]:
    return [command[-1] for command in said if "install" in command]


def offline(_: list[str]) -> str:
    return targets.OFFLINE


def test_a_second_time_nothing_is_set_up(clone: list[list[str]]) -> None:
    targets.set_up(())
    assert installed(clone) == ["."]
    assert targets.JUPYTER.is_dir(), "or IPython warns"
    clone.clear()
    targets.set_up(())
    assert not clone


def test_a_target_adds_what_it_needs_and_keeps_what_is_there(
    clone: list[list[str]],
) -> None:
    for extras in ((), ("demo",), (), ("demo", "test"), ("demo",)):
        targets.set_up(extras)
    assert installed(clone) == [".", ".[demo]", ".[demo,test]"]


def test_other_requirements_are_installed_into_the_same_environment(
    clone: list[list[str]],
) -> None:
    targets.set_up(("demo",))
    (targets.VENV / "kept").touch()
    (targets.ROOT / "pyproject.toml").write_text(PROJECT + 'dependencies = ["more"]')
    targets.set_up(())
    assert installed(clone) == [".[demo]", ".[demo]"]
    assert (targets.VENV / "kept").exists()


def test_other_settings_of_tools_install_nothing(clone: list[list[str]]) -> None:
    targets.set_up(())
    (targets.ROOT / "pyproject.toml").write_text(PROJECT + "[tool.ruff]\nline-length = 99")
    targets.set_up(())
    assert installed(clone) == ["."]


def test_a_half_made_environment_is_made_anew(
    clone: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    targets.VENV.mkdir()
    (targets.VENV / "left").touch()
    targets.set_up(())
    assert (
        "is not complete, or was made elsewhere: it is made anew" in capsys.readouterr().out
    )
    assert not (targets.VENV / "left").exists()
    assert installed(clone) == ["."]


@pytest.mark.parametrize(
    "stamp", ["", "[]", "{", json.dumps({"for": "?", "extras": [], "place": "/other"})]
)
def test_an_environment_made_elsewhere_or_by_others_is_made_anew(
    clone: list[list[str]], stamp: str
) -> None:
    targets.set_up(())
    (targets.VENV / "left").touch()
    targets.READY.write_text(stamp)
    targets.set_up(())
    assert not (targets.VENV / "left").exists()


def test_an_environment_that_lost_its_python_is_made_anew(
    clone: list[list[str]],
) -> None:
    targets.set_up(())
    targets.PYTHON.unlink()
    targets.set_up(())
    assert installed(clone) == [".", "."]


def test_without_a_network_what_is_there_is_used(
    clone: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    targets.set_up(())
    (targets.ROOT / "pyproject.toml").write_text(PROJECT + 'dependencies = ["more"]')
    monkeypatch.setattr(targets, "run_showing", offline)
    targets.set_up(())
    assert "the packages that are here are used" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="cannot be reached"):
        targets.set_up(("demo",))


def test_without_a_network_a_first_time_leaves_nothing_that_counts_as_ready(
    clone: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "run_showing", offline)
    with pytest.raises(SystemExit, match="cannot be reached"):
        targets.set_up(())
    assert not targets.made()


def test_without_the_module_that_makes_environments_it_says_what_to_install(
    clone: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"apt install python3\.\d+-venv"):
        targets.set_up(())
    assert not targets.VENV.exists()


def test_too_little_room_is_said_before_anything_is_made(
    clone: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 10_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(SystemExit, match=r"disk is full.* 700 MB"):
        targets.set_up(())
    assert not clone


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (PIP_OFFLINE, targets.OFFLINE),
        (UV_OFFLINE, targets.OFFLINE),
        (PIP_FULL, targets.FULL),
        (UV_FULL, targets.FULL),
        (PIP_LOCKED, targets.LOCKED),
        (PIP_MISSING, f"Setting up failed. The last that was said:\n{PIP_MISSING}"),
    ],
)
def test_what_an_installer_tells_becomes_a_sentence(told: str, sentence: str) -> None:
    assert targets.cause(told) == sentence


@pytest.mark.parametrize(
    ("program", "failed"), [("print(1)", ""), (f"exit({UV_FULL!r})", targets.FULL)]
)
def test_a_program_that_fails_tells_why(program: str, failed: str) -> None:
    assert targets.run_showing([sys.executable, "-c", program]) == failed


def test_a_terminal_shows_the_line_that_an_installer_is_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((11, 24)))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    targets.run_showing([sys.executable, "-c", "print('Collecting one'); print('two')"])
    assert capsys.readouterr().out == "\rCollecting\r\rtwo       \r\r          \r"


def test_a_folder_that_cannot_be_written_to_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(SystemExit) as stopped:
        targets.main(["lab"])
    assert stopped.value.code == f"lessonkit: {targets.LOCKED}"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device"), targets.FULL),
        (PermissionError(13, "Permission denied"), targets.LOCKED),
        (KeyboardInterrupt(), "Stopped."),
    ],
)
def test_an_error_while_setting_up_becomes_a_sentence(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, sentence: str
) -> None:
    def fail(_: Any) -> None:
        raise error

    monkeypatch.setattr(targets, "set_up", fail)
    with pytest.raises(SystemExit) as stopped:
        targets.main(["lab"])
    assert stopped.value.code == f"lessonkit: {sentence}"


def test_who_comes_second_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    order, said, heard = [], [], threading.Event()

    def say(text: str) -> None:
        said.append(text)
        heard.set()

    def second() -> None:
        with targets.alone():
            order.append("second")

    monkeypatch.setattr(targets, "say", say)
    with targets.alone():
        waiting = threading.Thread(target=second)
        waiting.start()
        assert heard.wait(60)
        order.append("first")
    waiting.join(60)
    assert order == ["first", "second"]
    assert "waits" in said[0]


def test_nothing_is_kept_outside_the_clone() -> None:
    told = subprocess.run(
        [sys.executable, "-c", KEPT],
        env=targets.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    kept = told.stdout.splitlines()
    assert len(kept) == 7
    assert all(Path(path).is_relative_to(targets.JUPYTER) for path in kept), kept


def test_nothing_of_the_user_s_own_jupyter_or_python_gets_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "JUPYTER_CONFIG_PATH",
        "PYTHONPATH",
        "PYTHONDONTWRITEBYTECODE",
        "VIRTUAL_ENV",
    ):
        monkeypatch.setenv(name, "/elsewhere")
    assert "/elsewhere" not in targets.environment().values()


def test_jupyter_starts_without_what_takes_longest() -> None:
    asked = "import jsonschema, sys; print('rfc3987_syntax' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", asked],
        env=targets.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "False\n"


def test_an_old_python_can_read_the_first_file() -> None:
    ast.parse((ROOT / "tools" / "start.py").read_text(), feature_version=(3, 6))
    ast.parse((ROOT / "tools" / "__init__.py").read_text(), feature_version=(3, 6))


def test_an_old_python_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 9, 2))
    monkeypatch.setattr(start, "NEWER", [])
    with pytest.raises(SystemExit, match=r"is too old: install Python 3\.11 or newer"):
        start.main()


def test_an_old_python_hands_over_to_a_newer_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = []
    monkeypatch.setattr("sys.version_info", (3, 9, 2))
    monkeypatch.setattr("sys.argv", ["start.py", "lab"])
    monkeypatch.setattr(start, "NEWER", ["python3.99", Path(sys.executable).name])
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setattr("os.execv", lambda path, command: taken.append(command[1:]))
    with pytest.raises(SystemExit):
        start.main()
    assert taken == [["-m", "tools.start", "lab"]]


def test_a_target_that_is_not_there_is_refused() -> None:
    with pytest.raises(SystemExit, match="'labb': must be one of setup, lab, demo"):
        targets.main(["labb"])


def ran(
    monkeypatch: pytest.MonkeyPatch, *given: str, returns: int = 0
) -> list[tuple[str, ...]]:
    """Everything that a target runs, if each program returns this."""
    programs = []

    def run(*program: str) -> int:
        programs.append(program)
        return returns

    monkeypatch.setattr(targets, "set_up", lambda extras: None)
    monkeypatch.setattr(targets, "run", run)
    assert targets.main([*given]) == returns
    return programs


def test_the_lab_opens_a_copy_that_git_leaves_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy, trust, lab = ran(monkeypatch, "lab", "--port=9000")
    assert copy == ("lessonkit", "copy", targets.LESSONS)
    assert trust == ("tools.trust",)
    assert lab[-2:] == (
        f"--LabApp.default_url=/lab/tree/my-lessons/{WRITTEN[0]}.ipynb",
        "--port=9000",
    )
    assert f"{targets.LESSONS}/" in (ROOT / ".gitignore").read_text().splitlines()


def test_jupyter_trusts_a_lesson_until_somebody_else_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    trust.main()
    copied = nbformat.reads(
        (ROOT / "notebooks" / f"{WRITTEN[0]}.ipynb").read_text(), as_version=4
    )
    assert NotebookNotary().check_signature(copied)
    copied.cells[0].source += "else"
    assert not NotebookNotary().check_signature(copied)


def test_a_target_ends_with_the_first_program_that_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ran(monkeypatch, "test", returns=3) == [("ruff", "check", ".")]


def test_ctrl_c_is_left_to_the_program_that_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pressed = iter([True, True, False])

    def wait(_: Any) -> int:
        if next(pressed):
            raise KeyboardInterrupt
        return 7

    monkeypatch.setattr(
        "subprocess.Popen", lambda *_, **__: type("Child", (), {"wait": wait})()
    )
    assert targets.run("jupyterlab") == 7


def test_the_makefile_has_every_target_and_no_other() -> None:
    named = re.findall(
        r"^\t\$\(START\) ([\w-]+)", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    assert sorted(named) == sorted(targets.TARGETS)
    for name in targets.TARGETS:
        told = subprocess.run(
            ["make", "-n", name], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        assert f"-m tools.start {name}" in told
