"""The answers to the questions of lesson 04. If you look here first, you learn less."""

from typing import Any

from lessonkit import Dataset


def after_the_map(
    open: float, read: float, map: float, train: float, epochs: int
) -> dict[str, Any]:
    """Explain how long epochs of 3 samples take with a cache after the map."""
    once, every = open + 3 * (read + map), 3 * train
    wrong = [
        (
            once + every,
            "You counted the first epoch alone. The model trains after the cache, in every epoch.",
        ),
        (
            epochs * every,
            "You counted the training alone. In the first epoch the cache is empty, so everything is done "
            "once.",
        ),
        (
            once + epochs * every + (epochs - 1) * open,
            "You opened the file in every epoch. Nothing before the cache runs again, the open included.",
        ),
        (
            open + 3 * read + epochs * 3 * (map + train),
            "You mapped in every epoch. The cache comes after the map, so it keeps the map's results.",
        ),
        (
            epochs * (once + every),
            "You left the cache out. From the second epoch on the samples come out of memory.",
        ),
    ]
    why = f"Once {once * 1e3:g} ms for everything before the cache, and {epochs} times {every * 1e3:g} ms of "
    return {"wrong": wrong, "why": f"{why}training."}


def before_the_map(
    open: float, read: float, map: float, train: float, epochs: int
) -> dict[str, Any]:
    """Explain how long epochs of 3 samples take with a cache before the map."""
    once, every = open + 3 * (read + map), 3 * train
    right = open + 3 * read + epochs * 3 * (map + train)
    wrong = [
        (
            once + epochs * every,
            "You kept the map's results. This cache keeps what was read, and the map works on it again.",
        ),
        (
            epochs * (once + every),
            "You left the cache out. It saves the open and the reads in all epochs but the first.",
        ),
        (
            right + (epochs - 1) * open,
            "You opened the file in every epoch. The open comes before the cache, so it is saved too.",
        ),
        (
            once + epochs * every + 3 * map,
            "You mapped in two epochs. The map comes after the cache, so it works in all of them.",
        ),
    ]
    why = f"Once {(open + 3 * read) * 1e3:g} ms to open and read, and {epochs} times "
    return {"wrong": wrong, "why": f"{why}{3 * (map + train) * 1e3:g} ms to map and train."}


def prefetched(mapped: Dataset, two: dict[str, Any]) -> dict[str, Any]:
    """Explain where the bars of *two* epochs are with a cache and a prefetch after it."""
    wrong = [
        (
            (mapped.cache(), two),
            "You saved nothing. But the first epoch still reads and maps, and the model can train meanwhile.",
        ),
    ]
    why = (
        "In the first epoch the helper reads and maps while the model trains. From the second one on nobody "
        "prepares anything, so there is nothing to hide."
    )
    return {"wrong": wrong, "why": why}


def ahead(
    open: float, read: float, map: float, train: float, epochs: int
) -> dict[str, Any]:
    """Explain how long it takes with a cache and a prefetch after it."""
    without = open + 3 * (read + map) + epochs * 3 * train
    overlap = 2 * min(read + map, train)  # hidden in an epoch that reads and maps
    wrong = [
        (
            without - epochs * overlap,
            "You saved in every epoch. From the second one on nobody prepares anything, so there is nothing "
            "to hide.",
        ),
        (
            without,
            "You saved nothing. The first epoch still reads and maps, and the model could train meanwhile.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": f"Only the first epoch overlaps: {overlap * 1e3:g} ms less in all.",
    }
