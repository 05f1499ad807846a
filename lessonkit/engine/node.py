"""The nodes of a description, what they tell before anything runs, and what is kept by node."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Container, Iterator, MutableMapping
from dataclasses import dataclass, field
from inspect import signature
from itertools import count, repeat
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from . import check

METHODS: dict[str, Callable[..., Any]] = {}  # by the name of the node that each makes
SCALARS = (bool, int, float, complex, str, bytes)


@dataclass(frozen=True, eq=False)
class Node:
    """One step of a description: what it is called, its inputs and its arguments.

    Two nodes are equal only if they are the same one: what a cache holds is kept by node.
    """

    method: str
    inputs: tuple[Node, ...]
    arguments: dict[str, Any]

    def replace(self, *inputs: Node, **changes: Any) -> Node:
        """Return a new node with other *inputs* or arguments, and nothing in its caches."""
        return Node(self.method, inputs or self.inputs, self.arguments | changes)

    def then(self, method: str, **given: Any) -> Node:
        """Return the step *method* after this one; its *given* arguments are checked."""
        known = signature(METHODS[method]).parameters.values()
        usual = {one.name: one.default for one in known if one.default is not one.empty}
        return Node(method, (self,), check.arguments(method, usual | given))


class Description:
    """Has a node to run: the part of a `Dataset` that the engine knows."""

    node: Node


T = TypeVar("T")


@dataclass(eq=False)
class NodeStates:
    """Keeps by node what outlives an iteration: the elements of a cache, the passes of a shuffle.

    A state is held weakly: it goes when its description goes. Each benchmark has states of its
    own; all loops over datasets share theirs.
    """

    fixed_seed: bool  # a shuffle without a seed is the same on every run
    base: int = 0  # what it draws from: each worker of a loader has its own
    states: MutableMapping[Any, Any] = field(init=False, default_factory=WeakKeyDictionary)

    def of(self, node: Any, new: Callable[[], T]) -> T:
        """Return the state of *node*; a *new* one if it has none yet."""
        # A dict's setdefault is one step, for loops on several threads; a lock might be
        # held in a fork.
        return self.states.setdefault(node, new())  # type: ignore[no-any-return]

    def seed(self, given: int | None) -> int:
        """Return the seed that is *given*; else a number of this benchmark, or a random one."""
        if given is not None:
            return given
        return self.base if self.fixed_seed else random.getrandbits(64)


shared = NodeStates(fixed_seed=False)


def loaders_in(root: Node) -> list[Node]:
    """List the loaders of the pipeline that ends in *root*."""
    return [node for node in walk(root) if node.method == "DataLoader"]


def walk(node: Node, known: Container[Node] = ()) -> Iterator[Node]:
    """Give every node of a description, sources first and *node* last, but none that is *known*.

    Without recursion, so that a pipeline may be as long as one likes.
    """
    todo = [(node, False)]  # and whether its inputs have been given
    while todo:
        node, is_next = todo.pop()
        if node in known:
            continue
        if is_next:
            yield node
        else:
            todo += [(node, True), *zip(reversed(node.inputs), repeat(False))]


def sites(node: Node) -> dict[tuple[int, ...], int]:
    """Number the ways up from *node* to each node of its description, in the order of `walk`."""
    found: list[tuple[int, ...]] = []
    todo: list[tuple[Node, tuple[int, ...]]] = [(node, (0,))]
    while todo:
        node, site = todo.pop()
        found.append(site)
        for index, part in enumerate(node.inputs):
            todo.append((part, (*site, index)))
    return dict(zip(reversed(found), count(), strict=False))


def rebuilt(
    root: Node, done: dict[Node, Node], change: Callable[[Node, Node], Node] | None = None
) -> Node:
    """Return what becomes of *root* if other nodes stand in the place of those that are *done*.

    *change* makes another of each further node, from the sources on: it gets the node as it was,
    and as it is with the inputs that it has now. A node that is used twice stays one, with one
    cache, and an unchanged node stays the same object.
    """
    for node in walk(root, done):
        inputs = tuple(map(done.__getitem__, node.inputs))
        new = node if inputs == node.inputs else node.replace(*inputs)
        done[node] = change(node, new) if change else new
    return done[root]


# Float | None: what the arguments hold has no types here
def cardinality(node: Node) -> Any:
    """Count the elements that *node* will give: infinity for no end, None if that is not known."""
    known: dict[Node, Any] = {}
    for part in walk(node, known):
        known[part] = count_of(part, [*map(known.get, part.inputs)])
    return known[node]


# One case an operator, in one table.
def count_of(node: Node, many: list[Any]) -> Any:  # noqa: C901, PLR0912
    """Count the elements that *node* will give, if its inputs give so *many*."""
    arguments: dict[str, Any] = node.arguments
    count: Any = arguments.get("count")
    if not node.inputs:
        return len(arguments["values"]) if "values" in arguments else None
    match node.method:  # what holds whether the input is known or not
        case "DataLoader":
            return _of_loader(node, many[0])
        case "filter" | "flat_map" | "interleave":
            return math.inf if math.inf in many else None
        case "take" | "repeat" if count == 0:
            return 0
        case "zip" | "repeat" if 0 in many:
            return 0
        case "repeat" if count is None or count < 0:
            # As in tf.data, also if it is not known whether there is anything to repeat
            return math.inf
        case "skip" if count < 0:
            return 0
    if None in many:
        return None
    result: Any = many[0]
    match node.method:
        case "zip":
            return min(many)
        case "take" if count > 0:
            return min(result, count)
        case "repeat":
            return result * count
        case "unbatch" if result not in (0, math.inf):
            batch = node.inputs[0].arguments
            return result * batch["batch_size"] if batch.get("drop_remainder") else None
        case "skip":
            return max(0, result - count)
        case "batch" if result != math.inf:
            return batches(result, arguments["batch_size"], arguments["drop_remainder"])
        case "shard" if result != math.inf:
            return max(
                0, math.ceil((result - arguments["index"]) / arguments["num_shards"])
            )
    return result


def batches(samples: int, size: int | None, drop_last: bool) -> int:
    """Count the batches of *size* in a number of *samples*; without a size each sample is one."""
    return samples // (size or 1) if drop_last else -(-samples // (size or 1))


def _of_loader(node: Node, samples: Any) -> Any:
    """Count the batches of a loader's *node*; None for an iterable, unless that has no end."""
    options: dict[str, Any] = node.arguments
    if options["batch_sampler"] is not None:
        return length(options["batch_sampler"])
    if options["sampler"] is not None:
        samples = length(options["sampler"])
    if samples in (None, math.inf) or base_of(node.inputs[0]) is None:
        return math.inf if samples == math.inf else 0 if samples == 0 else None
    return batches(samples, options["batch_size"], options["drop_last"])


