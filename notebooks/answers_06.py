"""The answers to the questions of lesson 06. If you look here first, you learn less."""

from typing import Any

from lessonkit.widgets.controls import Control
from lessonkit.widgets.questions.ballot import Ballot, ballot

EACH_ONCE, MIXED = "all 20, each once", "some twice, others not at all"
HALVES = "the first ten, each twice"
ORDERS = [EACH_ONCE, MIXED, HALVES]


def filter_first(
    open: float, read: float, work: float, train: float, images: int
) -> dict[str, Any]:
    """Explain a filter that drops half of the images before a map works on them."""
    kept = images // 2
    wrong = [
        (
            (open + images * (read + work) + kept * train) / kept,
            "Count the Map bars of the second run: six, and you counted twelve. The map no longer gets the "
            "images that the filter drops.",
        ),
        (
            (open + images * (read + work) + kept * train) / kept / 2,
            "You halved everything. Look at Read: both orders open the file and read all twelve images.",
        ),
        (
            (open + kept * (read + work + train)) / kept,
            "You left six Read bars out. An image has to be read before the filter can drop it.",
        ),
        (
            (open + images * read + kept * (work + train)) / images,
            "That is the time per image that is read. Only half of the images reach the model.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": f"The pipeline reads all {images} images, but it maps only {kept}, and the model "
        "trains on these.",
    }


def first_twenty() -> dict[str, Any]:
    """Explain which samples come first if a shuffle comes after a repeat."""
    wrong = [
        (
            EACH_ONCE,
            "The shuffle would have to stop at the end of the file, and it cannot see that end: repeat "
            "just goes on with the next pass.",
        ),
        (
            HALVES,
            "The buffer would have to keep its first ten samples. Each one that it hands out frees a slot "
            "for a new one, so the eleventh is already in it.",
        ),
    ]
    why = "Samples of the second pass enter the buffer while some of the first pass are still in it."
    return {"wrong": wrong, "why": why}


def repeat_first(hidden: float, stall: float) -> dict[str, Any]:
    """Explain a repeat before a shuffle; *hidden* is with a prefetch, *stall* the other order."""
    wrong = [
        (
            hidden,
            "That is the time with a prefetch. Without it nothing overlaps, and a stall is only work that is "
            "done earlier.",
        ),
        (
            stall - 2 * (0.030 + 10 * 0.005),
            "You let the buffer fill in no time. Both orders open and read the file three times.",
        ),
    ]
    why = (
        "Both orders do the same work, and nothing overlaps. A stall costs time only if a prefetch could "
        "hide the work."
    )
    return {"wrong": wrong, "why": why}


def distinct(mean: float) -> dict[str, Any]:
    """Explain how many of the first 20 samples are different ones, *mean* on average."""
    wrong = [
        (
            20,
            "Then the first 20 would be a whole epoch. When ten samples are out, the file has ended, and "
            "samples of the next pass enter the buffer beside those that still wait in it.",
        ),
        (
            10,
            "That is the number of slots. The buffer is refilled after each sample, so every sample of the "
            "file has its chance within the first 20; only the last ones often miss it.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "After ten samples the file ends, and those of the second pass take more and more of the ten "
        f"slots. Of the next ten, {10 - (20 - mean):.0f} are new on average, and the others come a second "
        "time.",
    }


def in_words(cards: Control, *texts: str) -> list[Any]:
    """Return the values of *cards* in the order of these *texts*."""
    return [cards.values[cards.texts.index(text)] for text in texts]


def vote() -> Ballot:
    """Explain which one swap helps a job that fills its memory before the first batch."""
    question = (
        "A job decodes images, shuffles them with 10,000 slots, makes batches and prefetches two. The "
        "memory is full, the first batch comes after 90 s, and the model learns well. You may swap two "
        "neighbours. Which?"
    )
    right = "B: the decoding and the shuffle"
    wrong = [
        (
            "A: the shuffle and the batches",
            "Then 10,000 slots wait for 10,000 *batches* of decoded images, and the same samples would "
            "stay together in a batch for ever.",
        ),
        (
            "C: the batches and the prefetch",
            "The prefetch would hold two images instead of two batches. The 10,000 in the shuffle are what "
            "fills the memory, and what the first batch waits for.",
        ),
        (
            "D: none, because a shuffle needs its 90 s in any order",
            "It needs 10,000 elements before it hands out the first. How long that takes depends on what an "
            "element is there: a decoded image, or the name of a file.",
        ),
    ]
    why = (
        "A shuffle hands out nothing before its buffer is full. In front of the decoding its slots hold "
        "names or compressed bytes: they fill at once, take little memory, and the samples come in just as "
        "random an order."
    )
    return ballot(question, right, wrong, why)
