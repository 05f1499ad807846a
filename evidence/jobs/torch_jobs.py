"""Three jobs for PyTorch's loader that no lesson has: photos, gzipped lines, and a cheap loader.

They make their data in the system's temporary folder when they are first used.
"""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import gzip
import json
import random
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset, TensorDataset

DATA = Path(tempfile.gettempdir()) / "lessonkit_jobs"
MEAN = np.float32([0.485, 0.456, 0.406])
SPREAD = np.float32([0.229, 0.224, 0.225])


class Photos(Dataset):
    """JPEGs that are decoded, cropped at random, flipped and normalised."""

    def __init__(self, count: int = 320) -> None:
        folder = DATA / "photos"
        draw = np.random.default_rng(0)
        folder.mkdir(parents=True, exist_ok=True)
        self.paths = [folder / f"{number:04}.jpg" for number in range(count)]
        for number, path in enumerate(self.paths):
            small = (draw.random((30, 40, 3)) * 255).astype("uint8")
            size = (640, 480) if number % 4 else (900, 675)  # not all alike
            if not path.exists():
                Image.fromarray(small).resize(size, Image.BICUBIC).save(path, quality=90)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> Any:
        image = Image.open(self.paths[number]).convert("RGB")
        draw = random.Random(number * 7919 + int(torch.randint(1 << 20, ()).item()))
        side = int(min(image.size) * draw.uniform(0.6, 1.0))
        left, top = (draw.randrange(length - side + 1) for length in image.size)
        box = (left, top, left + side, top + side)
        pixels = np.asarray(image.resize((192, 192), Image.BILINEAR, box), "float32") / 255
        if draw.random() < 0.5:
            pixels = pixels[:, ::-1]
        pixels = ((pixels - MEAN) / SPREAD).transpose(2, 0, 1)
        return torch.from_numpy(np.ascontiguousarray(pixels)), number % 10


class Lines(Dataset):
    """Gzipped files of JSON lines, one for a sample, tokenised in plain Python."""

    def __init__(self, count: int = 160) -> None:
        folder = DATA / "lines"
        draw = random.Random(0)
        folder.mkdir(parents=True, exist_ok=True)
        words = [
            "".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(3000)
        ]
        self.numbers = {word: number for number, word in enumerate(words, 1)}
        self.paths = [folder / f"{number:03}.jsonl.gz" for number in range(count)]
        for path in self.paths:
            lines = [
                json.dumps({"text": " ".join(draw.choices(words, k=draw.randint(20, 60)))})
                for _ in range(draw.randint(90, 390))
            ]
            if not path.exists():
                path.write_bytes(gzip.compress("\n".join(lines).encode()))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> list[list[int]]:
        lines = gzip.decompress(self.paths[number].read_bytes()).decode().splitlines()
        texts = [json.loads(line)["text"] for line in lines]
        return [
            [self.numbers.get(word, 0) for word in re.findall(r"\w+", text)]
            for text in texts
        ]


def padded(samples: list[list[list[int]]]) -> Any:
    """Make one tensor of rows that are not equally long."""
    rows = [row for sample in samples for row in sample]
    longest = max(map(len, rows))
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows])


def training(network: Any, loss: Callable[[Any, Any], Any]) -> Callable[[Any], None]:
    """Return a step that trains *network* on the cores of this computer."""
    optimiser = torch.optim.SGD(network.parameters(), 0.01)

    def step(batch: Any) -> None:
        inputs, targets = batch
        optimiser.zero_grad()
        loss(network(inputs), targets).backward()
        optimiser.step()

    return step


def photos(count: int = 320) -> tuple[Any, dict[str, Any], Callable[[Any], None]]:
    """Photos, and a small convolutional network."""
    made = torch.nn
    network = made.Sequential(
        *(made.Conv2d(3, 32, 5, stride=4), made.ReLU()),
        *(made.Conv2d(32, 64, 3, stride=2), made.ReLU()),
        *(made.Conv2d(64, 64, 3, stride=2), made.ReLU()),
        *(made.AdaptiveAvgPool2d(1), made.Flatten(), made.Linear(64, 10)),
    )
    step = training(network, made.functional.cross_entropy)
    return Photos(count), {"batch_size": 16, "shuffle": True}, step


def lines(count: int = 160) -> tuple[Any, dict[str, Any], Callable[[Any], None]]:
    """Lines, and a step that waits for an accelerator, longer for larger batches."""
    said = {"batch_size": 8, "shuffle": True, "collate_fn": padded}
    return Lines(count), said, lambda batch: time.sleep(0.008 + 8e-6 * len(batch))


def tensors(count: int = 40_000) -> tuple[Any, dict[str, Any], Callable[[Any], None]]:
    """A cheap loader of numbers in memory, and a tiny network."""
    draw = torch.Generator().manual_seed(0)
    data = TensorDataset(*(torch.rand(count, size, generator=draw) for size in (64, 1)))
    layers = torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)
    step = training(torch.nn.Sequential(*layers), torch.nn.functional.mse_loss)
    return data, {"batch_size": 64, "shuffle": True}, step


JOBS = {"photos": photos, "lines": lines, "tensors": tensors}
