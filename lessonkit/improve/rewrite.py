"""Rewriting: rules applied to a description until none of them finds anything more."""

from collections.abc import Iterable
from typing import NamedTuple

from lessonkit import check
from lessonkit.code.expression import code
from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, base_of, rebuilt, walk
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


def under_loaders(root: Node) -> set[Node]:
    """Find the steps that decide whether a loader can ask for samples by number: no rule may change that.

    A loader whose samples it can no longer ask for has each worker give all of them; and the other way round.
    """
    idle, decisive = RULES["noop_elimination"].change, set[Node]()
    for loader in (node for node in walk(root) if node.method == "DataLoader"):
        node = loader
        while node.inputs and (node is loader or node.method == "map" or idle(node)):
            node = node.inputs[0]
            decisive.add(node)
    return decisive


def rewrite(dataset: Dataset, rules: Iterable[str] | None = None) -> Found:
    """Apply some of the RULES, by name, to *dataset*: the same elements come from other operators.

    Without *rules*, those that tf.data has on by default. What no rule touches stays the
    same object, with what its caches hold; what is new begins with empty caches. The
    data sets that a function makes, as of `interleave`, are not looked into. Under a
    `DataLoader` no rule makes a map parallel whose samples are asked for by number.

    >>> numbers = Dataset.range(6).skip(0).shuffle(3, seed=1).repeat(2)
    >>> rewrite(numbers).dataset
    Dataset.range(6).shuffle_and_repeat(3, seed=1, count=2)
    >>> [applied.rule for applied in rewrite(numbers, ["noop_elimination"]).steps]
    ['noop_elimination']
    """
    check.instance("dataset", dataset, Dataset)
    if isinstance(rules, str) or not (rules is None or isinstance(rules, Iterable)):
        raise TypeError(f"rules={rules!r}: must be a list of names")
    names = None if rules is None else {check.one_of("rules", name, tuple(RULES)) for name in rules}
    chosen = [rule for rule in RULES.values() if (rule.by_default if names is None else rule.name in names)]
    applied: list[Applied] = []
    done: dict[Node, Node] = {}
    decisive = under_loaders(dataset.node)

    def change(before: Node, node: Node) -> Node:
        for rule in chosen:
            changed = rule.change(node)
            if changed is not None and before in decisive:
                if (base_of(changed) is None) != (base_of(node) is None):
                    continue
                decisive.update(walk(changed, done))
            if changed is not None:
                applied.append(Applied(rule.name, rule.sentence, code(node), code(changed)))
                return rebuilt(changed, change, done)  # other rules, or this one, may find more
        done[node] = node
        return node

    node = rebuilt(dataset.node, change, done)
    return Found(dataset if node is dataset.node else Dataset(node), applied, "no rule applies")
