"""The answers to the questions of lesson 12. If you look here first, you learn less."""

from collections.abc import Callable
from typing import Any, NamedTuple

from lessonkit import ArtificialDataset, Dataset, Machine, Trace, benchmark, work
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds

# Seconds of a core for each pixel
DECODING = 20e-9
AUGMENTING = 8e-9
SCALING = 4e-9  # of the pixels before
NORMALISING = 6e-9
FLOAT = 4  # bytes of a number in a normalised image


class Picture(NamedTuple):
    """A decoded image: the pixels along its *side*, and the bytes of each of its numbers."""

    side: int
    depth: int = 1

    @property
    def nbytes(self) -> int:
        """The bytes of three numbers for each pixel."""
        return 3 * self.side**2 * self.depth


def nbytes(picture: Picture) -> int:
    """Return how much memory a *picture* takes."""
    return picture.nbytes


def decode(_: int) -> Picture:
    """Decode an image of 1,024 × 1,024 pixels."""
    work(DECODING * 1024**2)
    return Picture(1024)


def augment(picture: Picture) -> Picture:
    """Change the colours of a *picture* at random."""
    work(AUGMENTING * picture.side**2 * picture.depth)
    return picture


def resize(picture: Picture) -> Picture:
    """Scale a *picture* down to 224 × 224 pixels."""
    work(SCALING * picture.side**2 * picture.depth)
    return picture._replace(side=224)


def normalise(picture: Picture) -> Picture:
    """Turn the bytes of a *picture* into floats."""
    work(NORMALISING * picture.side**2)
    return picture._replace(depth=FLOAT)


MORE_CALLS = "eight calls instead of four, on the same four cores"
SMALLER = "images of three quarters of the side, stored before training"
PREFETCH = "a prefetch of eight batches instead of one"
FASTER = "a training step of 1 ms instead of 2 ms"


def remedies(now: float, calls: float, deep: float) -> dict[str, Any]:
    """Explain what each remedy does to a decoder that fills the cores: seconds per image."""
    wrong = [
        (
            MORE_CALLS,
            f"Four cores decode four images, however many calls wait for a core: {milliseconds(calls)} per "
            f"image instead of {milliseconds(now)}. Look at the dotted stretches: calls without a core.",
        ),
        (
            PREFETCH,
            f"The loader is the slower side, so its buffer is empty at any depth: {milliseconds(deep)} per "
            "image.",
        ),
        (
            FASTER,
            "The accelerator waits already. A faster one waits longer.",
        ),
    ]
    why = (
        "Half the side is a quarter of the pixels, and decoding costs time per pixel. It is the only one "
        "of the four that gives the cores less to do."
    )
    return {
        "choices": [MORE_CALLS, SMALLER, PREFETCH, FASTER],
        "answer": lambda *_: SMALLER,
        "wrong": wrong,
        "why": why,
    }


def halved(side: int, calls: int, train: float) -> dict[str, Any]:
    """Explain what an image takes with half the *side*, for *calls* on cores of their own."""
    pixels = (side / 2) ** 2
    decoding = DECODING * pixels
    wrong = [
        (
            DECODING * side * side / 2 / calls,
            "You halved the pixels. Half the side is half the width *and* half the height: a quarter of "
            "them.",
        ),
        (
            decoding / calls,
            f"That is the pace of the decoding, {milliseconds(decoding)} / {calls}. It is faster than the "
            "step now, and the step sets the pace.",
        ),
        (
            decoding,
            f"That is one image on one core. {calls} calls decode on {calls} cores.",
        ),
        (
            decoding / calls + train,
            "You added the step. The calls decode while the model trains, so the longer one counts.",
        ),
    ]
    why = (
        f"A quarter of the pixels: {milliseconds(decoding)} on a core, {milliseconds(decoding / calls)} on "
        f"{calls}. Now the step of {milliseconds(train)} is the slower side, and the wait for the first "
        "image is added."
    )
    return {"wrong": wrong, "why": why}


def per_image(*traces: Trace) -> float:
    """Return the time per image of the last of *traces*."""
    return traces[-1].per_sample


def decoded(side: int, calls: int, cores: int) -> tuple[Dataset, dict[str, Any]]:
    """Return a pipeline that decodes images of a *side*, and how it runs, for the teacher's page."""
    images = ArtificialDataset(48, open=0, read=0.0002)
    dataset = images.map(
        cost=DECODING * side**2, kind="native", stage="Decode", num_parallel_calls=calls
    )
    return dataset.prefetch(1), {
        "num_epochs": 1,
        "train": 0.002,
        "machine": Machine(cores=cores),
    }


def in_turn(*steps: Callable[[Picture], Picture]) -> float:
    """Return the seconds of a core that an image costs in these *steps*, one after another."""
    dataset = Dataset.range(1).map(decode)
    for step in steps:
        dataset = dataset.map(step)
    return benchmark(dataset, num_epochs=1, train=0).duration


def vote() -> Ballot:
    """Explain how many cores and which storage a job needs."""
    rate, core, stored = 3000, 0.005, 110_000
    cores, bandwidth = round(rate * core), rate * stored / 1e6
    question = (
        f"A GPU trains on {rate:,} images per second. Decoding and augmenting one takes "
        f"{milliseconds(core)} of a core, and its JPEG has {stored // 1000} kB. What must the machine have "
        "at least, besides the GPU?"
    )
    right = f"B: {cores} cores, and {bandwidth:g} MB/s of storage"
    wrong = [
        (
            f"A: {cores // 3} cores, and {bandwidth:g} MB/s of storage",
            f"{cores // 3} cores give {cores // 3} / {milliseconds(core)} = {cores // 3 / core:,.0f} "
            "images per second. The GPU would wait two thirds of the time.",
        ),
        (
            f"C: {cores} cores, and {bandwidth / 10:g} MB/s of storage",
            f"{bandwidth / 10:g} MB/s carry {bandwidth / 10 * 1e6 / stored:,.0f} of these images per "
            "second, a tenth of what the GPU takes. Only if all files fit in memory is that enough, and "
            "then from the second epoch on.",
        ),
        (
            f"D: {cores * 4} cores, because workers are slower than the GPU",
            f"{cores} cores decode {cores} / {milliseconds(core)} = {cores / core:,.0f} images per second, "
            "which is what it takes. More stand idle, unless each image becomes more expensive.",
        ),
    ]
    why = (
        f"{rate:,} images/s × {milliseconds(core)} of a core = {cores} cores. {rate:,} images/s × "
        f"{stored // 1000} kB = {bandwidth:g} MB/s. Halve the side of the images, and both numbers fall to "
        "about a quarter."
    )
    return ballot(question, right, wrong, why)
