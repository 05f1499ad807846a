"""The answers to the questions of lesson 07. If you look here first, you learn less."""

from collections.abc import Mapping
from typing import Any

from lessonkit import AUTOTUNE, ArtificialDataset, Dataset, Machine, benchmark
from lessonkit.optimize import autotune, rewrite
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds


def first(open: float, read: float, work: float) -> dict[str, Any]:
    """Explain when two calls deliver the first sample."""
    wrong = [
        (
            (open + read + work) / 2,
            "You let two calls share a sample. Each call works on a sample of its own.",
        ),
        (
            open + read + work / 2,
            "You let both calls map the first sample. The second call works on the second one.",
        ),
        (
            open + read,
            "That leaves out the map. The first sample has to be mapped, too, for "
            f"{milliseconds(work)}.",
        ),
        (
            open + read + work + read,
            "You let the first sample wait for the second. It arrives when its own call is done.",
        ),
    ]
    why = (
        "The file has to be opened, and then the first sample read and mapped. More calls do not shorten "
        "that."
    )
    return {"wrong": wrong, "why": why}


def plateau(one: float, two: float, work: float) -> dict[str, Any]:
    """Explain a second call for one of two maps; *one* is with a call each, *two* with two each."""
    wrong = [
        (
            one / 2,
            "You made everything twice as fast. But Augment still has one call, and finishes "
            f"one sample every {milliseconds(work)}.",
        ),
        (
            two,
            "You gave both maps a second call. Augment has one, and "
            f"finishes one sample every {milliseconds(work)}.",
        ),
        (
            one - work / 2,
            "You added the two maps, as if they took turns. They work side by side, and the slower one, with "
            f"{milliseconds(work)} and one call, is the bottleneck.",
        ),
    ]
    why = (
        f"Augment still needs {milliseconds(work)} per sample. If two maps are equally slow, one faster "
        "map gains nothing."
    )
    return {"wrong": wrong, "why": why}


def fused(apart: float, two: float) -> dict[str, Any]:
    """Explain one map that replaces two; *apart* is the time of the two, *two* that with two calls."""
    wrong = [
        (
            apart,
            "The same work, but no longer side by side: look at the baseline run, where the two maps work "
            "on two samples.",
        ),
        (
            apart - 40 * 0.020,
            "You removed half of the work. 20 ms and 20 ms are still 40 ms, and now one call does all of it.",
        ),
        (
            two,
            "That is the time with two calls in the fused map. It has one.",
        ),
    ]
    why = "The fused call takes 15 + 40 ms per sample. Before, the two maps worked side by side."
    return {"wrong": wrong, "why": why}


BEST = "map_parallelization"


def helps(alone: Mapping[str, float], written: float) -> dict[str, Any]:
    """Explain which rule helps most; *alone* has the time with each, *written* is that without."""
    looked = {
        "noop_elimination": "Look for skip(0) in the picture above: it has no bar. What does nothing costs "
        "nothing",
        "map_fusion": "Crop and Flip become one map of 10 ms, which works as long, in the one call that it "
        "has",
        "map_and_filter_fusion": "The test of the filter costs nothing here, so there is nothing to save "
        "by moving it",
        "shuffle_and_repeat_fusion": "It takes the stall from the beginning of each pass; between the stalls "
        "nothing changes",
        "map_vectorization": "It saves calls of Normalise, 4 ms each. In the picture above, look how wide "
        "the bars of Decode are beside them",
        "map_and_batch_fusion": "Normalise goes on while a batch is waited for; the other three maps do not",
    }
    wrong = [
        (
            rule,
            f"{text}. It saves {milliseconds(written - alone[rule])} of {milliseconds(written)}.",
        )
        for rule, text in looked.items()
    ]
    why = (
        "Without parallel calls each map works only when it is asked, one after the other: Decode, Crop, "
        "Flip and Normalise add up. With calls of their own they work side by side and ahead, and the run "
        f"takes {milliseconds(alone[BEST])} instead of {milliseconds(written)}."
    )
    return {"wrong": wrong, "why": why}


def vote() -> Ballot:
    """Explain what neither optimiser does for files that are read one after the other."""

    def remote(_: int) -> ArtificialDataset:
        return ArtificialDataset(3, open=0.300)

    files = Dataset.range(8).flat_map(remote).map(cost=0.030)
    tuned = autotune(rewrite(files).dataset.prefetch(AUTOTUNE), Machine(cores=4)).dataset
    before, after = (benchmark(each, num_epochs=1).duration for each in (files, tuned))
    by_hand = Dataset.range(8).interleave(remote, cycle_length=4, num_parallel_calls=4)
    both = benchmark(
        by_hand.map(cost=0.030, num_parallel_calls=4).prefetch(1), num_epochs=1
    )
    question = (
        "flat_map reads eight remote files one after the other, 300 ms until each is open; a map of 30 ms "
        f"follows. With every rule and AUTOTUNE an epoch takes {milliseconds(after)} instead of "
        f"{milliseconds(before)}. What gets it below 1 s?"
    )
    right = "A: an interleave in place of flat_map"
    wrong = [
        (
            "B: more cores",
            "AUTOTUNE could give the map more calls. But it has as many as it needs, and waits for samples. "
            "Eight openings of 300 ms, one after the other, take 2.4 s, whatever the map does.",
        ),
        (
            "C: a larger budget of memory",
            "The prefetch could have more slots. But a buffer bridges a wait if the reader is faster on "
            "average. This one gives 3 samples in 345 ms, and a step takes 10: the slots stay empty, "
            "however many there are.",
        ),
        (
            "D: map_and_batch_fusion, the only rule that is left",
            "A fusion saves handing elements on: microseconds. The time is in the rows before the map.",
        ),
    ]
    why = (
        "No rule makes an interleave of a flat_map, and no knob opens two files at once. Written by hand, "
        f"with four files in the cycle, the epoch takes {milliseconds(both.duration)}."
    )
    return ballot(question, right, wrong, why)
