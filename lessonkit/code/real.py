"""What programs for tf.data and for PyTorch share: costs are sleeps, and a loop trains."""

import time
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from lessonkit.code.examples import example, made
from lessonkit.code.functions import Functions, called, identifier
from lessonkit.code.helpers import HELPERS, ITERTOOLS
from lessonkit.engine.costs import charge, per_sample, price, straggler
from lessonkit.engine.element import Element, names
from lessonkit.engine.node import Node, name_of_function, rebuilt, walk

ENOUGH = 100  # elements that an average is taken of, or that a function is tried with


class RealProgram:
    """Writes what takes time as a sleep, and the training loop; collects what these need."""

    # Whether a function that is written gets the parts of a tuple one by one
    takes_parts = False
    ahead = "a copy takes its turn with training"  # where it has no counterpart

    def __init__(self, ours: set[str], taken: Iterable[str]) -> None:
        reserved = dict.fromkeys(
            [*HELPERS, *taken, *ITERTOOLS, "start", "epoch", "elements"]
        )
        self.functions = Functions(ours, reserved | {"time": time})
        self.comments: list[str] = []

    def star(self, before: Node) -> str:
        """Return a star if a function is called with the parts of an element of *before*: of a tuple."""
        return "*" if type(example(before)) is tuple else ""

    def sleep(self, seconds: str, x: str) -> str:
        """Write a sleep of *seconds*, an expression that may have the element *x* in it."""
        return f"time.sleep({seconds})"

    def call(self, node: Node, name: str) -> str:
        """Write the function of *node*; a lambda is defined under *name*."""
        return self.functions.text(function_of(node), name)

    def generator(self, node: Node) -> str:
        """Write a call of the generator of *node*."""
        given = ", ".join(map(self.functions.text, node.arguments["args"] or ()))
        return f"{self.functions.text(function_of(node), 'generator')}({given})"

    def map_function(self, node: Node) -> str:
        """Write what a map calls; with a cost, a function that sleeps before; nothing if it does neither."""
        given, before = node.arguments, node.inputs[0]
        name = (
            "mapped"
            if given["stage"] == "Map"
            else identifier(given["stage"].lower(), "mapped")
        )
        call = self.call(node, name) if function_of(node) else ""
        if not given["cost"]:
            return call
        x = f"{self.star(before)}x" if self.takes_parts else "x"
        sleep = self.sleep(self.seconds(given["cost"], before, f"{name}_cost", "x"), x)
        sleep += (
            ""
            if given["kind"] == "wait"
            else f"  # only waits; {given['kind']} code would hold a core"
        )
        result = f"{called(call)}({x})" if call else "x"
        return self.functions.define(
            name, f"def NAME({x}):\n    {sleep}\n    return {result}"
        )

    def seconds(self, cost: Any, before: Node, name: str, x: str) -> str:
        """Write the seconds that *x* costs, an element of *before*."""
        value, samples = self.first(before)
        match cost:
            case per_sample() if samples <= 1:
                return f"{cost.per_call + cost.seconds}"
            case per_sample():
                once = f"{cost.per_call} + " if cost.per_call else ""
                body = f"{once}{cost.seconds} * len({leaf(value)})"
            case straggler() if type(value) is int:
                body = f"{cost.slow} if value % {cost.every} == {cost.every - 1} else {cost.usual}"
            case _ if type(cost).__module__.startswith("lessonkit."):
                body = f"{fmean(map(cost, made(before, ENOUGH)[0] or [value])):.6g}  # on average"
            case _ if callable(cost):
                return f"{called(self.functions.text(cost, name))}({x})"
            case _:
                return repr(cost)
        function = self.functions.define(name, f"def NAME(value):\n    return {body}")
        return f"{function}({x})"

    def first(self, before: Node) -> tuple[Any, int]:
        """Return the first element of *before*, and how many samples it has."""
        return example(before), made(before, 1)[1]

    def loop(
        self, node: Node, options: dict[str, Any], elements: str, element: str, value: str
    ) -> str:
        """Write the training loop of `benchmark` with *options*, over *elements*, which *node* gives.

        One of them is called *element*; *value* is what a step gets of it.
        """
        steps, epochs = [], f"for epoch in range({options['num_epochs']})"
        if "load" in options:
            copy = self.seconds(options["load"], node, "load", value)
            steps.append(f"time.sleep({copy})  # the copy to the accelerator")
        if "step" in options:
            step = f"{called(self.functions.text(options['step'], 'step'))}({value})"
            steps.append(f"{step}  # {'launches ' * ('train' in options)}the training step")
        if "train" in options:
            step = f"time.sleep({self.seconds(options['train'], node, 'train', value)})"
            steps.append(f"{step}  # the training step")
        if (most := options.get("max_elements")) is None:
            heads, margin = [f"{epochs}:", f"    for {element} in {elements}:"], 8
        else:
            heads, margin = (
                [f"elements = ({element} {epochs} for {element} in {elements})"],
                4,
            )
            heads.append(f"for {element} in islice(elements, {most}):")
        why = {"machine": "the program has the cores of its computer", "ahead": self.ahead}
        why["queue"] = "the program waits for each step"
        left = [f"# {name}= is left out: {why[name]}." for name in why if name in options]
        body = [margin * " " + line for line in steps]
        first, last = (
            "start = time.perf_counter()",
            'print(f"{time.perf_counter() - start:.3f} s")',
        )
        return "\n".join([*self.comments, *left, first, *heads, *body, last])


def has_loader(node: Node) -> bool:
    """Whether *node* is a `DataLoader`, or reads one."""
    return any(part.method == "DataLoader" for part in walk(node))


def taken_apart(root: Node, file: Any = 0) -> Node:
    """Return a description with two steps where one is a map and a batch, or a shuffle and a repeat.

    An `ArtificialDataset` gets the number that opening *file* costs. If a function says
    what reading costs, a map after it takes that time.
    """

    def change(_: Node, node: Node) -> Node:
        given = node.arguments
        if node.method == "ArtificialDataset":
            opening = charge(price(given["open"], "open"), Element(file)) / 1e9
            if not callable(given["read"]):
                return node.replace(open=opening)
            return node.replace(open=opening, read=0).then(
                "map", cost=given["read"], stage="Read"
            )
        method, _between, then = node.method.partition("_and_")
        rest = given | {"num_parallel_calls": None}
        return Node(then, (Node(method, node.inputs, given),), rest) if then else node

    return rebuilt(root, change, {})


def function_of(node: Node) -> Any:
    """Return the function of *node*, without what it was measured to cost: it takes its own time."""
    function = node.arguments[name_of_function(node)]
    return function.fn if type(function).__name__ == "costing" else function


def leaf(value: Any, text: str = "value") -> str:
    """Write how the first number or array in an element like *value* is reached."""
    while isinstance(value, (tuple, dict)) and value:
        name = next(iter(names(value)))
        value, text = value[name], f"{text}[{name!r}]"
    return text
