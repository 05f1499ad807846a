"""A pipeline as a program for real PyTorch; a comment says what has no counterpart there."""

from inspect import signature
from textwrap import indent
from typing import Any

from lessonkit.code.expression import Expression
from lessonkit.code.functions import called
from lessonkit.code.helpers import imports_from, text_of
from lessonkit.code.real import RealProgram, has_loader, taken_apart
from lessonkit.engine.node import METHODS, Node, base_of, one_call, swap, walk

KEPT = """def __init__(self):
    self.values = list({kept})  # before any worker starts

def __len__(self):
    return len(self.values)

def {get}:"""
TORCH = ("DataLoader", "Dataset", "IterableDataset", "default_collate", "default_convert",
         "get_worker_info")  # fmt: skip
OTHERWISE = (
    "generator",
    "collate_fn",
    "getitems",
    "start",
    "collate",
    "transfer",
    "pin",
    "handling",
)
MARGIN = 4 * " "
PLACES = {  # how an operator changes an iterator
    "shard": "islice({samples}, {index}, None, {num_shards})",
    "skip": "islice({samples}, {count}, None)",
    "take": "islice({samples}, {count})",
    "zip": "zip({inputs})",
}
WITHOUT = {
    "prefetch": "num_workers= makes batches ahead",
    "cache": "samples are made anew in each epoch",
}
IN_PYTORCH = "in PyTorch it takes what it takes."
IN_TURN = "# Parallel calls have no counterpart in one process: one after another."


def torch(node: Node, options: dict[str, Any]) -> tuple[str, str]:
    """Write the loaders, and the whole program, which trains with these *options* of `benchmark`."""
    writer = PyTorch()
    node = after_loader(taken_apart(node))
    batches = writer.elements(node)
    loop = writer.loop(node, options, batches, "batch", "batch")
    main = 'if __name__ == "__main__":\n' + indent(loop, MARGIN)
    parts = [*writer.functions.definitions.values(), main]
    imports = {
        *imports_from("torch.utils.data", TORCH, "\n".join(parts)),
        *writer.functions.imports,
    }
    return "\n".join(writer.loaders), text_of(imports, parts)


def after_loader(node: Node) -> Node:
    """Put a loader in the place of the last batch; without any batch, one that makes none."""
    if has_loader(node):
        return node
    last = node
    while last.method in ("map", "filter", *WITHOUT, *PLACES):
        last = last.inputs[0]
    usual = {
        name: given.default
        for name, given in signature(METHODS["DataLoader"]).parameters.items()
    }
    if last.method != "batch":
        return Node("DataLoader", (node,), usual | {"batch_size": None})
    size, drop = last.arguments["batch_size"], last.arguments["drop_remainder"]
    return swap(
        node,
        last,
        Node("DataLoader", last.inputs, usual | {"batch_size": size, "drop_last": drop}),
    )


