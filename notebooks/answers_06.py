"""The answers to the questions of lesson 06. If you look here first, you learn less."""

from typing import Any

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
            "You mapped every image. The map no longer gets the images that the filter drops.",
        ),
        (
            (open + images * (read + work) + kept * train) / kept / 2,
            "You halved everything. But the pipeline opens the file and reads every image in both orders.",
        ),
        (
            (open + kept * (read + work + train)) / kept,
            "You read only the images that are kept. The filter must see an image before it can drop it.",
        ),
        (
            (open + images * read + kept * (work + train)) / images,
            "You divided by all images that are read. Only half of them reach the model.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": f"All {images} images are read; {kept} are mapped and trained on.",
    }


def first_twenty() -> dict[str, Any]:
    """Explain which samples come first where a shuffle comes after a repeat."""
    wrong = [
        (
            EACH_ONCE,
            "You let the shuffle stop where the file ends. It cannot see that: repeat goes on with the next "
            "pass, and its samples enter the buffer while some of the first pass still wait there.",
        ),
        (
            HALVES,
            "You let the buffer keep its first ten samples. Each that it hands out makes room for a new one.",
        ),
    ]
    why = "Samples of the second pass enter the buffer while some of the first still wait there."
    return {"wrong": wrong, "why": why}


def repeat_first(hidden: float, stall: float) -> dict[str, Any]:
    """Explain a repeat before a shuffle; *hidden* is with a prefetch, *stall* the other order."""
    wrong = [
        (
            hidden,
            "You hid loading while the model trains. Without a prefetch nothing overlaps, and a stall is "
            "only work done earlier.",
        ),
        (
            stall - 2 * (0.030 + 10 * 0.005),
            "You took off the time in which the buffer fills. But the pipeline opens and reads the file "
            "three times in both orders.",
        ),
    ]
    why = "The work is the same, and nothing overlaps. A stall costs time where a prefetch could hide work."
    return {"wrong": wrong, "why": why}


def distinct() -> dict[str, Any]:
    """Explain how many of the first 20 samples are different ones."""
    wrong = [
        (
            20,
            "You expected a whole epoch. When the file ends, the buffer fills up with the next pass.",
        ),
        (
            10,
            "You counted the places. But the buffer is refilled all the time, so most samples get through.",
        ),
    ]
    return {"wrong": wrong, "why": "Some come twice before others have come once."}
