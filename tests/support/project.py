"""What pyproject.toml says, to all tests that compare something with it."""

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


def pyproject() -> Any:
    """The whole file, as a dictionary."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
