"""How much private memory a worker has that reads texts, by what holds them and by how the worker starts.

A worker's own memory, and not its speed, so other programs on the machine change nothing. Linux says
how much it is in `/proc/self/smaps_rollup`. Needs PyTorch and NumPy.

python -m evidence.shared_memory --store notebooks
"""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TEXTS = 2_000_000
BATCH = 5_000
STARTS = ("fork", "forkserver", "spawn")
KEPT_IN = ("list", "array", "tensor")


def private_megabytes() -> float:
    """Return the memory that this process shares with no other."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1000


class Texts:
    """Two million short texts, as Python objects or as bytes behind each other.

    `self.kept` is the list, the array or the tensor; a text ends where `self.ends` says.
    """

    def __init__(self, kept_in: str) -> None:
        import numpy as np
        import torch

        texts = [f"a text with the number {number}" for number in range(TEXTS)]
        self.kept: Any = texts
        self.ends: Any = None
        if kept_in != "list":
            encoded = [text.encode() for text in texts]
            self.kept = np.frombuffer(b"".join(encoded), dtype=np.uint8).copy()
            self.ends = np.cumsum([0, *map(len, encoded)])
        if kept_in == "tensor":
            self.kept = torch.from_numpy(self.kept)
            self.ends = torch.from_numpy(self.ends)

    def __len__(self) -> int:
        return TEXTS

    def __getitem__(self, index: int) -> int:
        if self.ends is None:
            return len(self.kept[index])
        return len(self.kept[self.ends[index] : self.ends[index + 1]])


def memory_of_this_worker(_: list[int]) -> float:
    """Stand for a collate function: give what the worker owns in place of its batch."""
    return private_megabytes()


def one(start: str, kept_in: str) -> dict[str, float]:
    """Return the megabytes of a worker at the first and at the last batch of one epoch."""
    from torch.utils.data import DataLoader

    loader = DataLoader(
        Texts(kept_in),
        batch_size=BATCH,
        shuffle=True,
        num_workers=2,
        multiprocessing_context=start,
        collate_fn=memory_of_this_worker,
    )
    megabytes = list(loader)
    return {"first": max(megabytes[:2]), "last": max(megabytes[-2:])}


def measured() -> dict[str, dict[str, dict[str, float]]]:
    """Measure each combination in a program of its own, because workers inherit what a program has."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for start in STARTS:
        for kept_in in KEPT_IN:
            command = [sys.executable, "-m", "evidence.shared_memory", start, kept_in]
            said = subprocess.run(command, capture_output=True, text=True, check=True)
            found.setdefault(start, {})[kept_in] = json.loads(said.stdout)
    return found


def main() -> None:
    """Measure one combination, or all, and store them with what lesson 09 tells of PyTorch."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("start", nargs="?", choices=STARTS)
    parser.add_argument("kept_in", nargs="?", choices=KEPT_IN)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    if given.start:
        print(json.dumps(one(given.start, given.kept_in)))
        return
    found = measured()
    print(json.dumps(found, indent=1))
    if given.store:
        path = given.store / "measured_09.json"
        stored = json.loads(path.read_text(encoding="utf-8")) | {"memory": found}
        path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
