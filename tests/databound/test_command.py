"""The command `databound`: what it is asked, what it prints and writes, and how it ends."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from support.commands import run
from support.modelled_jobs import Modelled

from databound import save_job
from databound.advise.advice import recommended
from databound.advise.choosing import Bounds
from databound.advise.page import Recommendation, plus_or_minus
from databound.advise.report import Found, report
from databound.advise.verdict import VERDICTS, Verdict
from databound.command import EXIT_CODES, main, what_to_tell
from databound.model.job import Job
from databound.origin import InScript, Origin
from lessonkit.words import milliseconds

TURNS = Modelled(0.020, 0.010, computes=False)
STEP_BOUND = Modelled(0.0004, 0.020, computes=False)


# ---- a loader and a step ----


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])


def test_a_module_that_parses_arguments_does_not_see_ours(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "import sys\nassert sys.argv == ['parses_arguments']\nloader = [1, 2]"
    (tmp_path / "parses_arguments.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["parses_arguments:loader", "json:loads"]) == 2
    assert "must be a DataLoader" in capfd.readouterr().err


ENDS = {
    "syntax": "1 +",
    "exits": "import sys; sys.exit()",
    "own": "class Own(BaseException): pass\nraise Own('no')",
}


@pytest.mark.parametrize("name", ENDS)
def test_a_module_that_ends_prints_no_page(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
) -> None:
    (tmp_path / f"ends_{name}.py").write_text(ENDS[name], "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert main([f"ends_{name}:loader", "json:loads", "--full"]) == 2
    printed = capfd.readouterr()
    assert not printed.out
    assert f"ends_{name}.py" in printed.err


JOB = """
loader = [1, 2]
step = print
"""


@pytest.mark.parametrize(
    ("loader", "said"),
    [
        ("my_module:loader", "must be a DataLoader"),
        ("my_module:no", "no attribute"),
        ("gone:loader", "No module"),
        ("gone.py:loader", "gone.py: there is no such file"),
    ],
)
def test_what_cannot_be_measured_is_told_in_a_sentence(
    loader: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    module = ModuleType("my_module")
    exec(JOB, vars(module))
    monkeypatch.setitem(sys.modules, "my_module", module)
    assert main([loader, "my_module:step"]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert said in printed.err.splitlines()[-1]


def test_a_step_has_to_come_behind_a_loader(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["json:loads"]) == 2
    assert "behind it comes a step" in capfd.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2


TINY = """
import time
from lessonkit import DataLoader, Dataset

loader = DataLoader(Dataset.range(160).map(lambda number: time.sleep(0.002)), 4)


def step(batch):
    print("a line of the step")
    time.sleep(0.004)


def fails(batch):
    print("a line before it fails")
    return {}["labels"]
