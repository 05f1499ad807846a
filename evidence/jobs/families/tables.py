"""Rows: dictionaries, tensors in memory, a database, graphs, and what is far away."""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import random
import sqlite3
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, TensorDataset

from evidence.jobs.families.family import Family, Parts, made_once, trains, waits


class Features(Dataset):
    """Rows of a table with a name for each column, as a data frame gives them."""

    def __init__(self, count: int) -> None:
        draw = np.random.default_rng(0)
        self.columns = {f"column {number}": draw.random(count) for number in range(40)}
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> dict[str, float]:
        return {name: float(column[number]) for name, column in self.columns.items()}


def features(count: int) -> Parts:
    """Rows as dictionaries, which PyTorch collates column by column; a linear step."""
    layer = torch.nn.Linear(40, 1)
    optimiser = torch.optim.SGD(layer.parameters(), 0.01)

    def step(batch: dict[str, Any]) -> None:
        optimiser.zero_grad()
        layer(torch.stack([*batch.values()], 1).float()).square().mean().backward()
        optimiser.step()

    return Parts(Features(count), {"batch_size": 64, "shuffle": True}, step)


def tensors(count: int) -> Parts:
    """A cheap loader of numbers in memory, and a small network."""
    draw = torch.Generator().manual_seed(0)
    data = TensorDataset(*(torch.rand(count, size, generator=draw) for size in (64, 1)))
    network = torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)
    )
    step = trains(network, torch.nn.functional.mse_loss)
    return Parts(data, {"batch_size": 64, "shuffle": True}, step)


class Database(Dataset):
    """Rows of SQLite, asked for one by one; each process has a connection of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection: sqlite3.Connection | None = None
        with sqlite3.connect(path) as connection:
            ((self.count,),) = connection.execute("select count(*) from events")

    def __len__(self) -> int:
        return self.count // 20

    def __getitem__(self, number: int) -> Any:
        if self.connection is None:
            self.connection = sqlite3.connect(self.path)
        rows = self.connection.execute(
            "select kind, sum(value), avg(value) from events where person = ? group by kind",
            (number,),
        ).fetchall()
        found = torch.zeros(8, 2)
        for kind, total, mean in rows:
            found[kind] = torch.tensor([total, mean])
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "connection": None}


def write_database(path: Path, count: int) -> None:
    """Write twenty events for each of *count* persons."""
    draw = random.Random(0)
    with sqlite3.connect(path) as connection:
        connection.execute("create table events (person int, kind int, value real)")
        rows = (
            (number % count, draw.randrange(8), draw.random())
            for number in range(20 * count)
        )
        connection.executemany("insert into events values (?, ?, ?)", rows)
        connection.execute("create index persons on events (person)")
    connection.close()


def database(count: int) -> Parts:
    """Rows of a database, for an accelerator."""
    path = made_once(f"events_{count}.db", lambda path: write_database(path, count))
    return Parts(Database(path), {"batch_size": 64, "shuffle": True}, waits(0.004))


class Graphs(Dataset):
    """Graphs of 20 to 400 nodes, each with edges to its neighbours."""

    def __init__(self, count: int) -> None:
        draw = np.random.default_rng(0)
        self.sizes = draw.integers(20, 400, count)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, number: int) -> Any:
        draw = np.random.default_rng(number)
        places = draw.random((self.sizes[number], 2))
        apart = ((places[:, None] - places[None]) ** 2).sum(-1)
        edges = np.argwhere(apart < 0.02)
        return torch.from_numpy(places), torch.from_numpy(edges)


def as_one_graph(graphs: list[Any]) -> Any:
    """Return graphs as one that falls into as many parts."""
    nodes, edges, first = [], [], 0
    for places, pairs in graphs:
        nodes.append(places)
        edges.append(pairs + first)
        first += len(places)
    return torch.cat(nodes), torch.cat(edges)


def graphs(count: int) -> Parts:
    """Graphs whose neighbours are found when they are asked for, for an accelerator."""
    said = {"batch_size": 32, "shuffle": True, "collate_fn": as_one_graph}
    return Parts(Graphs(count), said, waits(0.025))


class FarAway(Dataset):
    """Objects of a store that answers late, and now and then very late."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> torch.Tensor:
        draw = random.Random(number)
        time.sleep(0.150 if draw.random() < 0.01 else draw.uniform(0.004, 0.012))
        return torch.full((64, 64), float(number))


def far_away(count: int) -> Parts:
    """Objects from far away, and a step that waits for an accelerator."""
    return Parts(FarAway(count), {"batch_size": 16, "shuffle": True}, waits(0.015))


FAMILIES = [
    Family("features", features, 10_000, {"num_workers": 2}),
    Family("tensors", tensors, 40_000),
    Family("database", database, 10_000),
    Family("graphs", graphs, 2000),
    Family("far_away", far_away, 1600, {"num_workers": 2}),
]
