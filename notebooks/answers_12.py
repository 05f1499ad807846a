"""The answers to the questions of lesson 12. If you look here first, you learn less."""

from collections.abc import Callable
from typing import Any, NamedTuple

from lessonkit import ArtificialDataset, Dataset, Machine, Trace, benchmark, work
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.widgets.questions.gain import gain_in
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
MORE_CORES = "six cores and six calls instead of four"
SMALLER = "images of three quarters of the side, stored before training"
PREFETCH = "eight slots of prefetch instead of one"


def remedies(
    now: float, calls: float, cores: float, deep: float, smaller: float
) -> dict[str, Any]:
    """Explain what each remedy does to a decoder that fills the cores: seconds per image."""
    wrong = [
        (
            MORE_CALLS,
            f"Four cores decode four images, however many calls wait for a core: {milliseconds(calls)} per "
            f"image instead of {milliseconds(now)}.",
        ),
        (
            MORE_CORES,
            "It does help, by half as many cores again, and you have to buy them: "
            f"{milliseconds(cores)} per image. Now count the pixels of an image that loses a quarter of its "
            "width and a quarter of its height.",
        ),
        (
            PREFETCH,
            f"The loader is the slower side, so its buffer is empty at any depth: {milliseconds(deep)} per "
            "image.",
        ),
    ]
    why = (
        "Three quarters of the width times three quarters of the height are 9/16 of the pixels, and decoding "
        f"costs time per pixel: {milliseconds(smaller)} per image instead of {milliseconds(now)}. Two more "
        f"cores bring it to {milliseconds(cores)}."
    )
    return {
        "choices": [MORE_CALLS, MORE_CORES, SMALLER, PREFETCH],
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
            "You halved the pixels. The image loses half of its width and half of its height, and a "
            "quarter of the pixels is left.",
        ),
        (
            decoding / calls,
            f"The decoding has that pace, {milliseconds(decoding)} / {calls}. It is faster than the "
            "step now, and the step sets the pace.",
        ),
        (
            decoding,
            f"One core decodes one image in that time. {calls} calls decode on {calls} cores.",
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


GAINS = {2.0: "2 times", 1.28: "1.28 times", 1.09: "1.09 times", 1.0: "not at all"}
TWICE, CORES, STORAGE, NOT = GAINS.values()
gained = gain_in(GAINS)


def faster_gpu(
    *,
    gpu: float,
    core: float,
    cores: int,
    stored: float,
    storage: float,
    sent: float,
    pcie: float,
) -> dict[str, Any]:
    """Explain what a GPU that is twice as fast gains on a machine, from what an image needs of it."""
    of_cores, of_storage, of_bus = cores / core, storage / stored, pcie / sent
    wrong = [
        (
            TWICE,
            f"Then {2 * gpu:,.0f} images per second would have to come out of the storage, "
            f"{2 * gpu * stored / 1e6:.0f} MB/s of them. It delivers {storage / 1e6:.0f}.",
        ),
        (
            CORES,
            f"That is as far as the cores go: {cores} / {milliseconds(core)} = {of_cores:,.0f} images per "
            "second. Another roof is lower: divide the bandwidth of the storage by the bytes of a file.",
        ),
        (
            NOT,
            f"The GPU is the lowest roof now, so lifting it does help, as far as the next one: "
            f"{of_storage:,.0f} images per second against {gpu:,.0f}.",
        ),
    ]
    why = (
        f"The storage allows {of_storage:,.0f} images per second, the cores {of_cores:,.0f} and the bus "
        f"{of_bus:,.0f}. From {gpu:,.0f} the training rises to the lowest of them, and no further."
    )
    return {"choices": [*GAINS.values()], "wrong": wrong, "why": why}


def vote() -> Ballot:
    """Explain which machine a job needs once its images are stored at half the side."""
    rate, core, large, small = 3000, 0.008, 400_000, 140_000
    cores = round(rate * core / 4)  # half the side is a quarter of the pixels
    bandwidth = rate * small / 1e6
    question = (
        f"A GPU trains on {rate:,} images per second. Decoding and augmenting one takes "
        f"{milliseconds(core)} of a core, and its JPEG has {large // 1000} kB. You store all images at half "
        f"the side, and a file has {small // 1000} kB then. What must the machine have at least, besides "
        "the GPU?"
    )
    right = f"B: {cores} cores, and {bandwidth:g} MB/s of storage"
    wrong = [
        (
            f"A: {2 * cores} cores, and {bandwidth:g} MB/s of storage",
            f"You halved the work of a core. Half the side is half the width and half the height, so "
            f"{milliseconds(core / 4)} are left of {milliseconds(core)}.",
        ),
        (
            f"C: {4 * cores} cores, and {bandwidth:g} MB/s of storage",
            f"Those would be the cores for the full side, {rate:,} × {milliseconds(core)}. Smaller files do "
            "not only load faster: what costs time per pixel falls with the pixels.",
        ),
        (
            f"D: {cores} cores, and {rate * large / 1e6:,g} MB/s of storage",
            f"That is what the large files would need. The storage delivers the small ones, {rate:,} × "
            f"{small // 1000} kB.",
        ),
    ]
    why = (
        f"A quarter of the pixels is left, so {rate:,} images/s × {milliseconds(core / 4)} of a core = "
        f"{cores} cores, and {rate:,} images/s × {small // 1000} kB = {bandwidth:g} MB/s. With the full side "
        f"it would be {4 * cores} cores and {rate * large / 1e6:,g} MB/s."
    )
    return ballot(question, right, wrong, why)
