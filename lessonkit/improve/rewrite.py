"""Rewriting: rules applied to a description until none of them finds anything more.

The docstring of a rule is the sentence that a lesson shows: what it does, and when it
helps or hurts.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset, Result
from lessonkit.engine import check
from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.node import Node, loaders_in, rebuilt, walk


class Rule(NamedTuple):
    """A rule with the *name* that it has in tf.data; *by_default* if tf.data applies it unasked."""

    name: str
    sentence: str
    by_default: bool
    # What takes the place of a node, if anything does
    change: Callable[[Node], Node | None]


def rewrite(dataset: Dataset, rules: Iterable[str] | None = None) -> Result:
    """Apply some of the RULES, by name, to *dataset*: the same elements come from other operators.

    Without *rules*, those that tf.data applies by default are used. A part that no rule
    changes stays the same object, with what its caches hold; a new part begins with empty
    caches. Datasets that a function makes, as for `interleave`, are not changed, nor is the
    input of a `DataLoader`, because a changed one might not give samples by number.

    Raises TypeError if *dataset* is no `Dataset` or *rules* are no names, and ValueError for
    a name that no rule has.

    >>> mapped = Dataset.range(6).skip(0).map(abs)
    >>> rewrite(mapped).dataset
    Dataset.range(6).map(abs, num_parallel_calls=AUTOTUNE)
    >>> print(*rewrite(mapped, ["noop_elimination"]).steps)
    noop_elimination
      Dataset.range(6).skip(0)
      Dataset.range(6)
    """
    check.instance("dataset", dataset, Dataset)
    if isinstance(rules, str) or not (rules is None or isinstance(rules, Iterable)):
        raise TypeError(f"rules={rules!r}: must be a list of names")
    if rules is None:
        rules = [rule.name for rule in RULES.values() if rule.by_default]
    names = {check.one_of("rules", name, tuple(RULES)) for name in rules}
    chosen = [rule for rule in RULES.values() if rule.name in names]
    applied: list[str] = []  # the name of a rule, and what it changed to what
    done: dict[Node, Node] = {}
    loaders = loaders_in(dataset.node)
    kept = {node for loader in loaders for node in walk(loader.inputs[0])}

    def change(before: Node, node: Node) -> Node:
        for rule in () if before in kept else chosen:
            changed = rule.change(node)
            if changed is not None:
                applied.append(f"{rule.name}\n  {Dataset(node)}\n  {Dataset(changed)}")
                # Other rules, or this one, may find more
                return rebuilt(changed, done, change)
        done[node] = node
        return node

    node = rebuilt(dataset.node, done, change)
    changed = dataset if node is dataset.node else Dataset(node)
    return Result(changed, applied, "no rule applies")


# ---- the rules ----


def noop_elimination(node: Node) -> Node | None:
    """Remove operators that do nothing.

    These are take(-1), skip(0), repeat(1), prefetch(0), shard(1, 0), and a map without a
    function and a cost. It never hurts, and saves only what these operators cost.
    """
    given = node.arguments
    idle: dict[str, dict[str, Any]] = {
        "skip": {"count": 0},
        "repeat": {"count": 1},
        "prefetch": {"buffer_size": 0},
        "shard": {"num_shards": 1},
        "map": {"map_func": None, "cost": 0, "num_parallel_calls": None, "nbytes": None},
    }
    if node.method == "take":
        idles = given["count"] < 0
    else:
        idles = node.method in idle and idle[node.method].items() <= given.items()
    return node.inputs[0] if idles else None


def map_parallelization(node: Node) -> Node | None:
    """Give a map without parallel calls as many calls as AUTOTUNE finds, in the same order.

    It helps if the map is the bottleneck, and it needs memory. A random map stays as it is.
    In tf.data, every map that keeps a state or calls back into Python also stays as it is;
    here no rule can see side effects, so leave this one out if a function has some.
    """
    given = node.arguments
    is_sequential = node.method == "map" and given["num_parallel_calls"] is None
    if not is_sequential or given["random"]:
        return None
    return node.replace(num_parallel_calls=AUTOTUNE)


def map_vectorization(node: Node) -> Node | None:
    """Batch before the map, if the map says that it accepts batches.

    It helps if a call is expensive, because a batch needs only one. It hurts if the work is
    in the elements, because a batch is one call, and parallel calls have nothing to do. A
    cost that is a number is the cost of a call; one that grows with the batch is written with
    `per_sample`. tf.data had this rule and dropped it.
    """
    before = node.inputs[0] if node.inputs else node
    given = before.arguments
    if (node.method, before.method) != ("batch", "map") or not given["batches"]:
        return None
    if given["nbytes"] is not None:  # the size that it says is not a batch's
        return None
    return before.replace(node.replace(*before.inputs), batches=False)


RULES: dict[str, Rule] = {  # by name, in the order in which they are tried
    change.__name__: Rule(
        change.__name__, " ".join((change.__doc__ or "").split()), on, change
    )
    for change, on in (
        (noop_elimination, True),
        (map_parallelization, True),
        (map_vectorization, False),
    )
}
