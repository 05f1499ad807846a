"""Rewriting: rules applied to a description until none of them finds anything more.

The docstring of a rule is the sentence that a lesson shows: what it does, and when it
helps or hurts. Their names, their order and what each of them finds are those of tf.data 2.21.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset, Result
from lessonkit.engine import check
from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.element import call_parts
from lessonkit.engine.machine import Function
from lessonkit.engine.node import Node, loaders_in, rebuilt, walk


class Rule(NamedTuple):
    """A rule with the *name* that it has in tf.data; *by_default* if tf.data applies it unasked."""

    name: str
    sentence: str
    by_default: bool
    # What takes the place of a node, if anything does
    change: Callable[[Node], Node | None]


class RewriteStep(NamedTuple):
    """A *rule* that found something, by its name: the pipeline up to there *before* and *after*."""

    rule: str
    before: Dataset
    after: Dataset

    def __str__(self) -> str:
        return f"{self.rule}\n  {self.before}\n  {self.after}"


RULES: dict[str, Rule] = {}  # by name, in the order in which they are applied

Change = Callable[..., Node | None]


def rewrite(dataset: Dataset, rules: Iterable[str] | None = None) -> Result[RewriteStep]:
    """Apply some of the RULES, by name, to *dataset*: the same elements come from other operators.

    Without *rules*, those that tf.data applies by default are used. As in tf.data, one rule after
    the other looks at the whole pipeline, in the order of RULES. A part that no rule
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
    kept = {part for loader in loaders_in(dataset.node) for part in walk(loader.inputs[0])}
    steps: list[RewriteStep] = []
    root = dataset.node
    before = None
    while root is not before:
        before = root
        for rule in RULES.values():
            if rule.name in names:
                root = applied(rule, root, kept, steps)
    changed = dataset if root is dataset.node else Dataset(root)
    return Result(changed, steps, "no rule applies")


def applied(rule: Rule, root: Node, kept: set[Node], steps: list[RewriteStep]) -> Node:
    """Return what *rule* makes of *root*, in which it changes no node of *kept*.

    What it changes is noted in *steps*.
    """
    done: dict[Node, Node] = {}

    def change(before: Node, node: Node) -> Node:
        changed = None if before in kept else rule.change(node)
        if changed is None:
            done[node] = node
            return node
        steps.append(RewriteStep(rule.name, Dataset(node), Dataset(changed)))
        return rebuilt(changed, done, change)  # the rule may find more in what is new

    return rebuilt(root, done, change)


# ---- the rules ----


def rule(*methods: str, by_default: bool) -> Callable[[Change], Change]:
    """Make a rule of a function of any node, or of nodes of these *methods* in a row.

    Its name is that of the rule, and its docstring is the sentence.
    """

    def register(function: Change) -> Change:
        def change(node: Node) -> Node | None:
            row = (node,) if len(methods) < 2 else (*node.inputs[:1], node)
            fits = not methods or methods == tuple([part.method for part in row])
            return function(*row) if fits else None

        sentence = " ".join((function.__doc__ or "").split())
        RULES[function.__name__] = Rule(function.__name__, sentence, by_default, change)
        return function

    return register


# Operators that do nothing with these arguments
IDLE: dict[str, dict[str, Any]] = {
    "skip": {"count": 0},
    "repeat": {"count": 1},
    "prefetch": {"buffer_size": 0},
    "shard": {"num_shards": 1},
    "map": {"map_func": None, "cost": 0, "num_parallel_calls": None, "nbytes": None},
}


@rule(by_default=True)
def noop_elimination(node: Node) -> Node | None:
    """Remove operators that do nothing.

    These are take(-1), skip(0), repeat(1), prefetch(0), shard(1, 0), and a map without a
    function and a cost. It never hurts, and saves only what these operators cost.
    """
    given = node.arguments
    if node.method == "take":
        is_idle = given["count"] < 0
    else:
        is_idle = node.method in IDLE and IDLE[node.method].items() <= given.items()
    return node.inputs[0] if is_idle else None


@rule("shuffle", "repeat", by_default=True)
def shuffle_and_repeat_fusion(shuffle: Node, repeat: Node) -> Node | None:
    """Make one operator of a shuffle and the repeat after it, with the same order.

    It goes on filling its buffer with the next pass while it gives what is left of this one. It
    helps because no pass begins with the wait for a full buffer, which a prefetch after it could
    not hide. It hurts if nobody asks for the next pass, because its elements were read for nothing.
    """
    count: int | None = repeat.arguments["count"]
    if count == 0:
        return None
    given = shuffle.arguments
    arguments = {
        "buffer_size": given["buffer_size"],
        "count": None if count is None or count < 0 else count,
        "seed": given["seed"],
        "reshuffle_each_iteration": given["reshuffle_each_iteration"],
    }
    return Node("shuffle_and_repeat", shuffle.inputs, arguments)


@rule("map", by_default=True)
def map_parallelization(node: Node) -> Node | None:
    """Give a map without parallel calls as many calls as AUTOTUNE finds, in the same order.

    It helps if the map is the bottleneck, and it needs memory. A random map stays as it is.
    In tf.data, every map that keeps a state or calls back into Python also stays as it is;
    here no rule can see side effects, so leave this one out if a function has some.
    """
    given = node.arguments
    if given["num_parallel_calls"] is not None or given["random"]:
        return None
    return node.replace(num_parallel_calls=AUTOTUNE)


