"""What `recommend` says of thousands of random jobs on a virtual machine, beside what is true of them.

python -m evidence.jobs.population                            # 200 jobs
python -m evidence.jobs.population --number 2000 --seed 1     # as many as in ablations.md
python -m evidence.jobs.population --job 17 --seed 1          # one page, with the truth beside it

A job can gain something if its best setting saves more than 5 % of an epoch. Its first advice is right if
the epoch then takes at most 5 % longer than with the best setting; no advice means that all stays as it is.
"""

import argparse
import io
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import fmean, quantiles
from typing import NamedTuple

from databound.advise.advice import recommended
from databound.advise.page import Recommendation
from databound.measure.setting import Setting, as_arguments
from databound.model.measuring import measure_subject
from databound.thresholds import (
    DEPTHS,
    MOST_WORKERS,
    WORKERS_THAT_COMPUTE,
    WORKERS_THAT_WAIT,
    WORTH,
)
from evidence.jobs.pages import contradictions
from evidence.jobs.random_jobs import random_job
from evidence.jobs.virtual_jobs import VirtualJob

AS_GOOD_AS_THE_BEST = 1.05  # times the seconds of the best setting
ROUNDED = 0.005  # half of the last digit of a saving on a page
ALL = "all"
JOBS_OF_A_SEED = 100_000


@dataclass
class Judged:
    """What is true of a page on a job: how far it is off, in shares."""

    job: VirtualJob
    page: Recommendation
    contradictions: list[str]
    best: Setting
    gains: float  # what the best setting really saves
    advised: float  # what the first change really saves
    behind: float  # how many times as long as with the best setting an epoch takes then
    errors: list[float] = field(default_factory=list)  # of forecasts, with their signs
    in_range: list[bool] = field(default_factory=list)
    claims: list[bool] = field(
        default_factory=list
    )  # of savings: whether the range has the truth
    false_bound: bool = False

    @property
    def can_gain(self) -> bool:
        """Whether there is something to gain."""
        return self.gains > WORTH

    @property
    def is_right(self) -> bool:
        """Whether the first advice is as good as the best; where nothing is to gain, whether none is given.

        There, a change that is said to save next to nothing, and does, is no harm.
        """
        if self.can_gain:
            return self.behind <= AS_GOOD_AS_THE_BEST
        claimed = self.page.changes[0].saves if self.page.changes else 0.0
        return claimed <= WORTH and self.behind <= AS_GOOD_AS_THE_BEST

    @property
    def cannot_tell(self) -> bool:
        """Whether the page says nothing."""
        return self.page.verdict == "cannot tell"


def judge(job: VirtualJob) -> Judged:
    """Measure a *job*, let it be advised, and hold the page against the truth."""
    measured = measure_subject(job, job.cores)
    with redirect_stdout(io.StringIO()):
        page = recommended(measured)
    truth = Truth(job)
    now = truth.of(job.now)
    best = truth.best(same_workers=not measured.whole)
    first = measured.setting(**page.changes[0].settings) if page.changes else job.now
    judged = Judged(
        job,
        page,
        list(contradictions(page)),
        best,
        gains=1 - truth.of(best) / now,
        advised=1 - truth.of(first) / now,
        behind=truth.of(first) / truth.of(best),
    )
    if not judged.cannot_tell:
        part = 1.0 if measured.whole else measured.batches / job.batches
        for row in page.asked():
            setting = measured.setting(**row.changes)
            error = row.mean / (part * truth.of(setting)) - 1
            judged.errors.append(error)
            judged.in_range.append(abs(error) <= row.within + ROUNDED)
        for change in page.changes:
            really = 1 - truth.of(measured.setting(**change.settings)) / now
            judged.claims.append(abs(really - change.saves) <= change.within + ROUNDED)
        judged.false_bound = judged.gains > page.bounds.least + 0.02
    return judged


