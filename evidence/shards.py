"""Who reads which sample: real samplers and shards of PyTorch, Hugging Face, Grain and tf.data.

Each library is imported where it is asked, because each of these cases needs one of them.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from evidence.record import Case, Conditions, Json

WORDS = 200  # characters of an error


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Ask the library of each case who reads what."""
    warnings.filterwarnings("ignore")
    for case in cases:
        try:
            yield case | SYSTEMS[case["system"]](case)
        except (
            Exception
        ) as error:  # a refusal is an answer; each library has errors of its own
            yield case | {"error": sentence(error)}


def sentence(error: Exception) -> str:
    """Return what an error says, shortly."""
    return f"{type(error).__name__}: {str(error).splitlines()[0][:WORDS]}"


def each_rank(count: int, read: Callable[[int], Json]) -> list[Json]:
    """Return what each rank reads; the error of one that cannot."""
    found: list[Json] = []
    for rank in range(count):
        try:
            found.append(read(rank))
        except Exception as error:  # as above
            found.append(sentence(error))
    return found


# ---- PyTorch ----


def distributed_sampler(case: Case) -> Case:
    """Give the indices of each rank, and the order of which they are parts."""
    import torch
    from torch.utils.data import DistributedSampler

    if said := case.get("arguments"):
        DistributedSampler(range(4), **said)
        return {}
    seed = case.get("seed", 0)

    def indices(rank: int) -> list[int]:
        sampler = DistributedSampler(
            range(case["n"]),
            case["ranks"],
            rank,
            shuffle=case["shuffle"],
            seed=seed,
            drop_last=case["drop_last"],
        )
        if case.get("epoch") is not None:
            sampler.set_epoch(case["epoch"])
        return list(sampler)

    found: Case = {"indices": [indices(rank) for rank in range(case["ranks"])]}
    if case["shuffle"]:
        generator = torch.Generator().manual_seed(seed + (case["epoch"] or 0))
        found["order"] = torch.randperm(case["n"], generator=generator).tolist()
    return found


def data_loader(case: Case) -> Case:
    """Give the batches that a loader cuts of each rank's indices."""
    from torch.utils.data import DataLoader, DistributedSampler

    def batches(rank: int) -> Json:
        sampler = DistributedSampler(
            range(case["n"]),
            case["ranks"],
            rank,
            shuffle=False,
            drop_last=case["sampler_drop_last"],
        )
        loader = DataLoader(
            range(case["n"]),
            case["batch_size"],
            sampler=sampler,
            drop_last=case["loader_drop_last"],
        )
        return [batch.tolist() for batch in loader]

    return {"batches": [batches(rank) for rank in range(case["ranks"])]}


def iterable_dataset(case: Case) -> Case:
    """Give the batches of an iterable that asks for its rank and worker, or does not."""
    from torch.utils.data import (
        DataLoader,
        DistributedSampler,
        IterableDataset,
        get_worker_info,
    )

    class Stream(IterableDataset):
        def __init__(self, rank: int) -> None:
            self.place = rank if case["asks_rank"] else 0
            self.count = case["ranks"] if case["asks_rank"] else 1

        def __iter__(self) -> Iterator[int]:
            place = self.place
            count = self.count
            info = get_worker_info()
            if info and case["asks_worker"]:
                place = place * info.num_workers + info.id
                count *= info.num_workers
            return iter(range(place, case["n"], count))

    if "n" not in case:
        stream = Stream.__new__(Stream)
        DataLoader(stream, sampler=DistributedSampler(range(10), 2, 0))
    return {
        "batches": [
            [
                batch.tolist()
                for batch in DataLoader(
                    Stream(rank), case["batch_size"], num_workers=case["workers"]
                )
            ]
            for rank in range(case["ranks"])
        ]
    }


# ---- Hugging Face ----

SHARD = 3  # samples


def shard_samples(shards: list[int]) -> Iterator[dict[str, int]]:
    """Yield the samples of shards."""
    for shard in shards:
        for number in range(SHARD):
            yield {"x": shard * 10 + number}


