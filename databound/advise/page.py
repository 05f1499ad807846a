"""A page on a job: the verdict, the most that can be saved, changes, and forecasts beside real runs."""

import html
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lessonkit.explain.roofs import Roofs
from lessonkit.words import counted, milliseconds, number, percent, size

from ..measure.inside import Inside
from ..measure.setting import Changes, Setting, as_arguments
from ..measure.state import Training
from ..model.job import Job
from ..script.patching import may_be_given
from ..thresholds import (
    AS_GOOD,
    FORECASTS_HELD,
    MOST_ROWS,
    OTHERS,
    RANGE_HOLDS,
    SAVINGS_HELD,
    WORTH,
)
from .choosing import Bounds, Worth, work_of
from .knobs import TriedKnob
from .roofs import roofs_of
from .rows import TableRow
from .sureness import NOT_CONFIRMED, NOT_TRIED, of_a_trial
from .verdict import Verdict
from .wording import as_call

if TYPE_CHECKING:
    from lessonkit.pictures.drawing import Picture

# Verdicts after which nothing else is said
LAST_WORDS = ("step-bound", "cannot tell")
MORE_TIME = "Ask for more time by --minutes, or minutes=."
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

AS_IT_IS = "as it is"
HEADS = ("setting", "first epoch", "later epoch", "within", "tried", "saves")


HOLDS = (
    f"Ranges are made to hold in {percent(RANGE_HOLDS)} of all cases; of random jobs whose truth we know, "
    f"{percent(FORECASTS_HELD)} of those of forecasts did, and {percent(SAVINGS_HELD)} of those of savings."
)


class JobChange(NamedTuple):
    """What to change together: the *settings* and the *line* to paste.

    It *saves* a share of an epoch, *within* so much more or less, if a real run confirmed that, or
    by a forecast if it was not *tried*; *sure* says which. It *needs* processes and memory, and
    *alters* training.
    """

    settings: Changes
    line: str
    saves: float
    within: float
    sure: str
    tried: bool
    needs: str
    alters: str

    def __str__(self) -> str:
        saves = plus_or_minus(self.saves, self.within)
        return f"{self.line}: saves {saves} ({self.sure}). It needs {self.needs}; {self.alters}."


