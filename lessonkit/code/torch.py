"""A pipeline as a program for real PyTorch; a comment says what has no counterpart there."""

import re
from typing import Any

from lessonkit.code.functions import Functions
from lessonkit.engine.node import Node, base_of, walk

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

HELPERS = {  # each is written only if something after it needs it
    "per_sample": '''def per_sample(seconds, per_call=0):
    """A cost that grows with a batch."""
    return lambda batch: per_call + seconds * len(batch)''',
    "straggler": '''def straggler(usual, every, slow):
    """A cost of usual, and of slow for the last of every so many samples."""
    return lambda sample: slow if sample % every == every - 1 else usual''',
    "work": '''def work(seconds, stage=None, kind="wait"):
    """Stands for work that takes so many seconds."""
    time.sleep(seconds)''',
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
TORCH = ("DataLoader", "Dataset", "IterableDataset", "default_collate", "get_worker_info")
SAID = ("batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "pin_memory", "drop_last",
        "timeout", "worker_init_fn", "prefetch_factor", "persistent_workers", "in_order")  # fmt: skip
DEFAULTS = {"batch_size": 1, "num_workers": 0, "in_order": True}
PLACES = {  # how an operator changes an iterator of samples; the others have no counterpart
    "filter": "filter({predicate}, {samples})",
    "take": "islice({samples}, {count})",
    "skip": "islice({samples}, {count}, None)",
    "enumerate": "enumerate({samples}, {start})",
    "shard": "islice({samples}, {index}, None, {num_shards})",
    "zip": "zip({inputs})",
}


class Writer:
    """Writes the parts of a program, and collects what they need."""

    def __init__(self) -> None:
        self.functions = Functions(
            {*HELPERS, "get_worker_info"}, dict.fromkeys([*HELPERS, *TORCH, "time", "loader"])
        )
        self.lines: list[str] = []

    def spent(self, node: Node, sample: str) -> str:
        """Write what a map costs, as seconds."""
        cost, kind = node.arguments["cost"], node.arguments["kind"]
        if kind != "wait":
            self.lines.append(f"# A sleep stands for {kind} work: it holds neither a core nor the lock.")
        text = self.functions.text(cost)
        return f"{called(text)}({sample})" if callable(cost) else text

    def steps(self, node: Node) -> list[str]:
        """Write the maps after the base as lines on one sample, or on a batch."""
        base, maps = base_of(node), []
        while node is not base:
            maps.append(node)
            node = node.inputs[0]
        for step in reversed(maps):
            if step.arguments["cost"]:
                self.lines.append(f"time.sleep({self.spent(step, 'sample')})  # {step.arguments['stage']}")
            if function := step.arguments["map_func"]:
                self.lines.append(f"sample = {called(self.functions.text(function))}(sample)")
        return self.lines

    def samples(self, node: Node) -> str:
        """Write an iterator of the samples of *node*; lines before it say what is left out."""
        said, texts = node.arguments, [self.samples(part) for part in node.inputs]
        match node.method:
            case "range":
                return f"range{said['args']!r}".replace(",)", ")")
            case "from_list":
                return self.functions.text(list(said["values"]))
            case "from_generator":
                args = ", ".join(self.functions.text(arg) for arg in said["args"] or ())
                return f"{self.functions.text(said['generator'])}({args})"
            case "ArtificialDataset":
                return f"artificial({said['num_samples']}, {said['open']}, {said['read']})"
            case "map":
                function = (
                    self.functions.text(said["map_func"]) if said["map_func"] else "lambda sample: sample"
                )
                if said["num_parallel_calls"] is not None:
                    self.lines.append(
                        "# Parallel calls have no counterpart inside a worker: one after another."
                    )
                return f"mapped({texts[0]}, {function}, {self.functions.text(said['cost'])})"
        if node.method not in PLACES:
            self.lines.append(f"# {node.method} has no counterpart here, and is left out.")
            return texts[0]
        values = {name: self.functions.text(value) for name, value in said.items()}
        return PLACES[node.method].format(samples=texts[0], inputs=", ".join(texts), **values)


def called(text: str) -> str:
    """Write what can be called: a lambda in brackets."""
    return f"({text})" if text.startswith("lambda") else text


def torch(node: Node, num_epochs: int, name: str, step: Any) -> tuple[str, str]:
    """Write the loader, and the whole program. Without a `DataLoader` it gets one that makes no batches."""
    writer = Writer()
    outside = []
    while node.method != "DataLoader" and any(part.method == "DataLoader" for part in walk(node)):
        outside.append(f"# {node.method} after the loader has no counterpart, and is left out.")
        node = node.inputs[0]
    said = node.arguments if node.method == "DataLoader" else {"batch_size": None}
    source = node.inputs[0] if node.method == "DataLoader" else node
    base = base_of(source)
    if base is None:
        last = f"return iter({writer.samples(source)})"
        methods = ["def __iter__(self):", *(f"    {line}" for line in [*writer.lines, last])]
    else:
        kept = writer.samples(base.inputs[0] if base.method == "cache" else base)
        steps = [f"        {line}" for line in writer.steps(source)]
        methods = ["def __init__(self):", f"    self.values = list({kept})  # before any worker starts", ""]
        methods += ["def __len__(self):", "    return len(self.values)", ""]
        if said.get("getitems"):
            begin = [
                "def __getitems__(self, indices):",
                "    sample = [self.values[index] for index in indices]",
            ]
        else:
            begin = ["def __getitem__(self, index):", "    sample = self.values[index]"]
        methods += [*begin, *(line[4:] for line in steps), "    return sample"]
    parts = arguments(writer, said, outside)
    call = f"{called(writer.functions.text(step))}(batch)" if callable(step) else f"time.sleep({step})"
    call = f"time.sleep({call})" if name == "train" and callable(step) else call
    given = ", ".join(["Samples()", *parts])
    body = PROGRAM.format(
        kind="Dataset" if base is not None else "IterableDataset",
        methods="\n".join(f"    {line}".rstrip() for line in methods),
        given=given,
        num_epochs=num_epochs,
        step=call,
    )
    texts = [*writer.functions.definitions.values(), body]
    for helper, text in reversed(HELPERS.items()):
        if re.search(rf"\b{helper}\(", "\n".join(texts)):
            texts.insert(0, text)
    whole = "\n\n\n".join(texts)
    imports = sorted({"import time", *writer.functions.imports})
    for module, names in ("itertools", ("islice",)), ("torch.utils.data", TORCH):
        if used := [name for name in names if re.search(rf"\b{name}\b", whole)]:
            imports.append(f"from {module} import {', '.join(used)}")
    imports += ["import torch"] * ("torch.Generator" in whole)
    imports.sort(key=lambda line: ("__future__" not in line, line.startswith("from"), line))
    first = "\n".join(imports)
    return f"loader = DataLoader({given})", f"{first}\n\n\n{whole}"


def arguments(writer: Writer, said: dict[str, Any], outside: list[str]) -> list[str]:
    """Write the arguments of the loader; define what PyTorch has to be told in another way."""
    functions, parts = writer.functions, []
    others = {name: said.get(name) for name in SAID}
    parts += [
        f"{name}={functions.text(value)}"
        for name, value in others.items()
        if value not in (DEFAULTS.get(name, 0), None)  # False is 0
    ]
    if said.get("batch_size", 1) is None:
        parts.insert(0, "batch_size=None")
    if said.get("generator") is not None:
        outside.append("# The same seed gives another order in PyTorch.")
        parts.append(f"generator=torch.Generator().manual_seed({said['generator']})")
    collate, spent = said.get("collate_fn"), said.get("collate") or 0
    if collate or spent:
        inner = f"{called(functions.text(collate))}(samples)" if collate else "default_collate(samples)"
        sleep = f"    time.sleep({spent})\n" if spent and not callable(spent) else ""
        name = functions.define("collate", f"def NAME(samples):\n{sleep}    return {inner}")
        parts.append(f"collate_fn={name}")
    outside += [
        f"# {name}= is what this takes in the model; in PyTorch it takes what it takes."
        for name in ("start", "transfer", "pin")
        if said.get(name) not in (None, 0, (0, 0))
    ]
    functions.definitions |= {line: line for line in outside}
    return parts
