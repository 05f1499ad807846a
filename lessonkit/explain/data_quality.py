"""What the order of the operators does to the data: whole epochs, new orders, new augmentation."""

from itertools import chain
from typing import Any, NamedTuple

from lessonkit.engine.node import Node, base_of, walk
from lessonkit.engine.trace import Trace


class Sample(NamedTuple):
    """A sample: its source or file, and its number in that."""

    instance: int
    number: int


SHUFFLES = ("shuffle", "shuffle_and_repeat")
REPEATS = ("repeat", "shuffle_and_repeat")
FREEZES = "freezes the augmentation: every epoch sees what the first one saw"
FREEZES_ORDER = "freezes one order for all epochs"


def data_quality(trace: Trace) -> tuple[str, ...]:
    """Return the problems that *trace* shows in the data that the accelerator was given.

    >>> from lessonkit import Dataset, benchmark
    >>> one, other = Dataset.range(8).shuffle(4).repeat(3), Dataset.range(8).repeat(3).shuffle(4)
    >>> [data_quality(benchmark(data, num_epochs=1)) for data in (one, other)]
    [(), ('epochs blur',)]
    """
    root = trace.dataset.node
    who = trace.identities
    samples = []
    for epoch in trace.epochs:
        members = chain.from_iterable(map(trace.members, epoch.keys))
        samples.append([Sample(who[one].instance, who[one].sample) for one in members])
    by_epoch = [passes(epoch) for epoch in samples]
    each_pass = [*chain.from_iterable(by_epoch)]
    frozen = what_is_frozen(root)
    objections = []
    if any(map(mixes_passes, walk(root))) and not all(map(are_whole, by_epoch)):
        objections.append("epochs blur")
    if FREEZES_ORDER in frozen and (alike(each_pass) or alike(samples)):
        objections.append("the same order in every epoch")
    if FREEZES in frozen:
        objections.append("the augmentation is frozen")
    return tuple(objections)


# ---- passes over the samples ----


def mixes_passes(node: Node) -> bool:
    """Whether this step may mix passes: it changes an order after a `repeat`, or has workers.

    Each of several workers that read an iterable gives every sample.
    """
    given = node.arguments
    if node.method == "DataLoader":
        return given["num_workers"] > 1 and base_of(node.inputs[0]) is None
    is_mixer = node.method in (*SHUFFLES, "interleave")
    if not is_mixer and given.get("deterministic") is not False:
        return False
    return any(part.method in REPEATS for part in walk(node) if part is not node)


def passes(epoch: list[Sample]) -> list[list[Sample]]:
    """Cut an *epoch* into passes: a sample that came already begins the next one."""
    rounds: list[dict[Sample, None]] = []
    for sample in epoch:
        if not rounds or sample in rounds[-1]:
            rounds.append({})
        rounds[-1][sample] = None
    return [list(one) for one in rounds]


def are_whole(orders: list[list[Sample]]) -> bool:
    """Whether all passes of an epoch are over the same samples; the last may be cut off."""
    sets = [set(order) for order in orders]
    if not sets:
        return True
    return all(one == sets[0] for one in sets[:-1]) and sets[-1] <= sets[0]


def alike(orders: list[list[Sample]]) -> bool:
    """Whether several passes over several samples came in one order; the last may be cut off."""
    several = len(orders) > 1 and len(orders[0]) > 1
    return several and all(order == orders[0][: len(order)] for order in orders)


# ---- what stays the same in every epoch ----


class Frozen(NamedTuple):
    """Which of FREEZES and FREEZES_ORDER a cache after a node would do, and which are done."""

    by_a_cache: set[str]
    already: set[str]


def what_is_frozen(root: Node) -> set[str]:
    """Return which of FREEZES and FREEZES_ORDER a pipeline does.

    A cache freezes what is random before it. Workers that are started anew for each epoch
    begin again with the seeds of their shuffles, and with empty caches. What is asked for by
    number is cached before the workers start.
    """
    started_anew = set[Node]()
    for node in walk(root):
        given = node.arguments
        anew = given.get("num_workers") and not given["persistent_workers"]
        if anew and base_of(node.inputs[0]) is None:
            started_anew |= {*walk(node.inputs[0])}

    known: dict[Node, Frozen] = {}
    for node in walk(root, known):
        parts = [known[part] for part in node.inputs]
        random = set[str]().union(*(part.by_a_cache for part in parts))
        frozen = set[str]().union(*(part.already for part in parts))
        is_anew = node in started_anew
        if node.method == "cache" and not is_anew:
            frozen |= random
        if node.arguments.get("random"):
            random.add(FREEZES)
        if node.method in SHUFFLES:
            random.add(FREEZES_ORDER)
            if keeps_order(node.arguments, is_anew):
                frozen.add(FREEZES_ORDER)
        known[node] = Frozen(random, frozen)
    return known[root].already


def keeps_order(shuffle: dict[str, Any], is_anew: bool) -> bool:
    """Whether a *shuffle* gives every epoch one order, if it is started anew for each or not."""
    if (is_anew and shuffle["seed"] is not None) or shuffle["buffer_size"] == 1:
        return True
    return not is_anew and not shuffle["reshuffle_each_iteration"]