@dataclass(repr=False)
class Recommendation:
    """A page on a job: the verdict, the most that can be saved, changes, and all forecasts.

    *error* is the share by which one and the same run differed from itself. *table* has a row
    for each setting, first that of the job as it is; *failed* says which settings were tried and
    raised, and *too_long* which would have taken too long to try. The first changes, as many as are
    *alike*, save the same as far as these runs can tell; the one that costs the least is first.
    *inside* says where the time of the loader goes, where the step waits for that; *knobs* were
    tried besides, and *training* says what was put back of what the step trains.
    """

    job: Job
    decided: Verdict
    bounds: Bounds
    error: float
    table: list[TableRow]
    changes: list[JobChange] = field(default_factory=list)
    alike: int = 0
    failed: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    inside: Inside | None = None
    knobs: list[TriedKnob] = field(default_factory=list)
    training: Training | None = None

    @property
    def verdict(self) -> str:
        """What decides how long an epoch takes: one of the keys of VERDICTS."""
        return self.decided.kind

    @property
    def now(self) -> tuple[float, float]:
        """The seconds of the first and of a later epoch of the job as it is, by the forecast."""
        return self.table[0].first, self.table[0].later

    @property
    def most(self) -> float:
        """The share of an epoch that a loader would save that takes no time."""
        return self.bounds.any

    @property
    def roofs(self) -> Roofs | None:
        """The samples per second that each part allows, and those of a later epoch as it is."""
        return roofs_of(self.job, self.table[0], self.inside)

    # ---- in words ----

    @property
    def headline(self) -> str:
        """The verdict, what can be saved at most, and what the first change saves."""
        words = f"{with_capital(self.verdict)}: {self.at_most}"
        for one in self.changes[:1]:
            words += f"; the first change saves {plus_or_minus(one.saves, one.within)}"
        return f"{words}."

    @property
    def at_most(self) -> str:
        """The smaller of two bounds: what any loader could save, or what full cores allow."""
        if self.bounds.cores < self.bounds.any:
            return f"no setting can save more than {percent(self.bounds.cores)}"
        return self.roof_of_loaders()

    def sections(self) -> dict[str, list[str]]:
        """Return the page: paragraphs, with lines under them; if little can be saved, a verdict."""
        within = f"The same run, repeated, differed by {percent(self.error)}. {HOLDS}"
        found: dict[str, list[str]] = {
            f"{with_capital(str(self.decided))}.": [],
            f"{self.takes()} {self.limits()} {within}": [],
        }
        if lines := list(self.doubts()):
            found["What makes these numbers doubtful:"] = lines
        if lines := self.unlike():
            found["How many samples an epoch has depends on the number of workers:"] = lines
        if self.inside:
            found[self.inside.head] = self.inside.lines()
        if self.verdict in LAST_WORDS:
            return found | self.besides() | self.put_back() | self.measured_by()
        if roofs := self.roofs:
            found["What each part of the job allows:"] = str(roofs).splitlines()
        found[self.head()] = [
            f"{rank}. {change}" for rank, change in enumerate(self.changes, 1)
        ]
        found |= self.besides()
        found[self.rest] = []
        if self.failed:
            found["These settings were tried, and they failed:"] = self.failed
        if self.too_long:
            found[f"These settings would have taken too long to try. {MORE_TIME}"] = (
                self.too_long
            )
        found |= self.put_back()
        not_seen = list(NOT_SEEN)
        if not self.job.whole:
            not_seen.append(NOT_WHOLE)
        found["Not taken into account:"] = not_seen
        return found | self.measured_by()

    def measured_by(self) -> dict[str, list[str]]:
        """Return the last paragraph: where and how all this was measured, if that was noted."""
        origin = self.job.origin
        if origin is None:
            return {}
        return {str(origin): [f"{origin.script}."] if origin.script else []}

    def besides(self) -> dict[str, list[str]]:
        """Return what was tried beside the first change, one at a time, if anything was."""
        if not self.knobs:
            return {}
        beside = (
            f"with {self.changes[0].line}" if self.changes else "with the loader as it is"
        )
        return {f"Tried besides, each by itself, {beside}:": [*map(str, self.knobs)]}

    def put_back(self) -> dict[str, list[str]]:
        """Return what is as before of what the step trains, and what is not."""
        if self.training is None or not self.training.head:
            return {}
        return {self.training.head: self.training.not_put_back}

    def takes(self) -> str:
        """Say what an epoch takes by the forecast, and what was seen of it."""
        first, later = (milliseconds(seconds) for seconds in self.now)
        words = f"An epoch takes {first}"
        if not self.job.whole:
            words = f"{counted(self.job.batches, 'batches')} take {later}"
        elif first != later:
            words = f"The first epoch takes {first}, and a later one takes {later}"
        seen = self.job.seen
        if seen is None:
            return f"{words} by the forecast."
        batches = counted(seen.batches, "batches")
        words += (
            f" by the forecast; {batches} were seen to take {milliseconds(seen.seconds)}"
        )
        return f"{words}, and {milliseconds(seen.forecast)} by the forecast."

    def roof_of_loaders(self) -> str:
        """Say what any loader could save, also with another number of threads if steps are faster with it."""
        most = percent(self.bounds.any)
        these = self.saved_with_these_threads
        if these == self.bounds.any:
            return f"no loader can save more than {most}"
        return (
            f"no loader can save more than {percent(these)}, and none with "
            f"torch.set_num_threads({self.job.best_threads}) more than {most}"
        )

    @property
    def saved_with_these_threads(self) -> float:
        """The share that any loader could save; less than its bound if fewer threads make steps faster."""
        job = self.job
        steps = job.count(job.now) * job.pace(job.now.threads)
        these = max(0.0, 1 - steps / self.table[0].later)
        return these if self.bounds.any - these >= WORTH else self.bounds.any

    def limits(self) -> str:
        """Say what any loader could save, and what full cores allow if that is less."""
        loaders = percent(self.saved_with_these_threads)
        settings = percent(self.bounds.cores)
        if self.bounds.cores >= self.bounds.any or settings == loaders:
            return f"{with_capital(self.roof_of_loaders())}."
        return (
            f"No loader can save more than {loaders}, and no setting more than {settings}."
        )

    def doubts(self) -> Iterator[str]:
        """Yield what speaks against the numbers of this page."""
        known = self.job.numbers
        if known.others > OTHERS * known.cores:
            used = f"{number(known.others, 1)} of {counted(known.cores, 'cores')}"
            again = ": run this again when none does"
            if self.decided.kind == "cannot tell":  # which asks for that itself
                again = ""
            yield f"Other programs used {used} meanwhile{again}."
        origin = self.job.origin
        if origin is not None and origin.script is not None:
            yield from origin.script.waits_beside()
        seen = self.job.seen
        within = max(self.error, self.table[0].within, AS_GOOD)
        if seen and abs(seen.forecast / seen.seconds - 1) > within:
            yield "What was seen and the forecast of it differ by more than the range of forecasts."
        if known.not_measured:
            workers = ", ".join(map(str, known.not_measured))
            yield (
                f"Not measured, because batches take long: num_workers={workers}. Forecasts with "
                f"as many take what fewer workers showed. {MORE_TIME}"
            )
        if any(change.sure == NOT_CONFIRMED for change in self.changes):
            yield (
                "A real run took less than these numbers allow, so its saving is not confirmed: "
                "the job or the machine changed meanwhile."
            )

    def head(self) -> str:
        """Return the words above the changes."""
        if not self.changes:
            least = max(AS_GOOD, self.error)
            change = "No change of a setting"
            amount = percent(least)
            if any(knob.worth for knob in self.knobs):
                change = "No change that can be forecast"
            if any(row.tried and self.saved(row) > least for row in self.table[1:]):
                amount = "its runs differed from each other"
            return f"{change} saves more than {amount}."
        if self.alike > 1:
            return f"Change this (the first {self.alike} save the same; number 1 needs the least):"
        return "Change this:"

    @property
    def rest(self) -> str:
        """Why no setting saves as much as a loader would that takes no time."""
        if self.bounds.cores >= self.bounds.any:
            return (
                "No setting saves the start of workers, or the loop's own time per batch."
            )
        work = milliseconds(work_of(self.job))
        cores = counted(self.job.numbers.cores, "cores")
        return (
            f"No setting can save more than {percent(self.bounds.cores)}, because an epoch is "
            f"{work} of work for {cores}."
        )

    def unlike(self) -> list[str]:
        """Return how many samples an epoch has with each number of workers, if these differ."""
        job = self.job
        counts = sorted({0, job.now.num_workers, *job.numbers.totals})
        if all(job.as_many(workers) for workers in counts):
            return []
        lines = [
            f"num_workers={workers}: {counted(round(job.total(workers)), 'samples')}"
            for workers in counts
        ]
        if job.repeats:
            lines.append(SHARE_OUT)
        return lines

    # ---- the table ----

    def asked(self) -> list[TableRow]:
        """Return the rows that a user would ask for: the job as it is, then the best.

        They are the job as it is, with other numbers of workers, with what was tried, at its best,
        and with a longer queue, which is often tried and saves nothing.
        """
        asked: list[Changes] = [{"num_workers": workers} for workers in (1, 2, 4, 8)]
        asked += [row.changes for row in self.table if row.tried is not None]
        asked += [change.settings for change in self.changes]
        for row in self.table[:2]:  # now, and the best
            asked += [row.changes, row.changes | {"prefetch_factor": 4}]
        return [row for row in self.table if row.changes in asked][:MOST_ROWS]

    def saved(self, row: TableRow) -> float:
        """Return the share of an epoch that *row* saves: by a real run if there was one."""
        now = self.table[0]
        if row.tried is not None and now.tried is not None:
            return min(self.bounds.least, 1 - row.tried / now.tried)
        return min(self.bounds.least, 1 - row.mean / now.mean)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table in words, below its heads; what only a forecast saves is in brackets."""
        if self.verdict in LAST_WORDS or len(self.table) == 1:
            return []
        rows: list[tuple[str, ...]] = [HEADS]
        for row in self.asked():
            tried = f"{row.tried:.3f} s" if row.tried is not None else ""
            saves = percent(self.saved(row)) if row.changes else ""
            if saves and row.tried is None:
                saves = f"({saves})"
            times = f"{row.first:.3f} s", f"{row.later:.3f} s", percent(row.within), tried
            rows.append((self.named(row), *times, saves))
        return rows

    def named(self, row: TableRow) -> str:
        """Write what a row changes as arguments, or what the job as it is has."""
        if row.changes:
            return as_arguments(row.changes)
        return f"{AS_IT_IS} ({self.as_it_is()})"

    def as_it_is(self) -> str:
        """Write the arguments of the loader as they are, and the threads of the step."""
        now = self.job.now
        arguments: Changes = {"num_workers": now.num_workers}
        if now.num_workers:
            arguments["prefetch_factor"] = now.prefetch_factor
            arguments["persistent_workers"] = now.persistent_workers
        arguments["threads"] = now.threads
        return as_arguments(arguments)

    @property
    def picture(self) -> "Picture":
        """How long an epoch takes with the settings of `asked`, by forecasts and by real runs."""
        from lessonkit.pictures.charts import TimedSetting, plot_settings

        settings = []
        for row in self.asked():
            told = percent(self.saved(row)) if row.changes else ""
            name = as_arguments(row.changes) or AS_IT_IS
            settings.append(TimedSetting(name, row.mean, row.within, row.tried, told))
        return plot_settings(settings, self.table[0].mean * (1 - self.most))

    # ---- for programs, terminals and notebooks ----

    def numbers(self) -> dict[str, Any]:
        """Return the page for programs; times are in seconds, and shares between 0 and 1."""
        known = self.job.numbers
        return {
            "verdict": self.verdict,
            "error": self.error,
            "most": self.bounds.any,
            "most_by_cores": self.bounds.cores,
            "now": self.now,
            "seen": self.job.seen._asdict() if self.job.seen else None,
            "setting": asdict(self.job.now),
            "cores": known.cores,
            "other_programs": known.others,
            "batches": self.job.batches,
            "samples": self.job.samples,
            "changes": [change._asdict() for change in self.changes],
            "alike": self.alike,
            "failed": self.failed,
            "too_long": self.too_long,
            "not_measured": known.not_measured,
            "knobs": [knob._asdict() for knob in self.knobs],
            "put_back": self.training.names if self.training else [],
            "not_put_back": self.training.not_put_back if self.training else [],
            "inside": self.inside.numbers() if self.inside else None,
            "roofs": asdict(roofs) if (roofs := self.roofs) else None,
            "table": [row._asdict() for row in self.table],
            "origin": asdict(self.job.origin) if self.job.origin else None,
        }

    def __str__(self) -> str:
        lines = list[str]()
        for text, under in self.sections().items():
            lines.append(text)
            lines += [f"    {line}" for line in under]
        for name, *cells in self.rows():
            lines.append(f"{name:72}{''.join(f'{cell:>13}' for cell in cells)}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the page for a notebook or a browser: the picture, the words, the table."""
        from lessonkit.pictures.roofs import plot_roofs

        page = in_tags("h3", [self.headline])
        rows = self.rows()
        if rows:
            with suppress(ImportError):  # without matplotlib there is no picture
                page += drawn(self.picture)
                if roofs := self.roofs:
                    page += drawn(plot_roofs(roofs, title="what each part allows"))
        page += in_tags("pre", [one.line for one in self.changes[:1]])  # to copy
        for text, under in self.sections().items():
            page += in_tags("p", [text])
            if under:
                page += f"<ul style='list-style:none'>{in_tags('li', under)}</ul>"
        if rows:
            cells = "".join(f"<tr>{in_tags('td', row)}</tr>" for row in rows)
            page += f"<details><summary>forecasts</summary><table>{cells}</table></details>"
        return page


