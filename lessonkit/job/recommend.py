"""`recommend`: what to change in a training job, what that saves, and when to stop."""

import html
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from math import log
from typing import Any, NamedTuple

from lessonkit.engine import check
from lessonkit.loops.probe import VERDICTS
from lessonkit.pictures.charts import TimedSetting, plot_settings
from lessonkit.pictures.drawing import Picture, png
from lessonkit.words import counted, milliseconds, percent, size

from .job import Job, measure
from .watching import restored

WORTH = 0.05  # of an epoch; where less can be saved, stop
AS_GOOD = 0.02  # of an epoch; of settings as near as this the one with less to it is better
TRIED, TRY = 3, 2.0  # settings that are really run, and s for each
EPOCHS = 10  # of a training; its first one starts the workers
DEPTHS = (2, 4)
MOSTLY = 0.5  # of what a step waits; a part that is more decides
FULL = 0.425  # of what the cores can do in an epoch; with more, they are what is missing

# Verdicts after which nothing else is said
LAST_WORDS = ("step-bound", "cannot tell")
NOT_SEEN = (
    "other ranks, and what they share",
    "files that are not in the system's cache",
    "how well the model learns",
)
NOT_WHOLE = (
    "what the loader gives after the samples that were seen; and, of an iterable, other numbers of "
    "workers, because nobody knows how many samples they give"
)
SHARE_OUT = (
    "each worker gives every sample: share them out in the dataset, by get_worker_info()"
)
# Arguments that PyTorch refuses without workers, and what they are then
FOR_WORKERS = {"prefetch_factor": None, "multiprocessing_context": None, "timeout": 0}

Settings = dict[str, Any]


class JobChange(NamedTuple):
    """What to change together: the *settings* and the *line* to paste.

    It *saves* a share of an epoch; *more* says whether a real run confirmed that, as it did if
    it was *tried*, what it costs, and what it does to training.
    """

    settings: Settings
    line: str
    saves: float
    more: str
    tried: bool

    def __str__(self) -> str:
        return f"{self.line}: saves {percent(self.saves)} {self.more}."


class TableRow(NamedTuple):
    """The forecast of a job with other *settings*; it may be off by the share *within*."""

    settings: Settings
    first: float
    later: float
    within: float

    @property
    def mean(self) -> float:
        """The mean seconds of an epoch in a training of several."""
        return (self.first + (EPOCHS - 1) * self.later) / EPOCHS