class PyTorch(RealProgram, Expression):
    """Writes loaders with their data sets, and iterators over them."""

    ahead = "say .to(device, non_blocking=True) on a stream of its own"
    getitems = False  # whether a map is called once for a batch

    def __init__(self) -> None:
        super().__init__(
            {"work", "get_worker_info"}, (*TORCH, "torch", "batch", "x", "value")
        )
        self.loaders: list[str] = []

    def star(self, before: Node) -> str:
        return "" if self.getitems else super().star(before)

    def first(self, before: Node) -> tuple[Any, int]:
        value, samples = super().first(before)
        return ([value], 2) if self.getitems else (value, samples)

    def argument(self, name: str, value: Any) -> str:
        return self.functions.text(value)

    def call(self, node: Node, name: str) -> str:
        text = super().call(node, name)
        return f"lambda x: {called(text)}(*x)" if self.star(node.inputs[0]) else text

    def elements(self, node: Node) -> str:
        """Write an iterator of the elements of *node*; comments say what is left out."""
        if node.method == "DataLoader":
            return self.loader(node)
        given, inputs = node.arguments, [self.elements(part) for part in node.inputs]
        match node.method:
            case "range":
                return f"range({', '.join(map(str, given['args']))})"
            case "from_list":
                return self.functions.text(list(given["values"]))
            case "from_generator":
                return self.generator(node)
            case "ArtificialDataset":
                return (
                    f"artificial({given['num_samples']}, {given['open']}, {given['read']})"
                )
            case "map":
                self.comments += [IN_TURN] * (given["num_parallel_calls"] is not None)
                function = self.map_function(node)
                return f"map({function}, {inputs[0]})" if function else inputs[0]
            case "filter":
                return f"filter({self.call(node, 'keep')}, {inputs[0]})"
            case "take" | "skip" if given["count"] < 0:  # all of them
                return inputs[0] if node.method == "take" else f"islice({inputs[0]}, 0)"
        if node.method not in PLACES:
            why = WITHOUT.get(node.method, "it is left out")
            self.comments.append(f"# {node.method} has no counterpart here: {why}.")
            return inputs[0]
        values = {name: self.functions.text(value) for name, value in given.items()}
        return PLACES[node.method].format(
            samples=inputs[0], inputs=", ".join(inputs), **values
        )

    def loader(self, node: Node) -> str:
        """Define a loader, and the data set that it reads; return its name."""
        outside, self.comments = self.comments, []
        source, base, methods = (
            node.inputs[0],
            base_of(node.inputs[0]),
            "def __iter__(self):",
        )
        if base is None:
            result = f"iter({self.elements(source)})"
        else:
            kept = self.elements(base.inputs[0] if base.method == "cache" else base)
            if base.method == "shard":
                number, rank = base.arguments["num_shards"], base.arguments["index"]
                same = f"DistributedSampler(data, {number}, {rank}, shuffle=False)"
                self.comments.append(
                    f"# One rank's share; {same} repeats some, so that all have as many."
                )
            get, result = "__getitem__(self, index)", "self.values[index]"
            if one_call(node):
                get, result = (
                    "__getitems__(self, indices)",
                    f"[{result} for index in indices]",
                )
            methods, self.getitems = KEPT.format(kept=kept, get=get), one_call(node)
            maps = walk(source, {*walk(base)})
            for function in filter(None, map(self.map_function, maps)):
                result = f"{called(function)}({result})"
            self.getitems = False
        body = "\n".join([*dict.fromkeys(self.comments), f"return {result}"])
        text = indent(f"{methods}\n{indent(body, MARGIN)}", MARGIN)
        kind = "IterableDataset" if base is None else "Dataset"
        samples = self.functions.define("Samples", f"class NAME({kind}):\n{text}")
        self.comments = []
        given = ", ".join([f"{samples}()", *self.arguments(node.arguments)])
        text = "\n".join([*self.comments, f"NAME = DataLoader({given})"])
        # PyTorch's has one loop at a time
        name = self.functions.define("loader", text, key=object())
        self.comments = outside
        self.loaders.append(f"{name} = DataLoader({given})")
        return name

    def arguments(self, given: dict[str, Any]) -> list[str]:
        """Write the arguments of a loader; define what PyTorch has to be told in another way."""
        others = {name: value for name, value in given.items() if name not in OTHERWISE}
        texts, functions = self.parameters(Node("DataLoader", (), others)), self.functions
        if given["generator"] is not None:
            self.comments.append("# The same seed gives another order in PyTorch.")
            functions.imports.add("import torch")
            texts.append(f"generator=torch.Generator().manual_seed({given['generator']})")
        collate, spent = given["collate_fn"], given["collate"]
        sleep = f"    time.sleep({spent})\n" if spent and not callable(spent) else ""
        if collate or sleep:
            usual = "default_convert" if given["batch_size"] is None else "default_collate"
            call = called(functions.text(collate)) if collate else usual
            name = functions.define(
                "collate", f"def NAME(samples):\n{sleep}    return {call}(samples)"
            )
            texts.append(f"collate_fn={name}")
        times = ("start", "transfer", "pin", *["collate"] * callable(spent))
        taken = [name for name in times if given[name] not in (0, (0, 0))]
        self.comments += [
            f"# {name}= is what this takes in the model; {IN_PYTORCH}" for name in taken
        ]
        return texts