class Truth:
    """What settings of a *job* really take; each is run at most once."""

    def __init__(self, job: VirtualJob) -> None:
        self.job = job
        self.known: dict[Setting, float] = {}

    def of(self, setting: Setting) -> float:
        """Return the mean seconds of an epoch with a *setting*."""
        if setting not in self.known:
            self.known[setting] = self.job.truth(setting)
        return self.known[setting]

    def best(self, *, same_workers: bool) -> Setting:
        """Return the best setting of all that keep the samples of an epoch.

        Of a stream that did not end while it was watched, nobody knows how many samples other numbers
        of workers than none, one and the *same* as now give. Settings are run from the one that could
        be the fastest on, as long as one of the others could be faster than what was found.
        """
        best = self.job.now
        for least, _, setting in sorted(
            (self.job.least(setting), place, setting)
            for place, setting in enumerate(settings(self.job))
            if not same_workers or setting.num_workers in (0, 1, self.job.now.num_workers)
        ):
            if least >= self.of(best):
                break
            if self.of(setting) < self.of(best):
                best = setting
            if self.of(best) <= 1.002 * least:
                break
        return best


def settings(job: VirtualJob) -> Iterator[Setting]:
    """Yield all settings of a *job* in which an epoch has the same samples, cheap ones first."""
    costs = job.costs
    waits = costs.waits + costs.reads > costs.works
    per_core = WORKERS_THAT_WAIT if waits else WORKERS_THAT_COMPUTE
    most = min(MOST_WORKERS, per_core * job.cores)
    counts = {
        0,
        job.now.num_workers,
        job.cores,
        *(2**power for power in range(most.bit_length())),
    }
    if job.repeats:
        counts = {
            workers for workers in counts if max(1, workers) == max(1, job.now.num_workers)
        }
    depths = sorted({*DEPTHS, job.now.prefetch_factor})
    for workers in sorted(counts):
        options = (
            product(depths, (True, False))
            if workers
            else [(job.now.prefetch_factor, False)]
        )
        for (depth, stay), threads in product(options, job.threads()):
            yield Setting(workers, depth, stay, threads)


# ---- the table ----


class Column(NamedTuple):
    """A column of the table: its head, in two lines, and its width in characters."""

    head: str
    under: str
    width: int


COLUMNS = (
    Column("kind of job", "", 22),
    Column("jobs", "", 6),
    Column("contra-", "dictions", 10),
    Column("first within", "5 % of best", 15),
    Column("nothing to", "gain: so said", 15),
    Column("forecasts off by", "median   9 in 10", 18),
    Column("in", "range", 7),
    Column("savings", "in range", 10),
    Column("false", "bounds", 8),
    Column("cannot", "tell", 8),
)


def table(all_judged: Sequence[Judged]) -> Iterator[str]:
    """Yield the lines of the table: a line for all jobs, and one for each kind."""
    by_kind = defaultdict[str, list[Judged]](list)
    for judged in all_judged:
        for kind in (ALL, *judged.job.kinds):
            by_kind[kind].append(judged)
    yield line_of(column.head for column in COLUMNS)
    yield line_of(column.under for column in COLUMNS)
    for _, kind in sorted((-len(each), kind) for kind, each in by_kind.items()):
        yield line_of(cells_of(kind, by_kind[kind]))


def line_of(cells: Iterable[str]) -> str:
    """Return a line with its *cells* in columns; the first one begins at the left."""
    first, *others = zip(cells, COLUMNS, strict=True)
    line = f"{first[0]:{first[1].width}}"
    return line + "".join(f"{cell:>{column.width}}" for cell, column in others)


