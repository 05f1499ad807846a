"""Measures the costs of real functions, so that the virtual clock can predict other settings."""

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, update_wrapper, wraps
from itertools import islice
from statistics import fmean, median
from time import perf_counter, sleep
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset, Result
from lessonkit.engine import check
from lessonkit.engine.element import END
from lessonkit.engine.machine import Function, WorkLog, current, number_in_hand
from lessonkit.engine.node import Node, rebuilt, walk
from lessonkit.words import milliseconds

from .calls import TICK, Call, is_worth, kind, mean_seconds, thread_time, without_core
from .fitted import DIGITS, costing, fit
from .remembered import Remembered, pickled

# With these arguments no two calls overlap, and no time is spent that is known already.
NOTHING_AT_ONCE: dict[str, dict[str, Any]] = {
    "ArtificialDataset": {"open": 0, "read": 0},
    "map": {"num_parallel_calls": None, "cost": 0},
    "map_and_batch": {"num_parallel_calls": None, "cost": 0},
    "map_and_filter": {"cost": 0},
    "interleave": {"num_parallel_calls": None},
    "prefetch": {"buffer_size": 0},
    "shuffle": {"buffer_size": 1},
    "shuffle_and_repeat": {"buffer_size": 1},
    "DataLoader": {
        "num_workers": 0,
        "prefetch_factor": None,
        "persistent_workers": False,
    },
}
# The argument that has the cost of a function, by that of the function: any other says it itself
COST_OF = {"map_func": "cost", "collate_fn": "collate"}

Route = tuple[Any, ...]  # to a step of a description
Changes = Callable[[Node, Route], dict[str, Any]]


class MeasuredFunction(NamedTuple):
    """A function that takes time: the *step* whose it is, and how long a call takes on average.

    So many *calls* were timed. *kind* is what the work occupies, as in `work`.
    """

    step: str
    seconds: float
    calls: int
    kind: str

    def __str__(self) -> str:
        each = milliseconds(self.seconds)
        return f"{self.step}: {each} per call ({self.calls} timed), {self.kind}"


def measure(dataset: Dataset, elements: int = 32) -> Result[MeasuredFunction]:
    """Find the costs of the real functions of *dataset*, and give the same pipeline with them.

    They are called on threads, one at a time, with nothing else running, until each was
    called *elements* times or so many elements have come out. What has a cost already
    keeps it, and so does what says it by `work`. On the virtual clock none that takes time is
    called again: what was measured stays what it is, up to 1 GiB in all, and stands in for
    what was not. Only a generator that had not ended is asked again, because its length is
    not known. On the real clock the result would take what it costs and its own time:
    run what it was made of there.

    Of a `DataLoader` the functions under it are measured without its workers, and its
    *collate_fn* gets a mean cost, *collate*; in what is returned it has its workers again.

    A training step that computes on this computer holds a core as well. Say so:
    `step=lambda batch: work(0.010, kind="native")`; with plain seconds it is an accelerator.

    Raises TypeError if *dataset* is no `Dataset`, and ValueError if it gives nothing.

    >>> import time
    >>> from lessonkit import Dataset, benchmark
    >>> naps = Dataset.range(9).map(lambda number: time.sleep(0.010))
    >>> found = measure(naps)
    >>> benchmark(found.dataset, 1, train=0).duration > 0.045  # without costs it would be 0
    True
    >>> print(found)  # doctest: +ELLIPSIS
    map: ... ms per call (9 timed), wait
    """
    check.instance("dataset", dataset, Dataset)
    check.integer("elements", elements, least=1)
    notes = Notes()
    given = 0
    watched = changed_everywhere(dataset.node, notes.watched)
    with notes.ticking(), iter(Dataset(watched)) as run:
        for _ in islice(run, elements):
            given += 1
            if all(len(calls) >= elements for calls in notes.calls.values()):
                break
    if not given:
        raise ValueError(f"{dataset!r} gave no element: there is nothing to measure")
    priced = Dataset(changed_everywhere(dataset.node, notes.priced))
    none = "no function takes enough time to be given a cost"
    return Result(priced, notes.measured_functions(), none)


def changed_everywhere(root: Node, change: Changes, outer: Route = ()) -> Node:
    """Return *root* with arguments by *change*, also in datasets that functions make."""
    routes = {node: (*outer, number, node.method) for number, node in enumerate(walk(root))}

    def changed(before: Node, node: Node) -> Node:
        route = routes[before]
        changes = change(before, route)
        if node.method in ("flat_map", "interleave"):
            map_func = changes.get("map_func", node.arguments["map_func"])

            @wraps(map_func)
            def inner(*value: Any) -> Any:
                made = map_func(*value)
                if not isinstance(made, Dataset):  # the operator says so
                    return made
                return Dataset(changed_everywhere(made.node, change, route))

            changes = changes | {"map_func": inner}
        return node.replace(**changes) if changes else node

    return rebuilt(root, {}, changed)


