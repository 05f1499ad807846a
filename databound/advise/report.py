"""The short report of the command: where the job is, its verdict, and the line to change."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from lessonkit.words import counted, milliseconds

from ..measure.setting import Changes
from ..origin import InScript
from ..script.patching import Line
from ..script.rewriting import CannotRewriteError, diff
from .page import (
    LAST_WORDS,
    JobChange,
    Recommendation,
    arguments_of,
    plus_or_minus,
    with_capital,
)
from .sureness import LEFT_OPEN, NOT_CONFIRMED
from .wording import in_their_words


@dataclass(frozen=True)
class Found:
    """The *page* that the command came to; of a script, the sentence on what it *saved*."""

    page: Recommendation
    saved: str = ""


def report(found: Found) -> str:
    """Return what was *found* in a few lines."""
    return "".join(f"{line}\n" for line in lines_of(found.page, found.saved))


def lines_of(page: Recommendation, saved: str) -> Iterator[str]:
    """Yield the lines of a report."""
    origin = page.job.origin
    script = origin.script if origin else None
    if page.job.subject is None:  # it was stored
        yield from (str(known) for known in (origin, script) if known)
    is_all = page.verdict in LAST_WORDS
    verdict = f"{page.decided}. It takes" if is_all else f"{page.verdict}:"
    yield f"{with_capital(verdict)} {takes(page)}. {page.limits()}"
    yield from (f"    {line}" for line in page.doubts())
    if not page.changes and not is_all:
        yield page.head()
    elif page.alike > 1:
        yield f"The first {page.alike} save the same; number 1 needs the least:"
    for change in page.changes:
        yield f"    {change.line}     {worth_of(page, change)}"
    last = [saved] if saved else []
    if script is not None and script.target and page.changes:
        command = command_to_try(page.changes[0].settings, script)
        last.append(f"Try it on all of it:  {command}")
    if last:
        yield " ".join(last)


def worth_of(page: Recommendation, change: JobChange) -> str:
    """Say what an epoch takes with a *change*, and what that saves: as it was tried, or by forecast."""
    row = next(row for row in page.table if row.changes == change.settings)
    saves = f"saves {plus_or_minus(change.saves, change.within)}"
    if row.tried is None:
        return f"forecast: {seconds(row.mean)}, {saves}"
    if change.sure == NOT_CONFIRMED:
        saves += ", not confirmed"
    elif change.sure == LEFT_OPEN:
        saves += ", or nothing"
    return f"tried: {seconds(row.tried)}, {saves}"


def takes(page: Recommendation) -> str:
    """Say how long an epoch takes: as it was tried, or by the forecast."""
    batches = counted(page.job.batches, "batches")
    now = page.table[0]
    if now.tried is not None:
        return f"{batches} in {seconds(now.tried)}"
    return f"{batches} in {seconds(now.mean)} by the forecast"


def seconds(value: float) -> str:
    """Write a time of an epoch, in seconds with three digits or whole milliseconds."""
    return f"{value:.3g} s" if value >= 1 else milliseconds(value)


def command_to_try(changes: Changes, script: InScript) -> str:
    """Return the command that runs all of a *script* with *changes*."""
    told = ",".join(f"{name}={value}" for name, value in changes.items())
    return f"databound --set {shlex.quote(told)} {script.target}"


def diff_of(page: Recommendation) -> str:
    """Return the first change of a *page* as a unified diff of the user's file.

    Raises CannotRewriteError, whose message is a sentence, if there is none.
    """
    if not page.changes:
        raise CannotRewriteError("there is nothing to change")
    origin = page.job.origin
    script = origin.script if origin else None
    if script is None or not script.line:
        raise CannotRewriteError("nobody knows at which line the loader is made")
    changes = page.changes[0].settings
    arguments, threads = arguments_of(page.job, changes, page.job.setting(**changes))
    callee = script.arguments or "DataLoader"
    words = in_their_words(arguments, script)
    return diff(Line(script.file, script.line), callee, words, threads)
