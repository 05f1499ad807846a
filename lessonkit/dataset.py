"""What a pipeline is: an immutable, printable chain of descriptions.

Names and arguments are those of tf.data. Nothing runs, opens or starts before the
first element is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from lessonkit import check
from lessonkit.check import AUTOTUNE
from lessonkit.code.expression import code
from lessonkit.code.program import program
from lessonkit.code.tfdata import tfdata
from lessonkit.engine.costs import Cost
from lessonkit.engine.element import Bytes
from lessonkit.engine.iteration import Iterator
from lessonkit.engine.machine import KINDS
from lessonkit.engine.node import METHODS, SCALARS, Description, Node, element_type
from lessonkit.engine.training import TRAIN


class Dataset(Description):
    """A pipeline. Iterate over it to run it; give it to `benchmark` to see it run.

    >>> numbers = Dataset.range(4).map(lambda number: number * number).batch(2)
    >>> list(numbers)
    [[0, 1], [4, 9]]
    """

    def __init__(self, node: Node) -> None:
        if not isinstance(node, Node):
            raise TypeError(f"node={node!r}: begin with Dataset.range, from_list or from_generator")
        super().__init__(node)

    def __iter__(self) -> Iterator:
        return Iterator(self.node)

    def __repr__(self) -> str:
        return code(self.node)

    if not TYPE_CHECKING:  # a type checker is to find the same mistakes by itself

        def __getattr__(self, name: str) -> NoReturn:
            """A method that there is not: the one that may be meant."""
            near = [] if name.startswith("_") else get_close_matches(name, dir(type(self)), 1)
            meant = f"; do you mean {near[0]}?" if near else ""
            raise AttributeError(f"a Dataset has no {name}{meant}")

    def code(
        self, language: str = "lessonkit", train: Any = None, num_epochs: int = 2, *, step: Any = None
    ) -> str:
        """The whole program, as text: for this package, or for real `"tf.data"`.

        For the latter the functions are called on a few elements, to see what they give.

        >>> print(Dataset.range(3).prefetch(1).code())
        from lessonkit import Dataset, benchmark
        <BLANKLINE>
        dataset = Dataset.range(3).prefetch(1)
        print(benchmark(dataset, num_epochs=2, train=0.01))
        <BLANKLINE>
        """
        check.integer("num_epochs", num_epochs, least=0)
        check.one_of("language", language, ("lessonkit", "tf.data"))
        write = program if language == "lessonkit" else tfdata
        if step is not None:
            return write(self.node, num_epochs, "step", check.function("step", step))
        return write(self.node, num_epochs, "train", TRAIN if train is None else check.cost("train", train))

    def _then(self, method: str, *others: Node, **arguments: Any) -> Dataset:
        return Dataset(Node(method, (self.node, *others), arguments))

    # ---- sources ----

    @staticmethod
    def range(*args: int) -> Dataset:
        """Numbers, by the arguments of Python's `range`.

        >>> list(Dataset.range(2, 8, 3))
        [2, 5]
        """
        if not 1 <= len(args) <= 3:
            raise TypeError(f"range{args}: must be 1 to 3 numbers")
        names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
        for name, value in zip(names, args, strict=False):
            check.integer(name, value)
        if args[2:] == (0,):
            raise ValueError("step=0: must not be 0")
        return Dataset(Node("range", (), {"args": args}))

    @staticmethod
    def from_list(values: Any, *, nbytes: Bytes = None) -> Dataset:
        """The values of a list; *nbytes* says how large each is, if it does not know itself."""
        odd = isinstance(values, (str, bytes, dict))
        if odd or not (hasattr(values, "__len__") and hasattr(values, "__iter__")):
            raise TypeError(f"values={values!r}: must be a list of elements")
        return Dataset(Node("from_list", (), {"values": tuple(values), "nbytes": check.nbytes(nbytes)}))

    @staticmethod
    def from_generator(fn: Callable[..., Any], *args: Any, nbytes: Bytes = None) -> Dataset:
        """What `fn(*args)` yields; it is called anew for each pass.

        >>> def count(stop):
        ...     yield from range(stop)
        >>> list(Dataset.from_generator(count, 3))
        [0, 1, 2]
        """
        arguments = {"fn": check.function("fn", fn), "args": args, "nbytes": check.nbytes(nbytes)}
        return Dataset(Node("from_generator", (), arguments))

    @staticmethod
    def zip(*datasets: Any) -> Dataset:
        """Tuples of one element of each data set; a function behind it takes the parts as arguments.

        >>> list(Dataset.zip(Dataset.range(3), Dataset.range(10, 12)))
        [(0, 10), (1, 11)]
        """
        parts = datasets[0] if len(datasets) == 1 and isinstance(datasets[0], (tuple, list)) else datasets
        if not parts:
            raise ValueError("datasets=(): must be one data set or more")
        return Dataset(Node("zip", tuple(_node("datasets", part) for part in parts), {}))

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
        batches: bool = False,
        random: bool = False,
    ) -> Dataset:
        """`fn` of each element, at a *cost* in seconds; without a function only the cost.

        The cost may be a function of the element. *kind* says what the work holds, as
        in `work`, which `fn` may also call itself. *batches* promises that `fn` of a batch
        is the batch of its results: `rewrite` may then call it once for all of them.
        *random* says that it makes something else of an element each time, as augmentation
        does: advice then knows what a cache behind it would freeze.
        """
        if not isinstance(stage, str) or not stage:
            raise TypeError(f"stage={stage!r}: must be a name")
        return self._then(
            "map",
            fn=None if fn is None else check.function("fn", fn),
            cost=check.cost("cost", cost),
            kind=check.one_of("kind", kind, KINDS),
            num_parallel_calls=_calls(num_parallel_calls),
            deterministic=check.flag("deterministic", deterministic),
            stage=stage,
            nbytes=check.nbytes(nbytes),
            batches=check.flag("batches", batches),
            random=check.flag("random", random),
        )

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements of which *predicate* says yes.

        >>> list(Dataset.range(6).filter(lambda number: number % 2))
        [1, 3, 5]
        """
        return self._then("filter", predicate=check.function("predicate", predicate))

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of one data set after another; *map_func* makes one of each element.

        >>> list(Dataset.range(3).flat_map(Dataset.range))
        [0, 0, 1]
        """
        return self._then("flat_map", map_func=check.function("map_func", map_func))

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
        calls, cycle = _calls(num_parallel_calls), cycle_length
        if cycle is not None and check.integer("cycle_length", cycle, least=1, auto=True) != AUTOTUNE:
            if calls is not None and calls > cycle:
                raise ValueError(f"num_parallel_calls={calls}: must be {cycle} or less, as cycle_length is")
        return self._then(
            "interleave",
            map_func=check.function("map_func", map_func),
            cycle_length=cycle,
            block_length=1 if block_length is None else check.integer("block_length", block_length, least=1),
            num_parallel_calls=calls,
            deterministic=check.flag("deterministic", deterministic),
        )

    # ---- buffers ----

    def prefetch(self, buffer_size: int) -> Dataset:
        """At most *buffer_size* elements made ready in the background."""
        return self._then(
            "prefetch", buffer_size=check.integer("buffer_size", buffer_size, least=0, auto=True)
        )

    def cache(self) -> Dataset:
        """What the first complete pass gave, kept in memory for all later ones."""
        return self._then("cache")

    def shuffle(
        self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool = True
    ) -> Dataset:
        """A random one of *buffer_size* elements at a time."""
        return self._then(
            "shuffle",
            buffer_size=check.integer("buffer_size", buffer_size, least=1),
            seed=None if seed is None else check.integer("seed", seed),
            reshuffle_each_iteration=check.flag("reshuffle_each_iteration", reshuffle_each_iteration),
        )

    def shuffle_and_repeat(
        self,
        buffer_size: int,
        count: int | None = None,
        seed: int | None = None,
        reshuffle_each_iteration: bool = True,
    ) -> Dataset:
        """As `shuffle` and then `repeat`, but without refilling the buffer for each pass.

        tf.data makes this one operator of the two; so does `rewrite`.
        """
        shuffled = self.shuffle(buffer_size, seed, reshuffle_each_iteration).node
        return self._then("shuffle_and_repeat", **shuffled.arguments, **self.repeat(count).node.arguments)

    # ---- batches ----

    def batch(self, batch_size: int, drop_remainder: bool = False) -> Dataset:
        """Lists of *batch_size* elements; of arrays, stacked arrays."""
        return self._then(
            "batch",
            batch_size=check.integer("batch_size", batch_size, least=1),
            drop_remainder=check.flag("drop_remainder", drop_remainder),
        )

    def map_and_batch(
        self,
        fn: Callable[..., Any] | None,
        batch_size: int,
        drop_remainder: bool = False,
        *,
        cost: Cost = 0,
        kind: str = "wait",
        num_parallel_calls: int = 1,
        stage: str = "Map",
        nbytes: Bytes = None,
    ) -> Dataset:
        """As `map` and then `batch`, but batches are put together ahead of need.

        tf.data makes this one operator of the two; so does `rewrite`.
        """
        calls = check.integer("num_parallel_calls", num_parallel_calls, least=1, auto=True)
        mapped = self.map(fn, cost=cost, kind=kind, num_parallel_calls=calls, stage=stage, nbytes=nbytes)
        batch = mapped.batch(batch_size, drop_remainder).node
        return self._then("map_and_batch", **mapped.node.arguments, **batch.arguments)

    def unbatch(self) -> Dataset:
        """The parts of each batch, one by one."""
        if element_type(self.node) in SCALARS:
            raise ValueError(f"unbatch: the elements of {self!r} are single values, not batches")
        return self._then("unbatch")

    # ---- which elements, and how often ----

    def repeat(self, count: int | None = None) -> Dataset:
        """*count* passes, one after another; without end if None or negative."""
        return self._then("repeat", count=None if count is None else check.integer("count", count))

    def take(self, count: int) -> Dataset:
        """The first *count* elements; all of them if negative."""
        return self._then("take", count=check.integer("count", count))

    def skip(self, count: int) -> Dataset:
        """All but the first *count* elements; none if negative."""
        return self._then("skip", count=check.integer("count", count))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Every *num_shards*-th element, beginning with number *index*.

        >>> list(Dataset.range(7).shard(3, 1))
        [1, 4]
        """
        shards = check.integer("num_shards", num_shards, least=1)
        if not 0 <= check.integer("index", index) < shards:
            raise ValueError(f"index={index}: must be 0 to {shards - 1}, as num_shards is {shards}")
        return self._then("shard", num_shards=shards, index=index)

    def enumerate(self, start: int = 0) -> Dataset:
        """Each element with its number, as a tuple."""
        return self._then("enumerate", start=check.integer("start", start))

    def concatenate(self, other: Dataset) -> Dataset:
        """All elements of this one, then all of the other."""
        ours, theirs = element_type(self.node), element_type(_node("other", other))
        if ours and theirs and ours is not theirs:
            raise TypeError(f"other={other!r}: must have elements of type {ours.__name__}, as this one has")
        return self._then("concatenate", other.node)


class ArtificialDataset(Dataset):
    """A file that is slow on purpose: it takes *open* seconds, and *read* for each sample.

    >>> ArtificialDataset(2, read=0.005).prefetch(1)
    ArtificialDataset(2, read=0.005).prefetch(1)
    """

    def __init__(
        self, num_samples: int = 3, *, open: Cost = 0.030, read: Cost = 0.015, nbytes: Bytes = None
    ) -> None:
        arguments = {
            "num_samples": check.integer("num_samples", num_samples, least=0),
            "open": check.cost("open", open),
            "read": check.cost("read", read),
            "nbytes": check.nbytes(nbytes),
        }
        super().__init__(Node("ArtificialDataset", (), arguments))


METHODS.update({name: getattr(Dataset, name) for name in vars(Dataset) if not name.startswith("_")})
METHODS["ArtificialDataset"] = ArtificialDataset


def _calls(value: int | None) -> int | None:
    return None if value is None else check.integer("num_parallel_calls", value, least=1, auto=True)


def _node(name: str, value: Any) -> Node:
    if not isinstance(value, Dataset):
        raise TypeError(f"{name}={value!r}: must be a Dataset")
    return value.node
