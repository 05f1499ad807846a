"""A pipeline as a program for real PyTorch; a comment says what has no counterpart there."""

import re
from textwrap import indent
from typing import Any

from lessonkit.code.examples import example, star
from lessonkit.code.expression import is_usual
from lessonkit.code.functions import WORK, Functions, called, with_helpers
from lessonkit.engine.costs import charge, per_sample, price, straggler
from lessonkit.engine.element import Element
from lessonkit.engine.node import Node, base_of, one_call, walk

PROGRAM = """class Samples({kind}):
{methods}


loader = DataLoader({given})

if __name__ == "__main__":
    start = time.perf_counter()
    for epoch in range({num_epochs}):
        for batch in loader:
            {step}  # the training step
    print(f"{{time.perf_counter() - start:.3f}} s")
"""

KEPT = """def __init__(self):
    self.values = list({kept})  # before any worker starts

def __len__(self):
    return len(self.values)

def {get}:
"""

HELPERS = {  # each is written only if something after it needs it
    "per_sample": '''def per_sample(seconds, per_call=0):
    """A cost that grows with a batch."""
    return lambda batch: per_call + seconds * len(batch)''',
    "straggler": '''def straggler(usual, every, slow):
    """A cost of usual, and of slow for the last of every so many samples."""
    return lambda sample: slow if sample % every == every - 1 else usual''',
    "work": WORK,
    "mapped": '''def mapped(samples, function, cost):
    """Call a function for each sample, after what it costs."""
    for sample in samples:
        time.sleep(cost(sample) if callable(cost) else cost)
        yield function(sample)''',
    "artificial": '''def artificial(samples, opening, reading):
    """A file that is slow on purpose."""
    time.sleep(opening)
    for sample in range(samples):
        time.sleep(reading)
        yield sample''',
}
ITERTOOLS = ("chain", "islice")
TORCH = ("DataLoader", "Dataset", "IterableDataset", "default_collate", "get_worker_info")
SAID = ("batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "pin_memory", "drop_last",
        "timeout", "worker_init_fn", "prefetch_factor", "persistent_workers", "in_order")  # fmt: skip
DEFAULTS = {"batch_size": 1, "num_workers": 0, "in_order": True}
HOLDS_NOTHING = "work: it holds neither a core nor the lock."
ONE_BY_ONE = "# Parallel calls have no counterpart inside a worker: one after another."
IN_PYTORCH = "in PyTorch it takes what it takes."
PLACES = {  # how an operator changes an iterator of samples; the others have no counterpart
    "concatenate": "chain({inputs})",
    "filter": "filter({predicate}, {samples})",
    "take": "islice({samples}, {count})",
    "skip": "islice({samples}, {count}, None)",
    "enumerate": "enumerate({samples}, {start})",
    "shard": "islice({samples}, {index}, None, {num_shards})",
    "zip": "zip({inputs})",
}


