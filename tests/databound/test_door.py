"""A script as it is, run by the command in a process of its own, on the stand-in for PyTorch."""

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import pytest
from support.commands import begun, run

SCRIPT = """
import argparse
import sys
import time

import torch
from torch.utils.data import DataLoader


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        time.sleep(0.002)
        return index


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, required=True)
    args = parser.parse_args()
    assert args.lr == 0.1
    print("a line of the script")
    loader = DataLoader(Images(), 4, shuffle=True)
    for batch in loader:
        torch.autograd.backward(batch)
        time.sleep(0.002)
        torch.save("the model", "checkpoint.pt")
    open("after.txt", "w")


if __name__ == "__main__":
    main()
"""
LOOP = "for batch in loader:"
SAVES = 'torch.save("the model", "checkpoint.pt")'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT, "utf-8")
    return tmp_path


def line(text: str) -> int:
    return SCRIPT[: SCRIPT.index(text)].count("\n") + 1


def changed(folder: Path, old: str, new: str) -> None:
    assert old in SCRIPT
    (folder / "train.py").write_text(SCRIPT.replace(old, new), "utf-8")


def test_a_script_is_caught_measured_and_left_in_all_forms_at_once(folder: Path) -> None:
    ended = run(
        folder,
        *("--save", "job.json", "--html", "page.html", "--json"),
        *("train.py", "--lr", "0.1"),
    )
    assert ended.returncode in (0, 1, 3), ended.stderr
    stored = json.loads((folder / "job.json").read_text("utf-8"))
    origin = json.loads(ended.stdout)["origin"]
    assert origin == stored["origin"]
    assert origin["script"]["made_at"] == f"train.py:{line('loader = ')}"
    assert origin["script"]["loop_at"] == f"train.py:{line(LOOP)}"
    assert origin["script"]["target"] == "train.py --lr 0.1"
    assert origin["command"].endswith("--json train.py --lr 0.1")
    page = (folder / "page.html").read_text("utf-8")
    assert "databound --save job.json" in page
    assert "train.py runs until its first training step ..." in ended.stderr
    assert "DataLoader(batch_size=4, num_workers=0)  feeds the loop at" in ended.stderr
    assert "a line of the script" not in ended.stdout + ended.stderr
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == {
        *("job.json", "modules", "page.html", "train.py")
    }


IN_MANY_WAYS = """with open("last.pt", "wb") as file:
            file.write(b"spoilt")
        if os.path.exists("old.pt"):
            remove("old.pt")
        thread = threading.Thread(target=torch.save, args=("the model", "checkpoint.pt"))
        thread.start()
        thread.join()"""


def test_once_the_script_trains_no_model_is_saved_and_those_that_are_there_stay(
    folder: Path,
) -> None:
    """It opens one by itself, deletes one by a name of its own, and saves in a thread."""
    text = SCRIPT.replace(SAVES, IN_MANY_WAYS)
    text = text.replace(
        "import sys\n", "import os\nimport threading\nfrom os import remove\n"
    )
    text = text.replace(LOOP, f"torch.save('of before', 'before.pt')\n    {LOOP}")
    (folder / "train.py").write_text(text, "utf-8")
    for name in ("last.pt", "old.pt"):
        (folder / name).write_text("precious")
    # Else this folder would be a temporary one itself
    environment = {"TMPDIR": str(folder / "modules")}
    ended = run(folder, "train.py", "--lr", "0.1", environment=environment)
    assert "No model was saved by the script; it wrote before.pt." in ended.stdout
    found = {path.name: path.read_text("utf-8") for path in folder.glob("*.pt")}
    assert found.pop("before.pt") is not None
    assert found == {"last.pt": "precious", "old.pt": "precious"}
    assert not (folder / "after.txt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such terminals")
def test_nobody_is_asked_what_he_cannot_see(folder: Path) -> None:
    changed(folder, LOOP, "input('go on? ')\n    for batch in loader:")
    ours, its = os.openpty()
    process = begun(folder, "train.py", "--lr", "0.1", stdin=its)
    _, err = process.communicate()
    for end in (ours, its):
        os.close(end)
    assert process.returncode == 2
    assert "go on? " in err
    assert "EOFError" in err.splitlines()[-1]