def functions_in(node: Node, route: Route) -> dict[str, Route]:
    """Return the names of the arguments of *node* that are a learner's functions.

    Each has a route of its own: that of the node, or if it has two, with the name of the second.
    """
    names = ["map_func", "generator", "predicate"]
    if node.method == "DataLoader":  # whose generator is a seed
        names = ["collate_fn"]
    there = [name for name in names if node.arguments.get(name) is not None]
    return {name: (*route, name) if number else route for number, name in enumerate(there)}


class Notes:
    """Notes of a run: the calls of each step, their results, and when a thread got the lock."""

    def __init__(self) -> None:
        self.calls: dict[Route, list[Call]] = {}
        self.memory = Remembered()
        self.ticks: list[float] = []

    @contextmanager
    def ticking(self) -> Iterator[None]:
        """Have a thread ask for the interpreter lock again and again, and note when it got it."""
        stop = threading.Event()

        def tick() -> None:
            while not stop.is_set():
                sleep(TICK)
                self.ticks.append(perf_counter())

        # Without threads: a function that computes holds all there is
        with suppress(RuntimeError):
            threading.Thread(target=tick, daemon=True).start()
        try:
            yield
        finally:
            stop.set()

    def watched(self, node: Node, route: Route) -> dict[str, Any]:
        """Return arguments of *node* with which it does one thing at a time and notes its calls."""
        changes = dict(NOTHING_AT_ONCE.get(node.method, {}))
        for name, own in functions_in(node, route).items():
            if node.arguments.get(COST_OF.get(name, "")):
                continue
            self.calls.setdefault(own, [])
            watch = self.read if name == "generator" else self.call
            changes[name] = partial(watch, own, node.arguments[name])
        return changes

    def call(self, route: Route, function: Function, *args: Any) -> Any:
        """Call a *function*, and note it."""
        number = number_in_hand()
        value, call = self.timed(route, function, *args)
        self.memory.keep(route, number, value)
        self.calls[route].append(call._replace(number=number))
        return value

    def read(self, route: Route, function: Function, *args: Any) -> Iterator[Any]:
        """Yield the values of a generator *function*, and note each."""
        read: list[bytes] = []
        first = number_in_hand()

        def begun() -> Iterator[Any]:
            # A function that returns a list works before its first element
            yield from function(*args)

        elements = begun()
        while True:
            value, call = self.timed(route, next, elements, END)
            if value is END:
                break
            self.calls[route].append(call._replace(number=number_in_hand(), opens=not read))
            read.append(pickled(value))
            yield value
        if all(read):
            self.memory.keep(route, first, [*map(pickle.loads, read)])

    def timed(self, route: Route, function: Function, *args: Any) -> tuple[Any, Call]:
        """Call a *function*; return its value and its times. What it says by `work` takes none."""
        outside = current.caller
        current.caller = WorkLog()
        try:
            before = perf_counter()
            wanted = without_core()
            began = perf_counter()
            on_core = thread_time()
            value = function(*args)
            ended = perf_counter()
            on_core = thread_time() - on_core
            delayed = without_core() - wanted
            # In this time the thread may have waited too, before the call and after it
            around = began - before + perf_counter() - ended
            return value, Call(began, ended, on_core, max(0.0, delayed - around))
        finally:
            if current.caller:
                self.memory.saying.add(route)
            current.caller = outside

    def measured_functions(self) -> list[MeasuredFunction]:
        """Return the functions that take time, and what they take."""
        return [
            MeasuredFunction(
                step=route[-1],
                seconds=mean_seconds(calls),
                calls=len(calls),
                kind=kind(calls, self.ticks),
            )
            for route, calls in self.calls.items()
            if is_worth(calls)
        ]

    def priced(self, node: Node, route: Route) -> dict[str, Any]:
        """Return arguments of *node* with which its functions say their measured costs."""
        changes: dict[str, Any] = {}
        for name, own in functions_in(node, route).items():
            took = self.calls.get(own, [])
            if is_worth(took):
                changes |= self.priced_function(node, name, own, took)
        return changes

    def priced_function(
        self, node: Node, name: str, route: Route, took: list[Call]
    ) -> dict[str, Any]:
        """Return arguments of *node* with which its function *name* costs what its calls *took*."""
        arguments = node.arguments
        own = arguments[name]
        random = bool(arguments.get("random"))
        function = update_wrapper(partial(self.memory.call, route, random, own), own)
        if name == "collate_fn":
            return {"collate": round(mean_seconds(took), DIGITS), name: function}
        later = [(call.number, call.seconds) for call in took if not call.opens]
        opened = [call.seconds for call in took if call.opens]
        cost = fit(later or [(0, 0.0)])
        held = kind(took, self.ticks)
        if COST_OF.get(name) in arguments:
            return {name: function, "cost": cost, "kind": held}
        usual = median([seconds for _, seconds in later] or [0.0])
        opening = None
        if opened:
            opening = round(max(0.0, fmean(opened) - usual), DIGITS)
        return {name: costing(function, cost, held, opening)}