@rule("map", "map", by_default=False)
def map_fusion(first: Node, second: Node) -> Node | None:
    """Make one map of two, if neither has parallel calls, or both as many as AUTOTUNE finds.

    It helps if it is expensive to hand elements on, which costs nothing here. It hurts if each map
    had calls of its own, because fewer elements are then at work at the same time. Maps also stay
    apart if a cost is a function, if they hold different things while they cost time, or if
    only the first says how large its results are.
    """
    one = first.arguments
    other = second.arguments
    costs = one["cost"], other["cost"]
    if any(map(callable, costs)) or (all(costs) and one["kind"] != other["kind"]):
        return None
    if one["num_parallel_calls"] not in (None, AUTOTUNE):
        return None
    if any(one[name] != other[name] for name in ("num_parallel_calls", "deterministic")):
        return None
    if one["nbytes"] is not None and other["nbytes"] is None:
        return None
    return second.replace(
        *first.inputs,
        map_func=composed(one["map_func"], other["map_func"]),
        cost=round(sum(costs), 9),  # in whole nanoseconds, as the clocks count
        kind=one["kind"] if costs[0] else other["kind"],
        stage=" and ".join(dict.fromkeys((one["stage"], other["stage"]))),
        batches=one["batches"] and other["batches"],
        random=one["random"] or other["random"],
    )


@rule("filter", "filter", by_default=False)
def filter_fusion(first: Node, second: Node) -> Node | None:
    """Make one filter of two: the second predicate is asked where the first says yes.

    It helps if it is expensive to hand elements on, which costs nothing here. It never hurts.
    """
    predicates = first.arguments["predicate"], second.arguments["predicate"]
    return second.replace(*first.inputs, predicate=Both(*predicates))


@rule("map", "filter", by_default=False)
def map_and_filter_fusion(mapped: Node, kept: Node) -> Node | None:
    """Make one operator of a map without parallel calls and the filter after it.

    One call maps an element and decides whether it is kept. It helps if it is expensive to hand
    elements on, which costs nothing here. It hurts if the map should get parallel calls, because
    the operator that it becomes cannot have any.
    """
    given = mapped.arguments
    if given["num_parallel_calls"] is not None:
        return None
    arguments = {
        "map_func": given["map_func"],
        "predicate": kept.arguments["predicate"],
        **{name: given[name] for name in ("cost", "kind", "stage", "nbytes", "random")},
    }
    return Node("map_and_filter", mapped.inputs, arguments)


@rule("map", "batch", by_default=False)
def map_vectorization(mapped: Node, batch: Node) -> Node | None:
    """Batch before the map, if the map says that it accepts batches.

    It helps if a call is expensive, because a batch needs only one. It hurts if the work is
    in the elements, because a batch is one call, and parallel calls have nothing to do. A
    cost that is a number is the cost of a call; one that grows with the batch is written with
    `per_sample`. tf.data had this rule and dropped it.
    """
    given = mapped.arguments
    if not given["batches"]:
        return None
    if given["nbytes"] is not None:  # the size that it says is not a batch's
        return None
    return mapped.replace(batch.replace(*mapped.inputs), batches=False)


@rule("map", "batch", by_default=True)
def map_and_batch_fusion(mapped: Node, batch: Node) -> Node | None:
    """Make one operator of a map and the batch after it, if that has no parallel calls.

    The calls of the map, or one call if it had none, go on with the elements of the next batch
    while this one is waited for or trained on. It helps if nothing after the batch is made ahead.
    It hurts if memory is short, because up to 16 batches are begun, and if a function fails,
    because an error then loses its whole batch. Batches keep the order of the elements, also those
    of a map that did not.
    """
    given = mapped.arguments
    if batch.arguments["num_parallel_calls"] is not None:
        return None
    arguments = {
        "map_func": given["map_func"],
        "batch_size": batch.arguments["batch_size"],
        "drop_remainder": batch.arguments["drop_remainder"],
        "cost": given["cost"],
        "kind": given["kind"],
        "num_parallel_calls": given["num_parallel_calls"] or 1,
        **{name: given[name] for name in ("stage", "nbytes", "random")},
    }
    return Node("map_and_batch", mapped.inputs, arguments)


# ---- functions of two ----


class Composed:
    """Two functions, called one after the other: the second gets what the first returns."""

    def __init__(self, first: Function, second: Function) -> None:
        self.first = first
        self.second = second
        self.__name__ = name_of(first, second)

    def __call__(self, *parts: Any) -> Any:
        return self.second(*call_parts(self.first(*parts)))


class Both(Composed):
    """Two predicates, of which both must say yes; the second is asked only if the first does."""

    def __call__(self, *parts: Any) -> Any:
        return self.first(*parts) and self.second(*parts)


def composed(first: Function | None, second: Function | None) -> Function | None:
    """Return a function that calls both; if there is only one, return that."""
    return Composed(first, second) if first and second else first or second


def name_of(first: Function, second: Function) -> str:
    """Name a function that calls both."""
    names = [getattr(one, "__name__", type(one).__name__) for one in (first, second)]
    return "_and_".join(names)
