"""AUTOTUNE: how near it comes to the best of all settings, and how long it takes."""

from collections.abc import Iterator
from statistics import median

from benchmarks.measure import Pairs, limited, line

CASES = 100  # random pipelines
FEW = 20  # of them, in a quick run
SHARE = 95  # % of them, at least, whose numbers are as good as the best
WORST = 10  # %; longer than the shortest time, at most
SECONDS = 1  # for each


def rows(quick: bool) -> Iterator[str]:
    """All lines on tuning: the peer runs every setting there is."""
    from benchmarks.tunable_pipelines import tunable

    verdicts = [tunable(seed).verdict() for seed in range(FEW if quick else CASES)]
    good = 100 * sum(verdict.good for verdict in verdicts) / len(verdicts)
    what = f"autotune: of {len(verdicts)}, as good as the best of all"
    yield line(
        what,
        f"{good:.0f} %",
        "-",
        "-",
        f">= {SHARE} %",
        "met" if good >= SHARE else "missed",
    )
    worst = max((verdict.ratio - 1) * 100 for verdict in verdicts)
    yield limited("autotune: the worst of them, slower than the best", worst, WORST, "%")
    took = Pairs(
        max(verdict.seconds for verdict in verdicts),
        max(verdict.all_seconds for verdict in verdicts),
        median(verdict.seconds / verdict.all_seconds for verdict in verdicts),
    )
    yield limited(
        "autotune: the slowest search / all settings", took.ours, SECONDS, "s", took
    )
