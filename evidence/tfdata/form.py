"""The form in which a pipeline is described, so that TensorFlow and `lessonkit` can both build it.

All costs are seconds. In `num_parallel_calls` and `buffer`, -1 is AUTOTUNE and null is not given.
"""

from typing import Literal, NotRequired, Required, TypedDict

Number = int | float


class Source(TypedDict, total=False):
    """Where elements come from.

    `artificial` opens once and then reads *samples*: sample i of file x is *stride* times x, plus i.
    `range` counts *n*, or from *start* to *stop* by *step*; `list` gives *values*, `slices` the rows of
    one value or of several columns. The others are inner data sets of an element x: `range_x` gives the
    *k* numbers from x on, `repeat_x` gives x as often as x says, `const_x` gives x once.
    """

    kind: Required[
        Literal["artificial", "range", "list", "slices", "range_x", "repeat_x", "const_x"]
    ]
    open: float
    read: float
    samples: int
    stride: int
    n: int
    start: int
    stop: int
    step: int
    k: int
    values: list[Number] | list[list[Number]]
    columns: dict[str, list[Number]] | list[list[Number]]
    ops: list["Step"]


class Step(TypedDict, total=False):
    """One operator, by its name in *op*, with those of the arguments that it has."""

    op: Required[str]
    # map, map_and_batch
    cost: float
    cost_of: dict[str, float]  # by element, where it differs from `cost`
    fn: Literal["identity", "add", "mul", "square"]
    k: int  # the number that `fn` adds, or multiplies by
    fail_on: list[int]  # elements on which the function raises an error
    num_parallel_calls: int | None
    deterministic: bool
    # interleave, flat_map, zip, concatenate
    source: Source
    sources: list[Source]
    cycle_length: int | None
    block_length: int | None
    # batch, rebatch, window
    size: int
    drop_remainder: bool
    shift: int
    stride: int
    # prefetch, shuffle, shuffle_and_repeat
    buffer: int
    seed: int | None
    reshuffle: bool
    # repeat, take, skip, enumerate, shard
    count: int | None
    n: int
    start: int
    num: int
    index: int
    # filter keeps what this number divides; take_while goes on below this one
    keep_mod: int
    below: int


class Pipeline(TypedDict):
    """A pipeline, and the loop that takes its elements."""

    source: Source
    ops: list[Step]
    name: NotRequired[str]
    train: NotRequired[float]  # the loop's work after each element
    epochs: NotRequired[int]
    max_errors: NotRequired[int]  # after how many errors the loop gives up
    rewrites: NotRequired[list[str]]  # of tf.data's static rewrites, those to turn on
