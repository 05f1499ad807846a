"""Rewriting: rules applied to a description until none of them finds anything more."""

from collections.abc import Iterable
from typing import NamedTuple

from lessonkit import check
from lessonkit.code import expression
from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, rebuilt, walk
from lessonkit.found import Found
from lessonkit.improve.rules import RULES


class Applied(NamedTuple):
    """A rule that changed something: its *sentence*, and the code up to there *before* and *after*."""

    rule: str
    sentence: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.rule}\n  {self.before}\n  {self.after}"


def rewrite(dataset: Dataset, rules: Iterable[str] | None = None) -> Found:
    """Apply some of the RULES, by name, to *dataset*: the same elements come from other operators.

    Without *rules*, those that tf.data has on by default. What no rule touches stays the
    same object, with what its caches hold; what is new begins with empty caches. The data
    sets that a function makes, as of `interleave`, are not looked into. What a `DataLoader`
    reads stays as it is: another operator there might be one that no sample can be asked of
    by number.

    >>> mapped = Dataset.range(6).skip(0).map(abs)
    >>> rewrite(mapped).dataset
    Dataset.range(6).map(abs, num_parallel_calls=AUTOTUNE)
    >>> [applied.rule for applied in rewrite(mapped, ["noop_elimination"]).steps]
    ['noop_elimination']
    """
    check.instance("dataset", dataset, Dataset)
    if isinstance(rules, str) or not (rules is None or isinstance(rules, Iterable)):
        raise TypeError(f"rules={rules!r}: must be a list of names")
    names = (
        None
        if rules is None
        else {check.one_of("rules", name, tuple(RULES)) for name in rules}
    )
    chosen = [
        rule
        for rule in RULES.values()
        if (rule.by_default if names is None else rule.name in names)
    ]
    applied: list[Applied] = []
    done: dict[Node, Node] = {}
    loaders = (node for node in walk(dataset.node) if node.method == "DataLoader")
    kept = {node for loader in loaders for node in walk(loader.inputs[0])}

    def change(before: Node, node: Node) -> Node:
        for rule in () if before in kept else chosen:
            changed = rule.change(node)
            if changed is not None:
                applied.append(
                    Applied(rule.name, rule.sentence, expression(node), expression(changed))
                )
                # Other rules, or this one, may find more
                return rebuilt(changed, change, done)
        done[node] = node
        return node

    node = rebuilt(dataset.node, change, done)
    return Found(
        dataset if node is dataset.node else Dataset(node), applied, "no rule applies"
    )
