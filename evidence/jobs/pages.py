"""What must hold on every page that `recommend` gives, whatever the job: no number contradicts another."""

import re
from collections.abc import Iterator

from databound.advise.page import LAST_WORDS, Recommendation
from databound.advise.sureness import CONFIRMED
from databound.thresholds import AS_GOOD, WORTH

ROUNDED = 0.006  # half of the last digit of a share on the page, which has three
FOUND = re.compile(r"-\d[\d.,]* (?:%|ms|s\b)")


def contradictions(page: Recommendation) -> Iterator[str]:
    """Yield what on a *page* contradicts the rest of it."""
    text = str(page)
    bounds = page.bounds
    if not 0 <= bounds.least <= bounds.any <= 1:
        yield f"bounds {bounds}"
    for told in re.findall(r"can save more than (\S+) %", text):
        if not 0 <= float(told.replace(",", "")) <= 100:
            yield f"a bound of {told} %"
    for told in FOUND.findall(text.split("setting ", 1)[0]):
        yield f"less than nothing: {told}"
    if page.verdict in LAST_WORDS:
        if (
            page.changes
            or page.rows()
            or " saves " in text.replace("saves next to nothing", "")
        ):
            yield f"{page.verdict}, and still a table or a change"
        return
    yield from contradictions_of_changes(page)
    yield from contradictions_of_rows(page)
    if not page.changes and (
        told := re.findall(r"No change of a setting saves more than (\S+) %", text)
    ):
        for row in page.asked():
            if row.tried is not None and row.changes:
                if page.saved(row) > float(told[0].replace(",", "")) / 100 + ROUNDED:
                    yield f"nothing saves {told[0]} %, but {row.changes} saves {page.saved(row):.3f}"


def contradictions_of_changes(page: Recommendation) -> Iterator[str]:
    """Yield what the changes of a *page* contradict."""
    bounds = page.bounds
    now = page.job.now.num_workers
    for place, change in enumerate(page.changes):
        if change.saves > bounds.least + 1e-9:
            yield f"{change.settings} saves {change.saves:.3f}, above {bounds}"
        if change.saves <= AS_GOOD:
            yield f"{change.settings} saves {change.saves:.3f}, next to nothing"
        if change.sure == CONFIRMED:
            row = next(row for row in page.table if row.changes == change.settings)
            if row.tried is None:
                yield f"{change.settings} is confirmed, and was never run"
            if change.saves <= change.within:
                yield f"{change.settings} is confirmed, and may save nothing"
        saved = [page.saved(row) for row in page.table if row.changes == change.settings]
        if len(saved) != 1 or abs(saved[0] - change.saves) > ROUNDED:
            yield f"{change.settings} saves {change.saves:.3f}, and {saved} in the table"
        more = change.settings.get("num_workers", now) > now
        if more and "already uses all cores" in page.decided.advice:
            yield "only a cheaper loader helps, and a change has more workers"
        if (
            place < page.alike
            and 1 - change.saves > (1 + WORTH) * (1 - page.changes[0].saves) + 0.06
        ):
            yield f"{change.settings} is not as good as what it is said to be like"
    if page.alike > len(page.changes):
        yield f"{page.alike} of {len(page.changes)} are alike"


def contradictions_of_rows(page: Recommendation) -> Iterator[str]:
    """Yield what the table of a *page* contradicts."""
    for row in page.table:
        if row.changes and page.saved(row) > page.bounds.least + ROUNDED:
            yield f"{row.changes} saves {page.saved(row):.3f} of {page.bounds.least:.3f}"
        if min(row.first, row.later, row.within) < 0:
            yield f"{row} has less than nothing"
    seen = page.job.seen
    if seen:
        off = abs(seen.forecast / seen.seconds - 1)
        if off > max(
            page.error, page.table[0].within, AS_GOOD
        ) and "What was seen" not in str(page):
            yield f"{off:.2f} between what was seen and its forecast, without a word"
