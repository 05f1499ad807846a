"""Measures the costs of real functions, so that the virtual clock can predict other settings.

It also keeps their results, so that a model calls none of them again.
"""

import os
import pickle
import threading
import time
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial, update_wrapper, wraps
from itertools import islice
from random import Random
from statistics import fmean, median, pstdev
from time import perf_counter, sleep
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset, Result
from lessonkit.engine import check
from lessonkit.engine.element import END, Element, as_int
from lessonkit.engine.machine import Cost, Function, WorkLog, current, number_in_hand, work
from lessonkit.engine.node import Node, rebuilt, walk
from lessonkit.words import milliseconds

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
# S; calls that take less are not worth a cost, as they are not worth a bar in a trace
SLIGHT = 20e-6
# The open file of the last thread that asked; it has nanoseconds, on a core and waiting for one.
# To open it for each batch would take longer than to make a small batch
SCHEDULES: dict[int, int] = {}
# With one thread, in a browser, there is none
thread_time = getattr(time, "thread_time", perf_counter)

Route = tuple[Any, ...]  # to a step of a description
Changes = Callable[[Node, Route], dict[str, Any]]


class Call(NamedTuple):
    """The times of one call of a real function, or of one element of a generator.

    For *delayed* seconds it wanted a core that something else had: these are not its own.
    """

    began: float
    ended: float
    on_core: float
    delayed: float = 0
    number: Any = 0  # of its element
    opens: bool = False

    @property
    def seconds(self) -> float:
        return self.ended - self.began - self.delayed


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
    notes, given = Notes(), 0
    watched = _changed(dataset.node, notes.watched)
    with notes.ticking(), iter(Dataset(watched)) as run:
        for _ in islice(run, elements):
            given += 1
            if all(len(calls) >= elements for calls in notes.calls.values()):
                break
    if not given:
        raise ValueError(f"{dataset!r} gave no element: there is nothing to measure")
    steps = []
    for route, calls in notes.calls.items():
        if is_worth(calls):
            seconds = fmean(call.seconds for call in calls)
            held = kind(calls, notes.ticks)
            steps.append(MeasuredFunction(route[-1], seconds, len(calls), held))
    priced = Dataset(_changed(dataset.node, notes.priced))
    return Result(priced, steps, "no function takes enough time to be given a cost")


def _changed(root: Node, change: Changes, outer: Route = ()) -> Node:
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
                return Dataset(_changed(made.node, change, route))

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


class Remembered:
    """Results of functions, by *route* and the number of the element: at most *room* bytes.

    It gives copies, so that what is kept cannot be changed. It keeps nothing that cannot be
    pickled, and nothing of a function that says its cost by `work`, for that has to be said again.
    """

    def __init__(self, room: int = 2**30) -> None:
        self.room = room  # that is left
        # What makes a copy of a result
        self.kept: dict[Any, dict[Any, Callable[[], Any]]] = defaultdict(dict)
        self.saying: set[Any] = set()  # routes of functions that say their cost
        self.random = Random(0)

    def keep(self, route: Any, number: Any, value: Any) -> None:
        """Keep the *value* that the function at *route* returned for the element with *number*."""
        kept = pickled(value)
        size = len(kept)
        copy: Callable[[], Any] = partial(pickle.loads, kept)
        # A list of tokens may be long, and to copy it takes a tenth of the time of loading it. A
        # number takes at most 40 bytes with its reference.
        if type(value) is list and {bool, float, int}.issuperset(map(type, value)):
            size = 40 * len(value)
            copy = value.copy().copy
        if kept and size <= self.room and number not in self.kept[route]:
            self.room -= size
            self.kept[route][number] = copy

    def call(self, route: Any, random: bool, fn: Function, *args: Any) -> Any:
        """Stand in for *fn* on the virtual clock: return its result for this element.

        For an element that was not measured, and for every one if *fn* is *random*, it returns the
        result of another one.
        """
        kept = self.kept.get(route)
        if not kept or route in self.saying or not isinstance(current.caller, WorkLog):
            return fn(*args)
        number = self.random.getrandbits(32) if random else number_in_hand()
        other = as_int(number) % len(kept)
        copy = kept.get(number) or [*kept.values()][other]
        return copy()


