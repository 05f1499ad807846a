"""How far a prediction was off: each stage of a run on the virtual clock next to the real one."""

from typing import NamedTuple

from lessonkit.engine.trace import Trace
from lessonkit.words import percent


class Compared(NamedTuple):
    """A stage of two runs: how often it worked in each, and the mean seconds; zeros if never."""

    stage: str
    predicted: tuple[int, float]
    measured: tuple[int, float]

    @property
    def off(self) -> float | None:
        """The share of the measured time that the prediction has too much; None if one is zero."""
        _, predicted = self.predicted
        _, measured = self.measured
        return predicted / measured - 1 if predicted and measured else None

    @property
    def verdict(self) -> str:
        """How far the prediction was off, in words; empty if that is not known."""
        if self.off is None:
            return ""
        off = percent(abs(self.off))
        return (
            "exact" if off == "0 %" else f"{off} too {'long' if self.off > 0 else 'short'}"
        )

    def __str__(self) -> str:
        times = (
            f"{count:>7}{mean * 1e3:>9.3f} ms"
            for count, mean in (self.predicted, self.measured)
        )
        return f"{self.stage:<14}{''.join(times)}{self.verdict:>18}".rstrip()


class Comparison(NamedTuple):
    """The *stages* of two runs; the last is both runs as a whole."""

    stages: list[Compared]

    def __str__(self) -> str:
        header = f"{'stage':<14}{'predicted':>16}{'measured':>19}{'prediction':>18}"
        return "\n".join([header, *map(str, self.stages)])


def compare(predicted: Trace, real: Trace) -> Comparison:
    """Compare each stage of the *predicted* run with that of the *real* one.

    The real time of a function in Python includes its waits for the interpreter lock,
    which cannot be seen from outside; a prediction counts them separately, as waits.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> naive, quicker = (benchmark(ArtificialDataset(), train=train) for train in (0.010, 0.008))
    >>> print(compare(naive, quicker))
    stage                predicted           measured        prediction
    Open                2   30.000 ms      2   30.000 ms             exact
    Read                6   15.000 ms      6   15.000 ms             exact
    Train               6   10.000 ms      6    8.000 ms     25 % too long
    total               1  210.000 ms      1  198.000 ms   6.06 % too long
    """
    stages = dict.fromkeys([*predicted.stages, *real.stages])
    rows = [Compared(one, _mean(predicted, one), _mean(real, one)) for one in stages]
    total = Compared("total", (1, predicted.duration), (1, real.duration))
    return Comparison([*rows, total])


def _mean(trace: Trace, stage: str) -> tuple[int, float]:
    times = trace.times(stage)
    return len(times), sum(times) / len(times) / 1e9 if times else 0.0