class Writer:
    """Writes the parts of a program, and collects what they need."""

    def __init__(self, *, getitems: bool) -> None:
        self.getitems = getitems
        taken = dict.fromkeys([*HELPERS, *TORCH, *ITERTOOLS, "time", "loader"])
        self.functions = Functions({*HELPERS, "get_worker_info"}, taken)
        self.lines: list[str] = []

    def star(self, node: Node) -> str:
        """Return a star if the function of *node* is called with the parts of a sample: of a tuple."""
        return "" if self.getitems else star(node.inputs[0])

    def function(self, node: Node, name: str) -> str:
        """Write the function of *node* called *name*, as one of a sample."""
        text = self.functions.text(node.arguments[name])
        return f"lambda sample: {called(text)}(*sample)" if self.star(node) else text

    def cost(self, cost: Any, of: Node) -> Any:
        """Return the *cost* of a sample *of* a node: a number, if a function of a sample cannot tell it."""
        match cost:
            case per_sample(each, per_call=once) if not self.getitems:
                return once + each
            case straggler() if self.getitems or type(example(of)) is not int:
                self.lines.append("# A straggler has a number: what these samples cost is the average.")
                return cost.usual + (cost.slow - cost.usual) / cost.every
        return cost

    def steps(self, node: Node) -> list[str]:
        """Write the maps after the base as lines on one sample, or on a batch."""
        if node is base_of(node):
            return self.lines
        self.steps(node.inputs[0])
        said, text = node.arguments, self.functions.text
        if cost := self.cost(said["cost"], node.inputs[0]):
            if said["kind"] != "wait":
                self.lines.append(f"# A sleep stands for {said['kind']} {HOLDS_NOTHING}")
            seconds = f"{called(text(cost))}(sample)" if callable(cost) else text(cost)
            self.lines.append(f"time.sleep({seconds})  # {said['stage']}")
        if said["map_func"]:
            self.lines.append(f"sample = {called(text(said['map_func']))}({self.star(node)}sample)")
        return self.lines

    def samples(self, node: Node) -> str:
        """Write an iterator of the samples of *node*; lines before it say what is left out."""
        said, texts, text = node.arguments, [self.samples(part) for part in node.inputs], self.functions.text
        match node.method:
            case "range":
                return f"range{said['args']!r}".replace(",)", ")")
            case "from_list":
                return text(list(said["values"]))
            case "from_generator":
                return f"{text(said['generator'])}({', '.join(map(text, said['args'] or ()))})"
            case "ArtificialDataset":
                opening = charge(price(said["open"], "open"), Element(0)) / 1e9
                reading = self.cost(said["read"], node)
                spent = f"lambda sample: sample, {text(reading)}" if callable(reading) else ""
                file = f"artificial({said['num_samples']}, {opening}, {0 if spent else reading})"
                return f"mapped({file}, {spent})" if spent else file
            case "map":
                function = self.function(node, "map_func") if said["map_func"] else "lambda sample: sample"
                if said["num_parallel_calls"] is not None:
                    self.lines.append(ONE_BY_ONE)
                return f"mapped({texts[0]}, {function}, {text(self.cost(said['cost'], node.inputs[0]))})"
            case "take" if said["count"] < 0:
                return texts[0]
            case "skip" if said["count"] < 0:
                return f"islice({texts[0]}, 0)"
        if node.method not in PLACES:
            self.lines.append(f"# {node.method} has no counterpart here, and is left out.")
            return texts[0]
        values = {name: text(value) for name, value in said.items() if name != "predicate"}
        if node.method == "filter":
            values["predicate"] = self.function(node, "predicate")
        return PLACES[node.method].format(samples=texts[0], inputs=", ".join(texts), **values)

    def methods(self, source: Node) -> str:
        """Write the methods of the data set that gives the samples of *source*."""
        base = base_of(source)
        if base is None:
            last = f"return iter({self.samples(source)})"
            return "def __iter__(self):\n" + indent("\n".join([*dict.fromkeys(self.lines), last]), "    ")
        get, sample = "__getitem__(self, index)", "self.values[index]"
        if self.getitems:
            get, sample = "__getitems__(self, indices)", f"[{sample} for index in indices]"
        kept = self.samples(base.inputs[0] if base.method == "cache" else base)
        lines = [f"sample = {sample}", *self.steps(source), "return sample"]
        return KEPT.format(kept=kept, get=get) + indent("\n".join(lines), "    ")

    def arguments(self, said: dict[str, Any], outside: list[str]) -> list[str]:
        """Write the arguments of the loader; define what PyTorch has to be told in another way."""
        functions = self.functions
        parts = ["batch_size=None"] if said["batch_size"] is None else []
        others = {name: said.get(name) for name in SAID}
        parts += [
            f"{name}={functions.text(value)}"
            for name, value in others.items()
            if value is not None and not is_usual(value, DEFAULTS.get(name, 0))  # False is 0
        ]
        if said.get("generator") is not None:
            outside.append("# The same seed gives another order in PyTorch.")
            parts.append(f"generator=torch.Generator().manual_seed({said['generator']})")
        collate, spent = said.get("collate_fn"), said.get("collate") or 0
        sleep = "" if callable(spent) or not spent else f"    time.sleep({spent})\n"
        if collate or sleep:
            inner = f"{called(functions.text(collate))}(samples)" if collate else "default_collate(samples)"
            name = functions.define("collate", f"def NAME(samples):\n{sleep}    return {inner}")
            parts.append(f"collate_fn={name}")
        names = ("start", "transfer", "pin", *["collate"] * callable(spent))
        taken = [name for name in names if said.get(name) not in (None, 0, (0, 0))]
        outside += [f"# {name}= is what this takes in the model; {IN_PYTORCH}" for name in taken]
        functions.definitions |= {line: line for line in outside}
        return parts


def torch(node: Node, num_epochs: int, name: str, step: Any) -> tuple[str, str]:
    """Write the loader, and the whole program. Without a `DataLoader` it gets one that makes no batches."""
    outside = []
    while node.method != "DataLoader" and any(part.method == "DataLoader" for part in walk(node)):
        outside.append(f"# {node.method} after the loader has no counterpart, and is left out.")
        node = node.inputs[0]
    if node.method != "DataLoader":
        node = Node("DataLoader", (node,), {"batch_size": None})
    said, source = node.arguments, node.inputs[0]
    writer = Writer(getitems=one_call(node))
    functions, methods = writer.functions, indent(writer.methods(source), "    ")
    given = ", ".join(["Samples()", *writer.arguments(said, outside)])
    call = f"{called(functions.text(step))}(batch)" if callable(step) else str(step)
    call = f"time.sleep({call})" if name == "train" else call
    kind = "IterableDataset" if base_of(source) is None else "Dataset"
    body = PROGRAM.format(kind=kind, methods=methods, given=given, num_epochs=num_epochs, step=call)
    whole = "\n\n\n".join(with_helpers(HELPERS, [*functions.definitions.values(), body]))
    imports = {"import time", *functions.imports}
    for module, names in ("itertools", ITERTOOLS), ("torch.utils.data", TORCH):
        if used := [name for name in names if re.search(rf"\b{name}\b", whole)]:
            imports.add(f"from {module} import {', '.join(used)}")
    if "torch.Generator" in whole:
        imports.add("import torch")
    first = sorted(imports, key=lambda line: ("__future__" not in line, line.startswith("from"), line))
    return f"loader = DataLoader({given})", "\n".join([*first, "", "", whole])
