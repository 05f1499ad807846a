"""The answers to the questions of lesson 06. If you look here first, you learn less."""

from typing import Any

from lessonkit.widgets.controls import Control
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds, size

EACH_ONCE, MIXED = "all 20, each once", "some twice, others not at all"
ANY = "any 20 of the 60, one of them perhaps three times"
ORDERS = [EACH_ONCE, MIXED, ANY]


def filter_first(
    open: float, read: float, work: float, train: float, images: int
) -> dict[str, Any]:
    """Explain a filter that drops half of the images before a map works on them."""
    kept = images // 2
    wrong = [
        (
            (open + images * (read + work) + kept * train) / kept,
            "You counted twelve Map bars, as in the picture above. The map no longer gets the images that "
            "the filter drops, and six are left.",
        ),
        (
            (open + images * (read + work) + kept * train) / kept / 2,
            "You halved everything. But both orders open the file and read all twelve images.",
        ),
        (
            (open + kept * (read + work + train)) / kept,
            "You left six Read bars out. An image has to be read before the filter can drop it.",
        ),
        (
            (open + images * read + kept * (work + train)) / images,
            "You divided by the images that are read. Only half of the images reach the model.",
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
            ANY,
            "That is a shuffle of the whole stream, and this one sees only what is in its ten slots. When 20 "
            "samples are out, 30 have gone in: one pass, and ten of the next. Nothing can come a third time.",
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
            "Ten is the number of slots. The buffer is refilled after each sample, so every sample of the "
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
    """Explain which order of three operators mixes best, for the least memory and work."""
    stored, decoded, slots, decoding, one_in = 100e3, 600e3, 1000, 0.008, 10
    question = (
        f"A stream has JPEGs of {size(stored)}, each with a caption, and you keep one caption in {one_in}. "
        f"Decoding takes {milliseconds(decoding)} and gives {size(decoded)}; the shuffle has {slots:,} "
        "slots. Which order mixes best, for the least memory and work?"
    )
    right = "D: filter, shuffle, decode"
    wrong = [
        (
            "A: decode, filter, shuffle",
            f"{one_in} images are decoded for each that is kept, {milliseconds(one_in * decoding)} of a core "
            f"instead of {milliseconds(decoding)}. And {slots:,} decoded images fill "
            f"{size(slots * decoded)}.",
        ),
        (
            "B: shuffle, filter, decode",
            f"The memory is right: {size(slots * stored)}. But of the {slots:,} samples in the buffer "
            f"{slots - slots // one_in} are about to be dropped, so those that you keep are drawn from among "
            f"{slots // one_in} of their kind.",
        ),
        (
            "C: filter, decode, shuffle",
            f"Only what is kept is decoded. But the slots hold what the decoder gives, {slots:,} × "
            f"{size(decoded)} = {size(slots * decoded)}, and the first sample comes after "
            f"{slots * decoding:g} s of decoding.",
        ),
    ]
    why = (
        f"The filter looks at captions alone, so nothing is decoded for the bin. The slots hold {slots:,} "
        f"JPEGs that will all be used, in {size(slots * stored)} instead of {size(slots * decoded)}."
    )
    return ballot(question, right, wrong, why)
