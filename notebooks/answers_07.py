"""The answers to the questions of lesson 07. If you look here first, you learn less."""

from typing import Any


def first(open: float, read: float, work: float) -> dict[str, Any]:
    """Explain when two calls deliver the first sample."""
    wrong = [
        (
            (open + read + work) / 2,
            "You halved everything. But two calls never share a sample: each works on one of its own.",
        ),
        (
            open + read + work / 2,
            "You halved the map. But the second call works on the second sample, not on the first.",
        ),
        (
            open + read,
            "You left out the map. Somebody opens the file, then reads and maps the first sample, one after "
            "the other.",
        ),
        (
            open + read + work + read,
            "You let the first sample wait for the second. It is handed on when its own call is done.",
        ),
    ]
    why = "The first sample goes the whole way: open, read, map. More calls do not shorten it."
    return {"wrong": wrong, "why": why}


def plateau(one: float, two: float, work: float) -> dict[str, Any]:
    """Explain a second call for one of two maps; *one* is with a call each, *two* with two each."""
    wrong = [
        (
            one / 2,
            "You halved everything. But Augment still has one call, and hands on one sample every 30 ms.",
        ),
        (
            two,
            "You gave both maps a second call. Augment has one, and hands on one sample every 30 ms.",
        ),
        (
            one - work / 2,
            "You took half a map off a sum. But the two maps work side by side, and the slower one decides.",
        ),
    ]
    why = "Augment still needs 30 ms a sample. Of two equal maps each holds the other back."
    return {"wrong": wrong, "why": why}


def fused(apart: float, two: float) -> dict[str, Any]:
    """Explain one map in place of two; *two* is with two calls in it."""
    wrong = [
        (
            apart,
            "You counted the work, which is the same. But two maps with one call each work on two samples "
            "at once.",
        ),
        (
            apart - 40 * 0.020,
            "You let fusing take work away. 20 and 20 are still 40, and now one call does them all.",
        ),
        (two, "You gave the fused map two calls. The rule keeps the number, one."),
    ]
    why = "The fused call reads and maps for 15 + 40 ms. Before, the two maps worked side by side."
    return {"wrong": wrong, "why": why}
