"""The command `databound` in a process of its own, with the stand-in for PyTorch and short runs."""

import os
import subprocess
import sys
from pathlib import Path

from support.places import ROOT

# What a script imports as `torch`
STAND_IN = """
import sys
from support import stand_in_torch

torch = stand_in_torch.library()
sys.modules["torch"] = torch
sys.modules["torch.utils"] = torch.utils
sys.modules["torch.utils.data"] = torch.utils.data
"""
SHORT = """
import sys
from databound.advise import advice, trials
from databound.command import main
from databound.model import measuring
from databound.thresholds import Durations

short = Durations(run=0.05, survey=0.05, again=0.0, trial=0.05)
advice.USUAL = trials.USUAL = measuring.USUAL = short
sys.exit(main())
"""


def begun(
    folder: Path,
    *words: str,
    environment: dict[str, str] | None = None,
    stdin: int | None = None,
) -> "subprocess.Popen[str]":
    """Begin the command in a *folder*, where `torch` is the stand-in, with a *stdin* of its own."""
    (folder / "modules").mkdir(exist_ok=True)
    (folder / "modules" / "torch.py").write_text(STAND_IN, "utf-8")
    paths = [str(folder / "modules"), str(ROOT), str(ROOT / "tests")]
    environment = {"PYTHONPATH": os.pathsep.join(paths)} | (environment or {})
    return begun_as_it_is(folder, *words, environment=environment, stdin=stdin)


def begun_as_it_is(
    folder: Path, *words: str, environment: dict[str, str], stdin: int | None = None
) -> "subprocess.Popen[str]":
    """Begin the command in a *folder*, with short runs, and with what is installed."""
    return subprocess.Popen(
        [sys.executable, "-c", SHORT, *words],
        cwd=folder,
        env=os.environ | environment,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(
    folder: Path, *words: str, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the command in a *folder* to its end."""
    process = begun(folder, *words, environment=environment)
    out, err = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, out, err)
