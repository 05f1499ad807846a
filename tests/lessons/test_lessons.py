"""The lessons, and a learner's copies of them."""

import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from lessonkit import lessons
from lessonkit.lessons import copy_lessons
from tools import targets
from tools.lesson import NOTEBOOK_NAMES, WRITTEN
from tools.lessons import NOTEBOOKS
from tools.repository import kept_at
from tools.servers import notebook

ROOT = NOTEBOOKS.parent
NAME = "03_parallel_map.ipynb"


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one lesson, of two cells."""
    monkeypatch.setattr(lessons, "CLONE", tmp_path / "notebooks")
    lessons.CLONE.mkdir()
    lesson = lessons.CLONE / NAME
    lesson.write_text(notebook(("1 + 1", "2 + 2")))
    return lesson


@pytest.fixture
def copy(shipped: Path, tmp_path: Path) -> Path:
    """A learner's copy of it."""
    assert not copy_lessons(tmp_path / "mine")
    return tmp_path / "mine" / NAME


def change(path: Path, **fields: Any) -> str:
    """Give the last cell other fields; the text of the notebook."""
    found = json.loads(path.read_text())
    found["cells"][-1].update(fields)
    path.write_text(json.dumps(found))
    return path.read_text()


def test_a_lesson_is_copied_as_it_is(shipped: Path, copy: Path) -> None:
    assert copy.read_bytes() == shipped.read_bytes()


def test_a_lesson_that_cannot_be_written_to_becomes_a_copy_that_can(
    shipped: Path, tmp_path: Path
) -> None:
    shipped.chmod(0o444)
    copy_lessons(tmp_path / "mine")
    assert (tmp_path / "mine" / NAME).stat().st_mode & 0o200


def test_a_copy_that_was_not_changed_gets_the_newer_version(
    shipped: Path, copy: Path
) -> None:
    newer = change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == newer
    newer = change(shipped, source="4 + 4")
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == newer


@pytest.mark.parametrize(
    "fields",
    [
        {"outputs": ["4"]},
        {"execution_count": 7},
        {"metadata": {"collapsed": True}},
        {"source": ["2 ", "+ 2"]},
    ],
)
def test_running_and_saving_changes_nothing(
    shipped: Path, copy: Path, fields: dict[str, Any]
) -> None:
    change(copy, **fields)
    newer = change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == newer


def test_the_empty_cell_that_running_the_last_one_adds_changes_nothing(
    shipped: Path, copy: Path
) -> None:
    copy.write_text(notebook(("1 + 1", "2 + 2", "")))
    newer = change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == newer


def test_what_was_run_and_saved_stays_until_there_is_a_newer_version(
    shipped: Path, copy: Path
) -> None:
    saved = change(copy, outputs=["4"])
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == saved
    change(shipped, outputs=["four"])
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == saved


@pytest.mark.parametrize(
    "text",
    [
        notebook(("1 + 1", "2 + 3")),
        notebook(("1 + 1",)),
        notebook(("1 + 1", "2 + 2", "mine")),
        notebook(("2 + 2", "1 + 1")),
        notebook(()),
        "no notebook",
    ],
)
def test_what_a_learner_wrote_is_left_alone_and_a_newer_version_told(
    shipped: Path, copy: Path, text: str
) -> None:
    copy.write_text(text)
    assert copy_lessons(copy.parent) == []
    change(shipped, source="3 + 3")
    for _ in range(2):
        assert copy_lessons(copy.parent) == [NAME]
        assert copy.read_text() == text


def test_answers_come_along_with_their_lesson_and_go_with_its_version(
    shipped: Path, copy: Path
) -> None:
    older = copy.read_text()
    theirs = shipped.with_name("answers_03.py")
    ours = copy.with_name("answers_03.py")
    theirs.write_text("first")
    assert copy_lessons(copy.parent) == []
    assert ours.read_text() == "first"
    theirs.write_text("second")
    assert copy_lessons(copy.parent) == []
    assert (ours.read_text(), copy.read_text()) == ("second", older)
    ours.unlink()  # they are taken from where they are missing
    assert copy_lessons(copy.parent) == []
    assert ours.read_text() == "second"
    mine = change(copy, source="mine")
    theirs.write_text("third")
    change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == [NAME]
    assert (ours.read_text(), copy.read_text()) == ("second", mine)  # those that fit