def drawn(picture: "Picture") -> str:
    """Return a *picture* as an element of HTML. Raises ImportError without matplotlib."""
    from lessonkit.pictures.drawing import png

    words = html.escape(picture.words)
    data = b64encode(png(picture)).decode()
    return f'<img alt="{words}" src="data:image/png;base64,{data}" style="max-width:100%">'


def in_tags(tag: str, texts: Iterable[str]) -> str:
    """Return *texts* as elements of HTML."""
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def with_capital(text: str) -> str:
    """Return *text* as the beginning of a sentence."""
    return text[0].upper() + text[1:]


def plus_or_minus(share: float, within: float) -> str:
    """Write a share with its range, in whole percent: no digit says more than is known.

    >>> plus_or_minus(0.416, 0.07)
    '42 ± 7 %'
    """
    return f"{round(100 * share)} ± {max(1, round(100 * within))} %"


# ---- one change, in words ----


def described(job: Job, found: Worth) -> JobChange:
    """Return what is worth it as a change in words."""
    setting = job.setting(**found.row.changes)
    tried = found.row.tried is not None
    return JobChange(
        settings=found.row.changes,
        line=line_of(job, found.row.changes, setting),
        saves=found.saves,
        within=found.within,
        sure=how_sure(found),
        tried=tried,
        needs=needs_of(job, found.row, setting),
        alters=alters_of(job, found.row.changes, setting),
    )