def cells_of(kind: str, each: Sequence[Judged]) -> tuple[str, ...]:
    """Return the cells of the line of a *kind*."""
    gain = [one for one in each if one.can_gain]
    nothing = [one for one in each if not one.can_gain]
    errors = [abs(error) for one in each for error in one.errors]
    off = "-"
    if len(errors) > 1:
        tenths = quantiles(errors, n=20)
        off = f"{100 * tenths[9]:.1f}  {100 * tenths[17]:6.1f}"
    return (
        kind,
        str(len(each)),
        str(sum(bool(one.contradictions) for one in each)),
        f"{share(one.is_right for one in gain)} of {len(gain)}",
        f"{share(one.is_right for one in nothing)} of {len(nothing)}",
        off,
        share(inside for one in each for inside in one.in_range),
        share(inside for one in each for inside in one.claims),
        share(one.false_bound for one in each),
        share(one.cannot_tell for one in each),
    )


def share(true: Iterable[bool]) -> str:
    """Write which share of something is true, in per cent."""
    found = list(true)
    return f"{100 * fmean(found):.0f} %" if found else "-"


def told(number: int, judged: Judged) -> str:
    """Return a line on the job with a *number*, for who looks for what went wrong."""
    page = judged.page
    first = as_arguments(page.changes[0].settings) if page.changes else "-"
    claimed = page.changes[0].saves if page.changes else 0.0
    best = judged.best.differences(judged.job.now)
    worst = max(judged.errors, key=abs, default=0.0)
    return (
        f"{number:>7} {'right' if judged.is_right else 'WRONG':6}{page.verdict:26}"
        f"gain {judged.gains:5.2f} said {claimed:5.2f} got {judged.advised:5.2f} "
        f"worst {worst:+.2f} error {page.error:.2f}  {', '.join(judged.job.kinds)} | "
        f"{first} | best {as_arguments(best)} {judged.contradictions or ''}"
    )


def in_lines(seed: int, stored: Sequence[dict[str, object]]) -> str:
    """Return what is *stored* of the jobs of a *seed* as JSON, a line for each job."""
    lines = ",\n".join(json.dumps(each) for each in stored)
    return f'{{"seed": {seed}, "jobs": [\n{lines}\n]}}\n'


def as_stored(number: int, judged: Judged) -> dict[str, object]:
    """Return what is true of the page on the job with a *number*, for a file."""
    return {
        "job": number,
        "kinds": judged.job.kinds,
        "verdict": judged.page.verdict,
        "gains": round(judged.gains, 4),
        "advised": round(judged.advised, 4),
        "behind": round(judged.behind, 4),
        "right": judged.is_right,
        "contradictions": judged.contradictions,
        "errors": [round(error, 4) for error in judged.errors],
        "in_range": judged.in_range,
        "savings_in_range": judged.claims,
    }


def main() -> None:
    """Print the table, and with `--each` a line for each job."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--number", type=int, default=200, help="of jobs")
    parser.add_argument("--seed", type=int, default=1, help="other jobs for another seed")
    parser.add_argument("--minutes", type=float, default=1e9, help="after which it ends")
    parser.add_argument("--job", type=int, help="the page on this one alone")
    parser.add_argument(
        "--store", type=Path, help="a file that gets what is true of each job"
    )
    parser.add_argument("--each", action="store_true", help="a line for each job, too")
    given = parser.parse_args()
    numbers = range(given.number) if given.job is None else [given.job]
    found = []
    stored = []
    began = time.monotonic()
    for number in numbers:
        if time.monotonic() - began > 60 * given.minutes:
            break
        judged = judge(random_job(JOBS_OF_A_SEED * given.seed + number))
        found.append(judged)
        stored.append(as_stored(number, judged))
        if given.store is not None and len(stored) % 10 == 0:
            given.store.write_text(in_lines(given.seed, stored), "utf-8")
        if given.each or given.job is not None:
            print(told(number, judged), flush=True)
    if given.store is not None:
        given.store.write_text(in_lines(given.seed, stored), "utf-8")
    if given.job is None:
        print("\n".join(table(found)))
    else:
        print(f"{found[0].job}\n{found[0].page}")
    sys.exit(any(one.contradictions for one in found))


if __name__ == "__main__":
    main()
