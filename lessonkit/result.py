"""What `rewrite`, `autotune` and `measure` return."""

from dataclasses import dataclass
from typing import Any

from .dataset import Dataset


@dataclass(frozen=True)
class Result:
    """A pipeline, the *steps* that led to it, and the *reason* why there are no more."""

    dataset: Dataset
    steps: list[Any]
    reason: str

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps)) or self.reason
