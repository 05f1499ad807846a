"""`recommend`: what to change in a training job, what that saves, and when to stop."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

from lessonkit.job.here import allowances
from lessonkit.job.job import Forecast, Job, measure_job
from lessonkit.job.watching import restored
from lessonkit.pictures.drawing import Picture, png
from lessonkit.pictures.timeline import plot_timelines
from lessonkit.words import milliseconds, percent, samples, size

WORTH = 0.05  # of an epoch; where less can be saved, stop
AS_GOOD = 0.02  # of an epoch; of settings as near as this the one with less to it is better
TRIED, TRY = 3, 2.0  # settings that are really run, and s for each
MOST_WORKERS = 128  # if they are more than twice the cores
EPOCHS = 10  # of a training; its first one starts the workers
DEPTHS = (2, 4)
DRAWN = 12  # batches of a run
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
HEAD = ("Forecasts", "first epoch", "later epoch", "saves")
NOT_SEEN = (
    "other ranks, and what they share",
    "files that nobody has read yet",
    "how well the model learns",
)
SHARE_OUT = "each worker gives every sample: let the data set share them out, by `get_worker_info()`"
# Arguments that PyTorch refuses without workers, and what they are then
FOR_WORKERS = {"prefetch_factor": None, "multiprocessing_context": None, "timeout": 0}
NOT_WHOLE = "what the loader gives after the samples that were seen"

Settings = dict[str, Any]


class JobChange(NamedTuple):
    """What to change together: the *settings*, the *line* to paste, the share of an epoch that it *saves*.

    *more* says whether a real run confirmed that, what it costs, and what it does to training.
    """

    settings: Settings
    line: str
    saves: float
    more: str

    def __str__(self) -> str:
        return f"{self.line}: saves {percent(self.saves)} {self.more}."


@dataclass(repr=False)
class Recommendation:
    """A page on a job: the verdict, what is to be had at most, changes in their order, all forecasts.

    *table* has a forecast for each setting in words, *allows* what this machine allows, and
    *failed* the settings that were tried and raised.
    """

    job: Job
    now: Forecast
    changes: list[JobChange] = field(default_factory=list)
    table: list[tuple[str, Forecast]] = field(default_factory=list)
    allows: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def error(self) -> float:
        """The share by which one and the same run differed from itself."""
        return self.job.numbers.noise

    @property
    def ceiling(self) -> float:
        """The seconds of an epoch with a loader that takes no time."""
        return sum(self.job.count(self.job.said)) * min(
            map(self.job.pace, self.job.numbers.threads)
        )

    @property
    def most(self) -> float:
        """The share of an epoch that the best of all loaders would save."""
        return max(0.0, 1 - self.ceiling / self.now[1])

    @property
    def verdict(self) -> str:
        """What decides how long an epoch takes, in a word or two."""
        known, batches = self.job.numbers, sum(self.job.count(self.job.said))
        workers, threads = self.job.said["num_workers"], self.job.said["threads"]
        if self.most < WORTH:
            return "step-bound"
        if self.most < self.error:
            return "cannot tell"
        waited = self.now[1] - batches * self.job.pace(threads)
        if (
            workers
            and batches * max(known.handling.take, known.handling.take_busy)
            > MOSTLY * waited
        ):
            return "the loop's own time"
        step = known.threads[threads]
        wanted = (
            batches * (fmean(known.works) + fmean(step.steps) * step.cores) / known.cores
        )
        if workers and step.computes and wanted > FULL * MOSTLY * self.now[1]:
            return "both want the same cores"
        return "data-bound"

    @property
    def sections(self) -> dict[str, list[str]]:
        """The page: paragraphs, with lines under them; where there is little to save, only the verdict."""
        first, later = map(milliseconds, self.now[:2])
        verdict = f"{self.verdict.capitalize()}. {VERDICTS[self.verdict]}"
        epochs = f"An epoch takes {first}"
        if first != later:
            epochs = f"The first epoch takes {first}, others {later}"
        found: dict[str, list[str]] = {
            f"{verdict} Measured within {percent(self.error)}.": []
        }
        found[f"{epochs}. No loader can save more than {percent(self.most)}."] = []
        if unlike := self.unlike():
            found["The number of workers decides how many samples an epoch has:"] = unlike
        if self.verdict in LAST_WORDS:
            return found | {LAST_WORDS[self.verdict]: []}
        changes = [f"{place}. {change}" for place, change in enumerate(self.changes, 1)]
        found["Change this:" if changes else "No change of a setting is worth it."] = (
            changes
        )
        if self.failed:
            found["Tried, and dropped since it failed:"] = self.failed
        if self.allows:
            found["This machine:"] = self.allows
        return found | {"Not seen:": [*NOT_SEEN] + [NOT_WHOLE] * (not self.job.whole)}

    @property
    def picture(self) -> Picture:
        """Some batches of the job as it is, and of it with the first change."""
        runs = {"now": self.job.run(1, DRAWN)}
        for change in self.changes[:1]:
            runs["with the first change"] = self.job.run(1, DRAWN, **change.settings)
        return plot_timelines(runs)

    def unlike(self) -> list[str]:
        """Say how many samples an epoch has with each number of workers, if these differ."""
        job, shares = self.job, self.job.numbers.shares
        counts = sorted({0, job.said["num_workers"], *shares} if shares else ())
        if all(job.as_many(workers, 0) for workers in counts):
            return []
        lines = [f"{count} workers: {samples(job.given(count))}" for count in counts]
        return lines + [SHARE_OUT] * job.repeats

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the table of forecasts in words, with what each setting saves."""
        return [
            (
                words,
                f"{told[0]:.3f} s",
                f"{told[1]:.3f} s",
                f"{100 * (1 - told[1] / self.now[1]):+.1f} %",
            )
            for words, told in self.table
        ]

    def numbers(self) -> dict[str, Any]:
        """Return the same for programs."""
        told = {
            "verdict": self.verdict,
            "error": self.error,
            "most": self.most,
            "now": self.now,
        }
        changes = [change._asdict() for change in self.changes]
        return told | {
            "changes": changes,
            "table": [[words, *times] for words, times in self.table],
        }

    def __str__(self) -> str:
        lines = list[str]()
        for text, under in self.sections.items():
            lines += [text, *(f"    {line}" for line in under)]
        for first, *more in (HEAD, *self.rows()) if self.table else ():
            lines.append(f"{first:<72}" + "".join(f"{cell:>13}" for cell in more))
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Write the page for a notebook or a browser, without scripts: the words, the picture, the table."""
        page = ""
        for text, under in self.sections.items():
            lines = "".join(f"<li>{html.escape(line)}</li>" for line in under)
            page += f"<p>{html.escape(text)}</p><ul>{lines}</ul>"
        if not self.table:
            return page
        with suppress(ImportError):  # without matplotlib there is no picture
            picture = self.picture
            words, drawn = html.escape(picture.words), b64encode(png(picture)).decode()
            page += f'<img alt="{words}" src="data:image/png;base64,{drawn}" style="max-width:100%">'
        page += "<table><tr><th>setting<th>first epoch<th>later epoch<th>saves<th></tr>"
        longest = max(told[1] for _, told in self.table)
        for row, (_, told) in zip(self.rows(), self.table, strict=True):
            cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
            bar = f"width:{12 * told[1] / longest:.1f}em;height:.8em;background:currentColor;opacity:.5"
            page += f'<tr>{cells}<td><div style="{bar}"></div></td></tr>'
        return f"{page}</table>"


def recommend(
    loader: Any, step: Any = None, *, progress: Callable[[str], object] = print
) -> Recommendation:
    """Measure a PyTorch *loader* with a *step*, and say what to change, what that saves, and when to stop.

    It takes about 25 seconds: 15 to measure, and two for each of the best settings, which
    are really run; and what workers take to start, which is long where they are not forked. A
    setting that fails is dropped, and the page says so. *step* is really called, with
    batches of the loader: give it a model that may be trained. *progress* is called with a
    line of text as it goes on. Random states and the number of threads are restored. In
    place of both, *loader* may be a `Job`, one that `measure` gave or that was stored: then
    nothing is run.

    Raises TypeError for what is no loader, ValueError for one that gives nothing, and
    RuntimeError that says how many batches there were when the loader or the step raised.
    """
    run = not isinstance(loader, Job)
    for words in (
        "measuring the loader and the step: 15 s",
        "the machine is busy: measuring again",
    ):
        if run:
            progress(words)
        job = measure_job(loader, step) if run else loader
        found = Recommendation(job, job.forecast())
        if found.verdict != "cannot tell":
            break
    if found.verdict in LAST_WORDS:
        return found
    told = [(setting, job.forecast(**setting)) for setting in combinations(job)]
    best = min(total(forecast) for _, forecast in told)
    told.sort(key=lambda one: worth(job, one[0], one[1], best))
    if run:
        progress(f"trying the best {TRIED} settings: {TRIED + 1} times {TRY:.0f} s")
    present = total(found.now) + (excess(job, {}) if run else 0)
    changes, tried = list[JobChange](), 0
    for setting, forecast in best_of_each(told):
        try:
            seconds = total(forecast) + (excess(job, setting) if run else 0)
        except RuntimeError as error:
            found.failed.append(f"{as_arguments(setting)}: {error}")
            continue
        saves = 1 - seconds / present
        if saves > max(AS_GOOD, found.error / 2):
            changes.append(change(job, setting, saves, run))
        if (tried := tried + 1) == TRIED:
            break
    changes.sort(key=lambda one: (-round(one.saves / AS_GOOD), len(one.settings)))
    for one in changes:  # what adds to a better one gives no more
        if not any(
            better.settings.items() <= one.settings.items() for better in found.changes
        ):
            found.changes.append(one)
    larger = {"batch_size": 2 * job.said["batch_size"]}
    rows = [(as_arguments(setting), forecast) for setting, forecast in told]
    other = f"{as_arguments(larger)}: trains differently", job.forecast(**larger)
    found.table = [("as it is", found.now), *rows, other]
    if run:
        workers = max(
            [
                job.said["num_workers"],
                *(one.settings.get("num_workers", 0) for one in changes),
            ]
        )
        found.allows = allowances(
            loader, workers, in_memory(job, job.setting(num_workers=workers))
        )
    return found


# ---- which settings, and in which order ----


def combinations(job: Job) -> Iterator[Settings]:
    """Give what differs from the loader as it is written in all settings that are compared."""
    known, cores = job.numbers, job.numbers.cores
    counts = {0, 1, *range(2, cores + 1, max(1, cores // 4)), cores, 2 * cores}
    if fmean(known.waits) > fmean(known.works):  # then a core serves many workers
        counts |= {count for count in (4 * cores, 8 * cores) if count <= MOST_WORKERS}
    if known.stream:
        now = job.said["num_workers"]
        counts = {count for count in (0, 1, *known.shares) if job.as_many(count, now)}
    for workers, threads in product(sorted(counts), sorted(known.threads)):
        ahead = (
            product(DEPTHS, (False, True))
            if workers
            else [(job.said["prefetch_factor"], False)]
        )
        for factor, stay in ahead:
            full = {
                "num_workers": workers,
                "prefetch_factor": factor,
                "persistent_workers": stay,
            }
            full |= {"threads": threads}
            if changed := {
                name: value for name, value in full.items() if value != job.said[name]
            }:
                yield changed


def total(told: Forecast) -> float:
    """Return the mean seconds of an epoch in a training of several."""
    return (told[0] + (EPOCHS - 1) * told[1]) / EPOCHS


def worth(job: Job, setting: Settings, told: Forecast, best: float) -> tuple[Any, ...]:
    """Return what orders settings: those nearly as good as the best come first, by how little they take."""
    full, seconds = job.setting(**setting), total(told)
    is_good = seconds <= best * (1 + AS_GOOD)
    return (
        not is_good,
        full["num_workers"] if is_good else seconds,
        len(setting),
        full["prefetch_factor"],
    )


def best_of_each(
    ranked: list[tuple[Settings, Forecast]],
) -> list[tuple[Settings, Forecast]]:
    """Choose the best settings with other numbers of workers or threads."""
    chosen: dict[Any, tuple[Settings, Forecast]] = {}
    for setting, told in ranked:
        chosen.setdefault(
            (setting.get("num_workers"), setting.get("threads")), (setting, told)
        )
    return list(chosen.values())


def excess(job: Job, setting: Settings) -> float:
    """Run a setting for real for a moment; return the seconds that an epoch takes longer than foretold."""
    assert job.subject is not None, "a job that was measured just now"
    full = job.setting(**setting)
    with restored() as torch:
        if torch:
            torch.set_num_threads(full["threads"])
        run = job.subject.go(
            full["num_workers"], TRY, step=True, factor=full["prefetch_factor"]
        )
    took, foretold, count = job.compared(
        run, prefetch_factor=full["prefetch_factor"], threads=full["threads"]
    )
    return (took - foretold) / count * sum(job.count(full))


# ---- in words ----


def as_arguments(settings: Settings) -> str:
    """Write a setting as the arguments that change."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def in_memory(job: Job, full: Settings) -> int:
    """Return the bytes of all batches that workers may hold."""
    return int(full["num_workers"] * full["prefetch_factor"] * job.numbers.nbytes)


def change(job: Job, settings: Settings, saves: float, tried: bool) -> JobChange:
    """Describe a change, which was *tried* in a real run or not."""
    full, given = (
        job.setting(**settings),
        {k: v for k, v in settings.items() if k != "threads"},
    )
    if not full["num_workers"]:
        subject: Any = job.subject
        loader = subject and subject.loader
        given |= {
            name: off
            for name, off in FOR_WORKERS.items()
            if getattr(loader, name, off) != off
        }
    lines = [f"DataLoader(..., {as_arguments(given)})"] * bool(given)
    lines += [f"torch.set_num_threads({full['threads']})"] * ("threads" in settings)
    workers = full["num_workers"]
    processes = f"{workers} process{'es' if workers > 1 else ''}"
    costs = (
        f"{processes} and {size(in_memory(job, full))} for batches"
        if workers
        else "no process"
    )
    random = (
        "workers draw other random numbers"
        if "num_workers" in settings
        else "it alters no sample"
    )
    alters = (
        "the order of the samples changes" if job.numbers.stream and workers else random
    )
    sure = "confirmed by a real run" if tried else "predicted, not tried"
    return JobChange(
        settings, "; ".join(lines), saves, f"({sure}). It costs {costs}; {alters}"
    )