def how_sure(found: Worth) -> str:
    """Say how sure it is that what was *found* saves something."""
    if found.row.tried is None:
        return NOT_TRIED
    return of_a_trial(found.saves, found.within, believed=found.believed)


def line_of(job: Job, changes: Changes, setting: Setting) -> str:
    """Return the line to paste for *changes*, which make a *setting*; first where it belongs."""
    arguments, threads = arguments_of(job, changes, setting)
    script = job.origin.script if job.origin else None
    lines = []
    if arguments:
        lines.append(as_call(arguments, script))
    if threads is not None:
        lines.append(f"torch.set_num_threads({threads})")
    where = f"{script.change_at}   " if script and script.change_at else ""
    return where + "; ".join(lines)


def arguments_of(
    job: Job, changes: Changes, setting: Setting
) -> tuple[dict[str, object], int | None]:
    """Return what the loader is to be given for *changes*, and the number of threads of the step."""
    arguments: dict[str, object] = {**changes}
    arguments.pop("threads", None)
    if not setting.num_workers:
        loader = getattr(job.subject, "loader", None)
        arguments |= {
            name: off
            for name, off in FOR_WORKERS.items()
            if getattr(loader, name, off) != off and may_be_given(loader, name)
        }
    return arguments, setting.threads if "threads" in changes else None


def needs_of(job: Job, row: TableRow, setting: Setting) -> str:
    """Return what a *setting* needs: processes, their memory if it was seen, and that of batches."""
    workers = setting.num_workers
    if not workers:
        return "no processes"
    words = counted(workers, "processes")
    if row.private:
        words += f" with {size(workers * row.private)} of their own"
    if job.numbers.nbytes:
        words += f" and {size(setting.ahead * job.numbers.nbytes)} for batches"
    return words


def alters_of(job: Job, changes: Changes, setting: Setting) -> str:
    """Return what *changes* do to the samples of a training."""
    if job.numbers.stream and setting.num_workers > 1:
        return "the order of the samples changes"
    if "num_workers" in changes:
        return (
            "samples and their order stay, random numbers drawn in __getitem__ are others"
        )
    return "no sample changes"
