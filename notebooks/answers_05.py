"""The answers to the questions of lesson 05. If you look here first, you learn less."""

from math import inf
from typing import Any

from lessonkit import Dataset, benchmark, per_sample
from lessonkit.widgets.goals import Attempt, Goal
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds


def in_batches(call: float, work: float, train: float, size: int) -> dict[str, Any]:
    """Explain how long a sample takes in batches of this *size*."""
    shared = call / size + work
    wrong = [
        (
            shared + train,
            "You added the tokeniser and the training. With the prefetch the next batch is tokenised while "
            "the model trains on this one, and only the longer of the two counts.",
        ),
        (
            shared,
            f"The tokeniser alone is that fast, {milliseconds(shared)} per text. Then it waits: "
            f"the model takes {milliseconds(train)}.",
        ),
        (
            (call + work) / size,
            f"You divided the work by {size} as well as the call. And nothing makes a text take less than "
            f"the {milliseconds(train)} that the model needs for it.",
        ),
        (
            call + work,
            f"That gives every text a call of its own. Twenty share one call of {milliseconds(call)} now, so "
            f"each pays {milliseconds(call / size)} of it.",
        ),
        (
            work + train,
            f"The call has not vanished, and it is not on top either: {milliseconds(call)} for {size} texts, "
            "hidden behind the training together with the rest.",
        ),
    ]
    why = (
        f"{call * 1e3:g} / {size} + {work * 1e3:g} = {milliseconds(shared)} per text, which is less than the "
        f"{milliseconds(train)} of training. The model sets the pace; only the first batch is waited for."
    )
    return {"wrong": wrong, "why": why}


def parallel(apart: float) -> dict[str, Any]:
    """Explain how long parallel calls take on batches; without batches it was *apart*."""
    wrong = [
        (
            apart,
            "You let three calls share a batch. A batch is one call, and it works on its three samples in "
            "turn: 3 × 30 ms.",
        ),
        (
            2 * (0.030 + 3 * 0.015 + 0.030 + 3 * 0.010),
            "Your batch of three takes as long as one sample. It saves calls, which cost nothing here; the "
            "work is 3 × 30 ms.",
        ),
        (
            2 * (0.030 + 3 * (0.015 + 0.030 + 0.010)) / 3,
            "You divided all the work by three. An epoch is one batch, so two calls have nothing to do.",
        ),
    ]
    why = "One call works on the whole batch, so the map takes as long as without parallel calls."
    return {"wrong": wrong, "why": why}


def late_prefetch(early: float, none: float) -> dict[str, Any]:
    """Explain a prefetch after unbatch; before it takes *early*, without any *none*."""
    wrong = [
        (
            early,
            "Your slot holds a batch. After unbatch it holds one sample of five, and while it is full no new "
            "batch is begun.",
        ),
        (
            none,
            "That is the time without a prefetch. Even after unbatch a prefetch hides one sample of "
            "each burst.",
        ),
    ]
    why = (
        "A slot before unbatch holds a whole batch, and a slot after it holds a single sample. So put the "
        "prefetch before the burst, or give it as many slots as a burst has samples."
    )
    return {"wrong": wrong, "why": why}


def first_element(*, at_most: float) -> Goal:
    """Ask for *at_most* this number of seconds until the first element of all epochs arrives."""

    def first(tried: Attempt) -> float:
        epochs = (epoch for epoch in tried.trace.epochs if epoch.arrivals)
        return next((epoch.start + epoch.arrivals[0] for epoch in epochs), inf)

    return Goal("first element after", first, milliseconds, at_most)


def vote() -> Ballot:
    """Explain what a batch does to a decoder that several calls share."""
    decode, call, images, size, calls = 0.008, 0.00001, 64, 32, 4
    file = Dataset.range(images)
    cost = per_sample(decode, per_call=call)
    apart = benchmark(file.map(cost=cost, num_parallel_calls=calls), num_epochs=1, train=0)
    batched = file.batch(size).map(cost=cost, num_parallel_calls=calls)
    together = benchmark(batched, num_epochs=1, train=0)
    question = (
        f"Decoding takes {milliseconds(decode)} per image and 10 µs for the call itself. {images} images "
        f"are decoded by {calls} parallel calls, on {calls} cores. Now batch({size}) moves before the map. "
        "What happens to the time of the map?"
    )
    right = "C: it doubles"
    wrong = [
        (
            "A: it shrinks to a few milliseconds",
            f"There are {size} times fewer calls, and they saved "
            f"{milliseconds((images - images / size) * call)} of {milliseconds(apart.duration)}. A batch "
            "saves the cost of calls, and here almost all the cost is decoding.",
        ),
        (
            "B: it stays as it is",
            "A decoder gains nothing from fewer calls, true. But count the batches: how many of the four "
            "calls have one?",
        ),
        (
            f"D: it becomes {calls} times as long",
            f"It would if all images were in one batch, which one call works on. There are {images // size} "
            f"batches, so {images // size} calls still work in parallel.",
        ),
    ]
    why = (
        f"{images} images make {images // size} batches, and a batch is one call: two calls decode, two "
        f"stand idle. The map takes {milliseconds(together.duration)} instead of "
        f"{milliseconds(apart.duration)}."
    )
    return ballot(question, right, wrong, why)
