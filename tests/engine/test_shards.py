"""Who reads what: sharding as PyTorch, tf.data, Grain and Hugging Face do it, each in our operators.

The cases are what these libraries gave. What a library draws at random has another order
here: of such a case the rule is tested, on all ranks together.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evidence.many_cases import cases
from lessonkit import DataLoader, Dataset, get_worker_info

Case = dict[str, Any]
Rule = Callable[[Case, int], Dataset | DataLoader]
SHARD = 3  # samples, numbered from ten times the shard's number on


def of_shard(shard: int) -> Dataset:
    return Dataset.range(10 * shard, 10 * shard + SHARD)


def order(case: Case) -> Dataset:
    """The samples, in the one order that all ranks have."""
    return Dataset.from_list(case["order"]) if "order" in case else Dataset.range(case["n"])


def padded(case: Case, rank: int) -> Dataset:
    """Take the beginning again until all ranks have equally many, or cut the rest off."""
    n = case["n"]
    ranks = case["ranks"]
    cut = case.get("drop_last", case.get("sampler_drop_last"))
    total = n // ranks * ranks if cut else -(-n // ranks) * ranks
    return order(case).repeat().take(total).shard(ranks, rank)


def loaded(case: Case, rank: int) -> DataLoader:
    return DataLoader(
        padded(case, rank),
        batch_size=case["batch_size"],
        drop_last=case["loader_drop_last"],
    )


def stream(case: Case, rank: int) -> DataLoader:
    """Ask for the rank, the worker, both or neither in the data set itself."""

    def samples() -> Iterator[int]:
        worker = get_worker_info()
        assert worker is not None
        part, parts = (rank, case["ranks"]) if case["asks_rank"] else (0, 1)
        if case["asks_worker"]:
            part = part * worker.num_workers + worker.id
            parts = parts * worker.num_workers
        return iter(range(part, case["n"], parts))

    batch = case["batch_size"]
    workers = case["workers"]
    return DataLoader(
        Dataset.from_generator(samples), batch_size=batch, num_workers=workers
    )


def stretch(case: Case, rank: int) -> Dataset:
    """One piece for each rank; those of the first ranks are one longer if it does not divide."""
    (least, longer), cut = divmod(case["n"], case["ranks"]), case.get("drop_remainder")
    start = rank * least + (0 if cut else min(rank, longer))
    return Dataset.range(case["n"]).skip(start).take(least + (rank < longer and not cut))


def stretch_of_grain(case: Case, rank: int) -> Dataset:
    """All ranks give equally many: a longer stretch is not read to its end."""
    each = case["n"] * case.get("num_epochs", 1) // case["ranks"]
    mine = stretch(case, rank)
    return (mine.shuffle(case["n"]).repeat() if case["shuffle"] else mine).take(each)


def whole_shards(case: Case, rank: int) -> Dataset:
    """Whole shards if they divide; else every rank reads all of them."""
    shards = Dataset.range(case["shards"])
    ranks = case["ranks"]
    if case["shards"] % ranks:
        return shards.flat_map(of_shard).shard(ranks, rank)
    return shards.shard(ranks, rank).flat_map(of_shard)


def shards_of_workers(case: Case, rank: int) -> DataLoader:
    """Share a rank's shards out over its workers."""

    def samples() -> Iterator[int]:
        worker = get_worker_info()
        assert worker is not None
        mine = range(case["rank"], case["shards"], case["ranks"])[
            worker.id :: worker.num_workers
        ]
        return (
            sample for shard in mine for sample in range(10 * shard, 10 * shard + SHARD)
        )

    batch = case["batch_size"]
    workers = case["workers"]
    return DataLoader(
        Dataset.from_generator(samples), batch_size=batch, num_workers=workers
    )


def program(case: Case, rank: int) -> Dataset:
    """Run tf.data's own program; the one shuffled order that the case tells takes the place of a shuffle."""
    text = case["program"]
    if "order" in case and text.startswith("range(8).shuffle(8, seed=5).shard"):
        text = text.replace("range(8).shuffle(8, seed=5)", "in_order")
    made = eval(
        text, {"range": Dataset.range, "r": rank, "in_order": order(case | {"n": 8})}
    )
    assert isinstance(made, Dataset)
    return made


def auto(case: Case, rank: int) -> Dataset:
    return (
        program(case, rank)
        if case["policy"] == "OFF"
        else program(case, rank).shard(2, rank)
    )