def test_a_module_is_run_as_python_runs_it(folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").touch()
    (folder / "package" / "names.py").write_text("LOADER = 'named'", "utf-8")
    text = SCRIPT.replace("import argparse", "import argparse\nfrom .names import LOADER")
    (folder / "package" / "train.py").write_text(text, "utf-8")
    ended = run(folder, "--json", "-m", "package.train", "--lr", "0.1")
    assert ended.returncode in (0, 1, 3), ended.stderr
    script = json.loads(ended.stdout)["origin"]["script"]
    assert script["target"] == "-m package.train --lr 0.1"
    assert script["made_at"] == f"train.py:{line('loader = ') + 1}"


# ---- scripts that fail, or do not train ----


def test_a_script_that_fails_shows_its_output_and_its_traceback_without_our_frames(
    folder: Path,
) -> None:
    changed(folder, LOOP, "{}['no such key']\n    for batch in loader:")
    ended = run(folder, "train.py", "--lr", "0.1")
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "a line of the script\n" in ended.stderr
    (traceback,) = ended.stderr.split("Traceback (most recent call last):\n")[1:]
    files = [
        row.split('"')[1] for row in traceback.splitlines() if row.startswith("  File")
    ]
    assert [Path(file).name for file in files] == ["train.py", "train.py"]
    assert "KeyError: 'no such key'" in traceback


def test_an_error_in_a_worker_has_no_frames_of_ours_either(folder: Path) -> None:
    changed(folder, "return index\n", "return {}[index]\n")
    ended = run(folder, "train.py", "--lr", "0.1")
    assert ended.returncode == 2
    assert "return {}[index]" in ended.stderr
    assert "databound/" not in ended.stderr


def test_an_error_of_the_step_says_at_which_batch(folder: Path) -> None:
    changed(folder, SAVES, "calls.append(1)\n        assert len(calls) < 20, 'diverged'")
    text = (folder / "train.py").read_text("utf-8")
    (folder / "train.py").write_text("calls = []\n" + text, "utf-8")
    ended = run(folder, "train.py", "--lr", "0.1")
    assert ended.returncode == 2
    assert "AssertionError: diverged" in ended.stderr
    assert "the step raised at batch" in ended.stderr
    assert "databound/" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train.py"], "--lr"),  # its own parser refuses
        (["train.py", "--help"], "show this help message and exit"),
        (["-m", "gone"], "there is no module of that name"),
        (["--loader", "train.py:1", "train.py", "--lr", "0.1"], "made at train.py:1"),
    ],
)
def test_what_does_not_train_is_told_in_a_sentence(
    folder: Path, words: list[str], said: str
) -> None:
    changed(folder, LOOP, "for batch in ():")
    ended = run(folder, *words)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert said in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("databound: ")
    assert "Traceback" not in ended.stderr


def test_one_of_several_ranks_is_refused_at_once(folder: Path) -> None:
    ended = run(folder, "train.py", "--lr", "0.1", environment={"WORLD_SIZE": "4"})
    assert ended.returncode == 2
    assert ended.stderr.startswith("databound: WORLD_SIZE=4: this is one of several")


def test_what_a_script_sets_before_it_imports_pytorch_counts(folder: Path) -> None:
    text = "import sys\nassert 'torch' not in sys.modules\n" + SCRIPT
    (folder / "train.py").write_text(text, "utf-8")
    assert run(folder, "train.py", "--lr", "0.1").returncode in (0, 1, 3)


def test_without_greenlet_a_sentence_says_what_to_install(folder: Path) -> None:
    (folder / "modules").mkdir()
    text = "raise ModuleNotFoundError(name='greenlet')"
    (folder / "modules" / "greenlet.py").write_text(text, "utf-8")
    ended = run(folder, "train.py", "--lr", "0.1")
    assert ended.returncode == 2
    assert "pip install greenlet" in ended.stderr


# ---- it is stopped ----


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which processes live")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_with_nothing_left(folder: Path, number: int) -> None:
    """Also where the script has a handler of its own, and takes KeyboardInterrupt for itself."""
    changed(
        folder,
        "    main()\n",
        "    import signal\n    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "    signal.signal(signal.SIGTERM, lambda *_: None)\n"
        "    try:\n        main()\n    finally:\n        open('finally.txt', 'w')\n",
    )
    process = begun(folder, "train.py", "--lr", "0.1")
    assert process.stderr is not None
    while "measuring" not in process.stderr.readline():
        assert process.poll() is None
    while len(living_in(folder)) < 2:  # until it has a worker
        assert process.poll() is None
        sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "databound: stopped"
    assert not (folder / "finally.txt").exists()
    until_gone(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which processes live")
def test_a_thread_of_the_script_that_ends_the_process_is_told_with_nothing_left(
    folder: Path,
) -> None:
    """Its exit code would be one of ours that says something else."""
    changed(
        folder,
        LOOP,
        "import os, threading\n    threading.Timer(2, os._exit, [3]).start()\n    " + LOOP,
    )
    ended = run(folder, "train.py", "--lr", "0.1")
    assert ended.returncode == 2
    assert ended.stdout == ""
    *_, printed, why = ended.stderr.splitlines()
    assert printed == "a line of the script"
    assert why == (
        "databound: a thread of the script ended this process by os._exit(3), so nothing more can be measured"
    )
    until_gone(folder)


def until_gone(folder: Path) -> None:
    """Wait until no process lives in a *folder*: one that is orphaned stays where it was."""
    ends = monotonic() + 20
    while living_in(folder) and monotonic() < ends:
        sleep(0.05)
    assert living_in(folder) == []


def living_in(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").resolve() == folder:
                found.append(int(entry.name))
    return found


def test_a_loop_of_so_many_steps_is_measured(folder: Path) -> None:
    changed(
        folder,
        LOOP,
        "batches = iter(loader)\n    for _ in range(40):\n        batch = next(batches)",
    )
    ended = run(folder, "--json", "train.py", "--lr", "0.1")
    assert ended.returncode in (0, 1, 3), ended.stderr
    assert json.loads(ended.stdout)["batches"] == 100
