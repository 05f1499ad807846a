"""The pipelines of tf.data's performance guide, and their neighbours."""

from dataclasses import dataclass

from lessonkit import ArtificialDataset, Dataset, Machine, Trace, benchmark

CORES = 2
TRAIN = 0.010  # s
MAP = 0.030  # s


@dataclass
class Guided:
    """A pipeline of the guide, and how it is trained on."""

    name: str
    dataset: Dataset
    num_epochs: int
    train: float  # s
    machine: Machine

    def run(self, clock: str = "virtual") -> Trace:
        """One recorded run."""
        return benchmark(
            self.dataset, self.num_epochs, self.train, clock=clock, machine=self.machine
        )


def pipelines() -> list[Guided]:
    """All of them, each with the loop that the guide trains with."""
    return [
        Guided(
            name,
            dataset,
            num_epochs=epochs_of(name),
            train=TRAIN,
            machine=Machine(CORES),
        )
        for name, dataset in described().items()
    ]


def epochs_of(name: str) -> int:
    """A cache shows from the second epoch on, and a repeat needs no second one."""
    if "cache" in name:
        return 3
    return 1 if "repeat" in name else 2


def described() -> dict[str, Dataset]:
    """The pipelines by what they are made of: a file of 30 ms and three reads of 15 ms, maps of 30 ms."""
    file = ArtificialDataset(3, open=0.030, read=0.015)
    mapped = file.map(cost=MAP)

    def parallel(calls: int, cost: float = MAP) -> Dataset:
        return file.map(cost=cost, num_parallel_calls=calls)

    def interleaved(
        count: int, calls: int | None, cycle_length: int = 2, block_length: int = 1
    ) -> Dataset:
        return Dataset.range(count).interleave(
            lambda number: file.map(lambda sample: sample + 100 * number),
            cycle_length,
            block_length,
            num_parallel_calls=calls,
        )

    return {
        "naive": file,
        "prefetch(1)": file.prefetch(1),
        "prefetch(2)": file.prefetch(2),
        "map": mapped,
        "map, 1 call": parallel(1),
        "map, 2 calls": parallel(2),
        "map, 3 calls": parallel(3),
        "map, 2 calls, prefetch(1)": parallel(2).prefetch(1),
        "map, prefetch(1)": mapped.prefetch(1),
        "map of 40 ms, 3 calls": parallel(3, 0.040),
        "map, cache": mapped.cache(),
        "map, 2 calls, cache, prefetch(1)": parallel(2).cache().prefetch(1),
        "interleave 2 files": interleaved(2, None),
        "interleave 3 files in blocks of 2": interleaved(3, None, block_length=2),
        "interleave 2 files, 1 call": interleaved(2, 1),
        "interleave 2 files, 2 calls": interleaved(2, 2),
        "interleave 4 files, 2 calls": interleaved(4, 2),
        "interleave 8 files, 2 calls": interleaved(8, 2),
        "interleave 4 files, 4 at a time, 2 calls": interleaved(4, 2, cycle_length=4),
        "interleave 2 files, 2 calls, map, 2 calls, prefetch(1)": interleaved(2, 2)
        .map(cost=MAP, num_parallel_calls=2)
        .prefetch(1),
        "batch(2), map, prefetch(1)": file.batch(2).map(cost=MAP).prefetch(1),
        "shuffle(2), prefetch(1)": file.shuffle(2, seed=1).prefetch(1),
        "prefetch(1), repeat(2)": file.prefetch(1).repeat(2),
        "repeat(2), prefetch(1)": file.repeat(2).prefetch(1),
    }
