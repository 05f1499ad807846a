"""A family of jobs: what one of it reads, how it is set, and what its step does."""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch

DATA = Path(tempfile.gettempdir()) / "lessonkit_families"


class Parts(NamedTuple):
    """A dataset, the arguments of its loader as they are written, and the step."""

    data: Any
    said: dict[str, Any]
    step: Callable[[Any], object]


@dataclass(frozen=True)
class Family:
    """A job with a *name*, which *make* makes of so many samples, *count* of them usually.

    Its loader is set as it is *now* before anybody measures it. It *needs* these modules.
    """

    name: str
    make: Callable[[int], Parts]
    count: int
    now: dict[str, Any] = field(default_factory=lambda: {"num_workers": 0})
    needs: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """The modules that it needs and that are not installed."""
        return [name for name in self.needs if find_spec(name) is None]


def made_once(name: str, write: Callable[[Path], object]) -> Path:
    """Return the path of a file or folder that *write* makes, if it is not there yet.

    It is made beside its place and moved there, so that nobody finds half of it.
    """
    path = DATA / name
    if not path.exists():
        DATA.mkdir(parents=True, exist_ok=True)
        beside = DATA / f"making_{name}"
        write(beside)
        beside.rename(path)
    return path


def waits(seconds: float) -> Callable[[Any], None]:
    """Return a step that waits for an accelerator."""
    return lambda batch: time.sleep(seconds)


def trains(network: Any, loss: Callable[[Any, Any], Any]) -> Callable[[Any], None]:
    """Return a step that trains *network* on the cores of this computer."""
    optimiser = torch.optim.AdamW(network.parameters(), 1e-3)

    def step(batch: Any) -> None:
        inputs, targets = batch
        optimiser.zero_grad()
        loss(network(inputs), targets).backward()
        optimiser.step()

    return step


def classifier(channels: int = 3, classes: int = 10) -> Callable[[Any], None]:
    """Return a step that trains a small convolutional network on images."""
    made = torch.nn
    network = made.Sequential(
        *(made.Conv2d(channels, 32, 5, stride=4), made.ReLU()),
        *(made.Conv2d(32, 64, 3, stride=2), made.ReLU()),
        *(made.AdaptiveAvgPool2d(1), made.Flatten(), made.Linear(64, classes)),
    )
    return trains(network, made.functional.cross_entropy)
