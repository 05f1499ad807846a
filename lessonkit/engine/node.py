"""The nodes of a description, what they tell before anything runs, and what is kept by node."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Container, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

# How many elements there are: infinity without an end, None if that is not known
Cardinality = int | float | None

# All by the method of a node. What a user calls to make it, whose signature tells the arguments
METHODS: dict[str, Callable[..., Any]] = {}
# What counts its elements, given the node and how many each input gives
COUNTS: dict[str, Callable[..., Cardinality]] = {}
# Those whose elements have the values that they had in the input
KEEP_VALUES: set[str] = set()
# Sources whose elements are there already, any of which can be asked for by its number
LISTED = ("range", "from_list", "from_tensor_slices")
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
            todo.append((node, True))
            todo += [(one, False) for one in reversed(node.inputs)]


def sites(node: Node) -> dict[tuple[int, ...], int]:
    """Number the ways up from *node* to each node of its description, in the order of `walk`."""
    found: list[tuple[int, ...]] = []
    todo: list[tuple[Node, tuple[int, ...]]] = [(node, (0,))]
    while todo:
        node, site = todo.pop()
        found.append(site)
        for index, part in enumerate(node.inputs):
            todo.append((part, (*site, index)))
    return {site: number for number, site in enumerate(reversed(found))}


def rebuilt(
    root: Node, done: dict[Node, Node], change: Callable[[Node, Node], Node] | None = None
) -> Node:
    """Return what becomes of *root* if other nodes stand in the place of those that are *done*.

    *change* makes another of each further node, from the sources on: it gets the node as it was,
    and as it is with the inputs that it has now. A node that is used twice stays one, with one
    cache, and an unchanged node stays the same object.
    """
    for node in walk(root, done):
        inputs = tuple([done[one] for one in node.inputs])
        new = node if inputs == node.inputs else node.replace(*inputs)
        done[node] = change(node, new) if change else new
    return done[root]


def cardinality(node: Node) -> Cardinality:
    """Count the elements that *node* will give, by what its operators say.

    Whatever reads an element also brings the operators in, and each says its count beside its
    stream; so all are known when the first node has been made.
    """
    known: dict[Node, Cardinality] = {}
    for part in walk(node, known):
        count = COUNTS.get(part.method)
        known[part] = count and count(part, *[known[one] for one in part.inputs])
    return known[node]


def batches(samples: Cardinality, size: int | None, drop_last: bool) -> Cardinality:
    """Count the batches of *size* in a number of *samples*; without a size each sample is one."""
    if samples is None or samples == math.inf or size is None:
        return samples
    return samples // size if drop_last else -(-samples // size)


def base_of(node: Node) -> Node | None:
    """Find the step above *node* that gives any sample by number.

    That is a range or a list, a rank's shard of one, a cache, or several of these one after the
    other, but no caches; None if there is none. What follows it makes one sample of one.
    """
    base = before_samples(node)
    if base.method == "cache":
        return base
    todo = [base]
    while todo:
        part = before_samples(todo.pop())
        if part.method == "concatenate":
            todo += part.inputs
        elif (part.inputs[0] if part.method == "shard" else part).method not in LISTED:
            return None
    return base


def before_samples(node: Node) -> Node:
    """Return what comes before the steps that make one sample of one: sequential maps, numbers."""
    while node.method in ("map", "enumerate") and not node.arguments.get(
        "num_parallel_calls"
    ):
        node = node.inputs[0]
    return node


def is_repeatable(node: Node) -> bool:
    """Whether a step gives the same in each run, whatever timing and chance are."""
    given = node.arguments
    is_ordered = False not in (given.get("in_order"), given.get("deterministic"))
    return is_ordered and not given.get("random")


def one_call(node: Node) -> bool:
    """Whether the maps under a loader's *node* are called once per batch.

    It must have an order, and come from one source: as in PyTorch, concatenated datasets give
    one sample at a time.
    """
    options = node.arguments
    base = base_of(node.inputs[0])
    if options["batch_size"] is None or not options["getitems"]:
        return False
    return base is not None and base.method != "concatenate"


def gives_single_values(node: Node) -> bool:
    """Whether it is known that *node* gives single values, and neither batches nor tuples."""
    return isinstance(outline_of(node), type)


def outline_of(node: Node) -> Any:
    """Return what all elements of *node* have in common, if the description tells it; else None.

    That is the type of single values, the number of parts of tuples, or the keys of dicts.
    """
    found: set[Any] = set()
    todo = [node]
    while todo:
        part = todo.pop()
        if part.method in KEEP_VALUES:
            todo += part.inputs
        elif part.method in ("range", "ArtificialDataset"):
            found.add(int)
        elif part.method == "zip":
            found.add(len(part.inputs))
        elif part.method == "enumerate":
            found.add(2)
        elif part.method in LISTED:
            found |= {outline(value) for value in part.arguments["values"]}
        else:
            return None
    return found.pop() if len(found) == 1 else None


def outline(value: Any) -> Any:
    """Return the outline of one *value*, None if it has none."""
    if isinstance(value, dict):
        return frozenset(value)
    if isinstance(value, tuple):
        return len(value)
    return type(value) if type(value) in SCALARS else None