def test_answers_that_a_learner_changed_are_left_alone(shipped: Path, copy: Path) -> None:
    theirs = shipped.with_name("answers_03.py")
    ours = copy.with_name("answers_03.py")
    theirs.write_text("first")
    copy_lessons(copy.parent)
    ours.write_text("mine")
    theirs.write_text("second")
    assert copy_lessons(copy.parent) == [NAME]
    assert ours.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "content"),
    [("figure_03.png", b"\x89PNG\r\n"), ("notes_03.txt", b"mine"), ("data_03.d", None)],
)
def test_a_file_of_a_learner_s_own_does_not_count_as_the_lesson_s(
    shipped: Path, copy: Path, name: str, content: bytes | None
) -> None:
    own = copy.with_name(name)
    own.mkdir() if content is None else own.write_bytes(content)
    newer = change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == newer
    assert content is None or own.read_bytes() == content


def test_a_newer_version_may_have_other_files(shipped: Path, copy: Path) -> None:
    theirs = shipped.with_name("answers_03.py")
    theirs.write_text("first")
    assert copy_lessons(copy.parent) == []
    change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == []
    theirs.rename(theirs.with_name("tables_03.py"))
    for text in "4 + 4", "5 + 5":
        newer = change(shipped, source=text)
        assert copy_lessons(copy.parent) == []
        assert copy.read_text() == newer


@pytest.mark.parametrize(
    "broken", ['{"cells": 5}', '{"cells": [{"source": null}]}', '{"cells": [3]}', "[]"]
)
def test_a_copy_that_is_no_notebook_any_more_is_left_alone(
    shipped: Path, copy: Path, broken: str
) -> None:
    copy.write_text(broken)
    assert copy_lessons(copy.parent) == []
    change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == [NAME]
    assert copy.read_text() == broken


def test_a_copy_that_was_renamed_makes_place_for_the_newer_version(
    shipped: Path, copy: Path
) -> None:
    mine = change(copy, source="mine")
    newer = change(shipped, source="3 + 3")
    copy.rename(copy.with_name("mine.ipynb"))
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == newer
    assert copy.with_name("mine.ipynb").read_text() == mine


@pytest.mark.parametrize("record", [None, "", "[]", "{"])
def test_without_its_record_nothing_is_overwritten(
    shipped: Path, copy: Path, record: str | None
) -> None:
    kept = copy.parent / lessons.RECORD
    if record is None:
        kept.unlink()
    else:
        kept.write_text(record)
    older = copy.read_text()
    change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == [NAME]
    assert copy.read_text() == older


def test_a_copy_of_an_older_version_without_a_record_is_known_again(
    shipped: Path, copy: Path
) -> None:
    (copy.parent / lessons.RECORD).unlink()
    assert copy_lessons(copy.parent) == []
    newer = change(shipped, source="3 + 3")
    assert copy_lessons(copy.parent) == []
    assert copy.read_text() == newer


def install(folder: Path, *files: str) -> None:
    """Make an installation of lessonkit in *folder* that has recorded these *files*, and has them."""
    for file in files:
        (folder / file).resolve().parent.mkdir(parents=True, exist_ok=True)
        (folder / file).resolve().touch()
    info = folder / "lessonkit-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: lessonkit\nVersion: 0.1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def test_an_installation_finds_its_own_lessons_and_not_those_of_a_stranger(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = tmp_path / "lib" / "site-packages"
    share = tmp_path / "share" / "lessonkit" / "notebooks"
    ours = [
        f"../../share/lessonkit/notebooks/{name}" for name in ("b.ipynb", "a.ipynb", "a.js")
    ]
    install(site, "lessonkit/__main__.py", *ours)
    (site / "notebooks").mkdir()
    (site / "notebooks" / "stranger.ipynb").touch()
    monkeypatch.setattr(lessons, "CLONE", site / "notebooks")
    monkeypatch.setattr(sys, "path", [str(site)])
    assert lessons.lessons() == [share / "a.ipynb", share / "b.ipynb"]


