"""Sound: samples of another rate, spectrograms, and mixtures that are not equally long."""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import random
import wave
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from evidence.jobs.families.family import Family, Parts, classifier, made_once, waits

RATE = 44_100  # samples a second


def write_sounds(folder: Path, count: int) -> None:
    """Write *count* sounds of one to three seconds."""
    folder.mkdir()
    for number in range(count):
        draw = np.random.default_rng(number)
        length = int(RATE * draw.uniform(1.0, 3.0))
        with wave.open(str(folder / f"{number:04}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(draw.integers(-9999, 9999, length, dtype="int16").tobytes())


def sounds(count: int) -> Path:
    """Return the folder of so many sounds."""
    return made_once(f"sounds_{count}", lambda path: write_sounds(path, count))


def read(path: Path) -> np.ndarray:
    """Return the numbers of a sound, from -1 to 1."""
    with wave.open(str(path), "rb") as file:
        frames = np.frombuffer(file.readframes(file.getnframes()), "int16")
    return frames.astype("float32") / 32768


class Resampled(Dataset):
    """Sounds of another rate: a Fourier transform there and back of a length that divides badly."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.wav"))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> Any:
        sound = read(self.paths[number])
        spectrum = np.fft.rfft(sound)
        length = int(len(sound) * 16_000 / RATE)
        slower = np.fft.irfft(spectrum[: length // 2 + 1], length)[:16_000]
        return torch.from_numpy(np.resize(slower, 16_000).astype("float32"))


def resampled(count: int) -> Parts:
    """Sounds of another rate, for an accelerator."""
    return Parts(Resampled(sounds(count)), {"batch_size": 8, "shuffle": True}, waits(0.020))


class Spectrograms(Resampled):
    """Spectrograms of a second of each sound, by PyTorch, whose threads are one in a worker."""

    def __getitem__(self, number: int) -> Any:
        sound = torch.from_numpy(read(self.paths[number])[:RATE])
        window = torch.hann_window(1024)
        found = torch.stft(sound, 1024, 256, window=window, return_complex=True).abs()
        return torch.log(found + 1e-6)[None], number % 10


def spectrograms(count: int) -> Parts:
    """Spectrograms, and a small network here."""
    said = {"batch_size": 16, "shuffle": True}
    return Parts(Spectrograms(sounds(count)), said, classifier(channels=1))


class Mixtures(Resampled):
    """Two to six sounds in one, of which a few have many: batches that are not alike."""

    def __getitem__(self, number: int) -> Any:
        draw = random.Random(number)
        others = 24 if number % 40 == 7 else draw.randint(1, 5)
        mixed = read(self.paths[number])
        for _ in range(others):
            other = read(draw.choice(self.paths))
            length = min(len(mixed), len(other))
            mixed[:length] += other[:length] * draw.random()
        return torch.from_numpy(mixed / (others + 1))


def padded(sounds_of_batch: list[Any]) -> Any:
    """Return sounds that are not equally long as one tensor."""
    return torch.nn.utils.rnn.pad_sequence(sounds_of_batch, batch_first=True)


def mixtures(count: int) -> Parts:
    """Mixtures, for an accelerator."""
    said = {"batch_size": 4, "shuffle": True, "collate_fn": padded}
    return Parts(Mixtures(sounds(count)), said, waits(0.010))


FAMILIES = [
    Family("resampled", resampled, 320, {"num_workers": 2}),
    Family("spectrograms", spectrograms, 640),
    Family("mixtures", mixtures, 320, {"num_workers": 2}),
]
