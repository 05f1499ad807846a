"""`make lab` and its like: what is set up when, and what is said if that fails."""

import ast
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from support.places import ROOT

from tools import start, targets, trust
from tools.lesson import WRITTEN

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


Commands = list[list[str]]


class Installer:
    """Takes the place of all programs that set up: it keeps their commands, and can fail."""

    def __init__(self) -> None:
        self.commands: Commands = []
        self.returns = 0

    def run(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        if "venv" in command:
            targets.VENV.mkdir(exist_ok=True)
            targets.PYTHON.touch()
        return subprocess.CompletedProcess(command, self.returns)

    def installed(self) -> list[str]:
        return [command[-1] for command in self.commands if "install" in command]


@pytest.fixture
def installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    """A clone in which nothing is set up, and what would set it up."""
    venv = tmp_path / ".venv"
    places = {
        "ROOT": tmp_path,
        "PROJECT": tmp_path / "pyproject.toml",
        "VENV": venv,
        "READY": venv / "ready",
        "PYTHON": venv / "python",
        "JUPYTER": venv / "jupyter",
    }
    for name, path in places.items():
        monkeypatch.setattr(targets, name, path)
    targets.PROJECT.write_text(PROJECT)
    made = Installer()
    monkeypatch.setattr("subprocess.run", made.run)
    return made


def test_a_second_time_nothing_is_set_up(installer: Installer) -> None:
    targets.set_up(["lessons"])
    assert installer.installed() == [".[lessons]"]
    assert targets.JUPYTER.is_dir(), "or IPython warns"
    installer.commands.clear()
    targets.set_up(["lessons"])
    assert not installer.commands


def test_a_target_adds_what_it_needs_and_keeps_what_is_there(installer: Installer) -> None:
    for extra in ("lessons", "demo", "lessons", "test", "demo"):
        targets.set_up([extra])
    assert installer.installed() == [
        ".[lessons]",
        ".[demo,lessons]",
        ".[demo,lessons,test]",
    ]


def test_other_requirements_are_installed_into_the_same_environment(
    installer: Installer,
) -> None:
    targets.set_up(["demo"])
    (targets.VENV / "kept").touch()
    targets.PROJECT.write_text(PROJECT + 'dependencies = ["more"]')
    targets.set_up(["demo"])
    assert installer.installed() == [".[demo]", ".[demo]"]
    assert (targets.VENV / "kept").exists()


def spoil_stamp() -> None:
    stamp = json.loads(targets.READY.read_text())
    targets.READY.write_text(json.dumps({**stamp, "place": "/elsewhere"}))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda: targets.READY.unlink(),
        lambda: targets.READY.write_text("{"),
        lambda: targets.READY.write_text("[]"),
        lambda: targets.READY.write_text(
            json.dumps({"for": {}, "place": str(targets.ROOT)})
        ),
        spoil_stamp,
        lambda: targets.PYTHON.unlink(),
    ],
    ids=[
        "half made",
        "half written",
        "by others",
        "by an older version",
        "elsewhere",
        "without its Python",
    ],
)
def test_an_environment_that_is_not_complete_is_made_anew(
    installer: Installer, spoil: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    targets.set_up(["lessons"])
    (targets.VENV / "left").touch()
    spoil()
    targets.set_up(["lessons"])
    assert (
        "is not complete, or was made elsewhere: it is made anew" in capsys.readouterr().out
    )
    assert not (targets.VENV / "left").exists()
    assert installer.installed() == [".[lessons]", ".[lessons]"]


def test_if_nothing_can_be_installed_what_is_there_is_used_if_that_is_enough(
    installer: Installer, capsys: pytest.CaptureFixture[str]
) -> None:
    targets.set_up(["demo"])
    targets.PROJECT.write_text(PROJECT + 'dependencies = ["more"]')
    installer.returns = 1
    targets.set_up(["demo"])
    assert "The packages that are here are used" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="needs a network, and about 700 MB of room"):
        targets.set_up(["test"])


def test_a_first_time_that_fails_leaves_nothing_that_counts_as_ready(
    installer: Installer,
) -> None:
    installer.returns = 1
    with pytest.raises(SystemExit, match="why is said above"):
        targets.set_up(["lessons"])
    assert not targets.made()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PermissionError(13, "Permission denied"), "[Errno 13] Permission denied"),
        (KeyboardInterrupt(), "Stopped."),
    ],
)
def test_an_error_while_setting_up_ends_it_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, sentence: str
) -> None:
    def fail(_: Any) -> None:
        raise error

    monkeypatch.setattr(targets, "set_up", fail)
    with pytest.raises(SystemExit) as stopped:
        targets.main(["lab"])
    assert stopped.value.code == f"lessonkit: {sentence}"


def test_who_comes_second_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    order = []
    said = []
    heard = threading.Event()

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


def printed(code: str) -> str:
    """What *code* prints in the environment of a target."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=targets.environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_nothing_is_kept_outside_the_clone() -> None:
    kept = printed(KEPT).splitlines()
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
    assert printed(asked) == "False\n"


def test_an_old_python_can_read_the_first_file() -> None:
    ast.parse((ROOT / "tools" / "start.py").read_text(), feature_version=(3, 6))
    ast.parse((ROOT / "tools" / "__init__.py").read_text(), feature_version=(3, 6))


def test_an_old_python_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 9, 2))
    monkeypatch.setattr(start, "NEWER", [])
    with pytest.raises(SystemExit, match=r"is too old: install Python 3\.10 or newer"):
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
