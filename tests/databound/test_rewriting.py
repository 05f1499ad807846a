"""A change, written into the user's own call as a diff; and what cannot be written so."""

import subprocess
from pathlib import Path

import pytest

from databound.script.patching import Line
from databound.script.rewriting import CannotRewriteError, diff

WORKERS = {"num_workers": 2, "persistent_workers": True}
ONE_LINE = """\
import argparse
import torch
from torch.utils.data import DataLoader

loader = DataLoader(data, batch_size=16, shuffle=True)
"""
MANY_LINES = """\
import torch

def made(data):
    return torch.utils.data.DataLoader(
        data,
        batch_size=16,  # as in the paper
        num_workers=0,
    )
"""
WRAPPED = """\
loader = DataLoader(
    data, batch_size=16, shuffle=True
)
"""
OUTSIDE_ASCII = 'loader = DataLoader(read("größe"), batch_size=16)\n'


def changed(folder: Path, text: str, number: int, callee: str = "DataLoader") -> str:
    """What a file is after its diff was applied, as git does it."""
    file = folder / "train.py"
    file.write_text(text, "utf-8")
    made = diff(Line(str(file), number), callee, WORKERS, None)
    return applied(folder, made)


def applied(folder: Path, made: str) -> str:
    subprocess.run(["git", "apply"], input=made, text=True, cwd=folder, check=True)
    return (folder / "train.py").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        (
            ONE_LINE,
            5,
            "loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=2, "
            "persistent_workers=True)\n",
        ),
        (
            MANY_LINES,
            4,
            "        batch_size=16,  # as in the paper\n        num_workers=2,\n"
            "        persistent_workers=True,\n    )\n",
        ),
        (
            WRAPPED,
            2,
            "    data, batch_size=16, shuffle=True, num_workers=2, persistent_workers=True\n)\n",
        ),
        (
            OUTSIDE_ASCII,
            1,
            'loader = DataLoader(read("größe"), batch_size=16, num_workers=2, '
            "persistent_workers=True)\n",
        ),
    ],
)
def test_arguments_are_written_as_the_author_writes_them(
    folder: Path, text: str, number: int, expected: str
) -> None:
    after = changed(folder, text, number)
    assert after.endswith(expected)
    compile(after, "train.py", "exec")


def test_the_number_of_threads_is_set_behind_the_imports(folder: Path) -> None:
    file = folder / "train.py"
    file.write_text(ONE_LINE, "utf-8")
    after = applied(folder, diff(Line(str(file), 5), "DataLoader", {}, 1))
    assert after == ONE_LINE.replace(
        "import DataLoader\n", "import DataLoader\n\ntorch.set_num_threads(1)\n"
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "DataLoader(data, num_workers=args.workers)",
            r"num_workers=args.workers: give it 2",
        ),
        ("DataLoader(data, **options)", r"called with \*\*"),
        ("DataLoader(data, 16, True, None, None, 4)", "by position"),
        ("DataLoader(*all)", "by position"),
        ("[DataLoader(a), DataLoader(b)]", "has 2 calls of DataLoader"),
        ("made(data)", "has no calls of DataLoader"),
    ],
)
def test_what_only_its_author_can_change_is_told_in_a_sentence(
    folder: Path, call: str, said: str
) -> None:
    file = folder / "train.py"
    file.write_text(f"loader = {call}\n", "utf-8")
    with pytest.raises(CannotRewriteError, match=rf"^train\.py:1 .*{said}"):
        diff(Line(str(file), 1), "DataLoader", WORKERS, None)


def test_a_script_that_does_not_import_torch_by_name_is_told_what_to_call(
    folder: Path,
) -> None:
    file = folder / "train.py"
    file.write_text(WRAPPED, "utf-8")
    with pytest.raises(
        CannotRewriteError, match=r"call torch\.set_num_threads\(1\) before"
    ):
        diff(Line(str(file), 1), "DataLoader", {}, 1)
