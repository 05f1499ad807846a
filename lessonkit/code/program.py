"""A pipeline as a whole program for this package."""

from typing import Any

from lessonkit.code.expression import TUNED, Expression, laid_out, plain
from lessonkit.code.functions import Functions
from lessonkit.code.helpers import imports_from
from lessonkit.engine.node import Node

NAMES = (  # of this package, that a program may use
    "AUTOTUNE", "ArtificialDataset", "DataLoader", "Dataset", "Handling", "Machine", "Storage", "benchmark",
    "get_worker_info", "per_sample", "straggler", "work",
)  # fmt: skip


class Program(Expression):
    """Writes calls with functions and values in full."""

    def __init__(self) -> None:
        self.functions = Functions({*NAMES}, dict.fromkeys([*NAMES, "dataset"]))

    def argument(self, name: str, value: Any) -> str:
        return (
            super().argument(name, value)
            if name in TUNED
            else self.functions.text(plain(value))
        )


def program(node: Node, options: dict[str, Any]) -> tuple[str, str]:
    """Write the pipeline, and the whole program: *options* are those of `benchmark` that are not usual.

    What is used twice is written twice, each with its cache.
    """
    writer = Program()
    chain = laid_out(writer.calls(node))
    given = "".join(
        f", {name}={writer.argument(name, value)}" for name, value in options.items()
    )
    body = "\n\n".join(
        [
            *writer.functions.definitions.values(),
            f"{chain}\nprint(benchmark(dataset{given}))",
        ]
    )
    imports = [*sorted(writer.functions.imports), *imports_from("lessonkit", NAMES, body)]
    return chain, "\n".join([*imports, "", body, ""])


def measured(node: Node, _: dict[str, Any]) -> tuple[str, str]:
    """Write the arguments of the loader of a measured job, and where they go."""
    names = ("num_workers", "prefetch_factor", "persistent_workers")
    given = "".join(
        f", {name}={node.arguments[name]!r}"
        for name in names
        if node.arguments["num_workers"]
    )
    line = f"DataLoader(...{given or ', num_workers=0'})"
    return (
        line,
        f"# What was measured is your own program. This model has it with:\n{line}\n",
    )
