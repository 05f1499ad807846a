"""What a pipeline is: an immutable, printable chain of descriptions.

Names and arguments are those of tf.data. Nothing runs, opens or starts before the
first element is asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from lessonkit import check
from lessonkit.check import AUTOTUNE
from lessonkit.code import code
from lessonkit.iteration import Iterator
from lessonkit.operators.base import Bytes, Node, checked_bytes
from lessonkit.operators.batch import Batch, Unbatch
from lessonkit.operators.cache import Cache
from lessonkit.operators.combine import Concatenate, Enumerate, Repeat, Zip
from lessonkit.operators.interleave import FlatMap, Interleave
from lessonkit.operators.map import Map
from lessonkit.operators.prefetch import Prefetch
from lessonkit.operators.select import Filter, Shard, Skip, Take
from lessonkit.operators.shuffle import Shuffle
from lessonkit.operators.sources import Artificial, FromGenerator, listed, range_of
from lessonkit.work import KINDS, Cost


class Dataset:
    """A pipeline. Iterate over it to run it; give it to `benchmark` to see it run.

    >>> numbers = Dataset.range(4).map(lambda number: number * number).batch(2)
    >>> list(numbers)
    [[0, 1], [4, 9]]
    """

    def __init__(self, node: Node) -> None:
        if not isinstance(node, Node):
            raise TypeError(f"node={node!r}: begin with Dataset.range, from_list or from_generator")
        self.node = node

    def __iter__(self) -> Iterator:
        return Iterator(self.node)

    def __repr__(self) -> str:
        return code(self.node)

    # ---- sources ----

    @staticmethod
    def range(*args: int) -> Dataset:
        """Numbers, by the arguments of Python's `range`.

        >>> list(Dataset.range(2, 8, 3))
        [2, 5]
        """
        return Dataset(range_of(*args))

    @staticmethod
    def from_list(values: Any, *, nbytes: Bytes = None) -> Dataset:
        """The values of a list; *nbytes* says how large each is, if it does not know itself."""
        return Dataset(listed(values, nbytes))

    @staticmethod
    def from_generator(fn: Callable[..., Any], *args: Any, nbytes: Bytes = None) -> Dataset:
        """What `fn(*args)` yields; it is called anew for each pass.

        >>> def count(stop):
        ...     yield from range(stop)
        >>> list(Dataset.from_generator(count, 3))
        [0, 1, 2]
        """
        return Dataset(FromGenerator(check.function("fn", fn), args, nbytes=checked_bytes(nbytes)))

    @staticmethod
    def zip(*datasets: Any) -> Dataset:
        """Tuples of one element of each data set; a function behind it takes the parts as arguments.

        >>> list(Dataset.zip(Dataset.range(3), Dataset.range(10, 12)))
        [(0, 10), (1, 11)]
        """
        parts = datasets[0] if len(datasets) == 1 and isinstance(datasets[0], (tuple, list)) else datasets
        if not parts:
            raise ValueError("datasets=(): must be one data set or more")
        return Dataset(Zip(tuple(_node("datasets", part) for part in parts)))

    # ---- a function for each element ----

    def map(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        cost: Cost = 0,
        kind: str = "wait",
        num_parallel_calls: int | None = None,
        deterministic: bool = True,
        stage: str = "Map",
        nbytes: Bytes = None,
    ) -> Dataset:
        """`fn` of each element, at a *cost* in seconds; without a function only the cost.

        The cost may be a function of the element. *kind* says what the work holds, as
        in `work`, which `fn` may also call itself.
        """
        if not isinstance(stage, str) or not stage:
            raise TypeError(f"stage={stage!r}: must be a name")
        return Dataset(
            Map(
                self.node,
                None if fn is None else check.function("fn", fn),
                cost=check.cost("cost", cost),
                kind=check.one_of("kind", kind, KINDS),
                num_parallel_calls=_calls(num_parallel_calls),
                deterministic=check.flag("deterministic", deterministic),
                stage=stage,
                nbytes=checked_bytes(nbytes),
            )
        )

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements of which *predicate* says yes.

        >>> list(Dataset.range(6).filter(lambda number: number % 2))
        [1, 3, 5]
        """
        return Dataset(Filter(self.node, check.function("predicate", predicate)))

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of one data set after another; *map_func* makes one of each element.

        >>> list(Dataset.range(3).flat_map(Dataset.range))
        [0, 0, 1]
        """
        return Dataset(FlatMap(self.node, check.function("map_func", map_func)))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool = True,
    ) -> Dataset:
        """The elements of several data sets by turns: *block_length* each, *cycle_length* at a time.

        >>> list(Dataset.range(1, 3).interleave(lambda x: Dataset.from_list([x, x]), cycle_length=2))
        [1, 2, 1, 2]
        """
        cycle = None if cycle_length is None else check.integer("cycle_length", cycle_length, least=1, auto=True)
        calls = _calls(num_parallel_calls)
        if cycle not in (None, AUTOTUNE) and calls is not None and calls > cycle:
            raise ValueError(f"num_parallel_calls={calls}: must be cycle_length={cycle} or less")
        return Dataset(
            Interleave(
                self.node,
                check.function("map_func", map_func),
                cycle_length=cycle,
                block_length=check.integer("block_length", 1 if block_length is None else block_length, least=1),
                num_parallel_calls=calls,
                deterministic=check.flag("deterministic", deterministic),
            )
        )

    # ---- buffers ----

    def prefetch(self, buffer_size: int) -> Dataset:
        """At most *buffer_size* elements made ready in the background."""
        return Dataset(Prefetch(self.node, check.integer("buffer_size", buffer_size, least=0, auto=True)))

    def cache(self) -> Dataset:
        """What the first complete pass gave, kept in memory for all later ones."""
        return Dataset(Cache(self.node))

    def shuffle(
        self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool = True
    ) -> Dataset:
        """A random one of *buffer_size* elements at a time."""
        return Dataset(
            Shuffle(
                self.node,
                check.integer("buffer_size", buffer_size, least=1),
                None if seed is None else check.integer("seed", seed),
                check.flag("reshuffle_each_iteration", reshuffle_each_iteration),
            )
        )

    # ---- batches ----

    def batch(self, batch_size: int, drop_remainder: bool = False) -> Dataset:
        """Lists of *batch_size* elements; of arrays, stacked arrays."""
        return Dataset(
            Batch(
                self.node,
                check.integer("batch_size", batch_size, least=1),
                check.flag("drop_remainder", drop_remainder),
            )
        )

    def unbatch(self) -> Dataset:
        """The parts of each batch, one by one."""
        return Dataset(Unbatch(self.node))

    # ---- which elements, and how often ----

    def repeat(self, count: int | None = None) -> Dataset:
        """*count* passes, one after another; without end if None or negative."""
        return Dataset(Repeat(self.node, None if count is None else check.integer("count", count)))

    def take(self, count: int) -> Dataset:
        """The first *count* elements; all of them if negative."""
        return Dataset(Take(self.node, check.integer("count", count)))

    def skip(self, count: int) -> Dataset:
        """All but the first *count* elements; none if negative."""
        return Dataset(Skip(self.node, check.integer("count", count)))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Every *num_shards*-th element, beginning with number *index*.

        >>> list(Dataset.range(7).shard(3, 1))
        [1, 4]
        """
        shards = check.integer("num_shards", num_shards, least=1)
        if not 0 <= check.integer("index", index) < shards:
            raise ValueError(f"index={index}: must be 0 to {shards - 1} with num_shards={shards}")
        return Dataset(Shard(self.node, shards, index))

    def enumerate(self, start: int = 0) -> Dataset:
        """Each element with its number, as a tuple."""
        return Dataset(Enumerate(self.node, check.integer("start", start)))

    def concatenate(self, other: Dataset) -> Dataset:
        """All elements of this one, then all of the other."""
        return Dataset(Concatenate(self.node, _node("other", other)))


class ArtificialDataset(Dataset):
    """A file that is slow on purpose: it takes *open* seconds, and *read* for each sample.

    >>> ArtificialDataset(2, read=0.005).prefetch(1)
    ArtificialDataset(2, read=0.005).prefetch(1)
    """

    def __init__(
        self, num_samples: int = 3, *, open: Cost = 0.030, read: Cost = 0.015, nbytes: Bytes = None
    ) -> None:
        super().__init__(
            Artificial(
                check.integer("num_samples", num_samples, least=0),
                open=check.cost("open", open),
                read=check.cost("read", read),
                nbytes=checked_bytes(nbytes),
            )
        )


def _calls(value: int | None) -> int | None:
    return None if value is None else check.integer("num_parallel_calls", value, least=1, auto=True)


def _node(name: str, value: Any) -> Node:
    if not isinstance(value, Dataset):
        raise TypeError(f"{name}={value!r}: must be a Dataset")
    return value.node

