"""What pyproject.toml says, to all tests that compare something with it."""

from pathlib import Path
from typing import Any

from tools import toml

ROOT = Path(__file__).parents[2]


def pyproject() -> Any:
    """The whole file, as a dictionary."""
    return toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
