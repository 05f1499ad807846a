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
            "That is the first epoch alone. Training comes after the cache, so every later epoch "
            "takes time too.",
        ),
        (
            epochs * every,
            "That is the training alone. In the first epoch the cache is empty, so the pipeline does all its "
            "work once.",
        ),
        (
            once + epochs * every + (epochs - 1) * open,
            "That would be right if every epoch opened the file. Nothing before the cache runs "
            "again, not even the opening.",
        ),
        (
            open + 3 * read + epochs * 3 * (map + train),
            "That would be right for a cache before the map. This one comes after the map and "
            "keeps its results.",
        ),
        (
            epochs * (once + every),
            "That is the time without the cache. From the second epoch on the samples come from memory.",
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
            "That would be right for a cache after the map. This one keeps what was read, and the "
            "map works on it again.",
        ),
        (
            epochs * (once + every),
            "That is the time without the cache. The cache saves the opening and the reads in every epoch "
            "but the first.",
        ),
        (
            right + (epochs - 1) * open,
            "That would be right if every epoch opened the file. The opening comes before the cache, "
            "so it is saved too.",
        ),
        (
            once + epochs * every + 3 * map,
            "That would be right if the map worked in two epochs. It comes after the cache, so it "
            "works in all of them.",
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
            "That would be right if the prefetch saved time in every epoch. From the second epoch on all "
            "samples come from the cache, so there is nothing left to hide.",
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


def vote() -> dict[str, Any]:
    """Explain where the cache goes."""
    question = (
        "A pipeline decodes images, which is slow, flips half of them at random, and makes "
        "batches. Where does the cache go?"
    )
    right = "B: after the decoding"
    wrong = [
        (
            "A: at the end",
            "That is the fastest order, and it is wrong, because the flips of the first epoch "
            "are repeated in every epoch. The times do not show the mistake.",
        ),
        (
            "C: before the decoding",
            "That would be right if decoded images did not fit in memory. You pay for the "
            "decoding in every epoch, and the cache saves only the cheap part.",
        ),
        (
            "D: nowhere",
            "That would be right if a cache always froze the flips. It does not if they come "
            "after it.",
        ),
    ]
    why = "You pay for the slow work once, and the flips are new in every epoch."
    choices = sorted([right, *dict(wrong)])
    return {
        "question": question,
        "choices": choices,
        "answer": lambda: right,
        "wrong": wrong,
        "why": why,
    }
