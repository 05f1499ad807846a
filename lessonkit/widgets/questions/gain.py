"""The answer of a question that asks how many times as fast a job gets."""

from collections.abc import Callable, Mapping

from lessonkit.engine.trace import Trace


def gain_in(words: Mapping[float, str]) -> Callable[[Trace, Trace], str]:
    """Return what answers `predict` in one of these *words*, each by how many times as fast it says.

    The answer is the nearest one to what the second of two runs gains over the first, per sample.
    """

    def answer(before: Trace, after: Trace) -> str:
        gain = before.per_sample / after.per_sample
        return words[min(words, key=lambda known: abs(known - gain))]

    return answer
