"""What a description is made of, and what it tells before anything runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

SCALARS = (bool, int, float, complex, str, bytes)


@dataclass(frozen=True, eq=False)
class Node:
    """One step of a description: what it is called, its inputs and its arguments.

    Two nodes are equal only if they are the same one: what a cache holds is kept by node.
    """

    method: str
    inputs: tuple[Node, ...]
    arguments: dict[str, Any]

    def replace(self, *inputs: Node, **changes: Any) -> Node:
        """The same with other inputs or arguments: a new node, with nothing in its caches."""
        return Node(self.method, inputs or self.inputs, self.arguments | changes)


def cardinality(node: Node) -> float | None:
    """How many elements there will be: infinity for no end, None if nobody knows."""
    many = [cardinality(part) for part in node.inputs]
    arguments = node.arguments
    match node.method:
        case "range":
            return len(range(*arguments["args"]))
        case "from_list":
            return len(arguments["values"])
        case "from_generator" | "ArtificialDataset":
            return None
        case "zip":
            return 0 if 0 in many else None if None in many else min(many)  # type: ignore[type-var]
        case "concatenate":
            return math.inf if math.inf in many else None if None in many else sum(many)  # type: ignore[arg-type]
        case "filter" | "flat_map" | "interleave":
            return math.inf if many == [math.inf] else None
        case "repeat":
            count = math.inf if arguments["count"] is None or arguments["count"] < 0 else arguments["count"]
            return 0 if 0 in (count, *many) else many[0] and many[0] * count
        case "unbatch":
            known = node.inputs[0].method == "batch" and node.inputs[0].arguments["drop_remainder"]
            return many[0] and many[0] * node.inputs[0].arguments["batch_size"] if known else None
    (n,) = many
    if n is None or n == math.inf and node.method not in ("take", "skip"):
        return 0 if node.method == "skip" and arguments["count"] < 0 else n
    match node.method:
        case "take":
            return n if arguments["count"] < 0 else min(n, arguments["count"])
        case "skip":
            return 0 if arguments["count"] < 0 else max(0, n - arguments["count"])
        case "batch":
            batches = n / arguments["batch_size"]
            return math.floor(batches) if arguments["drop_remainder"] else math.ceil(batches)
        case "shard":
            return max(0, math.ceil((n - arguments["index"]) / arguments["num_shards"]))
    return n


def element_type(node: Node) -> type | None:
    """What the elements are, where the description alone can tell."""
    if node.method in ("range", "ArtificialDataset"):
        return int
    if node.method in ("zip", "enumerate"):
        return tuple
    if node.method == "from_list":
        types = {type(value) for value in node.arguments["values"]}
        return types.pop() if len(types) == 1 else None
    if not node.inputs or node.method in ("flat_map", "interleave", "unbatch") or node.arguments.get("fn"):
        return None
    before = element_type(node.inputs[0])
    if node.method == "batch":
        return list if before in SCALARS else None
    return before
