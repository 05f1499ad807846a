"""A pipeline: an immutable, printable chain of steps.

Names and arguments are those of tf.data. Nothing runs, opens or starts before the
first element is asked for.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Generic, NoReturn, TypeVar

from lessonkit.engine.check import AUTOTUNE, AtLeast, OneOf, checked
from lessonkit.engine.element import Bytes, signature
from lessonkit.engine.iteration import Iterator
from lessonkit.engine.machine import Cost, Function
from lessonkit.engine.node import (
    METHODS,
    Description,
    Node,
    gives_single_values,
    outline_of,
)
from lessonkit.engine.tensors import slices, tensors

from .code import PROGRAMS, expression
from .engine import check

# What an argument has to be, where several methods have it
Calls = Annotated[int | None, AtLeast(1, auto=True)]
Flag = Annotated[bool, check.flag]
FlagOrNone = Annotated[bool | None, check.flag]
Called = Annotated[Function, check.function]
Seconds = Annotated[Cost, check.cost]
Size = Annotated[Bytes, check.bytes_of]


class Dataset(Description):
    """Describe a pipeline: iterate over it to run it, or give it to `benchmark` to see it run.

    A dataset never changes: each method returns a new one, with one more operator. It checks
    its arguments immediately, and raises TypeError for one of a wrong type and ValueError for
    a value that is not allowed; the message has its name, its value and what is allowed.

    >>> numbers = Dataset.range(4).map(lambda number: number * number).batch(2)
    >>> list(numbers)
    [[0, 1], [4, 9]]
    """

    def __init__(self, node: Node) -> None:
        if not isinstance(node, Node):
            raise TypeError(
                f"node={node!r}: begin with Dataset.range, from_list or from_generator"
            )
        self.node = node

    def __iter__(self) -> Iterator:
        return Iterator(self.node)

    def __repr__(self) -> str:
        return expression(self.node)

    if not TYPE_CHECKING:  # a type checker is to find the same mistakes by itself

        def __getattr__(self, name: str) -> NoReturn:
            """Raise AttributeError, suggesting the closest method."""
            near = (
                [] if name.startswith("_") else get_close_matches(name, dir(type(self)), 1)
            )
            meant = f"; do you mean {near[0]}?" if near else ""
            raise AttributeError(f"a Dataset has no {name}{meant}")

    def code(self, language: str = "lessonkit") -> str:
        """Write a short program in a *language*: `"lessonkit"`, or real `"tf.data"` or `"torch"`.

        A comment in it names what you have to define: functions, and data that are not
        short. In tf.data, files of records stand for an `ArtificialDataset`. For PyTorch
        each loader is written; operators after it belong in the training loop.

        Raises ValueError for another language, for tf.data if the pipeline has a
        `DataLoader`, and for PyTorch if it has none.

        >>> print(Dataset.range(3).prefetch(1).code())
        from lessonkit import Dataset
        <BLANKLINE>
        dataset = Dataset.range(3).prefetch(1)
        """
        return PROGRAMS[check.one_of("language", language, tuple(PROGRAMS))]().text(
            self.node
        )

    def _then(self, method: str, **arguments: Any) -> "Dataset":
        """Add a step with these *arguments*, in the order in which they are printed."""
        return Dataset(Node(method, (self.node,), arguments))

    # ---- sources ----

    @staticmethod
    def range(*args: int) -> "Dataset":
        """Count, by the arguments of Python's `range`: *stop*, or *start*, *stop* and *step*.

        >>> list(Dataset.range(2, 8, 3))
        [2, 5]
        """
        numbers = tuple(check.integer("range", value) for value in args)
        try:
            # Raises an error for a wrong number of them, or a step of 0
            values = range(*numbers)
            len(values)
        except OverflowError:
            raise ValueError(
                f"range={args!r}: must have fewer numbers than {sys.maxsize}"
            ) from None
        return Dataset(Node("range", (), {"args": numbers, "values": values}))

    @staticmethod
    @checked
    def from_list(
        values: Annotated[Any, check.values], *, nbytes: Size = None
    ) -> "Dataset":
        """Give each of *values*, as it is; *nbytes* is its size, if it does not know its own."""
        return Dataset(Node("from_list", (), {"values": [*values], "nbytes": nbytes}))

    @staticmethod
    @checked
    def from_tensor_slices(
        tensors: Annotated[Any, tensors], *, nbytes: Size = None
    ) -> "Dataset":
        """Give the slices of *tensors* along their first axis.

        They are an array, or lists of one shape, or a tuple or dict of such, all of one length.
        *nbytes* is the size of a slice, if it does not know its own.

        >>> list(Dataset.from_tensor_slices({"image": [[0, 1], [2, 3]], "label": ["cat", "dog"]}))
        [{'image': [0, 1], 'label': 'cat'}, {'image': [2, 3], 'label': 'dog'}]
        """
        arguments = {"tensors": tensors, "values": [*slices(tensors)], "nbytes": nbytes}
        return Dataset(Node("from_tensor_slices", (), arguments))

    @staticmethod
    @checked
    def from_generator(
        generator: Called,
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        *,
        nbytes: Size = None,
    ) -> "Dataset":
        """Give what `generator(*args)` yields; it is called again for each pass.

        TensorFlow has to be told types and shapes, here they may be left out. If types are
        given, by *output_signature* or by *output_types*, a list or tuple becomes
        one array where they say one tensor. An element with other parts, another shape, or
        not of its type is an error in its place.

        >>> def count(stop):
        ...     yield from range(stop)
        >>> list(Dataset.from_generator(count, args=(3,)))
        [0, 1, 2]
        """
        if args is not None and not isinstance(args, (tuple, list)):
            raise TypeError(
                f"args={args!r}: must be a tuple of what the generator is called with"
            )
        arguments = {
            "generator": generator,
            "nbytes": nbytes,
            "args": tuple(args) if args else None,
            "output_signature": signature(output_types, output_shapes, output_signature),
        }
        return Dataset(Node("from_generator", (), arguments))

    @staticmethod
    def zip(*args: Any, datasets: Any = None) -> "Dataset":
        """Give tuples of one element of each dataset, as long as each has one.

        The datasets are arguments or one tuple, which may hold further tuples. A function
        after it takes the parts as arguments.

        >>> list(Dataset.zip(Dataset.range(3), Dataset.range(10, 12)))
        [(0, 10), (1, 11)]
        """
        if args and datasets is not None:
            raise TypeError(
                "datasets: must not be given together with datasets as arguments"
            )
        parts = args[0] if len(args) == 1 else args or datasets
        if isinstance(parts, Dataset):
            return parts
        if not parts or not isinstance(parts, (tuple, list)):
            raise TypeError(f"datasets={parts!r}: must be datasets")
        return Dataset(Node("zip", tuple(Dataset.zip(part).node for part in parts), {}))

    # ---- a function for each element ----

    @checked
    def map(
        self,
        map_func: Annotated[Function | None, check.function] = None,
        num_parallel_calls: Calls = None,
        deterministic: FlagOrNone = None,
        *,
        cost: Seconds = 0,
        kind: Annotated[str, OneOf(check.KINDS)] = "wait",
        stage: Annotated[str, check.name_of_stage] = "Map",
        nbytes: Size = None,
        batches: Flag = False,
        random: Flag = False,
    ) -> "Dataset":
        """Call *map_func* with each element; without one, only spend the cost.

        *num_parallel_calls* calls are under way at the same time, ahead of need. Their
        results keep the order of the elements unless *deterministic* is False.

        *cost* is in seconds, or a function of the element that returns seconds. *kind* says
        what the work occupies, as in `work`, which *map_func* may also call itself. *stage* is
        its name in traces and pictures, and *nbytes* is the size of a result.

        *batches* promises that the function of a batch is the batch of its results:
        `rewrite` may then call it once for all of them. *random* says that it returns
        a different result each time, as augmentation does: advice then knows what a cache
        after it would freeze.

        >>> list(Dataset.range(4).map(lambda number: number * number, num_parallel_calls=2))
        [0, 1, 4, 9]
        """
        return self._then(
            "map",
            map_func=map_func,
            cost=cost,
            kind=kind,
            num_parallel_calls=num_parallel_calls,
            deterministic=deterministic is not False,
            stage=stage,
            nbytes=nbytes,
            batches=batches,
            random=random,
        )

    @checked
    def filter(self, predicate: Called) -> "Dataset":
        """Keep the elements for which *predicate* is true.

        >>> list(Dataset.range(6).filter(lambda number: number % 2))
        [1, 3, 5]
        """
        return self._then("filter", predicate=predicate)

    @checked
    def map_and_filter(
        self,
        map_func: Annotated[Function | None, check.function],
        predicate: Called,
        *,
        cost: Seconds = 0,
        kind: Annotated[str, OneOf(check.KINDS)] = "wait",
        stage: Annotated[str, check.name_of_stage] = "Map",
        nbytes: Size = None,
        random: Flag = False,
    ) -> "Dataset":
        """Map, and keep the results for which *predicate* is true: one call does both.

        The arguments are those of `map` and `filter`. tf.data has no such method: its rule
        `map_and_filter_fusion`, which is one of `rewrite` too, makes this of the two.

        >>> list(Dataset.range(6).map_and_filter(lambda x: 3 * x, lambda x: x % 2))
        [3, 9, 15]
        """
        return self._then(
            "map_and_filter",
            map_func=map_func,
            predicate=predicate,
            cost=cost,
            kind=kind,
            stage=stage,
            nbytes=nbytes,
            random=random,
        )

    @checked
    def flat_map(self, map_func: Called) -> "Dataset":
        """Give the elements of one dataset after another; *map_func* makes one of each element.

        >>> list(Dataset.range(3).flat_map(Dataset.range))
        [0, 0, 1]
        """
        return self._then("flat_map", map_func=map_func)

    @checked
    def interleave(
        self,
        map_func: Called,
        cycle_length: Annotated[int | None, AtLeast(1, auto=True)] = None,
        block_length: Annotated[int | None, AtLeast(1)] = None,
        num_parallel_calls: Calls = None,
        deterministic: FlagOrNone = None,
    ) -> "Dataset":
        """Give the elements of several datasets in turn; *map_func* makes one of each element.

        *cycle_length* of them take turns, and each gives *block_length* elements at a time.
        *num_parallel_calls* of them are read at the same time, ahead of need; the order stays
        unless *deterministic* is False. Raises ValueError if there are more calls than turns.

        >>> twice = lambda x: Dataset.from_list([x, x])
        >>> list(Dataset.range(1, 3).interleave(twice, cycle_length=2))
        [1, 2, 1, 2]
        """
        if (
            cycle_length not in (None, AUTOTUNE)
            and (num_parallel_calls or 0) > cycle_length
        ):
            raise ValueError(
                f"num_parallel_calls={num_parallel_calls}: "
                f"must be {cycle_length} or less, as cycle_length is"
            )
        return self._then(
            "interleave",
            map_func=map_func,
            cycle_length=cycle_length,
            block_length=1 if block_length is None else block_length,
            num_parallel_calls=num_parallel_calls,
            deterministic=deterministic is not False,
        )

    # ---- buffers ----

    @checked
    def prefetch(self, buffer_size: Annotated[int, AtLeast(0, auto=True)]) -> "Dataset":
        """Make up to *buffer_size* elements ready in the background, before they are asked for.

        AUTOTUNE begins with one; 0 makes nothing ahead.
        """
        return self._then("prefetch", buffer_size=buffer_size)

    def cache(self) -> "Dataset":
        """Keep the elements of the first complete pass, and give them in all later passes.

        It keeps the values themselves: if a function after it changes an array or a list in place,
        all later passes get the changed one. Let the function return a new one.
        """
        return self._then("cache")

    @checked
    def shuffle(
        self,
        buffer_size: Annotated[int, AtLeast(1)],
        seed: Annotated[int | None, check.integer] = None,
        reshuffle_each_iteration: FlagOrNone = True,
    ) -> "Dataset":
        """Give a random one of *buffer_size* elements at a time.

        Each pass has another order, unless *reshuffle_each_iteration* is False. The same
        *seed* gives the same orders on every run.
        """
        return self._then(
            "shuffle",
            buffer_size=buffer_size,
            seed=seed,
            reshuffle_each_iteration=reshuffle_each_iteration is not False,
        )

    @checked
    def shuffle_and_repeat(
        self,
        buffer_size: Annotated[int, AtLeast(1)],
        count: Annotated[int | None, check.integer] = None,
        seed: Annotated[int | None, check.integer] = None,
        *,
        reshuffle_each_iteration: FlagOrNone = True,
    ) -> "Dataset":
        """Shuffle and make *count* passes, filling the buffer across the end of a pass.

        The elements and their order are those of `shuffle(...).repeat(count)`, and no pass begins
        with the wait for a full buffer. In tf.data it is `tf.data.experimental.shuffle_and_repeat`.
        There are passes without end if *count* is None or -1; ValueError for 0, as in tf.data.

        >>> sorted(Dataset.range(3).shuffle_and_repeat(2, count=2))
        [0, 0, 1, 1, 2, 2]
        """
        if count is not None and count < 1 and count != -1:
            raise ValueError(f"count={count}: must be 1 or more, or None or -1 for no end")
        return self._then(
            "shuffle_and_repeat",
            buffer_size=buffer_size,
            count=None if count == -1 else count,
            seed=seed,
            reshuffle_each_iteration=reshuffle_each_iteration is not False,
        )

    # ---- batches ----

    @checked
    def batch(
        self,
        batch_size: Annotated[int, AtLeast(1)],
        drop_remainder: Flag = False,
        num_parallel_calls: Calls = None,
        deterministic: FlagOrNone = None,
    ) -> "Dataset":
        """Make one element of *batch_size*: a list that computes like a tensor, or an array.

        Tuples and dicts stay what they are, and have a batch for each part. A last batch with
        fewer elements is left out with *drop_remainder*. *num_parallel_calls*
        batches are made ahead of need. *deterministic* has no effect: batches keep their
        order here, because copying elements into them takes no time.

        >>> list(Dataset.range(5).batch(2).map(lambda numbers: 10 * numbers))
        [[0, 10], [20, 30], [40]]
        """
        return self._then(
            "batch",
            batch_size=batch_size,
            drop_remainder=drop_remainder,
            num_parallel_calls=num_parallel_calls,
            deterministic=deterministic is not False,
        )

    @checked
    def map_and_batch(
        self,
        map_func: Annotated[Function | None, check.function],
        batch_size: Annotated[int, AtLeast(1)],
        num_parallel_batches: Annotated[int | None, AtLeast(1)] = None,
        drop_remainder: Flag = False,
        num_parallel_calls: Calls = None,
        *,
        cost: Seconds = 0,
        kind: Annotated[str, OneOf(check.KINDS)] = "wait",
        stage: Annotated[str, check.name_of_stage] = "Map",
        nbytes: Size = None,
        random: Flag = False,
    ) -> "Dataset":
        """Map, and make batches of the results: calls go on with the next batch ahead of need.

        *num_parallel_calls* calls are under way at the same time, always in the order of the
        elements; without a number as many as *num_parallel_batches* batches need, or one batch.
        An error loses its whole batch. The other arguments are those of `map` and `batch`. In
        tf.data it is `tf.data.experimental.map_and_batch`; `rewrite` makes it of the two, as
        tf.data does by itself.

        Raises ValueError if both numbers are given.

        >>> list(Dataset.range(5).map_and_batch(lambda number: number * number, 2))
        [[0, 1], [4, 9], [16]]
        """
        if num_parallel_batches is not None and num_parallel_calls is not None:
            raise ValueError(
                f"num_parallel_batches={num_parallel_batches}: "
                "must not be given together with num_parallel_calls"
            )
        if num_parallel_calls is None:
            num_parallel_calls = batch_size * (num_parallel_batches or 1)
        return self._then(
            "map_and_batch",
            map_func=map_func,
            batch_size=batch_size,
            drop_remainder=drop_remainder,
            cost=cost,
            kind=kind,
            num_parallel_calls=num_parallel_calls,
            stage=stage,
            nbytes=nbytes,
            random=random,
        )

    def unbatch(self) -> "Dataset":
        """Give the parts of each batch one by one.

        Raises ValueError if the elements are known to be single values.

        >>> list(Dataset.from_list([[1, 2], [3]]).unbatch())
        [1, 2, 3]
        """
        if gives_single_values(self.node):
            raise ValueError(
                f"unbatch: the elements of {self!r} are single values, not batches"
            )
        return self._then("unbatch")

    # ---- which elements, and how often ----

    @checked
    def repeat(self, count: Annotated[int | None, check.integer] = None) -> "Dataset":
        """Make *count* passes, one after another; without end if it is None or negative."""
        return self._then("repeat", count=count)

    @checked
    def take(self, count: Annotated[int, check.integer]) -> "Dataset":
        """Give the first *count* elements; all of them if it is negative."""
        return self._then("take", count=count)

    @checked
    def take_while(self, predicate: Called) -> "Dataset":
        """Give the elements before the first one for which *predicate* is false.

        >>> list(Dataset.range(9).take_while(lambda number: number < 3))
        [0, 1, 2]
        """
        return self._then("take_while", predicate=predicate)

    @checked
    def skip(self, count: Annotated[int, check.integer]) -> "Dataset":
        """Give all but the first *count* elements; none if it is negative."""
        return self._then("skip", count=count)

    @checked
    def shard(
        self,
        num_shards: Annotated[int, AtLeast(1)],
        index: Annotated[int, check.integer],
    ) -> "Dataset":
        """Give every *num_shards*-th element, beginning with number *index*.

        >>> list(Dataset.range(7).shard(3, 1))
        [1, 4]
        """
        if not 0 <= index < num_shards:
            most = f"must be 0 to {num_shards - 1}, as num_shards is {num_shards}"
            raise ValueError(f"index={index}: {most}")
        return self._then("shard", num_shards=num_shards, index=index)

    # ---- with numbers, and with other datasets ----

    @checked
    def enumerate(self, start: Annotated[int, check.integer] = 0) -> "Dataset":
        """Give tuples of a number, from *start* on, and an element.

        >>> list(Dataset.from_list(["a", "b"]).enumerate(start=1))
        [(1, 'a'), (2, 'b')]
        """
        return self._then("enumerate", start=start)

    def concatenate(self, dataset: "Dataset") -> "Dataset":
        """Give all elements of this dataset, and then all of *dataset*.

        Raises TypeError if the elements are known to have another type or other parts than
        those before them.

        >>> list(Dataset.range(2).concatenate(Dataset.range(7, 9)))
        [0, 1, 7, 8]
        """
        check.instance("dataset", dataset, Dataset)
        before, after = outline_of(self.node), outline_of(dataset.node)
        if None not in (before, after) and before != after:
            raise TypeError(
                f"dataset={dataset!r}: must have elements like those of {self!r}"
            )
        return Dataset(Node("concatenate", (self.node, dataset.node), {}))


class ArtificialDataset(Dataset):
    """Describe a file that is slow on purpose: it takes *open* seconds, and *read* per sample.

    >>> ArtificialDataset(2, read=0.005).prefetch(1)
    ArtificialDataset(2, read=0.005).prefetch(1)
    """

    @checked
    def __init__(
        self,
        num_samples: Annotated[int, AtLeast(0)] = 3,
        *,
        open: Seconds = 0.030,
        read: Seconds = 0.015,
        nbytes: Size = None,
    ) -> None:
        arguments = {
            "num_samples": num_samples,
            "open": open,
            "read": read,
            "nbytes": nbytes,
        }
        super().__init__(Node("ArtificialDataset", (), arguments))


StepType = TypeVar("StepType")


@dataclass(frozen=True)
class Result(Generic[StepType]):
    """What `rewrite`, `autotune` and `measure` return: a pipeline and the *steps* that led to it.

    Each of them has steps of its own, with what happened by name; `str` of one says it in words.
    *reason* says why there are no more steps.
    """

    dataset: Dataset
    steps: list[StepType]
    reason: str

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps)) or self.reason


METHODS.update(
    {name: getattr(Dataset, name) for name in vars(Dataset) if not name.startswith("_")}
)
METHODS["ArtificialDataset"] = ArtificialDataset
