"""Run the tests of what works on PyTorch's loaders with PyTorch itself, which is kept apart, in build/torch.

python -m tools.torch_tests [argument of pytest ...]

Everywhere else these tests meet a stand-in alone: PyTorch is large, and nothing of the
package needs it. On Linux it comes from PyTorch's own index, for the one that Python's
index has there is made for a GPU and takes gigabytes: of two alike, pip takes the one with a
name behind its number. LESSONKIT_TORCH says something else to pip, such as a version. The
frameworks whose scripts `databound` runs come from Python's index, and so does torchdata, which one
test needs; without them their tests are left out.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "torch"
CPU_BUILD = "torch --extra-index-url https://download.pytorch.org/whl/cpu"
FRAMEWORKS = ("torchvision", "lightning", "transformers", "accelerate")
IMPORTS = (
    sys.executable,
    "-c",
    "import torch; print(f'lessonkit: PyTorch {torch.__version__}')",
)

PIP = (
    *(sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--upgrade"),
    *("--target", str(HOME)),
)


def tests() -> list[str]:
    """Return the test files that ask for the fixture `library`, or for PyTorch alone."""
    texts = {
        str(file): file.read_text(encoding="utf-8")
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
    }
    asks = ("library: Any", 'importorskip("torch")')
    return [file for file, text in texts.items() if any(ask in text for ask in asks)]


def install(environment: dict[str, str]) -> bool:
    """Install PyTorch and the frameworks if one is missing; return whether PyTorch can be imported."""
    if not all(can_import(name, environment) for name in ("torch", *FRAMEWORKS)):
        wanted = shlex.split(
            os.environ.get(
                "LESSONKIT_TORCH", CPU_BUILD if sys.platform == "linux" else "torch"
            )
        )
        # All at once: each of them would bring a PyTorch of its own
        subprocess.run([*PIP, *wanted, *FRAMEWORKS])
    return subprocess.run(IMPORTS, env=environment).returncode == 0


def can_import(name: str, environment: dict[str, str]) -> bool:
    """Return whether a package of a *name* is there."""
    command = (sys.executable, "-c", f"import {name}")
    ended = subprocess.run(command, env=environment, stderr=subprocess.DEVNULL)
    return ended.returncode == 0


def add_torchdata(environment: dict[str, str]) -> None:
    """Install torchdata if it is not there, without the PyTorch that it depends on."""
    if not can_import("torchdata", environment):
        subprocess.run([*PIP, "--no-deps", "torchdata"])


def main(given: list[str]) -> int:
    """Install what is missing, and test."""
    before = os.environ.get("PYTHONPATH", "")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, (before, str(HOME))))
    }
    if not install(environment):
        print(
            "lessonkit: PyTorch cannot be installed: is there a network, or a proxy to be set?"
        )
        return 1
    add_torchdata(environment)
    return subprocess.run(
        [sys.executable, "-m", "pytest", *(given or tests())], env=environment
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
