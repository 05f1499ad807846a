"""The short report of the command: where the job is, its verdict, and the line to change."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from lessonkit.words import counted, milliseconds

from .origin import InScript
from .page import LAST_WORDS, Recommendation, arguments_of, plus_or_minus, with_capital
from .patching import Line
from .rewriting import CannotRewriteError, diff
from .setting import Changes
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
    script = page.job.origin.script if page.job.origin else None
    yield f"{with_capital(page.verdict)}: {takes(page)}. {page.limits()}"
    yield from (f"    {line}" for line in page.doubts())
    if page.verdict in LAST_WORDS:
        yield f"{with_capital(str(page.decided))}."
    elif not page.changes:
        yield page.head()
    elif page.alike > 1:
        yield f"The first {page.alike} save the same; number 1 needs the least:"
    for change in page.changes:
        row = next(row for row in page.table if row.changes == change.settings)
        saves = f"saves {plus_or_minus(change.saves, change.within)}"
        if row.tried is not None:
            saves = f"tried: {seconds(row.tried)}, {saves}"
        yield f"    {change.line}     {saves} ({change.sure})"
    if saved:
        yield saved
    if script is not None and script.target and page.changes:
        yield f"Try it on all of it:  {command_to_try(page.changes[0].settings, script)}"


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
