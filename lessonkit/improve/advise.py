"""Advice: every single change to a pipeline, run and ranked by the time it saves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, base_of, swap, walk
from lessonkit.engine.training import benchmark
from lessonkit.explain.data_quality import FREEZES, FREEZES_ORDER, frozen_by_cache

CALLS = (1, 2, 3, 4, 6, 8)
BATCHES = (8, 16, 32, 64)
MOVABLE = ("map", "filter", "prefetch", "cache", "shuffle", "repeat")  # past each other, one to one

MIXES = "changes the order of the elements"
SIFTS = "the filter sees other values"
EXCHANGED = {  # when the first moves before the second; of a map, only if its function can tell
    ("map", "filter"): SIFTS,
    ("filter", "map"): SIFTS,
    ("map", "cache"): FREEZES,
    ("cache", "map"): "makes the augmentation new in every epoch",
    ("shuffle", "cache"): FREEZES_ORDER,
    ("cache", "shuffle"): "makes a new order in every epoch",
    ("repeat", "shuffle"): "epochs blur",
    ("shuffle", "repeat"): "keeps epochs apart",
    ("repeat", "cache"): "keeps all passes in the cache",
}

Proposal = tuple[str, Dataset, tuple[str, ...]]  # in words, what takes a place, and what it does to the data


@dataclass(frozen=True)
class Advice:
    """A change that was run: seconds a sample it takes and saves, bytes and calls it needs."""

    change: str
    dataset: Dataset
    effects: tuple[str, ...]
    per_sample: float
    saved: float
    memory: int
    calls: int

    def __repr__(self) -> str:
        effects = "".join(f"; {effect}" for effect in self.effects)
        before = self.per_sample + self.saved
        saved = f"{self.saved * 1e3:.3f}" if round(self.saved, 6) else "nothing"
        return f"{self.change}: saves {saved} of {before * 1e3:.3f} ms{effects}"


def advise(dataset: Dataset, **options: Any) -> list[Advice]:
    """Try every single change to *dataset*, and rank them: the one that saves most comes first.

    Each is run on the virtual clock, with the *options* of `benchmark`; so a learner's functions
    run many times. Where they have side effects, or take long, give `cost=` in their place.
    What a change alters beside the time is said in its *effects*. A change after which a
    function fails, because it is called with other values, is left out.

    >>> from lessonkit import ArtificialDataset
    >>> advise(ArtificialDataset(20))[0]
    prefetch(1) after ArtificialDataset: saves 9.500 of 26.500 ms
    >>> advise(ArtificialDataset(20).prefetch(1), num_epochs=1)[0]
    cache after ArtificialDataset: saves nothing of 17.000 ms
    """
    now = benchmark(dataset, **options).per_sample
    found = []
    for words, changed, effects in changes(dataset):
        try:
            trace = benchmark(changed, **options)
            took = trace.per_sample
        except Exception:
            continue
        calls = sum(map(_calls, walk(changed.node)))
        found.append(Advice(words, changed, effects, took, now - took, trace.max_bytes, calls))
    return sorted(found, key=lambda advice: (round(advice.per_sample, 9), advice.calls, advice.memory))


def _calls(node: Node) -> int:
    """Count the calls that may go on at once in one operator, beside the training loop."""
    calls = node.arguments.get("num_parallel_calls") or node.arguments.get("num_workers") or 0
    return max(calls, 1) if calls or node.method == "prefetch" else 0


# ---- the changes ----


def changes(dataset: Dataset) -> Iterator[Proposal]:
    """Make all single changes to *dataset*; some may be worse than nothing."""
    root = dataset.node
    loaders = [node for node in walk(root) if node.method == "DataLoader"]
    for node in loaders:  # the rest of advice is for operators that share a process
        for words, other, effects in loaded(node):
            yield words, Dataset(swap(root, node, other)), effects
    for node in () if loaders else walk(root):
        for words, new, effects in [*inserted(node), *parallel(node), *moved(node), *batched(node)]:
            yield words, Dataset(swap(root, node, new.node)), effects


def loaded(node: Node) -> Iterator[tuple[str, Node, tuple[str, ...]]]:
    """Give a loader other workers, another depth, one call for each batch, or a cache before it."""
    said, base = node.arguments, base_of(node.inputs[0])
    for count in (0, *CALLS):
        if count > said["num_workers"]:
            again = () if base is not None else ("every worker gives every sample, unless they share",)
            yield f"{count} workers", node.replace(num_workers=count), again if count > 1 else ()
    if said["num_workers"]:
        now = 2 if said["prefetch_factor"] is None else said["prefetch_factor"]
        for factor in (1, 2, 4, 8):
            if factor != now:
                yield f"prefetch_factor={factor}", node.replace(prefetch_factor=factor), ()
        if not said["persistent_workers"]:
            yield "persistent_workers", node.replace(persistent_workers=True), ()
        if said["in_order"]:
            yield "in_order=False", node.replace(in_order=False), (MIXES,)
    if base is not None and not said["getitems"] and said["batch_size"] is not None:
        yield "one call for each batch", node.replace(getitems=True), ("the functions get whole batches",)
    last = node.inputs[0]
    if base is None or base.method != "cache":
        cached = Dataset(last).cache().node
        yield "cache before the workers", node.replace(cached), frozen_by_cache(last)


def inserted(node: Node) -> Iterator[Proposal]:
    """Put a prefetch or a cache after *node*; make one that is there deeper."""
    before = Dataset(node)
    if node.method == "prefetch":
        size = max(1, node.arguments["buffer_size"])  # AUTOTUNE begins with 1
        for deeper in (2 * size, 4 * size, 8 * size):
            yield f"prefetch({deeper}) for prefetch({size})", Dataset(node.inputs[0]).prefetch(deeper), ()
        return
    yield f"prefetch(1) after {node.method}", before.prefetch(1), ()
    if node.method != "cache":
        yield f"cache after {node.method}", before.cache(), frozen_by_cache(node)


def parallel(node: Node) -> Iterator[Proposal]:
    """Make more calls at once: in a map, in an interleave, or in an interleave for a flat_map."""
    before = node.arguments.get("num_parallel_calls")
    if node.method == "map":
        for calls in CALLS:
            if calls > (before or 0):
                yield f"{calls} calls in map", Dataset(node.replace(num_parallel_calls=calls)), ()
    elif node.method == "interleave":
        for cycle in sorted({*CALLS, node.arguments["cycle_length"] or 1}):
            same = cycle == node.arguments["cycle_length"]
            wider = node.replace(cycle_length=cycle, num_parallel_calls=cycle)
            if not same or cycle > (before or 0):
                yield f"{cycle} lanes in interleave", Dataset(wider), () if same else (MIXES,)
    elif node.method == "flat_map":
        for cycle in CALLS:
            files = Dataset(node.inputs[0]).interleave(node.arguments["map_func"], cycle, 1, cycle)
            yield f"interleave with {cycle} lanes for flat_map", files, (MIXES,) if cycle > 1 else ()


def moved(node: Node) -> Iterator[Proposal]:
    """Move *node* before the operator that is its input."""
    if node.method not in MOVABLE or not node.inputs or node.inputs[0].method not in MOVABLE:
        return
    above = node.inputs[0]
    if above.method == node.method:
        return
    exchanged = above.replace(node.replace(*above.inputs))
    yield f"{node.method} before {above.method}", Dataset(exchanged), effects_of_exchange(above, node)


def effects_of_exchange(above: Node, node: Node) -> tuple[str, ...]:
    """Say what it does to the data when *node* moves before *above*."""
    pair = (node.method, above.method)
    effect = EXCHANGED.get(pair, "")
    said = above.arguments | node.arguments
    if "map" in pair and not said["map_func" if "filter" in pair else "random"]:
        return ()
    return (effect,) if effect else ()


def batched(node: Node) -> Iterator[Proposal]:
    """Map whole batches, where a map takes them; or none, where they only cost time."""
    above = node.inputs[0] if node.inputs else node
    if node.method == "batch" and above.method == "map" and above.arguments["batches"]:
        yield "batch before map", Dataset(above.replace(node.replace(*above.inputs))), ()
    if node.method == "map" and node.arguments["batches"] and above.method != "batch":
        for size in BATCHES:
            batches = Dataset(above).batch(size).node
            yield f"map of batches of {size}", Dataset(node.replace(batches)).unbatch(), ()
    if node.method == "unbatch":
        between = []
        while above.method in ("map", "cache", "prefetch"):
            between.append(above)
            above = above.inputs[0]
        takes_both = all(part.method != "map" or part.arguments["batches"] for part in between)
        if above.method == "batch" and takes_both:
            without = above.inputs[0]
            for part in reversed(between):
                without = part.replace(without)
            dropped = ("keeps the samples that drop_remainder drops",) * above.arguments["drop_remainder"]
            yield "no batch and unbatch", Dataset(without), dropped
