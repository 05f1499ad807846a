"""The answers to the questions of lesson 06. If you look here first, you learn less."""

from typing import Any

from lessonkit.widgets.controls import Control

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
            "That would be right if the map still got every image. But it no longer gets the "
            "images that the filter drops.",
        ),
        (
            (open + images * (read + work) + kept * train) / kept / 2,
            "That would be right if all the time were halved. But both orders open the file and "
            "read every image.",
        ),
        (
            (open + kept * (read + work + train)) / kept,
            "That would be right if the filter dropped images unread. But an image has to be read "
            "before the filter can drop it.",
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
            "That would be right if the shuffle stopped at the end of the file. But it cannot see "
            "that end, because repeat goes on with the next pass.",
        ),
        (
            HALVES,
            "That would be right if the buffer kept its first ten samples. But each one that it "
            "hands out frees a slot for a new one.",
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
            "That would be right if filling the buffer took no time. But both orders open and read the file "
            "three times.",
        ),
    ]
    why = (
        "Both orders do the same work, and nothing overlaps. A stall costs time only if a prefetch could "
        "hide the work."
    )
    return {"wrong": wrong, "why": why}


def distinct() -> dict[str, Any]:
    """Explain how many of the first 20 samples are different ones."""
    wrong = [
        (
            20,
            "That would be right if the first 20 were a whole epoch. But when the file ends, "
            "samples of the next pass enter the buffer.",
        ),
        (
            10,
            "That is the number of slots. But the buffer is refilled after each sample, so most "
            "of the 20 samples come out.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "Some samples come twice before others have come once.",
    }


def in_words(cards: Control, *texts: str) -> list[Any]:
    """Return the values of *cards* in the order of these *texts*."""
    return [cards.values[cards.texts.index(text)] for text in texts]


def vote() -> dict[str, Any]:
    """Explain what an order can change."""
    question = "A pipeline keeps its operators, and only their order changes. What can that change?"
    right = "D: the time, the memory, and what the model sees"
    wrong = [
        (
            "A: nothing",
            "That would be right if operators did not depend on each other. But each works on "
            "what the one before it hands over, and another order hands over something else.",
        ),
        (
            "B: the time",
            "That leaves out the buffers. After a map an element can be eight times as large, "
            "and so can a buffer of such elements.",
        ),
        (
            "C: the time and the memory",
            "That leaves out the data. A cache freezes the random work before it, a shuffle "
            "after a repeat blurs epochs, and a filter after a map sees other values.",
        ),
    ]
    why = "Only the first two show in a profile."
    choices = sorted([right, *dict(wrong)])
    return {
        "question": question,
        "choices": choices,
        "answer": lambda: right,
        "wrong": wrong,
        "why": why,
    }
