"""Text: JSON lines, byte pairs, packed tokens, and rows of CSV."""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import csv
import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from evidence.jobs.families.family import Family, Parts, made_once, trains, waits


def words(count: int) -> list[str]:
    """Return words that are always the same."""
    draw = random.Random(0)
    return ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(count)]


def texts(count: int, shortest: int, longest: int) -> list[str]:
    """Return *count* texts of so many words."""
    draw = random.Random(1)
    known = words(3000)
    return [
        " ".join(draw.choices(known, k=draw.randint(shortest, longest)))
        for _ in range(count)
    ]


def padded(rows: list[list[int]]) -> torch.Tensor:
    """Return rows that are not equally long as one tensor."""
    longest = max(map(len, rows))
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows])


class Documents(Dataset):
    """Gzipped JSON lines, one file for a sample, cut into words by a regular expression."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.gz"))
        self.numbers = {word: number for number, word in enumerate(words(3000), 1)}

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> list[int]:
        lines = gzip.decompress(self.paths[number].read_bytes()).decode().splitlines()
        found = [
            word for line in lines for word in re.findall(r"\w+", json.loads(line)["text"])
        ]
        return [self.numbers.get(word, 0) for word in found]


def write_documents(folder: Path, count: int) -> None:
    """Write *count* files of JSON lines."""
    folder.mkdir()
    all_lines = texts(count * 40, 20, 60)
    for number in range(count):
        mine = all_lines[number * 40 : (number + 1) * 40]
        lines = "\n".join(json.dumps({"text": text}) for text in mine)
        (folder / f"{number:04}.gz").write_bytes(gzip.compress(lines.encode()))


def documents(count: int) -> Parts:
    """Documents in plain Python, for an accelerator."""
    folder = made_once(f"documents_{count}", lambda path: write_documents(path, count))
    said = {"batch_size": 16, "shuffle": True, "collate_fn": padded}
    return Parts(Documents(folder), said, waits(0.015))


class Sorted(Dataset):
    """Texts that are sorted by their length, as those are who save padding."""

    def __init__(self, count: int) -> None:
        self.texts = sorted(texts(count, 10, 200), key=len)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, number: int) -> str:
        return self.texts[number]


class ByBytePairs:
    """Collates texts by a tokenizer that was trained on some of them."""

    def __init__(self, some: list[str]) -> None:
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        self.tokenizer = Tokenizer(models.BPE(unk_token="?"))
        self.tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        trainer = trainers.BpeTrainer(vocab_size=1000, special_tokens=["?"])
        self.tokenizer.train_from_iterator(some, trainer)

    def __call__(self, samples: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        tokens = padded([self.tokenizer.encode(text).ids for text in samples])
        return tokens, tokens[:, 0] % 2


def byte_pairs(count: int) -> Parts:
    """Texts in the order of their lengths, tokenised in the collate function."""
    data = Sorted(count)
    network = torch.nn.Sequential(torch.nn.EmbeddingBag(1000, 256), torch.nn.Linear(256, 2))
    step = trains(network, torch.nn.functional.cross_entropy)
    return Parts(
        data, {"batch_size": 32, "collate_fn": ByBytePairs(data.texts[::50])}, step
    )


class Packed(Dataset):
    """Tokens in one file, of which a sample is a stretch: hardly any work."""

    def __init__(self, path: Path, length: int) -> None:
        self.tokens = np.memmap(path, dtype="uint16", mode="r")
        self.length = length

    def __len__(self) -> int:
        return len(self.tokens) // self.length - 1

    def __getitem__(self, number: int) -> Any:
        first = number * self.length
        stretch = self.tokens[first : first + self.length + 1].astype("int64")
        return torch.from_numpy(stretch[:-1]), torch.from_numpy(stretch[1:])


def packed(count: int) -> Parts:
    """Packed tokens, for an accelerator that is slow beside them."""
    path = made_once(
        f"packed_{count}",
        lambda path: (
            np.random.default_rng(0)
            .integers(0, 50_000, 512 * (count + 1), dtype="uint16")
            .tofile(path)
        ),
    )
    return Parts(Packed(path, 512), {"batch_size": 16, "shuffle": True}, waits(0.025))


class Table(Dataset):
    """A CSV file that is read line by line, and each line parsed when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.lines = path.read_text().splitlines()

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, number: int) -> Any:
        (cells,) = csv.reader([self.lines[number]])
        numbers = torch.tensor([float(cell) for cell in cells])
        return numbers[:-1], numbers[-1:]


def write_table(path: Path, count: int) -> None:
    """Write *count* rows of 65 numbers."""
    rows = np.random.default_rng(0).normal(size=(count, 65))
    np.savetxt(path, rows, "%.6f", ",")


def table(count: int) -> Parts:
    """Rows of CSV, and a small network here."""
    path = made_once(f"table_{count}.csv", lambda path: write_table(path, count))
    network = torch.nn.Sequential(
        torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)
    )
    step = trains(network, torch.nn.functional.mse_loss)
    return Parts(Table(path), {"batch_size": 128, "shuffle": True}, step)


FAMILIES = [
    Family("documents", documents, 640),
    Family("byte_pairs", byte_pairs, 4000, needs=("tokenizers",)),
    Family("packed", packed, 4000, {"num_workers": 2}),
    Family("table", table, 20_000, {"num_workers": 4}),
]
