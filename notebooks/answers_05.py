"""The answers to the questions of lesson 05. If you look here first, you learn less."""

from collections.abc import Sequence
from math import inf
from typing import Any

from lessonkit.widgets.goals import Attempt, Goal, milliseconds


def sizes(call: float, item: float, train: float, batches: Sequence[int]) -> dict[str, Any]:
    """Explain how long an item takes in batches of each of these sizes."""
    wrong = [
        (
            [call / size + item + train for size in batches],
            "You let the map and training take turns. The prefetch has the next batch mapped while the "
            "model trains on this one.",
        ),
        (
            [call / size + item for size in batches],
            "You let larger batches help for ever. From 3 items on the map keeps up with training, and "
            "training takes 1 ms an item whatever the map does.",
        ),
        (
            [call + item for _ in batches],
            "You gave every item a call of its own. Two items in a batch share one call, 1 ms each.",
        ),
        (
            [max(call / size + item, train) + (size - 1) * train / 60 for size in batches],
            "You made large batches expensive. They only delay the first item, by a few ms in all.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "Items share the call, until the map is faster than training.",
    }


def parallel(apart: float) -> dict[str, Any]:
    """Explain how long parallel calls take on batches; without batches it was *apart*."""
    wrong = [
        (
            apart,
            "You let three calls share a batch. A batch is one call, which works on its items in turn.",
        ),
        (
            2 * (0.030 + 3 * 0.015 + 0.030 + 3 * 0.010),
            "You let a batch cost as much as one item. Only calls are saved, and here they cost nothing.",
        ),
        (
            2 * (0.030 + 3 * (0.015 + 0.030 + 0.010)) / 3,
            "You divided everything by three calls. An epoch is one batch, so two calls have nothing to do.",
        ),
    ]
    why = (
        "One call does the whole batch, as long as a map without parallel calls would take."
    )
    return {"wrong": wrong, "why": why}


def at_work(
    items: int, size: int, call: float, item: float, train: float
) -> dict[str, Any]:
    """Explain how long the map works in all, in batches of this size."""
    wrong = [
        (
            items * (call + item) / size,
            f"You divided everything by {size}. There are fewer calls, but not fewer items to work on.",
        ),
        (
            items * item,
            "You counted only the items, or only the calls; each comes to that. The map needs time for both.",
        ),
        (
            items * (call + item),
            f"You paid for a call with every item. Now {size} items share one call.",
        ),
        (
            items / size * call + items * item + items * train,
            "You added the training. The question is about the map alone.",
        ),
    ]
    why = f"{items // size} calls of {call * 1e3:g} ms, and {items} items of {item * 1e3:g} ms."
    return {"wrong": wrong, "why": why}


def late_prefetch(early: float, none: float) -> dict[str, Any]:
    """Explain a prefetch after unbatch; before it takes *early*, without any *none*."""
    wrong = [
        (
            early,
            "You let one place hold a batch. After unbatch it holds one item of five, and while it is full "
            "nobody begins a new batch.",
        ),
        (none, "You let the prefetch do nothing. It still hides one item of each burst."),
    ]
    why = (
        "A place before unbatch holds a whole batch, a place after it a single item. So put a prefetch "
        "where the waiting is: before the burst, or give it as many places as a burst has items."
    )
    return {"wrong": wrong, "why": why}


def first_element(*, at_most: float) -> Goal:
    """Ask for *at_most* this number of seconds until the first element of all epochs arrives."""

    def first(tried: Attempt) -> float:
        epochs = (epoch for epoch in tried.trace.epochs if epoch.arrivals)
        return next((epoch.start + epoch.arrivals[0] for epoch in epochs), inf)

    return Goal("first element after", first, milliseconds, at_most)
