"""How a program becomes `__main__`, what is met when it is imported, and what is told of errors."""

import io
import sys
from pathlib import Path

import pytest

from databound.progress import WIDTH, Progress
from databound.script import told_errors
from databound.script.as_main import Program, ScriptExitError, as_before
from databound.script.kept_apart import LAST_LINES, Apart
from databound.script.told_errors import SENT_FRAME, users_traceback
from databound.script.when_imported import when_imported

# ---- as the main module ----

FIRST = """
import pickle, sys
class Images: pass
seen.append((__name__, __file__, sys.argv, sys.modules["__main__"].Images is Images))
"""


def test_a_script_is_the_main_module_and_a_second_pass_leaves_the_first_one_there(
    tmp_path: Path,
) -> None:
    """So what a worker is sent is found where it was looked for."""
    (tmp_path / "train.py").write_text(FIRST.replace("seen", "sys.seen_by_script"), "utf-8")
    seen: list[tuple[str, str, list[str], bool]] = []
    sys.seen_by_script = seen  # type: ignore[attr-defined]
    target = str(tmp_path / "train.py")
    before = sys.modules["__main__"], sys.argv, [*sys.path]
    program = Program(target, ["--lr", "1"])
    with as_before():
        program.run()
        first = sys.modules["__main__"]
        program.run()
        assert sys.modules["__main__"] is first
        assert sys.path[0] == str(tmp_path)
    assert (sys.modules["__main__"], sys.argv, sys.path) == before
    told = ("__main__", target, [target, "--lr", "1"])
    assert seen == [(*told, True), (*told, False)]


@pytest.mark.parametrize(
    ("end", "told"), [("0", ""), ("", ""), ("3", " with exit code 3"), ("'no'", ": no")]
)
def test_a_script_that_exits_has_ended_unless_it_says_that_it_failed(
    tmp_path: Path, end: str, told: str
) -> None:
    (tmp_path / "train.py").write_text(f"raise SystemExit({end})", "utf-8")
    program = Program(str(tmp_path / "train.py"), [])
    with as_before():
        if not told:
            program.run()
            return
        with pytest.raises(ScriptExitError) as raised:
            program.run()
    assert str(raised.value).endswith(f"train.py ended by itself{told}")


# ---- met when it is imported ----


def test_a_module_is_met_once_whoever_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "met_later.py").write_text("value = 1", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    finders = [*sys.meta_path]
    met: list[str] = []
    with when_imported("met_later", lambda module: met.append(f"{module.value}")):
        assert met == []
        import met_later  # type: ignore[import-not-found]

        assert met == ["1"]
        assert sys.meta_path == finders
    assert met_later.__spec__.loader.name == "met_later"
    with when_imported("met_later", lambda module: met.append("at once")):
        assert met == ["1", "at once"]
    with when_imported("never_imported", lambda module: met.append("never")):
        assert len(sys.meta_path) == len(finders) + 1
    assert sys.meta_path == finders
    del sys.modules["met_later"]


# ---- what is told ----


def test_a_traceback_has_no_frames_of_ours_in_any_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def users() -> None:
        raise KeyError("theirs")

    with pytest.raises(ValueError, match="after it") as raised:
        try:
            users()
        except KeyError as first:
            raise ValueError("after it") from first
    told = users_traceback(raised.value)
    assert told.count("Traceback") == 2
    assert told.count(f'File "{__file__}"') == 3
    monkeypatch.setattr(told_errors, "OURS", str(Path(__file__).parent))
    # Of an error that we alone raised a sentence is enough
    assert users_traceback(raised.value) == ""


def test_frames_that_a_worker_sent_as_text_are_left_out_too() -> None:
    sent = f'''Original Traceback (most recent call last):
  File "/lib/torch/worker.py", line 7, in loop
    fetch()
  File "{told_errors.OURS}/watching.py", line 3, in fetched
    return self.dataset[index]
           ~~~~~~~~~~~~^^^^^^^
  File "/home/train.py", line 9, in __getitem__
    raise KeyError
'''
    assert SENT_FRAME.sub("", sent).splitlines() == [
        "Original Traceback (most recent call last):",
        '  File "/lib/torch/worker.py", line 7, in loop',
        "    fetch()",
        '  File "/home/train.py", line 9, in __getitem__',
        "    raise KeyError",
    ]


def test_of_a_long_output_the_end_is_shown() -> None:
    lines = [f"line {number}" for number in range(LAST_LINES + 2)]
    apart = Apart(io.StringIO(), lambda: "\n".join(lines))
    shown = apart.last_lines().splitlines()
    assert shown[0] == "... 2 lines before these"
    assert shown[1:] == lines[2:]
    assert Apart(io.StringIO(), lambda: "").last_lines() == ""


def test_numbers_stand_side_by_side_below_what_they_are_of() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.begin("train.py runs ...")
    progress.end("4.1 s")
    progress.say("measuring")
    progress.note("loader alone", 0.041, 14.4)
    progress.note("step", 0.012)
    progress.say("trying")
    for _ in range(5):
        progress.note("a setting with a long name", 0.5, 9)
    progress.end_line()
    lines = stream.getvalue().splitlines()
    assert lines[:4] == [
        "train.py runs ... 4.1 s",
        "measuring",
        "    loader alone 41 ms (14 s left), step 12 ms",
        "trying",
    ]
    each = "a setting with a long name 500 ms (9 s left)"
    assert lines[4:] == [f"    {each},"] * 4 + [f"    {each}"]
    assert all(len(line) <= WIDTH for line in lines)


def test_a_script_that_went_to_another_folder_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "train.py").write_text("import os; os.chdir('elsewhere')", "utf-8")
    program = Program("train.py", [])
    with as_before():
        for _ in range(2):  # each run begins where it was started
            program.run()
            assert Path.cwd() == tmp_path / "elsewhere"
        assert sys.argv == ["train.py"]
        assert sys.modules["__main__"].__file__ == str(tmp_path / "train.py")
    assert Path.cwd() == tmp_path


def test_a_module_finds_its_neighbours_when_it_has_gone_to_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("elsewhere", "package_that_goes"):
        (tmp_path / name).mkdir()
    (tmp_path / "package_that_goes" / "__init__.py").touch()
    (tmp_path / "package_that_goes" / "names.py").touch()
    text = "import os; os.chdir('elsewhere'); import package_that_goes.names"
    (tmp_path / "package_that_goes" / "train.py").write_text(text, "utf-8")
    with as_before():
        Program("package_that_goes.train", [], is_module=True).run()
