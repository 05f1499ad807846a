"""Advice: every single change to a pipeline, run and ranked by the time it saves."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from lessonkit.check import AUTOTUNE
from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, base_of, swap, walk
from lessonkit.engine.training import benchmark
from lessonkit.explain.data_quality import (
    FREEZES,
    FREEZES_ORDER,
    frozen_by_cache,
    lost_with_workers,
)
from lessonkit.improve.knobs import on_the_virtual_clock

CALLS = (1, 2, 3, 4, 6, 8)
BATCH_SIZES = (8, 16, 32, 64)
# Past each other, one to one
MOVABLE = ("map", "filter", "prefetch", "cache", "shuffle", "repeat")

MIXES = "changes the order of the elements"
REPEATS = "every worker gives every sample, unless the workers share them out"
ONCE = "every sample comes once, not once for each worker"
SIFTS = "the filter sees other values"
# When the first moves before the second; of a map, only if its function can tell
EXCHANGED = {
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

# In words, what takes a place, and what it does to the data
Proposal = tuple[str, Node, tuple[str, ...]]


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
    on_the_virtual_clock(options)
    before = benchmark(dataset, **options)
    now = before.per_sample
    ranked = []
    for words, changed, effects in proposals(dataset.node):
        try:
            trace = benchmark(Dataset(changed), **options)
            # Samples that come again for each worker are no gain: then the epochs as a whole count.
            took = (
                trace.duration / before.samples if REPEATS in effects else trace.per_sample
            )
        except Exception:
            continue
        calls = sum(map(calls_at_once, walk(changed)))
        ranked.append(
            Advice(
                words, Dataset(changed), effects, took, now - took, trace.max_bytes, calls
            )
        )
    return sorted(
        ranked,
        key=lambda advice: (round(advice.per_sample, 9), advice.calls, advice.memory),
    )


def calls_at_once(node: Node) -> int:
    """Count the calls that may go on at once in one operator, beside the training loop."""
    calls = (
        node.arguments.get("num_parallel_calls") or node.arguments.get("num_workers") or 0
    )
    return max(calls, 1) if calls or node.method == "prefetch" else 0


# ---- the changes ----


def proposals(root: Node) -> Iterator[Proposal]:
    """Make all single changes to the pipeline that ends in *root*; some may be worse than nothing."""
    loaders = [node for node in walk(root) if node.method == "DataLoader"]
    # The rest of advice is for operators that share a process
    for node in loaders or walk(root):
        kinds = (
            (with_loader,)
            if loaders
            else (with_buffer, with_calls, with_move, with_batches)
        )
        for words, other, effects in chain.from_iterable(kind(node) for kind in kinds):
            yield words, swap(root, node, other), effects


def with_loader(node: Node) -> Iterator[Proposal]:
    """Give a loader other workers, another depth, one call for each batch, or a cache before it."""
    options, base = node.arguments, base_of(node.inputs[0])
    for count in (0, *CALLS):
        if count > options["num_workers"]:
            again = () if base is not None else (REPEATS,)
            yield (
                f"{count} workers",
                node.replace(num_workers=count),
                again if count > 1 else (),
            )
    if options["num_workers"]:
        now = 2 if options["prefetch_factor"] is None else options["prefetch_factor"]
        for factor in (1, 2, 4, 8):
            if factor != now:
                yield f"prefetch_factor={factor}", node.replace(prefetch_factor=factor), ()
        if not options["persistent_workers"]:
            yield "persistent_workers", node.replace(persistent_workers=True), ()
        if options["in_order"]:
            yield "in_order=False", node.replace(in_order=False), (MIXES,)
    if base is not None and not options["getitems"] and options["batch_size"] is not None:
        yield (
            "one call for each batch",
            node.replace(getitems=True),
            ("the functions get whole batches",),
        )
    last = node.inputs[0]
    if base is None or base.method != "cache":
        cached = node.replace(last.then("cache"))
        effects = () if lost_with_workers([cached]) else frozen_by_cache(last)
        effects += (ONCE,) * (base is None and options["num_workers"] > 1)
        yield "cache before the workers", cached, effects


def with_buffer(node: Node) -> Iterator[Proposal]:
    """Put a prefetch or a cache after *node*; make a prefetch that is there deeper."""
    if node.method == "prefetch":
        size = node.arguments["buffer_size"]
        now = 1 if size == AUTOTUNE else size  # which begins with 1
        for deeper in (2 * now, 4 * now, 8 * now) if now else (1, 2, 4, 8):
            yield (
                f"prefetch({deeper}) for prefetch({now})",
                node.replace(buffer_size=deeper),
                (),
            )
        return
    yield f"prefetch(1) after {node.method}", node.then("prefetch", buffer_size=1), ()
    if node.method != "cache":
        yield f"cache after {node.method}", node.then("cache"), frozen_by_cache(node)


def with_calls(node: Node) -> Iterator[Proposal]:
    """Make more calls at once: in a map, in an interleave, or in an interleave for a flat_map."""
    before = node.arguments.get("num_parallel_calls")
    if node.method == "map":
        for calls in CALLS:
            if calls > (before or 0):
                yield f"{calls} calls in map", node.replace(num_parallel_calls=calls), ()
    elif node.method == "interleave":
        for cycle in sorted({*CALLS, node.arguments["cycle_length"] or 1}):
            same = cycle == node.arguments["cycle_length"]
            wider = node.replace(cycle_length=cycle, num_parallel_calls=cycle)
            if not same or cycle > (before or 0):
                yield f"{cycle} lanes in interleave", wider, () if same else (MIXES,)
    elif node.method == "flat_map":
        for cycle in CALLS:
            turns = {"cycle_length": cycle, "block_length": 1, "num_parallel_calls": cycle}
            files = node.inputs[0].then(
                "interleave", map_func=node.arguments["map_func"], **turns
            )
            yield (
                f"interleave with {cycle} lanes for flat_map",
                files,
                (MIXES,) if cycle > 1 else (),
            )


def with_move(node: Node) -> Iterator[Proposal]:
    """Move *node* before the operator that is its input."""
    if (
        node.method not in MOVABLE
        or not node.inputs
        or node.inputs[0].method not in MOVABLE
    ):
        return
    above = node.inputs[0]
    if above.method == node.method:
        return
    exchanged = above.replace(node.replace(*above.inputs))
    yield (
        f"{node.method} before {above.method}",
        exchanged,
        effects_of_exchange(above, node),
    )


def effects_of_exchange(above: Node, node: Node) -> tuple[str, ...]:
    """Say what it does to the data when *node* moves before *above*."""
    pair = (node.method, above.method)
    effect = EXCHANGED.get(pair, "")
    arguments = above.arguments | node.arguments
    if "map" in pair and not arguments["map_func" if "filter" in pair else "random"]:
        return ()
    return (effect,) if effect else ()


def with_batches(node: Node) -> Iterator[Proposal]:
    """Map whole batches, where a map takes them; or none, where they only cost time."""
    above = node.inputs[0] if node.inputs else node
    if node.method == "batch" and above.method == "map" and above.arguments["batches"]:
        yield "batch before map", above.replace(node.replace(*above.inputs)), ()
    if node.method == "map" and node.arguments["batches"] and above.method != "batch":
        for size in BATCH_SIZES:
            batches = node.replace(above.then("batch", batch_size=size))
            yield f"map of batches of {size}", batches.then("unbatch"), ()
    if node.method == "unbatch":
        between = []
        while above.method in ("map", "cache", "prefetch"):
            between.append(above)
            above = above.inputs[0]
        takes_both = all(
            part.method != "map" or part.arguments["batches"] for part in between
        )
        if above.method == "batch" and takes_both:
            without = above.inputs[0]
            for part in reversed(between):
                without = part.replace(without)
            dropped = ("keeps the samples that drop_remainder drops",) * above.arguments[
                "drop_remainder"
            ]
            yield "no batch and unbatch", without, dropped