def every(case: Case, rank: int) -> Dataset:
    """Take every ranks-th sample, of an order that all have; or shuffle one's own part."""
    if "order" not in case and case["rule"].startswith("slice before"):
        return order(case).shard(case["ranks"], rank).shuffle(case["n"])
    if "repeat" in case["rule"]:
        return order(case).shuffle(case["n"], seed=3).shard(case["ranks"], rank).repeat(2)
    return order(case).shard(case["ranks"], rank)


RULES: dict[str, Rule] = {
    "torch DistributedSampler": padded,
    "torch DataLoader": loaded,
    "torch IterableDataset": stream,
    "Hugging Face split_dataset_by_node": stretch,
    "Hugging Face split_dataset_by_node, iterable": whole_shards,
    "Hugging Face split_dataset_by_node, in a DataLoader": shards_of_workers,
    "Grain IndexSampler": stretch_of_grain,
    "Grain MapDataset": every,
    "tf.data shard": program,
    "tf.data auto shard (what tf.distribute does)": auto,
}
NOT_HERE = {
    "a sampler over an iterable is refused": "Our sampler is a list of places, and is refused there as well.",
    "needs files": "No policy looks at where elements come from.",
}


def rule_of(case: Case) -> Rule:
    system = case["system"]
    if "shards" in case:
        system += ", in a DataLoader" if "workers" in case else ", iterable"
    return RULES[system]


def is_random(case: Case) -> bool:
    """Whether the library draws an order that is not told, so that only the rule can be compared."""
    known = "order" in case and not case.get("program", "").endswith(
        ("repeat(2)", "shuffle(8, seed=5)")
    )
    return not known and (
        case.get("shuffle", False) or "shuffle" in case["rule"] + case.get("program", "")
    )


ALL = cases("shards")
EXPRESSED = [case for case in ALL if "error" not in case and case["rule"] not in NOT_HERE]


def given(case: Case) -> list[list[Any]]:
    """What each rank read there; an error where a rank has no sample is an empty list here."""
    each = next(case[name] for name in ("elements", "indices", "batches") if name in case)
    each = [each] if "rank" in case else each
    return [[] if isinstance(mine, str) or mine is None else mine for mine in each]


def read(case: Case) -> list[list[Any]]:
    """Go through all ranks, or the one of the case."""
    ranks = range(len(given(case)))
    return [[plain(element) for element in rule_of(case)(case, rank)] for rank in ranks]


def plain(element: Any) -> Any:
    return list(element) if isinstance(element, (list, tuple)) else element


def test_every_case_is_expressed_or_named_as_not_here_or_refused() -> None:
    for case in ALL:
        assert (
            case in EXPRESSED
            or case["rule"] in NOT_HERE
            or "refused" in case["rule"]
            or "error" in case
        )
    assert len(EXPRESSED) > 80


@pytest.mark.parametrize(
    "case", [case for case in EXPRESSED if not is_random(case)], ids=str
)
def test_each_rank_reads_what_it_reads_there(case: Case) -> None:
    assert read(case) == given(case)


@pytest.mark.parametrize("case", [case for case in EXPRESSED if is_random(case)], ids=str)
def test_a_shuffled_case_has_as_many_each_and_the_samples_of_its_rule(
    case: Case,
) -> None:
    ours = read(case)
    theirs = given(case)
    assert [len(mine) for mine in ours] == [len(mine) for mine in theirs]
    if "before the shard" in case["rule"] and "another seed" in case["rule"]:
        return  # which samples both have hangs on the seeds
    if case["system"] == "Grain IndexSampler" or case["rule"].startswith(
        ("slice", "shuffle after")
    ):
        # Each its own part
        assert [set(mine) for mine in ours] == [set(mine) for mine in theirs]
        if "same places" in case["rule"]:
            assert [[sample // 2 for sample in mine] for mine in ours] == 2 * [
                [s // 2 for s in ours[0]]
            ]
    else:
        together = [
            Counter(sample for mine in all_of for sample in mine)
            for all_of in (ours, theirs)
        ]
        assert together[0] == together[1]  # disjoint parts of one order, in each epoch


@pytest.mark.parametrize("case", [case for case in ALL if "arguments" in case], ids=str)
def test_a_rank_that_is_none_is_refused(case: Case) -> None:
    said = case["arguments"]
    number, index = said.values() if isinstance(said, dict) else said
    with pytest.raises(ValueError, match="shard"):
        Dataset.range(4).shard(number, index)


def test_a_sampler_over_an_iterable_is_refused() -> None:
    with pytest.raises(ValueError, match="sampler"):
        list(
            DataLoader(
                Dataset.from_generator(lambda: iter(range(4))),
                batch_size=2,
                sampler=[0, 1],
            )
        )