def test_a_clone_finds_its_lessons_whether_it_is_installed_or_not(
    shipped: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.files("lessonkit")
    assert lessons.lessons() == [shipped]
    install(tmp_path / "editable", "__editable__.lessonkit-0.1.0.pth")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "editable")])
    assert lessons.lessons() == [shipped]


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_what_a_lab_leaves_is_nothing_to_git_and_no_lesson(tmp_path: Path) -> None:
    def say(*command: str) -> str:
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    shutil.copytree(ROOT / "lessonkit", tmp_path / "lessonkit")
    shutil.copytree(NOTEBOOKS, tmp_path / "notebooks", ignore=shutil.ignore_patterns(".*"))
    shutil.copy(ROOT / ".gitignore", tmp_path)
    say("git", "init", "--quiet")
    say("git", "add", ".")
    say(
        "git",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "--quiet",
        "--message=as shipped",
    )

    mine, (first, *_) = tmp_path / targets.LESSONS, WRITTEN
    say(sys.executable, "-m", "lessonkit", "copy", targets.LESSONS)
    text = change(mine / f"{first}.ipynb", source="what I wrote")
    (mine / "of my own.py").touch()
    for folder in mine, tmp_path / "notebooks":
        (folder / ".ipynb_checkpoints").mkdir()
        (folder / ".ipynb_checkpoints" / f"{first}-checkpoint.ipynb").write_text(text)

    assert say("git", "status", "--porcelain") == ""
    say(sys.executable, "-m", "lessonkit", "copy", targets.LESSONS)
    say(sys.executable, "-m", "lessonkit", "copy", "more")
    assert (mine / f"{first}.ipynb").read_text() == text
    for folder in mine, tmp_path / "more":
        assert sorted(path.stem for path in folder.glob("*.ipynb")) == NOTEBOOK_NAMES


def test_what_lies_beside_the_lessons_is_added_to_the_path_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", ["here"])
    for _ in range(3):  # a cell may run again
        lessons.find_answers()
    assert sys.path == ["here", str(NOTEBOOKS)]


def test_what_somebody_else_is_writing_belongs_to_no_lesson(tmp_path: Path) -> None:
    lesson = next(path for path in lessons.lessons() if lessons.files_of(path))
    assert lessons.copy_lessons(tmp_path) == []
    half = lessons.files_of(lesson)[0].name
    (tmp_path / f".{half}.4711").write_text("not all of")
    names = {f".{half}.4711", half}
    assert lessons.digest(tmp_path / lesson.name, names) == lessons.digest(lesson, names)


def test_who_copies_at_the_same_time_finds_nothing_that_somebody_changed(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "lessonkit", "copy", str(tmp_path / "mine")]
    at_once = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [process.communicate()[0] for process in at_once]
    assert [process.returncode for process in at_once] == [0] * 4
    assert all(
        "nothing that you write" in text and "You have changed" not in text for text in said
    )
    hidden = [
        path.name for path in (tmp_path / "mine").iterdir() if path.name.startswith(".")
    ]
    assert hidden == [lessons.RECORD]


def first_cell(name: str) -> str:
    """The code that a lesson begins with."""
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))


def python(folder: Path, code: str, *flags: str) -> "subprocess.CompletedProcess[str]":
    """Run *code* in a folder, as a notebook that was opened alone would."""
    command = [sys.executable, *flags, "-c", code]
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True)


def test_a_notebook_that_was_opened_alone_finds_what_lies_beside_its_lesson(
    tmp_path: Path,
) -> None:
    numbers = [name[:2] for name in WRITTEN]
    imports = [f"import answers_{number}" for number in numbers]
    ran = python(tmp_path, "\n".join([first_cell(WRITTEN[0]), *imports]))
    assert (ran.returncode, ran.stderr) == (0, "")
    for name in NOTEBOOK_NAMES[1:]:
        assert first_cell(name).startswith(first_cell(WRITTEN[0])), name


def test_what_lies_beside_a_notebook_comes_before_what_was_installed(
    tmp_path: Path,
) -> None:
    (tmp_path / "answers_00.py").write_text("mine = True")
    code = f"{first_cell(WRITTEN[0])}\nimport answers_00\nanswers_00.mine"
    assert python(tmp_path, code).returncode == 0


@pytest.mark.parametrize("name", NOTEBOOK_NAMES)
def test_without_the_package_the_first_cell_says_what_to_install(
    name: str, tmp_path: Path
) -> None:
    ran = python(tmp_path, first_cell(name), "-I", "-S")
    said = ran.stderr.splitlines()[-1]
    assert said == (
        "ModuleNotFoundError: Run "
        f'%pip install "lessonkit[lessons] @ git+https://github.com/{kept_at(ROOT)}" '
        "in a cell of its own, and then run this cell again."
    )
    assert "During handling" not in ran.stderr
