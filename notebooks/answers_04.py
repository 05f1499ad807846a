"""The answers to the questions of lesson 04. If you look here first, you learn less."""

from typing import Any

from lessonkit import Dataset
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import size


def after_the_map(
    open: float, read: float, map: float, train: float, epochs: int
) -> dict[str, Any]:
    """Explain how long epochs of 3 samples take with a cache after the map."""
    once, every = open + 3 * (read + map), 3 * train
    wrong = [
        (
            once + every,
            "The first epoch takes that long. Training comes after the cache, so every later epoch takes "
            f"{every * 1e3:g} ms more.",
        ),
        (
            epochs * every,
            "Only training is left in your answer. In the first epoch the cache is empty, and the pipeline "
            f"does all its work once: {once * 1e3:g} ms.",
        ),
        (
            once + epochs * every + (epochs - 1) * open,
            "You counted an Open in epoch 2, and it has none. Nothing before the cache runs again, not "
            "even the opening.",
        ),
        (
            open + 3 * read + epochs * 3 * (map + train),
            "You counted Map bars in epoch 2, and it has none. This cache comes after the map and keeps its "
            "results.",
        ),
        (
            epochs * (once + every),
            "Without the cache it takes that long. From the second epoch on the samples come from memory, "
            f"and an epoch takes {every * 1e3:g} ms instead of {(once + every) * 1e3:g}.",
        ),
    ]
    why = f"The work before the cache takes {once * 1e3:g} ms once, and training takes {every * 1e3:g} ms in "
    return {"wrong": wrong, "why": f"{why}each of {epochs} epochs."}


def before_the_map(
    open: float, read: float, map: float, train: float, epochs: int
) -> dict[str, Any]:
    """Explain how long epochs of 3 samples take with a cache before the map."""
    once, every = open + 3 * (read + map), 3 * train
    right = open + 3 * read + epochs * 3 * (map + train)
    wrong = [
        (
            once + epochs * every,
            "In each epoch of this run Map has three bars, and you counted those of one. The cache keeps "
            "what was read, and the map works on it again.",
        ),
        (
            epochs * (once + every),
            "That is the time without the cache. The cache saves the opening and the reads in every epoch "
            "but the first.",
        ),
        (
            right + (epochs - 1) * open,
            "You opened the file in every epoch. The opening comes before the cache, so it is saved too.",
        ),
        (
            once + epochs * every + 3 * map,
            "You let the map work in two epochs. It comes after the cache, so it works in all of them.",
        ),
    ]
    why = f"Opening and reading take {(open + 3 * read) * 1e3:g} ms once; map and training take "
    return {
        "wrong": wrong,
        "why": f"{why}{3 * (map + train) * 1e3:g} ms in each of {epochs} epochs.",
    }


def prefetched(mapped: Dataset, two: dict[str, Any]) -> dict[str, Any]:
    """Explain where the bars of *two* epochs are with a cache and a prefetch after it."""
    wrong = [
        (
            (mapped.cache(), two),
            "Those are the times without the prefetch. With it, the first epoch reads and maps "
            "while the model trains.",
        ),
    ]
    why = (
        "In the first epoch the background reader reads and maps while the model trains. From the second "
        "epoch on all samples come from the cache, so there is nothing left to hide."
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
            "You let the prefetch save time in every epoch. From the second epoch on all samples come from "
            "the cache, so there is nothing left to hide.",
        ),
        (
            without,
            "That is the time without the prefetch. With it, the first epoch reads and maps while "
            "the model trains.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "Reading and mapping overlap with training only in the first epoch, which saves "
        f"{overlap * 1e3:g} ms.",
    }


def vote() -> Ballot:
    """Explain where a cache goes if not all positions fit in memory."""
    images, stored, decoded, cropped, free = 60_000, 100e3, 600e3, 150e3, 16e9
    question = (
        f"{images:,} images of {size(stored)} are read from a slow disk, decoded to {size(decoded)} each, "
        f"and cropped at random to {size(cropped)}; {size(free)} of memory are free. Where does a cache go?"
    )
    right = "D: after the read"
    wrong = [
        (
            "A: after the decoding",
            "The expensive work is done there, so it would be the best place, if images were smaller: "
            f"{images:,} × {size(decoded)} are {size(images * decoded)}, and {size(free)} are free. The "
            "machine would swap, or the job would end out of memory.",
        ),
        (
            "B: after the crop",
            f"{size(images * cropped)} fit, and the run would be the fastest of all. But every epoch would "
            "then see the crops of the first one.",
        ),
        (
            "C: nowhere",
            "No place is perfect, and the decoding stays in every epoch, true. The disk need not: "
            f"{size(images * stored)} fit, and the disk is slow.",
        ),
    ]
    why = (
        f"{images:,} × {size(stored)} are {size(images * stored)}, which fit, and nothing random comes "
        "before. The cache saves the reads and not the decoding; for that, shrink the images once before "
        "training."
    )
    return ballot(question, right, wrong, why)
