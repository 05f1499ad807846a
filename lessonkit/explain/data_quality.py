"""What the order of the operators does to the data: whole epochs, new orders, new augmentation."""

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Any

from lessonkit.engine.node import Node, base_of, fold, walk
from lessonkit.engine.trace import Identity, Site, Trace

FREEZES = "freezes the augmentation: every epoch sees what the first one saw"
FREEZES_ORDER = "freezes one order for all epochs"


@dataclass(frozen=True)
class DataQuality:
    """What one order of the operators does to the data, where another would do something else."""

    blurred: bool  # some sample came again before every other had come
    same_order: bool  # shuffled, and yet every epoch came in one order
    same_augmentation: bool  # what is random in a sample was drawn once and kept

    @property
    def words(self) -> tuple[str, ...]:
        """The objections to it, in words."""
        remarks = {
            "epochs blur": self.blurred,
            "the same order in every epoch": self.same_order,
            "the augmentation is frozen": self.same_augmentation,
        }
        return tuple(text for text, is_so in remarks.items() if is_so)


def data_quality(trace: Trace) -> DataQuality:
    """Judge what *trace* shows of the data that the accelerator was given.

    >>> from lessonkit import Dataset, benchmark
    >>> one, other = Dataset.range(8).shuffle(4).repeat(3), Dataset.range(8).repeat(3).shuffle(4)
    >>> [data_quality(benchmark(data, num_epochs=1)).words for data in (one, other)]
    [(), ('epochs blur',)]
    """
    root = trace.dataset.node
    epochs = [
        [trace.identities[who] for key in keys for who in trace.members(key)]
        for keys in trace.arrived
    ]
    samples = [[(who.instance, who.sample) for who in epoch] for epoch in epochs]
    each_pass = [*chain.from_iterable(map(passes, samples))]
    frozen, mixed = what_is_frozen(root), any(map(mixes_passes, walk(root)))
    return DataQuality(
        blurred=any(blurs(trace, epoch, mixed) for epoch in epochs),
        same_order=FREEZES_ORDER in frozen and (alike(each_pass) or alike(samples)),
        same_augmentation=FREEZES in frozen,
    )


# ---- epochs ----


def blurs(trace: Trace, epoch: list[Identity], mixed: bool) -> bool:
    """Whether a sample of an *epoch* came before one of an earlier pass, from sources at one site.

    A cache gives the samples of one pass again and again: there, if something has *mixed*
    passes, a sample that came more often than a later one tells.
    """
    first: dict[int, int] = {}
    came = Counter[tuple[int, int]]()
    latest: dict[Site, tuple[int, int]] = {}
    for who in epoch:
        sample, site = (who.instance, who.sample), trace.recorded.places[who.instance].site
        opened = who.epoch - first.setdefault(who.instance, who.epoch)
        rank = (opened, came[sample] if mixed else 0)
        if rank < latest.get(site, rank):
            return True
        latest[site] = rank
        came[sample] += 1
    return False


def mixes_passes(node: Node) -> bool:
    """Whether this step changes an order, after a step that repeats."""
    mixes = (
        node.method in ("shuffle", "interleave")
        or node.arguments.get("deterministic") is False
    )
    before = (part for above in node.inputs for part in walk(above)) if mixes else ()
    return any(part.method == "repeat" for part in before)


# ---- orders ----


def passes(epoch: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Cut an *epoch* into passes: a sample that came already begins the next one."""
    rounds: list[dict[tuple[int, int], None]] = []
    for sample in epoch:
        if not rounds or sample in rounds[-1]:
            rounds.append({})
        rounds[-1][sample] = None
    return [list(one) for one in rounds]


def alike(orders: list[list[tuple[int, int]]]) -> bool:
    """Whether several passes over several samples came in one order; the last may be cut off."""
    several = len(orders) > 1 and len(orders[0]) > 1
    return several and all(order == orders[0][: len(order)] for order in orders)


# ---- what stays the same in every epoch ----


def what_is_frozen(root: Node) -> set[str]:
    """Return which of FREEZES and FREEZES_ORDER a pipeline does.

    A cache freezes what is random before it. Workers that are started anew for each epoch
    begin again with the seeds of their shuffles, and with empty caches; but a `repeat` in
    them goes over a cache within one epoch. What is asked for by number is cached before
    the workers start.
    """
    started_anew, repeated = set[Node](), set[Node]()
    for node in walk(root):
        given = node.arguments
        anew = given.get("num_workers") and not given["persistent_workers"]
        if anew and base_of(node.inputs[0]) is None:
            inside = {*walk(node.inputs[0])}
            started_anew |= inside
            for part in inside:
                repeated |= {*walk(part, repeated)} if part.method == "repeat" else set()

    def combine(node: Node, parts: list[Any]) -> tuple[set[str], set[str]]:
        """Return what a cache after *node* would freeze, and what is frozen."""
        random = set[str]().union(*(of_part for of_part, _ in parts))
        frozen = set[str]().union(*(of_part for _, of_part in parts))
        is_anew = node in started_anew
        if node.method == "cache" and (not is_anew or node in repeated):
            frozen |= random
        if node.arguments.get("random"):
            random.add(FREEZES)
        if node.method == "shuffle":
            random.add(FREEZES_ORDER)
            if keeps_order(node.arguments, is_anew):
                frozen.add(FREEZES_ORDER)
        return random, frozen

    frozen: set[str] = fold(root, combine)[1]
    return frozen


def keeps_order(shuffle: dict[str, Any], is_anew: bool) -> bool:
    """Whether a *shuffle* gives every epoch one order, if it is started anew for each or not."""
    keeps = (
        shuffle["seed"] is not None if is_anew else not shuffle["reshuffle_each_iteration"]
    )
    return keeps or shuffle["buffer_size"] == 1