def length(sampler: Any) -> int | None:
    """Return the length of a *sampler*; None if it has none, for it has only to be an iterable."""
    return len(sampler) if hasattr(sampler, "__len__") else None


def base_of(node: Node) -> Node | None:
    """Find the step above *node* that gives any sample by number; only sequential maps follow.

    That is a range or a list, a rank's shard of one, or a cache; None if there is none.
    """
    while node.method == "map" and node.arguments["num_parallel_calls"] is None:
        node = node.inputs[0]
    source = node.inputs[0] if node.method == "shard" else node
    known = source.method in ("range", "from_list") or node.method == "cache"
    return node if known else None


def is_repeatable(node: Node) -> bool:
    """Whether a step gives the same in each run, whatever timing and chance are."""
    given = node.arguments
    is_ordered = False not in (given.get("in_order"), given.get("deterministic"))
    return is_ordered and not given.get("random")


def one_call(node: Node) -> bool:
    """Whether the maps under a loader's *node* are called once per batch: it must have an order."""
    options = node.arguments
    return (
        options["batch_size"] is not None
        and options["getitems"]
        and base_of(node.inputs[0]) is not None
    )


def gives_single_values(node: Node) -> bool:
    """Whether it is known that *node* gives single values: those of a range or of a file."""
    changes = ("DataLoader", "batch", "flat_map", "interleave", "map", "unbatch", "zip")
    while node.inputs and node.method not in changes:
        node = node.inputs[0]
    return node.method in ("range", "ArtificialDataset")
