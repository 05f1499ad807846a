"""Advice: every single change to a pipeline, run and ranked by the time it saves."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, base_of, loaders_in, rebuilt, walk
from lessonkit.explain.data_quality import FREEZES, FREEZES_ORDER, what_is_frozen
from lessonkit.words import counted, milliseconds

from .knobs import check_options, try_out

CALLS = (1, 2, 3, 4, 6, 8)
DEEPER = (1, 2, 4, 8)  # times as deep

MIXES = "changes the order of the elements"
REPEATS = "every worker gives every sample, unless the workers share them out"

SIFTS = "the filter sees other values"
# What is said of a change after which something is frozen no more
THAWS = {
    FREEZES: "makes the augmentation new in every epoch",
    FREEZES_ORDER: "makes a new order in every epoch",
}
# Operators of which one may come before another
MOVABLE = {"map", "filter", "prefetch", "cache", "shuffle", "repeat"}
# What it does to the data if the first of two comes before the second
EXCHANGED = {
    ("repeat", "shuffle"): "epochs blur",
    ("shuffle", "repeat"): "keeps epochs apart",
    ("repeat", "cache"): "keeps all passes in the cache",
}


class Change(NamedTuple):
    """A change in *words*, the *node* that it leads to, and its *effects* on the data."""

    words: str
    node: Node
    effects: tuple[str, ...] = ()


class Advice(NamedTuple):
    """A change that was run: the seconds per sample that it takes and saves, and what it needs."""

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
        times = f"{milliseconds(self.saved, 3)} of {milliseconds(before, 3)}"
        return f"{self.change}: saves {times} per sample{effects}"


def advise(dataset: Dataset, **options: Any) -> list[Advice]:
    """Try every single change to *dataset*, and rank them: the one that saves most comes first.

    Each is run on the virtual clock, with the *options* of `benchmark`, so a learner's functions
    run many times. If they have side effects, or take long, give `cost=` instead of them. The
    *effects* of a change are those on the data. A change after which a function fails, because
    it is called with other values, is left out.

    >>> from lessonkit import ArtificialDataset
    >>> advise(ArtificialDataset(20))[0]
    prefetch(1) after ArtificialDataset: saves 9.5 ms of 26.5 ms per sample
    >>> advise(ArtificialDataset(20).prefetch(1), num_epochs=1)[0]
    cache after ArtificialDataset: saves 0 ms of 17 ms per sample
    """
    check_options(options)
    before = try_out(dataset.node, options)
    found = []
    for change in changes(dataset.node):
        try:
            tried = try_out(change.node, options)
        except Exception:
            continue
        if not tried.samples:
            continue
        # Samples that come again for each worker are no gain
        samples = before.samples if REPEATS in change.effects else tried.samples
        takes = tried.seconds / samples
        advice = Advice(
            change=change.words,
            dataset=Dataset(change.node),
            effects=change.effects,
            per_sample=takes,
            saved=before.per_sample - takes,
            memory=tried.memory,
            calls=tried.calls,
        )
        found.append(advice)
    return sorted(found, key=lambda one: (round(one.per_sample, 9), one.calls, one.memory))


def changes(root: Node) -> Iterator[Change]:
    """Give all single changes to the pipeline that ends in *root*; some may be harmful."""
    loaders = loaders_in(root)
    # The rest of advice is for operators that share a process
    kinds = (of_loader,) if loaders else (of_buffers, of_calls, of_order, of_batches)
    frozen = what_is_frozen(root)
    for node in loaders or walk(root):
        for change in chain.from_iterable(kind(node) for kind in kinds):
            changed = rebuilt(root, {node: change.node})
            now = what_is_frozen(changed)
            thawed = [THAWS[effect] for effect in sorted(frozen - now)]
            effects = (*change.effects, *sorted(now - frozen), *thawed)
            yield Change(change.words, changed, effects)


# ---- the changes to one operator: what takes its place ----


def more(
    node: Node, name: str, values: Iterable[int], words: str, *effects: str
) -> Iterator[Change]:
    """Set the argument *name* of *node* to each of *values* that is above its present one."""
    for value in values:
        if value > (node.arguments[name] or 0):
            yield Change(words.format(value), node.replace(**{name: value}), effects)


def of_loader(node: Node) -> Iterator[Change]:
    """Give a loader other workers, another depth, one call for each batch, or a cache before it."""
    options = node.arguments
    source = node.inputs[0]
    base = base_of(source)
    workers = options["num_workers"]
    again = [REPEATS] if base is None else []
    yield from more(node, "num_workers", CALLS[:1], "num_workers={}")
    yield from more(node, "num_workers", CALLS[1:], "num_workers={}", *again)
    if workers:
        yield from more(node, "prefetch_factor", DEEPER[2:], "prefetch_factor={}")
        yield from more(node, "persistent_workers", [True], "persistent_workers")
        if options["in_order"]:
            yield Change("in_order=False", node.replace(in_order=False), (MIXES,))
    if base is not None and options["batch_size"] is not None:
        whole = "the functions get whole batches"
        yield from more(node, "getitems", [True], "one call for each batch", whole)
    if base is None or base.method != "cache":
        once = (
            ("every sample comes once, not once for each worker",)
            if base is None and workers > 1
            else ()
        )
        cached = node.replace(Dataset(source).cache().node)
        yield Change("cache before the workers", cached, once)


def of_buffers(node: Node) -> Iterator[Change]:
    """Put a prefetch or a cache after *node*; make a prefetch that is there deeper."""
    if node.method == "prefetch":
        now = abs(node.arguments["buffer_size"])  # AUTOTUNE is -1 and begins with 1
        sizes = [times * now for times in DEEPER[1:]] if now else DEEPER
        words = f"prefetch({{}}) in place of prefetch({now})"
        yield from more(node, "buffer_size", sizes, words)
        return
    yield Change(f"prefetch(1) after {node.method}", Dataset(node).prefetch(1).node)
    if node.method != "cache":
        yield Change(f"cache after {node.method}", Dataset(node).cache().node)


def of_calls(node: Node) -> Iterator[Change]:
    """Make more calls at the same time: in a map, or in an interleave, also for a flat_map."""
    given = node.arguments
    if node.method in ("map", "map_and_batch"):
        words = f"num_parallel_calls={{}} in {node.method}"
        yield from more(node, "num_parallel_calls", CALLS, words)
    if node.method == "flat_map":
        inputs = Dataset(node.inputs[0])
        for calls in CALLS:
            files = inputs.interleave(given["map_func"], calls, 1, calls).node
            words = f"interleave with {counted(calls, 'calls')} in place of flat_map"
            yield Change(words, files, (MIXES,) if calls > 1 else ())
    if node.method == "interleave":
        open_now = given["cycle_length"]
        calls_now = given["num_parallel_calls"] or 0
        for calls in sorted({*CALLS, open_now or 1}):
            wider = node.replace(cycle_length=calls, num_parallel_calls=calls)
            if calls != open_now or calls > calls_now:
                effects = () if calls == open_now else (MIXES,)
                yield Change(f"{counted(calls, 'calls')} in interleave", wider, effects)


def of_order(node: Node) -> Iterator[Change]:
    """Move *node* before the operator that is its input."""
    above = node.inputs[0] if node.inputs else node
    pair = (node.method, above.method)
    if above.method == node.method or not {*pair} <= MOVABLE:
        return
    effect = EXCHANGED.get(pair)
    if {*pair} == {"map", "filter"} and (above.arguments | node.arguments)["map_func"]:
        effect = SIFTS
    exchanged = above.replace(node.replace(*above.inputs))
    words = f"{node.method} before {above.method}"
    yield Change(words, exchanged, (effect,) if effect else ())


def of_batches(node: Node) -> Iterator[Change]:
    """Map whole batches, where a map takes them; or none, where they only cost time."""
    above = node.inputs[0] if node.inputs else node
    if node.method == "batch" and above.method == "map" and above.arguments["batches"]:
        yield Change("batch before map", above.replace(node.replace(*above.inputs)))
    if node.method == "map" and node.arguments["batches"] and above.method != "batch":
        for size in (8, 16, 32, 64):
            batches = node.replace(Dataset(above).batch(size).node)
            yield Change(f"map of batches of {size}", Dataset(batches).unbatch().node)
    if node.method == "unbatch":
        while above.method in ("cache", "prefetch") or above.arguments.get("batches"):
            above = above.inputs[0]
        if above.method == "batch":
            without = rebuilt(node.inputs[0], {above: above.inputs[0]})
            effect = "keeps the samples that drop_remainder drops"
            effects = (effect,) if above.arguments["drop_remainder"] else ()
            yield Change("no batch and unbatch", without, effects)