def pickled(value: Any) -> bytes:
    """Return *value* as bytes; no bytes if it cannot be pickled."""
    with suppress(Exception):
        return pickle.dumps(value)
    return b""


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
                sleep(0.0002)
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

    def call(self, route: Route, fn: Function, *args: Any) -> Any:
        """Call a function, and note it."""
        number = number_in_hand()
        value, call = self.timed(route, fn, *args)
        self.memory.keep(route, number, value)
        self.calls[route].append(call._replace(number=number))
        return value

    def read(self, route: Route, fn: Function, *args: Any) -> Iterator[Any]:
        """Yield the values of a generator, and note each."""
        read, first = list[bytes](), number_in_hand()

        def begun() -> Iterator[Any]:
            # A function that returns a list works before its first element.
            yield from fn(*args)

        elements = begun()
        while (timed := self.timed(route, next, elements, END))[0] is not END:
            value, call = timed
            self.calls[route].append(call._replace(number=number_in_hand(), opens=not read))
            read.append(pickled(value))
            yield value
        if all(read):
            self.memory.keep(route, first, [*map(pickle.loads, read)])

    def timed(self, route: Route, fn: Function, *args: Any) -> tuple[Any, Call]:
        """Call *fn*, and return its value and its times; what it says by `work` takes none."""
        outside = current.caller
        current.caller = WorkLog()
        try:
            before = perf_counter()
            wanted = without_core()
            began = perf_counter()
            on_core = thread_time()
            value = fn(*args)
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
        fn = arguments[name]
        random = bool(arguments.get("random"))
        function = update_wrapper(partial(self.memory.call, route, random, fn), fn)
        if name == "collate_fn":
            mean = fmean(call.seconds for call in took)
            return {"collate": round(mean, 6), name: function}
        later = [(call.number, call.seconds) for call in took if not call.opens]
        opened = [call.seconds for call in took if call.opens]
        cost = fit(later or [(0, 0.0)])
        held = kind(took, self.ticks)
        if COST_OF.get(name) in arguments:
            return {name: function, "cost": cost, "kind": held}
        usual = median([seconds for _, seconds in later] or [0.0])
        opening = round(max(0.0, fmean(opened) - usual), 6) if opened else None
        return {name: costing(function, cost, held, opening)}


def without_core() -> float:
    """Return for how many seconds this thread has wanted a core that something else had.

    Only Linux tells that; elsewhere it is 0.
    """
    thread = threading.get_native_id()
    with suppress(OSError):
        if thread not in SCHEDULES:  # a process that was forked has the file of its parent
            while SCHEDULES:
                os.close(SCHEDULES.popitem()[1])
            SCHEDULES[thread] = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        return int(os.pread(SCHEDULES[thread], 64, 0).split()[1]) / 1e9
    return 0.0


# ---- what it comes to ----


def is_worth(calls: list[Call]) -> bool:
    """Whether *calls* take long enough to have a cost."""
    return bool(calls) and fmean(call.seconds for call in calls) >= SLIGHT


def kind(calls: list[Call], ticks: list[float]) -> str:
    """Tell what *calls* hold: nothing, a core, or the interpreter lock as well.

    *ticks* are the times at which another thread got the lock.
    """
    spent = sum(call.seconds for call in calls)
    if sum(call.on_core for call in calls) < spent / 2:
        return "wait"
    free = sum(bisect(ticks, call.ended) - bisect(ticks, call.began) for call in calls)
    # In a second of calls a thread gets the lock more often than this, unless they hold it.
    return "native" if free > 1000 * spent else "python"


# ---- costs as they were measured, and functions that say them ----


@dataclass(frozen=True)
class fitted:  # noqa: N801 - used like a function, and its repr is the call
    """A measured cost: the time of an element that was *seen*, one of *times* for any other.

    Elements go by their numbers, so every run chooses the same one.

    >>> costs = [fitted((0.010, 0.010, 0.010, 0.040))(element) for element in range(100)]
    >>> costs.count(0.010), costs.count(0.040)
    (76, 24)
    """

    times: tuple[float, ...]
    seen: dict[Any, float] = field(
        default_factory=dict, kw_only=True, repr=False, compare=False
    )

    def __call__(self, number: Any) -> float:
        """Return the seconds of the element with this *number*."""
        # Multiples of the golden ratio, without their whole part, lie evenly between 0 and 1.
        usual = self.times[int(as_int(number) * 0.618033988749895 % 1 * len(self.times))]
        return self.seen.get(number, usual)

    def price_of(self, element: Element) -> int:
        return round(self(element.number) * 1e9)


def costing(fn: Function, cost: Cost, kind: str, opening: float | None = None) -> Function:
    """Return *fn* as one that says its measured *cost*; a generator also says its *opening*."""

    def say(more: float = 0) -> None:
        seconds = cost(number_in_hand()) if callable(cost) else cost
        work(seconds + more, kind=kind)

    @wraps(fn)
    def call(*args: Any) -> Any:
        say()
        return fn(*args)

    @wraps(fn)
    def read(*args: Any) -> Iterator[Any]:
        more = opening or 0
        for value in fn(*args):
            say(more)
            yield value
            more = 0

    return call if opening is None else read


def fit(calls: list[tuple[Any, float]]) -> Cost:
    """Fit a cost to *calls*: the number of the element of each, and the seconds that it took.

    >>> fit([(element, 0.010) for element in range(8)])
    0.01
    >>> fit([(element, 0.050 if element % 4 == 3 else 0.010) for element in range(8)])
    fitted(times=(0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.05, 0.05))
    """
    # One call that takes three medians, and none other, is a hiccup of the machine.
    most = 3 * median(seconds for _, seconds in calls)
    usual = [call for call in calls if call[1] <= most]
    if len(usual) + 1 == len(calls):
        calls = usual
    times = sorted(round(seconds, 6) for _, seconds in calls)
    mean = fmean(times)
    if pstdev(times) <= 0.06 * mean:  # as good as even
        return round(mean, 6)
    seen = defaultdict(list)
    for number, seconds in calls:
        seen[number].append(seconds)
    return fitted(tuple(times), seen={number: fmean(each) for number, each in seen.items()})