@dataclass(repr=False)
class Recommendation:
    """A page on a job: the verdict, the most that can be saved, changes, and all forecasts.

    *error* is the share by which one and the same run differed from itself. *table* has a
    forecast for each setting, first that of the job as it is, and *failed* says which settings
    were tried and raised. The first changes, as many as are *alike*, save the
    same as far as these runs can tell; the one that costs the least is first.
    """

    job: Job
    error: float
    table: list[TableRow]
    changes: list[JobChange] = field(default_factory=list)
    alike: int = 0
    failed: list[str] = field(default_factory=list)

    @property
    def now(self) -> tuple[float, float]:
        """The seconds of the first and of a later epoch of the job as it is."""
        return self.table[0][1:3]

    @property
    def most(self) -> float:
        """The share of an epoch that a loader would save that takes no time."""
        step = min(map(self.job.pace, self.job.numbers.threads))
        return max(0.0, 1 - self.job.count(self.job.said) * step / self.now[1])

    @property
    def verdict(self) -> str:
        """What decides how long an epoch takes, in a word or two."""
        known, said = self.job.numbers, self.job.said
        if self.most < WORTH:
            return "step-bound"
        if self.most < self.error:
            return "cannot tell"
        if not said["num_workers"]:  # a device may work while the loop loads
            return "data-bound" if known.device else "they take turns"
        batches, step = self.job.count(said), known.threads[said["threads"]]
        waited = self.now[1] - batches * self.job.pace(said["threads"])
        if batches * known.take > MOSTLY * waited:
            return "the loop's own time"
        computed = batches * (known.works + step.seconds * step.cores)
        if step.computes and computed / known.cores > FULL * self.now[1]:
            return "both want the same cores"
        return "data-bound"

    @property
    def sections(self) -> dict[str, list[str]]:
        """The page: paragraphs, with lines under them; if little can be saved, only a verdict."""
        first, later = map(milliseconds, self.now)
        epochs = f"An epoch takes {first}"
        if first != later:
            epochs = f"The first epoch takes {first}, and a later one takes {later}"
        verdict = f"{self.verdict.capitalize()}: {VERDICTS[self.verdict]}."
        changes = [f"{rank}. {change}" for rank, change in enumerate(self.changes, 1)]
        within = f"The same run, repeated, differed by {percent(self.error)}."
        found: dict[str, list[str]] = {
            verdict: [],
            f"{epochs}. No loader can save more than {percent(self.most)}. {within}": [],
        }
        if lines := self.unlike():
            found["How many samples an epoch has depends on the number of workers:"] = lines
        if self.verdict in LAST_WORDS:
            return found
        least = percent(max(AS_GOOD, self.error))
        head = (
            "Change this:"
            if changes
            else f"No change of a setting saves more than {least}."
        )
        if self.alike > 1:
            head = f"Change this (the first {self.alike} save the same; number 1 needs the least):"
        found |= {head: changes, self.rest: []}
        if self.failed:
            found["These settings were tried, and they failed:"] = self.failed
        return found | {
            "Not taken into account:": [*NOT_SEEN] + [NOT_WHOLE] * (not self.job.whole)
        }

    @property
    def rest(self) -> str:
        """Why no setting saves as much as a loader would that takes no time."""
        known = self.job.numbers
        step = min(one.seconds * one.cores for one in known.threads.values())
        work = self.job.count(self.job.said) * (known.works + step)
        saves = 1 - work / known.cores / self.now[1]
        if saves > self.most:
            return (
                "No setting saves the start of workers, or the loop's own time per batch."
            )
        needs = (
            f"an epoch is {milliseconds(work)} of work for {counted(known.cores, 'cores')}"
        )
        return f"No setting can save more than {percent(saves)}, because {needs}."

    def unlike(self) -> list[str]:
        """Return how many samples an epoch has with each number of workers, if these differ."""
        job = self.job
        counts = sorted({0, job.said["num_workers"], *job.numbers.totals})
        if all(map(job.as_many, counts)):
            return []
        lines = [
            f"num_workers={workers}: {counted(round(job.total(workers)), 'samples')}"
            for workers in counts
        ]
        return lines + [SHARE_OUT] * job.repeats

    @property
    def picture(self) -> Picture:
        """How long an epoch takes with the settings of `asked`, by forecasts and by real runs."""
        now = self.table[0].mean
        settings = []
        for row in self.asked():
            change, saves = self.change_to(row), self.saved(row)
            tried = now * (1 - saves) if change and change.tried else None
            told = percent(saves) if row.settings else ""
            name = as_arguments(row.settings)
            settings.append(TimedSetting(name, row.mean, row.within, tried, told))
        return plot_settings(settings, now * (1 - self.most))

    def change_to(self, row: TableRow) -> JobChange | None:
        """Return the change that is worth it and has the settings of *row*, if there is one."""
        return next((one for one in self.changes if one.settings == row.settings), None)

    def saved(self, row: TableRow) -> float:
        """Return the share of an epoch that *row* saves, by a real run if there was one."""
        change = self.change_to(row)
        return change.saves if change else 1 - row.mean / self.table[0].mean

    @property
    def headline(self) -> str:
        """The verdict, what a loader could save at most, and what the first change saves."""
        words = f"{self.verdict.capitalize()}: no loader can save more than {percent(self.most)}"
        for one in self.changes[:1]:
            words += f"; the first change saves {percent(one.saves)}"
        return f"{words}."

    def asked(self) -> list[TableRow]:
        """Return at most ten forecasts that a user would ask for: the job as it is, then the best.

        They are the job as it is, with other numbers of workers, with the changes, at its best,
        and with a longer queue, which is often tried and saves nothing.
        """
        asked: list[Settings] = [{"num_workers": workers} for workers in (1, 2, 4, 8)]
        asked += [change.settings for change in self.changes]
        for row in self.table[:2]:  # now, and the best
            asked += [row.settings, row.settings | {"prefetch_factor": 4}]
        return [row for row in self.table if row.settings in asked][:10]

    def rows(self) -> Sequence[tuple[str, ...]]:
        """Return these forecasts in words, below their heads, with what each setting saves."""
        if len(self.table) == 1:
            return []
        rows = [("setting", "first epoch", "later epoch", "within", "saves")]
        for row in self.asked():
            saves = percent(self.saved(row)) if row.settings else ""
            times = f"{row.first:.3f} s", f"{row.later:.3f} s", percent(row.within)
            rows.append((as_arguments(row.settings), *times, saves))
        return rows

    def numbers(self) -> dict[str, Any]:
        """Return the page for programs."""
        return {
            "verdict": self.verdict,
            "error": self.error,
            "most": self.most,
            "now": self.now,
            "changes": [change._asdict() for change in self.changes],
            "table": [row._asdict() for row in self.table],
        }

    def __str__(self) -> str:
        lines = list[str]()
        for text, under in self.sections.items():
            lines += [text, *(f"    {line}" for line in under)]
        lines += [
            f"{row[0]:72}{''.join(f'{cell:>13}' for cell in row[1:])}"
            for row in self.rows()
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the page for a notebook or a browser: the picture, the words, the table."""
        page = in_tags("h3", [self.headline])
        rows = "".join(f"<tr>{in_tags('td', row)}</tr>" for row in self.rows())
        with suppress(ImportError):  # without matplotlib there is no picture
            if rows:
                picture = self.picture
                words, drawn = html.escape(picture.words), b64encode(png(picture)).decode()
                image = f'alt="{words}" src="data:image/png;base64,{drawn}"'
                page += f'<img {image} style="max-width:100%">'
        page += in_tags("pre", [one.line for one in self.changes[:1]])  # to copy
        for text, under in self.sections.items():
            listed = f"<ul style='list-style:none'>{in_tags('li', under)}</ul>"
            page += in_tags("p", [text]) + listed * bool(under)
        folded = f"<details><summary>forecasts</summary><table>{rows}</table></details>"
        return page + folded if rows else page


def in_tags(tag: str, texts: Iterable[str]) -> str:
    """Return *texts* as elements of HTML."""
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def recommend(loader: Any, step: Any = None) -> Recommendation:
    """Measure a PyTorch *loader* with a *step*, and say what to change and what that saves.

    It takes about 25 seconds: 15 to measure, and two for each of the best settings, which
    are really run. The start of workers is added to that, and takes long if they are not
    forked. A setting that fails is dropped, and the page says so. *step* is really called,
    with batches of the loader: give it a model that may be trained. Two lines of
    text are printed as it goes on. Random states and the number of threads are restored.
    Instead of both, *loader* may be a `Job` that `measure` gave, or one that was stored: of a
    stored one nothing is run.

    Raises TypeError if it is no loader, ValueError for one that gives nothing, and
    RuntimeError that says at which batch the loader or the step raised.
    """
    job = loader
    if not isinstance(job, Job):
        print("measuring the loader and the step: 15 s")
        job = measure(loader, step=check.function("step", step))
    run = job.subject is not None
    found = Recommendation(job, job.numbers.noise, [forecast_row(job, {})])
    if found.verdict in LAST_WORDS:
        return found
    rows = [forecast_row(job, setting) for setting in combinations(job)]
    best = min(row.mean for row in rows)
    # In steps of 2 %, and of settings on one step the cheapest first
    rows.sort(
        key=lambda row: (int(log(row.mean / best) / AS_GOOD), price_of(job, row.settings))
    )
    found.table += rows
    if run:
        print(f"trying the best {TRIED} settings: {TRIED + 2} times {TRY:.0f} s")
    changes = sorted(worthwhile(found, run), key=lambda one: -one.saves)
    # Epochs that differ by less than the same run differed from itself are alike
    near = 1 + min(WORTH, max(AS_GOOD, found.error))
    alike = [one for one in changes if 1 - one.saves <= near * (1 - changes[0].saves)]
    alike.sort(key=lambda one: price_of(job, one.settings))
    for one in alike + changes[len(alike) :]:  # what adds to a better one gives no more
        better = [other.settings.items() for other in found.changes]
        if not any(items <= one.settings.items() for items in better):
            found.changes.append(one)
    found.alike = sum(one in found.changes for one in alike)
    return found


# ---- which settings, and in which order ----


def combinations(job: Job) -> Iterator[Settings]:
    """Yield what differs from the loader as it is written, of all settings that are compared."""
    known, cores = job.numbers, job.numbers.cores
    # A core serves many workers that wait, but a job has 128 at most
    most = min(128, (8 if known.waits > known.works else 2) * cores)
    now, depth = job.said["num_workers"], job.said["prefetch_factor"]
    counts = {0, now, cores, *(2**power for power in range(most.bit_length()))}
    if known.stream:
        counts = set(filter(job.as_many, {0, 1, now, *known.totals}))
    for workers, threads in product(sorted(counts), sorted(known.threads)):
        ahead = product({*DEPTHS, depth}, (False, True))
        for factor, stay in ahead if workers else [(depth, False)]:
            full = {"num_workers": workers, "prefetch_factor": factor}
            full |= {"persistent_workers": stay, "threads": threads}
            changed = {name: full[name] for name in full if full[name] != job.said[name]}
            if changed:
                yield changed


def forecast_row(job: Job, setting: Settings) -> TableRow:
    """Return the forecast of a *job* with a *setting*, and how far it may be off."""
    first, later = job.forecast(**setting)
    return TableRow(setting, first, later, job.uncertainty(**setting))


def price_of(job: Job, setting: Settings) -> tuple[int, int, int]:
    """Return what sorts settings by what they cost: processes, how much changes, memory."""
    full = job.setting(**setting)
    return full["num_workers"], len(setting), full["prefetch_factor"]


def worthwhile(found: Recommendation, run: bool) -> Iterator[JobChange]:
    """Yield the changes that save enough, for the best numbers of workers and threads.

    They are really *run* if that is asked for; those that fail are noted in *found*, and
    others come in their place.
    """
    job, kinds = found.job, set[Any]()
    tried: list[tuple[TableRow, float]] = []

    def seconds(row: TableRow) -> float:
        return row.mean + (real_minus_forecast(job, row.settings) if run else 0)

    now, *rows = found.table
    before = seconds(now)
    for row in rows:
        kind = row.settings.get("num_workers"), row.settings.get("threads")
        if kind in kinds or len(tried) == TRIED:
            continue
        kinds.add(kind)
        try:
            tried.append((row, seconds(row)))
        except RuntimeError as error:
            found.failed.append(f"{as_arguments(row.settings)}: {error}")
    # Before the others and after them, because a machine may become slower in between
    after = seconds(now)
    if run:
        found.error = (found.error + abs(after / before - 1)) / 2
    for row, took in tried:
        saves = 1 - 2 * took / (before + after)
        if saves > max(AS_GOOD, found.error if run else row.within):
            yield describe(job, row.settings, saves, run)


def real_minus_forecast(job: Job, setting: Settings) -> float:
    """Return how many seconds longer than its forecast an epoch takes, by a short real run."""
    assert job.subject, "a job that was measured just now"
    full = job.setting(**setting)
    threads, factor = full["threads"], full["prefetch_factor"]
    with restored() as torch:
        if torch:
            torch.set_num_threads(threads)
        run = job.subject.go(full["num_workers"], TRY, step=True, factor=factor)
    took, forecast, count = job.compared(run, prefetch_factor=factor, threads=threads)
    return (took - forecast) / count * job.count(full)


# ---- in words ----


def as_arguments(settings: Settings) -> str:
    """Write a setting as the arguments that change, if any do."""
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "as it is"


def describe(job: Job, settings: Settings, saves: float, tried: bool) -> JobChange:
    """Return a change in words, which was *tried* in a real run or not."""
    full, given = job.setting(**settings), settings.copy()
    threads, workers = given.pop("threads", None), full["num_workers"]
    if not workers:
        loader: Any = job.subject and job.subject.loader
        given |= {
            name: off
            for name, off in FOR_WORKERS.items()
            if getattr(loader, name, off) != off
        }
    lines = [f"DataLoader(..., {as_arguments(given)})"] * bool(given)
    lines += [f"torch.set_num_threads({threads})"] * (threads is not None)
    price, alters = "no processes", "no sample changes"
    if workers:
        nbytes = workers * full["prefetch_factor"] * job.numbers.nbytes
        price = f"{counted(workers, 'processes')} and {size(nbytes)} for batches"
    if job.numbers.stream and workers > 1:
        alters = "the order of the samples changes"
    elif "num_workers" in settings:
        alters = "random augmentation will differ"
    sure = "confirmed by a real run" if tried else "predicted, not tried"
    more = f"({sure}). It needs {price}; {alters}"
    return JobChange(settings, "; ".join(lines), saves, more, tried)
