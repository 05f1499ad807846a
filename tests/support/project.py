"""What pyproject.toml says, to all tests that compare something with it."""

from typing import Any

from support.places import ROOT
from tools import toml


def pyproject() -> Any:
    """The whole file, as a dictionary."""
    return toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
