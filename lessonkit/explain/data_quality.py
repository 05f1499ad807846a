"""What the order of the operators did to the data: whole epochs, orders and augmentation."""

from collections import Counter
from dataclasses import dataclass

from lessonkit.engine.node import Node, base_of, walk
from lessonkit.engine.recorder import Identity, Site
from lessonkit.engine.trace import Trace

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
    """Say what *trace* shows of the data that the accelerator was given.

    >>> from lessonkit import Dataset, benchmark
    >>> one, other = Dataset.range(8).shuffle(4).repeat(3), Dataset.range(8).repeat(3).shuffle(4)
    >>> [data_quality(benchmark(data, num_epochs=1)).words for data in (one, other)]
    [(), ('epochs blur',)]
    """
    nodes = list(walk(trace.dataset.node))
    epochs = [
        [trace.identities[who] for key in keys for who in trace.members(key)]
        for keys in trace.arrived
    ]
    mixed = any(map(mixes_passes, nodes))
    caches = [
        node
        for node in nodes
        if node.method == "cache" and node not in lost_with_workers(nodes)
    ]
    frozen = {effect for node in caches for effect in frozen_by_cache(node.inputs[0])}
    may_be_same = FREEZES_ORDER in frozen or any(map(keeps_order, nodes))
    return DataQuality(
        blurred=any(blurs(trace, epoch, mixed) for epoch in epochs),
        same_order=may_be_same
        and all_alike([order for epoch in epochs for order in passes(epoch)]),
        same_augmentation=FREEZES in frozen,
    )


# ---- epochs ----


def blurs(trace: Trace, epoch: list[Identity], mixed: bool) -> bool:
    """Whether a sample of an *epoch* came before one of the pass before it, from sources at one site.

    A cache gives the samples of one pass again and again: there, if something has *mixed* passes, a
    sample that came more often than a later one tells.
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


def passes(epoch: list[Identity]) -> list[list[tuple[int, int]]]:
    """Cut what came into passes: a sample that came already begins the next one."""
    rounds: list[dict[tuple[int, int], None]] = []
    for who in epoch:
        sample = (who.instance, who.sample)
        if not rounds or sample in rounds[-1]:
            rounds.append({})
        rounds[-1][sample] = None
    return [list(one) for one in rounds]


def all_alike(orders: list[list[tuple[int, int]]]) -> bool:
    """Whether several passes of several samples came in one order; the last may be cut off."""
    several = len(orders) > 1 and len(orders[0]) > 1
    return several and all(order == orders[0][: len(order)] for order in orders)


def keeps_order(node: Node) -> bool:
    """Whether this is a shuffle that gives the same order in every pass."""
    given = node.arguments
    return node.method == "shuffle" and (
        given["buffer_size"] == 1 or not given["reshuffle_each_iteration"]
    )


def lost_with_workers(nodes: list[Node]) -> set[Node]:
    """Find the caches that each worker of a loader fills anew in every epoch: they freeze nothing.

    What is asked for by number is cached before the workers start. Workers that stay keep
    what they have, and a `repeat` there goes over a cache within one epoch.
    """
    lost = set[Node]()
    for loader in nodes:
        given = loader.arguments
        if (
            given.get("num_workers")
            and not given["persistent_workers"]
            and base_of(loader.inputs[0]) is None
        ):
            inside = [*walk(loader.inputs[0])]
            repeats = (node for node in inside if node.method == "repeat")
            kept = {node for repeat in repeats for node in walk(repeat)}
            lost |= {node for node in inside if node.method == "cache"} - kept
    return lost


def frozen_by_cache(node: Node) -> tuple[str, ...]:
    """Say what a cache after *node* keeps from changing; what is cached already is frozen."""
    if node.method == "cache":
        return ()
    remarks = (
        [FREEZES]
        if node.arguments.get("random")
        else [FREEZES_ORDER] * (node.method == "shuffle")
    )
    for part in node.inputs:
        remarks += frozen_by_cache(part)
    return tuple(dict.fromkeys(remarks))