"""


def test_a_reference_may_be_a_path_with_folders_and_stdout_is_json_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "tiny.py").write_text(TINY, "utf-8")
    ended = run(tmp_path, "folder/tiny.py:loader", "./folder/tiny.py:step", "--json")
    assert ended.returncode in (0, 1, 3), ended.stderr
    assert json.loads(ended.stdout)["now"]
    assert "measuring the loader and the step: about" in ended.stderr
    assert "loader alone " in ended.stderr
    assert " s left)" in ended.stderr
    assert "a line of the step" not in ended.stderr


def test_a_file_in_a_package_may_import_its_neighbours(tmp_path: Path) -> None:
    package = tmp_path / "outer" / "inner"
    package.mkdir(parents=True)
    (tmp_path / "outer" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "other.py").write_text("loader = [1]", "utf-8")
    (package / "mine.py").write_text("from .other import loader\nstep = print", "utf-8")
    ended = run(tmp_path, "outer/inner/mine.py:loader", "outer.inner.mine:step")
    assert ended.returncode == 2
    assert "loader=[1]: must be a DataLoader" in ended.stderr


def test_an_error_comes_with_the_lines_of_the_user_and_what_was_printed(
    tmp_path: Path,
) -> None:
    (tmp_path / "tiny.py").write_text(TINY, "utf-8")
    ended = run(tmp_path, "tiny:loader", "tiny:fails")
    assert ended.returncode == 2
    assert 'tiny.py", line' in ended.stderr
    assert 'return {}["labels"]' in ended.stderr
    assert "a line before it fails" in ended.stderr
    assert "databound: the step raised at batch 1 of an epoch" in ended.stderr
    for ours in ("measuring.py", "runs.py", "watching.py"):
        assert ours not in ended.stderr


# ---- a stored job, in all forms ----

ORIGIN = Origin(
    command="databound train.py --epochs 90",
    date="2026-01-01 12:00 UTC",
    machine="Linux, two cores",
    python="3.11.0",
    pytorch="2.9",
    databound="0.1.0",
    script=InScript(
        target="train.py --epochs 90",
        loader="DataLoader(batch_size=4, num_workers=0)",
        made_at="train.py:23",
        loop_at="train.py:31",
    ),
)


def tried(model: Modelled) -> Job:
    """The job of a model, whose best settings were really run, as a command measured it."""
    job = model.job()
    job.origin = ORIGIN
    recommended(job, print)
    return job


def test_a_stored_job_is_shown_again_as_it_was_in_all_forms(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    job = tried(TURNS)
    page = recommended(job, print)
    save_job(job, tmp_path / "job.json")
    capfd.readouterr()
    stored = str(tmp_path / "job.json")
    html = str(tmp_path / "page.html")
    assert main(["--html", html, "--save", str(tmp_path / "again.json"), stored]) == 1
    printed = capfd.readouterr()
    for text in (printed.out, Path(html).read_text("utf-8")):
        assert "databound train.py --epochs 90" in text
        for known in ("2026-01-01 12:00 UTC", "Linux, two cores", "3.11.0", "2.9", "0.1.0"):
            assert known in text
    assert "train.py:23  DataLoader(batch_size=4, num_workers=0)  feeds" in printed.out
    assert printed.err == ""
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "job.json").read_bytes()
    assert main([stored, "--json"]) == 1
    numbers = json.loads(capfd.readouterr().out)
    assert numbers == json.loads(json.dumps(page.numbers()))
    assert numbers["origin"]["script"]["made_at"] == "train.py:23"
    assert main(["--full", stored]) == 1
    assert capfd.readouterr().out == f"{page}\n"


def test_a_report_names_the_line_to_change_what_was_tried_and_how_to_go_on(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    job = tried(TURNS)
    page = recommended(job, print)
    save_job(job, tmp_path / "job.json")
    capfd.readouterr()
    assert main([str(tmp_path / "job.json")]) == 1
    lines = capfd.readouterr().out.splitlines()
    first = next(
        line for line in lines if line.startswith("    train.py:23   num_workers=")
    )
    change = page.changes[0]
    row = next(row for row in page.table if row.changes == change.settings)
    assert row.tried is not None
    saves = plus_or_minus(change.saves, change.within)
    assert first.endswith(f"     tried: {milliseconds(row.tried)}, saves {saves}")
    settings = ",".join(f"{name}={value}" for name, value in change.settings.items())
    assert lines[-1].endswith(
        f"Try it on all of it:  databound --set {settings} train.py --epochs 90"
    )


def test_a_report_names_loaders_besides_ours_for_which_a_step_waits(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    job = tried(TURNS)
    assert ORIGIN.script is not None
    job.origin = replace(ORIGIN, script=replace(ORIGIN.script, beside=["train.py:24"]))
    save_job(job, tmp_path / "job.json")
    capfd.readouterr()
    for form in ([], ["--full"]):
        main([str(tmp_path / "job.json"), *form])
        assert (
            capfd.readouterr().out.count("--loader train.py:24 measures that loader.") == 1
        )


def test_the_output_in_the_documents_is_what_the_command_says_now() -> None:
    root = Path(__file__).parents[2]
    (output,) = re.findall(
        r"^```\n(\S+ runs until its.*?)^```$",
        (root / "docs" / "own_job.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    job = tried(TURNS)
    job.subject = None
    now = report(Found(recommended(job), "Nothing was saved by the script."))

    def kinds(text: str) -> set[str]:
        """The lines of a report, without what differs from job to job."""
        text = re.sub(r"    \S+\.py:\d+   .*?     ", "    LINE     ", text)
        text = re.sub(r"--set .*", "", text)
        text = re.sub(r"\d[\d.,]*( m?s)?", "#", text)
        text = re.sub(
            r", and (no setting|none with torch\.set_num_threads\(#\)) more than # %",
            "",
            text,
        )
        return {line for line in text.splitlines() if not line.startswith("The first")}

    lines = output.splitlines()
    assert re.fullmatch(
        r"\S+\.py runs until its first training step \.\.\. [\d.]+ s", lines[0]
    )
    assert re.fullmatch(r"\S+:\d+  DataLoader\(.*\)  feeds the loop at \S+:\d+", lines[1])
    (begins,) = [
        number for number, line in enumerate(lines) if line.startswith("They take turns:")
    ]
    doubts = {line for line in lines[begins:] if "Other programs used" in line}
    said = "\n".join(line for line in lines[begins:] if line not in doubts)
    assert kinds(said) == kinds("\n".join(now.splitlines()[2:]))
    # The README has the lines that matter
    readme = (root / "README.md").read_text("utf-8")
    (brief,) = re.findall(r"^```\n(\S+\.py:\d+  DataLoader.*?)^```$", readme, re.M | re.S)
    assert set(brief.splitlines()) <= set(lines)


def page_of(verdict: str, *, changes: bool) -> Recommendation:
    """A page with a verdict, and with something to change or not."""
    found = recommended(replace(TURNS.job(), subject=None))
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
    assert what_to_tell(page_of(verdict, changes=changes)) == code


def test_exit_codes_are_told_in_the_help_and_in_the_document(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert EXIT_CODES in capsys.readouterr().out
    document = Path(__file__).parents[2] / "docs" / "own_job.md"
    shown = [line.split()[0] for line in EXIT_CODES.splitlines()[1:]]
    rows = document.read_text("utf-8").splitlines()
    codes = [row.split("|")[1].strip() for row in rows if row.startswith("| ")]
    assert codes[codes.index("code") + 2 :] == shown


@pytest.mark.parametrize(("less", "is_said"), [(0.1, True), (1e-6, False)])
def test_two_bounds_that_are_one_number_on_a_page_are_said_once(
    less: float, is_said: bool
) -> None:
    page = recommended(replace(TURNS.job(), subject=None))
    most = page.saved_with_these_threads
    page = replace(page, bounds=Bounds(any=most, cores=most - less))
    assert ("no setting more than" in page.limits()) == is_said


@pytest.mark.parametrize("form", [[], ["--full"]])
def test_a_step_bound_job_says_its_verdict_and_ends_with_0(
    form: list[str], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    save_job(tried(STEP_BOUND), tmp_path / "job.json")
    capfd.readouterr()
    assert main([*form, str(tmp_path / "job.json")]) == 0
    assert VERDICTS["step-bound"] in capfd.readouterr().out


def test_a_file_that_is_no_job_and_a_folder_that_is_not_there_are_told(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "job.json").write_text("{}", "utf-8")
    assert main([str(tmp_path / "job.json")]) == 2
    assert "must be a job that databound --save has stored" in capfd.readouterr().err
    # Before anything is measured
    assert main(["--save", str(tmp_path / "no" / "job.json"), "json:a", "json:b"]) == 2
    assert "there is no such folder" in capfd.readouterr().err


def test_whoever_reads_may_go_away_before_the_end(tmp_path: Path) -> None:
    save_job(tried(TURNS), tmp_path / "job.json")
    command = (
        f"{sys.executable} -m databound --full job.json | true; echo ${{PIPESTATUS[0]}}"
    )
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.strip() == "1", ended.stderr
    assert "BrokenPipe" not in ended.stderr


def test_ctrl_c_ends_it_as_shells_expect(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("databound.command.recommend_for_references", stopped)
    assert main(["json:loads", "json:loads"]) == 130
    assert capfd.readouterr().err == "databound: stopped\n"


WRONG = {
    ":loader mine.py:step": ":loader: must be as mine.py:loader or package.mine:loader",
    "nothing_here.py: mine.py:step": "nothing_here.py:: must be as mine.py:loader or",
    "gone.py:loader gone.py:step": "gone.py: there is no such file",
    "gone:loader gone:step": "ModuleNotFoundError: No module named 'gone'",
    "nothing_here.py:loader nothing_here.py:step": "module 'nothing_here' has no attribute 'loader'",
    "nothing_here.py:x nothing_here.py:x": "step=1: must be a function",
    "nothing_here.py:x nothing_here.py:f": "loader=1: must be a DataLoader as PyTorch has it",
    "nothing_here.py:x": "nothing_here.py:x is a loader: behind it comes a step",
    "broken.json": "broken.json: must be a job that databound --save has stored",
    "binary.json": "binary.json: must be a job that databound --save has stored",
    "list.json": "list.json: must be a job that databound --save has stored",
    "--save . list.json": "it is a folder",
    "--html gone/page.html list.json": "gone/page.html: there is no such folder",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_in_a_command_is_told_in_a_sentence(
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nothing_here.py").write_text("x = 1\ndef f(batch): ...", "utf-8")
    Path("broken.json").write_text("{", "utf-8")
    Path("binary.json").write_bytes(b"\xff\xfe")
    Path("list.json").write_text("[]", "utf-8")
    assert main(words.split()) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert WRONG[words] in told.err.splitlines()[-1]
    assert told.err.startswith("databound: ")
    sys.modules.pop("nothing_here", None)
