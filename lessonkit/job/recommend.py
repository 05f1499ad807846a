"""`recommend`: what to change in a training job, what that saves, and when to stop."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean
from typing import Any

from lessonkit.job.here import allowances
from lessonkit.job.job import Forecast, Job, measure_job
from lessonkit.job.watching import restored
from lessonkit.words import milliseconds, percent, size

WORTH = 0.05  # of an epoch; where less can be saved, stop
AS_GOOD = 0.02  # of an epoch; of settings as near as this the one with less to it is better
TRIED, TRY = 3, 2.0  # settings that are really run, and s for each
EPOCHS = 10  # of a training; its first one starts the workers
DEPTHS = (2, 4)
MOSTLY = 0.5  # of what a step waits; a part that is more decides
FULL = 0.85  # of what the cores can do; there is little left

VERDICTS = {
    "step-bound": "The loader keeps up with the step: a faster loader saves next to nothing.",
    "data-bound": "The step waits for data.",
    "the loop's own time": "The loop itself spends the time, on each batch that it takes from a worker.",
    "both want the same cores": "Step and workers compute on the same cores, and slow each other down.",
    "cannot tell": "The same run, repeated, differed by more than any change could save.",
}
LAST_WORDS = {  # verdicts after which nothing else is said
    "step-bound": "Stop here.",
    "cannot tell": "Run this again when nothing else runs on this machine.",
}
NOT_SEEN = ("other ranks, and what they share", "files that nobody has read yet", "how well the model learns")

Settings = dict[str, Any]


@dataclass
class JobChange:
    """What to change together: the *settings*, the *line* to paste, the share of an epoch that it *saves*.

    *sure* says whether a real run confirmed that, *costs* what it takes, *alters* what it does to training.
    """

    settings: Settings
    line: str
    saves: float
    sure: str
    costs: str
    alters: str

    def __str__(self) -> str:
        saves = f"saves {percent(self.saves)} ({self.sure})"
        return f"{self.line}: {saves}. It costs {self.costs}; {self.alters}."


@dataclass(repr=False)
class Recommendation:
    """A page on a job: the verdict, what is to be had at most, changes in their order, all forecasts.

    *error* is the share by which one and the same run differed from itself, *ceiling* the seconds of an
    epoch with a loader that takes no time, *table* a forecast for each setting in words.
    """

    job: Job = field(repr=False)
    verdict: str
    error: float
    now: Forecast
    ceiling: float
    changes: list[JobChange]
    table: list[tuple[str, Forecast]] = field(repr=False)
    allows: list[str]
    unseen: list[str]

    @property
    def most(self) -> float:
        """The share of an epoch that the best of all loaders would save."""
        return max(0.0, 1 - self.ceiling / self.now[1])

    @property
    def sections(self) -> list[tuple[str, list[str]]]:
        """The page: paragraphs, with lines under them; where there is little to save, only the verdict."""
        first, later = map(milliseconds, self.now[:2])
        verdict = f"{self.verdict.capitalize()}. {VERDICTS[self.verdict]}"
        found = [(f"{verdict} Measured within {percent(self.error)}.", list[str]())]
        most = f"No loader can save more than {percent(self.most)}."
        epochs = (
            f"An epoch takes {first}" if first == later else f"The first epoch takes {first}, others {later}"
        )
        found.append((f"{epochs}. {most}", []))
        if self.verdict in LAST_WORDS:
            return [*found, (LAST_WORDS[self.verdict], [])]
        changes = [f"{place}. {change}" for place, change in enumerate(self.changes, 1)]
        found.append(("Change this:" if changes else "No change of a setting is worth it.", changes))
        return [*found, *[("This machine:", self.allows)] * bool(self.allows), ("Not seen:", self.unseen)]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the table of forecasts in words, with what each setting saves."""
        return [
            (words, f"{told[0]:.3f} s", f"{told[1]:.3f} s", f"{100 * (1 - told[1] / self.now[1]):+.1f} %")
            for words, told in self.table
        ]

    def numbers(self) -> dict[str, Any]:
        """Return the same for programs."""
        changes = [{"settings": one.settings, "line": one.line, "saves": one.saves} for one in self.changes]
        told = {"verdict": self.verdict, "error": self.error, "most": self.most, "changes": changes}
        return told | {"now": [*self.now], "table": [[words, *times] for words, times in self.table]}

    def __str__(self) -> str:
        lines = [line for text, under in self.sections for line in (text, *(f"    {one}" for one in under))]
        head = ("Forecasts", "first epoch", "later epoch", "saves")
        rows = [f"{row[0]:<72}" + "".join(f"{cell:>13}" for cell in row[1:]) for row in (head, *self.rows())]
        return "\n".join(lines + (rows if self.rows() else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Write the page for a notebook or a browser, without scripts; each forecast has a bar."""
        longest = max((told[1] for _, told in self.table), default=1)
        text = "".join(
            f"<p>{html.escape(text)}</p><ul>{''.join(f'<li>{html.escape(line)}</li>' for line in under)}</ul>"
            for text, under in self.sections
        )
        cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self.rows())
        widths = (f"{12 * told[1] / longest:.1f}em" for _, told in self.table)
        bar = '<td><div style="width:{};height:.8em;background:currentColor;opacity:.5"></div></td>'
        rows = "".join(
            f"<tr>{row}{bar.format(width)}</tr>" for row, width in zip(cells, widths, strict=False)
        )
        head = "<tr><th>setting<th>first epoch<th>later epoch<th>saves<th></tr>"
        return text + (f"<table>{head}{rows}</table>" if rows else "")


def recommend(loader: Any, step: Any = None, *, progress: Callable[[str], object] = print) -> Recommendation:
    """Measure a PyTorch *loader* with a *step*, and say what to change, what that saves, and when to stop.

    It takes about 25 seconds: 15 to measure, and two for each of the best settings, which are really run.
    *step* is really called, with batches of the loader: give it a model that may be trained. *progress* is
    called with a line of text as it goes on. Random states and the number of threads are restored. In place
    of both, *loader* may be a `Job`, one that `measure` gave or that was stored: then nothing is run.

    Raises TypeError for what is no loader, ValueError for one that gives nothing, and RuntimeError that says
    how many batches there were when the loader or the step raised.
    """
    if isinstance(loader, Job):
        found = first_look(loader)
    else:
        progress("measuring the loader and the step: 15 s")
        found = first_look(measure_job(loader, step))
        if found.verdict == "cannot tell":
            progress("the machine is busy: measuring again")
            found = first_look(measure_job(loader, step))
    if found.verdict in LAST_WORDS:
        return found
    job, now, runs = found.job, found.now, not isinstance(loader, Job)
    told = {setting: job.forecast(**dict(setting)) for setting in combinations(job)}
    best = min(map(total, told.values()))
    ranked = sorted(told, key=lambda setting: worth(job, setting, told[setting], best))
    if runs:
        progress(f"trying the best {TRIED} settings: {TRIED + 1} times {TRY:.0f} s")
    present = total(now) * (off(job, job.setting()) if runs else 1)
    changes = []
    for setting in best_of_each(ranked):
        took = total(told[setting]) * (off(job, job.setting(**dict(setting))) if runs else 1)
        if 1 - took / present > max(AS_GOOD, found.error / 2):
            changes.append(change(job, dict(setting), 1 - took / present, runs))
    changes.sort(key=lambda one: (-round(one.saves / AS_GOOD), len(one.settings)))
    for one in changes:  # what adds to a better one gives no more
        if not any(better.settings.items() <= one.settings.items() for better in found.changes):
            found.changes.append(one)
    found.table = [
        ("as it is", now),
        *((as_arguments(job, dict(setting)), told[setting]) for setting in ranked),
    ]
    larger: Settings = {"batch_size": 2 * job.batch_size}
    found.table.append((f"{as_arguments(job, larger)}: trains differently", job.forecast(**larger)))
    workers = max([job.said["num_workers"], *(one.settings.get("num_workers", 0) for one in changes)])
    if runs:
        found.allows = allowances(loader, workers, in_memory(job, job.setting(num_workers=workers)))
    return found


def first_look(job: Job) -> Recommendation:
    """Say what decides how long an epoch takes, and what could be saved at most."""
    batches = sum(job.count(job.setting()))
    ceiling = batches * min(map(job.pace, job.numbers.threads))
    unseen = [*NOT_SEEN, *job.notes]
    found = Recommendation(job, "", job.numbers.noise, job.forecast(), ceiling, [], [], [], unseen)
    found.verdict = verdict(job, found, batches)
    return found


def verdict(job: Job, found: Recommendation, batches: int) -> str:
    """Say in one word or two what decides how long an epoch takes."""
    setting = job.setting()
    beside, known = job.numbers.threads[setting["threads"]], job.numbers
    if found.most < WORTH:
        return "step-bound"
    if found.most < found.error:
        return "cannot tell"
    waited = found.now[1] - batches * job.pace(setting["threads"])
    if setting["num_workers"] and batches * max(known.take) > MOSTLY * waited:
        return "the loop's own time"
    work = fmean(known.works) + fmean(beside.steps) * beside.cores
    wanted = batches * work / known.cores
    if setting["num_workers"] and beside.computes and wanted > FULL * MOSTLY * found.now[1]:
        return "both want the same cores"
    return "data-bound"


# ---- which settings, and in which order ----

Differing = tuple[tuple[str, Any], ...]  # what differs from the loader as it is written


def combinations(job: Job) -> Iterator[Differing]:
    """Give all settings that are compared, without the one that the loader has."""
    present, shares = job.setting(), job.numbers.shares
    cores, known = job.numbers.cores, job.numbers
    counts = {0, 1, *range(2, cores + 1, max(1, cores // 4)), cores, 2 * cores}
    if fmean(known.waits) > fmean(known.works):  # then a core serves many workers
        counts |= {4 * cores, 8 * cores}
    offered = [count for count in sorted(counts) if not job.numbers.stream or count in (0, 1, *shares)]
    for workers, threads in product(offered, sorted(job.numbers.threads)):
        for factor, stay in (
            product(DEPTHS, (False, True)) if workers else [(present["prefetch_factor"], False)]
        ):
            said = {"num_workers": workers, "prefetch_factor": factor, "persistent_workers": stay}
            said |= {"threads": threads}
            if changed := tuple((name, value) for name, value in said.items() if value != present[name]):
                yield changed


def total(told: Forecast) -> float:
    """Return the mean seconds of an epoch in a training of several."""
    return (told[0] + (EPOCHS - 1) * told[1]) / EPOCHS


def worth(job: Job, setting: Differing, told: Forecast, best: float) -> tuple[Any, ...]:
    """Return what orders settings: those nearly as good as the best come first, by how little they take."""
    said, seconds = job.setting(**dict(setting)), total(told)
    is_good = seconds <= best * (1 + AS_GOOD)
    return (not is_good, said["num_workers"] if is_good else seconds, len(setting), said["prefetch_factor"])


def best_of_each(ranked: list[Differing]) -> list[Differing]:
    """Choose the best settings with other numbers of workers or threads."""
    chosen: dict[Any, Differing] = {}
    for setting in ranked:
        said = dict(setting)
        chosen.setdefault((said.get("num_workers"), said.get("threads")), setting)
    return list(chosen.values())[:TRIED]


def off(job: Job, said: Settings) -> float:
    """Run a setting for real for a moment; return how many times as long as foretold it took."""
    assert job.subject is not None, "a job that was measured just now"
    with restored() as torch:
        if torch:
            torch.set_num_threads(said["threads"])
        run = job.subject.go(said["num_workers"], TRY, step=True, factor=said["prefetch_factor"])
    return job.off(run, prefetch_factor=said["prefetch_factor"], threads=said["threads"])


# ---- in words ----


def as_arguments(job: Job, settings: Settings) -> str:
    """Write a setting as the arguments that change."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def in_memory(job: Job, said: Settings) -> int:
    """Return the bytes of all batches that workers may hold."""
    return int(said["num_workers"] * said["prefetch_factor"] * job.numbers.nbytes)


def change(job: Job, settings: Settings, saves: float, tried: bool) -> JobChange:
    """Describe a change, which was *tried* in a real run or not."""
    said, given = job.setting(**settings), {k: v for k, v in settings.items() if k != "threads"}
    lines = [f"DataLoader(..., {as_arguments(job, given)})"] * bool(given)
    lines += [f"torch.set_num_threads({said['threads']})"] * ("threads" in settings)
    workers = said["num_workers"]
    processes = f"{workers} process{'es' if workers > 1 else ''}"
    costs = f"{processes} and {size(in_memory(job, said))} for batches" if workers else "no process"
    random = "workers draw other random numbers" if "num_workers" in settings else "it alters no sample"
    alters = "the order of the samples changes" if job.numbers.stream and workers else random
    sure = "confirmed by a real run" if tried else "predicted, not tried"
    return JobChange(settings, "; ".join(lines), saves, sure, costs, alters)
