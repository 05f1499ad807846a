"""What the accelerator saw: whether epochs stayed whole, and whether anything new came in each of them."""

from __future__ import annotations

from dataclasses import dataclass

from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, walk
from lessonkit.engine.trace import Trace

FREEZES = "freezes the augmentation: every epoch sees what the first one saw"
FREEZES_ORDER = "freezes one order for all epochs"


@dataclass(frozen=True)
class Seen:
    """What one order of the operators does to the data, where another would do something else."""

    blurred: bool  # some sample came again before every other had come
    same_order: bool  # shuffled, and yet every epoch came in one order
    same_augmentation: bool  # what is random in a sample was drawn once and kept

    @property
    def words(self) -> tuple[str, ...]:
        """What there is to object to."""
        said = {
            "epochs blur": self.blurred,
            "the same order in every epoch": self.same_order,
            "the augmentation is frozen": self.same_augmentation,
        }
        return tuple(text for text, is_so in said.items() if is_so)


def seen(trace: Trace, dataset: Dataset) -> Seen:
    """What *trace* of a run of *dataset* shows; epochs are passes over all samples that came.

    >>> from lessonkit import Dataset, benchmark
    >>> one, other = Dataset.range(8).shuffle(4).repeat(3), Dataset.range(8).repeat(3).shuffle(4)
    >>> [seen(benchmark(data, num_epochs=1), data).words for data in (one, other)]
    [(), ('epochs blur',)]
    """
    steps = [span for span in trace.work if span.stage == "Train" and span.element]
    who = [trace.identities[sample] for step in steps for sample in trace.members(step.element)]
    came = [(sample.instance, sample.sample) for sample in who]
    size = max(1, len(set(came)))
    passes = [came[start : start + size] for start in range(0, len(came), size)]
    nodes = list(walk(dataset.node))
    shuffled = any(node.method in ("shuffle", "shuffle_and_repeat") for node in nodes)
    cached = [
        effect for node in nodes if node.method == "cache" for effect in frozen_by_cache(node.inputs[0])
    ]
    return Seen(
        any(len(set(one)) < len(one) for one in passes),
        shuffled and len(passes) > 1 and all(one == passes[0][: len(one)] for one in passes),
        FREEZES in cached,
    )


def frozen_by_cache(node: Node) -> tuple[str, ...]:
    """What a cache behind *node* would keep from changing; what is cached already is frozen."""
    if node.method == "cache":
        return ()
    here = (
        (FREEZES,) if node.arguments.get("random") else (FREEZES_ORDER,) if node.method == "shuffle" else ()
    )
    return tuple(
        dict.fromkeys([*here, *(effect for part in node.inputs for effect in frozen_by_cache(part))])
    )