def split_by_node(case: Case) -> Case:
    """Give what a data set has for each rank: in map style, as an iterable, and in a loader."""
    import datasets
    from datasets.distributed import split_dataset_by_node
    from torch.utils.data import DataLoader

    ranks = case["ranks"]
    if "shards" not in case:
        data = datasets.Dataset.from_dict({"x": list(range(case["n"]))})
        return {
            "elements": each_rank(
                ranks, lambda rank: list(split_dataset_by_node(data, rank, ranks)["x"])
            )
        }
    stream = datasets.IterableDataset.from_generator(
        shard_samples, gen_kwargs={"shards": list(range(case["shards"]))}
    )
    if "rank" in case:
        mine = split_dataset_by_node(stream, case["rank"], ranks)
        loader = DataLoader(
            mine, batch_size=case["batch_size"], num_workers=case["workers"]
        )
        return {"batches": [batch["x"].tolist() for batch in loader]}

    def values(rank: int) -> Json:
        return [sample["x"] for sample in split_dataset_by_node(stream, rank, ranks)]

    return {"elements": each_rank(ranks, values)}


# ---- Grain ----


def index_sampler(case: Case) -> Case:
    """Give the elements of each shard of a loader."""
    import grain.python as gp

    ranks = case["ranks"]

    def elements(rank: int) -> Json:
        shard = gp.ShardOptions(
            rank, ranks, drop_remainder=case.get("drop_remainder", False)
        )
        sampler = gp.IndexSampler(
            case["n"],
            shard,
            shuffle=case["shuffle"],
            num_epochs=case.get("num_epochs", 1),
            seed=case.get("seed"),
        )
        loader = gp.DataLoader(
            data_source=range(case["n"]), sampler=sampler, worker_count=0
        )
        return [int(element) for element in loader]

    found: list[Json] = []
    error = ""
    for rank in range(ranks):
        try:
            found.append(elements(rank))
        except Exception as raised:  # a rank that gets nothing says so in its own way
            error = sentence(raised)
            found.append(None)
    return {"elements": found} | ({"error": error} if error else {})


def map_dataset(case: Case) -> Case:
    """Give the elements of each rank's slice, before or after a shuffle."""
    import grain.python as gp

    data = gp.MapDataset.range(case["n"])
    drawn = data.seed(3)
    part = [slice(rank, None, case["ranks"]) for rank in range(case["ranks"])]
    rule = case["rule"]
    found: Case = {}
    if rule.startswith("shuffle before"):
        mine = [drawn.shuffle()[one] for one in part]
        found["order"] = [int(element) for element in drawn.shuffle()]
    elif rule.startswith("slice before"):
        mine = [drawn[one].shuffle() for one in part]
    elif rule.startswith("repeat"):
        mine = [drawn.shuffle()[one].repeat(2) for one in part]
    else:
        mine = [data[one] for one in part]
    return {"elements": [[int(element) for element in each] for each in mine]} | found


# ---- tf.data ----


def listed(dataset: Any) -> Json:
    """Return the elements of a data set of tf.data."""
    return [element.tolist() for element in dataset.as_numpy_iterator()]


def tfdata_shard(case: Case) -> Case:
    """Give the elements of each rank's shard; in a program *r* is the rank."""
    import tensorflow as tf

    data = tf.data.Dataset
    if said := case.get("arguments"):
        listed(data.range(4).shard(*said))
        return {}

    def elements(rank: int) -> Json:
        names = {"D": data, "range": data.range, "r": rank}
        return listed(eval(case["program"], names))

    found: Case = {"elements": each_rank(len(case["elements"]), elements)}
    if "order" in case:
        found["order"] = listed(data.range(8).shuffle(8, seed=5))
    return found


def tfdata_auto_shard(case: Case) -> Case:
    """Give what tf.distribute would give each rank, by its policy."""
    import tensorflow as tf
    from tensorflow.python.data.experimental.ops import distribute

    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = getattr(
        tf.data.experimental.AutoShardPolicy, case["policy"]
    )
    batches = tf.data.Dataset.range(6).batch(2).with_options(options)
    return {
        "elements": each_rank(
            2, lambda rank: listed(distribute._AutoShardDataset(batches, 2, rank))
        )
    }


SYSTEMS: dict[str, Callable[[Case], Case]] = {
    "torch DistributedSampler": distributed_sampler,
    "torch DataLoader": data_loader,
    "torch IterableDataset": iterable_dataset,
    "Hugging Face split_dataset_by_node": split_by_node,
    "Grain IndexSampler": index_sampler,
    "Grain MapDataset": map_dataset,
    "tf.data shard": tfdata_shard,
    "tf.data auto shard (what tf.distribute does)": tfdata_auto_shard,
}
