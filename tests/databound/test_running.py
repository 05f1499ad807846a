"""A script that is run itself: watched, with other arguments, for so many batches, behind a gate."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.stand_in_device import Clock
from support.training_step import train_on

from databound import command
from databound.script.as_main import as_before
from databound.whole_runs.loops import TrainingLoops
from databound.whole_runs.stored_runs import load_run

pytestmark = pytest.mark.usefixtures("workers_gone")

# Batches of 4 ms, and steps of 6; the first batch of an epoch takes 1 ms more
SCRIPT = """\
import sys
import torch
from bench import clock, train_on


class Slow:
    def __len__(self):
        return 40

    def __getitem__(self, index):
        clock.spend(0.001 + 0.001 * (index == 0))
        return index


loader = torch.utils.data.DataLoader(Slow(), batch_size=4, collate_fn=list)
for epoch in range(2):
    for batch in loader:
        train_on(torch)
        clock.spend(0.006)
    print("epoch", epoch, *sys.argv[1:])
"""
MADE = 1 + SCRIPT.splitlines().index(
    "loader = torch.utils.data.DataLoader(Slow(), batch_size=4, collate_fn=list)"
)
EPOCH = f"10 batches, 10 ms each, waited 40 % (train.py:{MADE}); the first came after 5 ms"
IN_ALL = f"in all 20 batches in 2 epochs, 10 ms each, waited 40 % (train.py:{MADE})"
# The first epoch from its first batch, the second from its beginning: 90 + 95 ms; 36 + 41 of them waited
GATE = "training waited 42 % of its time"

Call = Callable[..., int]


@pytest.fixture
def call(library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    """What runs `databound` in this process, beside a script that the test gives."""
    bench = ModuleType("bench")
    bench.clock = Clock()  # type: ignore[attr-defined]
    bench.train_on = train_on  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bench", bench)
    defaults = TrainingLoops.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "clock", bench.clock)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABOUND", raising=False)
    monkeypatch.delenv("DATABOUND_LOG", raising=False)

    def run(*words: str, script: str = SCRIPT) -> int:
        Path("train.py").write_text(script, encoding="utf-8")
        return command.main(words)

    with as_before():
        yield run


Printed = pytest.CaptureFixture[str]


def ours(printed: str) -> list[str]:
    """The lines of ours, without who says them."""
    lines = printed.splitlines()
    return [
        line.removeprefix("databound: ") for line in lines if line.startswith("databound: ")
    ]


def test_a_watched_script_is_as_it_is_with_a_line_an_epoch(
    call: Call, capsys: Printed
) -> None:
    assert call("--watch", "train.py", "--lr", "0.1") == 0
    printed = capsys.readouterr()
    assert printed.out == "epoch 0 --lr 0.1\nepoch 1 --lr 0.1\n"
    assert ours(printed.err) == [f"epoch 1: {EPOCH}", f"epoch 2: {EPOCH}", IN_ALL]


def test_the_environment_asks_for_watching(
    call: Call, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABOUND", "watch")
    assert call("train.py") == 0
    assert ours(capsys.readouterr().err)[-1] == IN_ALL


def test_the_environment_asks_for_nothing_else(
    call: Call, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABOUND", "on")
    with pytest.raises(SystemExit):
        call("train.py")
    assert "DATABOUND=on: must be watch, or not be set" in capsys.readouterr().err


def test_of_several_ranks_the_first_one_stores_the_run(
    call: Call, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in (1, 0):
        monkeypatch.setenv("RANK", str(rank))
        assert call("--watch", "--save", "run.json", "train.py") == 0
        told = ours(capsys.readouterr().err)
        assert told[0] == f"rank {rank}, epoch 1: {EPOCH}"
        assert told[-1] == f"rank {rank}, {IN_ALL}"
        assert Path("run.json").exists() == (rank == 0)


@pytest.mark.parametrize(
    ("end", "code", "says"),
    [
        ("sys.exit(7)", 7, ""),
        ("sys.exit(0)", 0, ""),
        ("sys.exit('no disk')", 1, "no disk\n"),
        ("raise ValueError('no loss')", 1, "ValueError: no loss\n"),
        ("raise KeyboardInterrupt", 130, "databound: stopped\n"),
    ],
)
def test_a_watched_script_ends_as_it_would_without(
    call: Call, capsys: Printed, end: str, code: int, says: str
) -> None:
    assert call("--watch", "train.py", script=SCRIPT + end) == code
    printed = capsys.readouterr().err
    assert says in printed
    assert ours(printed)[-1] == IN_ALL


def test_an_error_comes_with_the_users_own_lines_alone(call: Call, capsys: Printed) -> None:
    call("--watch", "train.py", script=SCRIPT + "{}['labels']")
    lines = capsys.readouterr().err.splitlines()
    at = lines.index("Traceback (most recent call last):")
    assert 'train.py", line ' in lines[at + 1]
    assert lines[at + 2].strip() == "{}['labels']"


def test_settings_are_forced_and_told(call: Call, capsys: Printed) -> None:
    script = SCRIPT + "print(loader.in_order, torch.get_num_threads())\n"
    set_ = "in_order=False,threads=3"
    assert call("--set", set_, "train.py", script=script) == 0
    printed = capsys.readouterr()
    assert printed.out.endswith("\nFalse 3\n")
    assert ours(printed.err)[-1] == f"that was with {set_} in the loader of train.py:{MADE}"


def test_a_setting_that_the_loader_cannot_have_ends_the_script(
    call: Call, capsys: Printed
) -> None:
    assert call("--set", "prefetch_factor=4", "train.py") == 2
    told = ours(capsys.readouterr().err)
    where = f"the loader of train.py:{MADE}"
    assert told[0] == f"--set prefetch_factor=4: needs workers, and {where} has none"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "workers=2"], "must be NAME=VALUE with one of num_workers"),
        (["--set", "threads=no"], "threads=no: must be a whole number, 1 or more"),
        (["--batches", "0"], "0: must be a whole number, 1 or more"),
        (
            ["--watch", "--loader", "train.py"],
            "train.py: must be FILE:LINE, as train.py:40",
        ),
        (["--watch", "--loader", ":3"], ":3: must be FILE:LINE, as train.py:40"),
        (
            ["--watch", "--json"],
            "--json: is about measuring, and the script is to be run",
        ),
        (["--set", "threads=1", "--diff"], "--diff: is about measuring"),
        (["--batches", "3", "--html", "a.html"], "--html: is about measuring"),
        (["--watch", "--full"], "--full: is about measuring"),
        (["--watch", "--save", "gone/a.json"], "gone/a.json: there is no such folder"),
        (["--watch", "--log", "gone/a.jsonl"], "gone/a.jsonl: there is no such folder"),
        (["--watch", "--save", "."], ".: it is a folder"),
        (["--log", "a.jsonl"], "--log: has a line for each epoch of a script that is run"),
        (["--fail-if-waiting-above", "0.1"], "0.1: must be between 0% and 100%, as 10%"),
        (["--fail-if-waiting-above", "101%"], "101%: must be between 0% and 100%"),
        (["--fail-if-waiting-above", "x%"], "x%: must be between 0% and 100%"),
    ],
)
def test_an_option_with_a_wrong_value_is_named_with_what_is_allowed(
    call: Call, capsys: Printed, words: list[str], says: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        call(*words, "train.py")
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("target", ["mine.py:loader", "job.json"])
def test_only_a_script_can_be_run_itself(call: Call, capsys: Printed, target: str) -> None:
    Path("job.json").write_text("{}")
    with pytest.raises(SystemExit):
        call("--watch", target)
    assert "only a script can be run itself" in capsys.readouterr().err


@pytest.mark.parametrize(("most", "code"), [("42%", 0), ("41%", 1), ("0%", 1), ("100%", 0)])
def test_a_gate_tells_by_its_exit_code(
    call: Call, capsys: Printed, most: str, code: int
) -> None:
    assert call("--fail-if-waiting-above", most, "train.py", "--lr", "1") == code
    told = ours(capsys.readouterr().err)[-1]
    allowed = f"{most.removesuffix('%')} % are allowed"
    if code:
        assert told == f"{GATE}, and {allowed}: `databound train.py --lr 1` says what helps"
    else:
        assert told == f"{GATE}; {allowed}"


@pytest.mark.parametrize("end", ["sys.exit(1)", "raise ValueError", "sys.exit(3)"])
def test_a_gate_tells_a_failed_script_from_one_that_waits(call: Call, end: str) -> None:
    assert call("--fail-if-waiting-above", "90%", "train.py", script=SCRIPT + end) == 2


def test_a_module_that_there_is_not_is_named(call: Call, capsys: Printed) -> None:
    assert call("--watch", "-m", "gone") == 1
    assert (
        "ImportError: -m gone: there is no module of that name" in capsys.readouterr().err
    )


NO_TRAINING = "import torch\nprint('nothing')\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--watch"], 0),
        (["--set", "num_workers=1"], 2),
        (["--batches", "5"], 2),
        (["--fail-if-waiting-above", "10%"], 2),
    ],
)
def test_who_waits_for_numbers_hears_that_nothing_trained(
    call: Call, capsys: Printed, words: list[str], code: int
) -> None:
    assert call(*words, "train.py", script=NO_TRAINING) == code
    assert ours(capsys.readouterr().err) == [
        "no loop over a DataLoader called backward(), so there is nothing to tell"
    ]


def test_a_line_of_no_loader_that_trained_is_named(call: Call, capsys: Printed) -> None:
    assert call("--set", "threads=1", "--loader", "train.py:99", "train.py") == 2
    told = ours(capsys.readouterr().err)[-1]
    seen = f"no loader of that line trained; those that did: train.py:{MADE}"
    assert told == f"--loader train.py:99: {seen}"


def test_a_run_is_stored_with_what_it_was(call: Call) -> None:
    words = ["--set", "threads=2", "--save", "run.json", "train.py", "--lr", "0.1 x"]
    assert call(*words) == 0
    stored = load_run(Path("run.json"))
    assert (stored.script, stored.arguments) == ("train.py", "--lr '0.1 x'")
    assert stored.settings == {"threads": 2}
    assert (
        stored.command == "databound --set threads=2 --save run.json train.py --lr '0.1 x'"
    )
    assert [epoch.batches for epoch in stored.loops[0].epochs] == [10, 10]
    assert stored.loops[0].options["batch_size"] == 4


def test_a_log_has_a_line_an_epoch(call: Call) -> None:
    assert call("--watch", "--log", "waits.jsonl", "train.py") == 0
    assert len(Path("waits.jsonl").read_text().splitlines()) == 2


def test_a_module_is_run_as_well(call: Call, capsys: Printed) -> None:
    Path("package").mkdir()
    Path("package/__init__.py").touch()
    Path("package/train.py").write_text(SCRIPT)
    assert call("--watch", "-m", "package.train", "--lr", "1") == 0
    printed = capsys.readouterr()
    assert printed.out == "epoch 0 --lr 1\nepoch 1 --lr 1\n"
    assert ours(printed.err)[-1] == IN_ALL


def test_a_script_that_watches_itself_is_told_once(call: Call, capsys: Printed) -> None:
    script = "import databound\ndatabound.watch()\n" + SCRIPT
    assert call("--watch", "train.py", script=script) == 0
    assert len(ours(capsys.readouterr().err)) == 3


# ---- in a process of its own ----

STAND_IN = """\
import sys
from support.stand_in_torch import library
made = library()
sys.modules["torch"] = made
"""
BENCH = """\
import time
from support.training_step import train_on
class clock:
    spend = staticmethod(time.sleep)
