"""What the elements of a pipeline are like: some of them, made on the virtual clock."""

from typing import Any

from lessonkit.engine.node import Description, Node
from lessonkit.engine.training import benchmark


def example(node: Node) -> Any:
    """Return the first element of *node*; if none comes out, that of what it reads, or else a number."""
    for element in made(node, 1)[0]:
        return element
    return example(node.inputs[0]) if node.inputs else 0


def made(node: Node, most: int) -> tuple[list[Any], int]:
    """Return the first elements, none if a function fails, and how many samples are in the first."""
    try:
        epoch = benchmark(Description(node), 1, 0, max_elements=most, keep=True).epochs[0]
    except Exception:
        return [], 0
    return epoch.elements, epoch.samples // max(1, epoch.count)
