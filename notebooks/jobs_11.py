"""The three jobs of lesson 11, with real data, on PyTorch's loader or else on ours."""

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import Pipe, Process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

import numpy as np
from PIL import Image
from small_data_11 import served, write_small_data

from lessonkit import DataLoader, Dataset

torch: Any = import_module("torch") if find_spec("torch") else None

SIDE = 128  # pixels of an image that is trained on
LONGEST = 64  # words of a line that is trained on
BATCH = 8


def decoded(content: Any) -> Any:
    """Decode a JPEG, and make it an array of one size."""
    image = (
        Image.open(content).convert("RGB").resize((2 * SIDE, 2 * SIDE)).resize((SIDE, SIDE))
    )
    return np.asarray(image, dtype="float32").transpose(2, 0, 1) / 255


def fetched(address: str) -> Any:
    """Fetch a JPEG, and decode it."""
    with urlopen(address) as answer:
        return decoded(io.BytesIO(answer.read()))


def tokenised(line: str) -> Any:
    """Give each word of a line a number in plain Python, like a tokeniser without a library."""
    numbers = []
    for word in line.split():
        for begin in range(len(word)):  # all parts of it
            number = 0
            for letter in word[begin:]:
                number = (number * 31 + ord(letter)) % 30_011
        numbers.append(number)
    return np.array((numbers + [0] * LONGEST)[:LONGEST])


def loader_of(items: list[str], function: Callable[[str], Any], **said: Any) -> Any:
    """Make a loader that gives what *function* makes of *items*, in batches."""
    said = {"batch_size": BATCH, "shuffle": True} | said
    if torch is None:
        return DataLoader(Dataset.from_list(items).map(function), **said)

    class Samples(torch.utils.data.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return len(items)

        def __getitem__(self, index: int) -> Any:
            return function(items[index])

    return torch.utils.data.DataLoader(Samples(), **said)


def trains(batch: Any) -> None:
    """Train on a batch of images, on the cores of this computer."""
    if torch is None:
        for _ in range(3):
            np.tensordot(np.asarray(batch), WEIGHTS, axes=(3, 0))
        return
    global network
    if network is None:
        layers = torch.nn
        network = layers.Sequential(
            layers.Conv2d(3, 32, 5, stride=2),
            layers.ReLU(),
            layers.Conv2d(32, 64, 3, stride=2),
        )
    network(batch).square().mean().backward()


WEIGHTS = np.ones((SIDE, 512), dtype="float32")
network: Any = None


def accelerates(batch: Any) -> None:
    """Wait as for a step on an accelerator."""
    time.sleep(0.012)


def serve(folder: Path, pipe: Any) -> None:
    """Serve *folder* as a distant storage system would, until the other end of *pipe* is closed."""
    with (
        served(folder, bandwidth=20e6, first_byte=0.008) as address,
        suppress(EOFError),
    ):
        pipe.send(address)
        pipe.recv()


@contextmanager
def in_a_process(folder: Path) -> Iterator[str]:
    """Serve *folder* from a process of its own, which takes no time of the loop."""
    ours, theirs = Pipe()
    process = Process(target=serve, args=(folder, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.kill()
        process.join()


@contextmanager
def jobs(**said: Any) -> Iterator[dict[str, tuple[Any, Callable[[Any], None]]]]:
    """Give the loader and the step of each job by its name; all loaders have *said* arguments."""
    with TemporaryDirectory() as place:
        folder = write_small_data(place, images=400, lines=16_000)
        images = sorted(map(str, (folder / "images").iterdir()))
        lines = (folder / "text.txt").read_text(encoding="utf-8").splitlines()
        with in_a_process(folder) as address:
            remote = [f"{address}/images/{Path(path).name}" for path in images]
            yield {
                "images": (loader_of(images, decoded, **said), trains),
                "http": (loader_of(remote, fetched, **said), accelerates),
                "text": (
                    loader_of(lines, tokenised, **(said | {"batch_size": 160})),
                    accelerates,
                ),
            }