"""


@pytest.fixture
def shell(library: Any, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """What runs `databound` in a process of its own, with the same PyTorch as this one."""
    root = Path(__file__).parents[2]
    parts = [tmp_path, root, root / "tests"]
    (tmp_path / "bench.py").write_text(BENCH)
    if hasattr(library, "Tensor"):
        parts.append(Path(library.__file__).parents[1])
    else:
        (tmp_path / "torch.py").write_text(STAND_IN)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, parts))}
    environment.pop("DATABOUND", None)

    def run(
        *words: str, script: str = "", by: tuple[str, ...] = ("-m", "databound")
    ) -> subprocess.CompletedProcess[str]:
        if script or not (tmp_path / "train.py").exists():
            (tmp_path / "train.py").write_text(script or SCRIPT)
        return subprocess.run(
            [sys.executable, *by, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


Shell = Callable[..., subprocess.CompletedProcess[str]]


def test_after_so_many_batches_the_script_ends_and_saves_nothing(
    shell: Shell, tmp_path: Path
) -> None:
    # What a script sets for PyTorch before it imports it has to count
    first = "import atexit, sys\nassert 'torch' not in sys.modules\n"
    script = first + "atexit.register(print, 'saved')\n" + SCRIPT + "print('saved')\n"
    set_ = "num_workers=2,persistent_workers=True"
    ended = shell(
        "--batches", "15", "--set", set_, "--save", "a.json", "train.py", script=script
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "epoch 0\n"
    told = ours(ended.stderr)
    assert [text.split(",")[0] for text in told] == [
        "epoch 1: 10 batches",
        "epoch 2: 5 batches",
        "in all 15 batches in 2 epochs",
        "that was with num_workers=2",
    ]
    assert "Error" not in ended.stderr
    stored = load_run(tmp_path / "a.json")
    assert [epoch.batches for epoch in stored.loops[0].epochs] == [10, 5]


def test_a_script_that_ends_itself_is_told_and_ends_as_it_would(
    shell: Shell, tmp_path: Path
) -> None:
    script = (
        "import atexit\natexit.register(print, 'saved')\n"
        + SCRIPT
        + "import os\nos._exit(5)\n"
    )
    ended = shell("--watch", "train.py", script=script)
    assert ended.returncode == 5
    assert ended.stdout == "epoch 0\nepoch 1\n"
    assert ours(ended.stderr)[-1].startswith("in all 20 batches in 2 epochs")
    gate = shell("--fail-if-waiting-above", "90%", "train.py")
    assert gate.returncode == 2
    assert ours(gate.stderr)[-1] == "the script failed, with exit code 5"
    never = shell(
        "--fail-if-waiting-above", "90%", "train.py", script="import os\nos._exit(0)"
    )
    assert never.returncode == 2


def test_a_script_that_watches_itself_tells_its_last_epoch_when_it_ends(
    shell: Shell, tmp_path: Path
) -> None:
    kept = "batches = iter(loader)\nnext(batches)\ntrain_on(torch)\nnext(batches)\n"
    script = "import databound\ndatabound.watch()\n" + SCRIPT + kept
    ended = shell("train.py", script=script, by=())
    assert [text.split(",")[0] for text in ours(ended.stderr)] == [
        "epoch 1: 10 batches",
        "epoch 2: 10 batches",
        "epoch 3: 2 batches",
    ]


def test_a_way_is_compared_with_another_by_turns(shell: Shell) -> None:
    words = ("--set", "num_workers=1", "--rounds", "2", "--batches", "15")
    ended = shell("compare", *words, "train.py", "--lr", "1")
    assert ended.returncode in (0, 1, 3), ended.stderr
    told = ours(ended.stderr)
    assert told[0] == "4 runs of train.py --lr 1, each until 15 batches of training"
    assert [text.split(":")[0] for text in told[1:]] == [
        "round 1, as it is",
        "round 1, num_workers=1",
        "round 2, as it is",
        "round 2, num_workers=1",
    ]
    lines = ended.stdout.splitlines()
    assert lines[0].startswith(f"train.py:{MADE}: ")
    assert lines[2] == "    before: --lr 1, as it is (30 batches in 2 runs)"
    assert lines[3] == "    after:  --lr 1, num_workers=1 (30 batches in 2 runs)"


def test_a_run_that_fails_shows_what_it_printed(shell: Shell) -> None:
    ended = shell(
        "compare", "--set", "threads=1", "train.py", script="print('hm')\n{}['x']"
    )
    assert ended.returncode == 2
    assert "hm\n" in ended.stderr
    assert "KeyError: 'x'" in ended.stderr
    assert ours(ended.stderr)[-1] == "a run failed, so nothing is compared"


def test_files_are_compared_and_what_cannot_be_is_said(shell: Shell) -> None:
    for name in ("a.json", "b.json"):
        assert shell("--batches", "15", "--save", name, "train.py").returncode == 0
    ended = shell("compare", "a.json,b.json", "b.json,a.json")
    assert ended.returncode == 3
    assert "+" not in ended.stdout.splitlines()[0]
    assert " 0 ± " in ended.stdout.splitlines()[0]
    gone = shell("compare", "a.json", "gone.json")
    assert gone.returncode == 2
    assert ours(gone.stderr) == ["gone.json: No such file or directory"]
    shown = shell("a.json")
    assert shown.returncode == 2
    why = "must be a job that databound --save has stored; this is a run, for databound compare"
    assert ours(shown.stderr) == [f"a.json: {why}"]
    alone = shell("compare", "a.json")
    assert alone.returncode == 2
    assert "give two files" in alone.stderr
