"""Total what a class has answered: first answers to each question, and how sure the learners were.

    python -m delivery.classroom.answers *.json *.zip

Each file is a report that a learner handed in, or an archive that holds reports: *Download
all my work* of the site, or all that a class has sent. `docs/record.json` says what a report is.
A file that is none is named and left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import jsonschema

SCHEMA = Path(__file__).parents[2] / "docs" / "record.json"
WIDE = 30  # marks of a bar for all
LARGEST = 2_000_000  # bytes of a report; a course of all lessons has a tenth of that
MOST = 1000  # reports in an archive
# What is missing, damaged, encrypted or no report
UNREADABLE = (OSError, ValueError, RuntimeError, BadZipFile, zlib.error)

Record = dict[str, Any]
Asked = tuple[str, str]  # a lesson and a question


class Report(NamedTuple):
    """What a learner has handed in; the *name* may be empty."""

    name: str
    records: list[Record]


class Given(NamedTuple):
    """What somebody did with one question, and the name in the report, if it has one."""

    name: str
    record: Record

    @property
    def begun(self) -> tuple[str, str]:
        """When it was begun, and what was said first."""
        first = (self.record.get("tries") or [self.record])[0]
        return first["when"], json.dumps(first["said"])

    def is_of_the_same_learner(self, other: Given) -> bool:
        """Whether both are of one learner, as far as one can tell."""
        has_other_name = self.name and other.name and self.name != other.name
        return self.begun == other.begun and not has_other_name


@cache
def validator() -> jsonschema.Draft202012Validator:
    """Return what holds a report to its schema."""
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def texts(path: Path) -> Iterator[bytes]:
    """Give what may be a report in a file or an archive, and of each no more than it may have."""
    if path.suffix != ".zip":
        with path.open("rb") as file:
            yield file.read(LARGEST + 1)
        return
    with ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith("report.json")]
        for name in names[:MOST]:
            with archive.open(name) as file:
                yield file.read(LARGEST + 1)


def report_in(text: bytes) -> Report:
    """Return the report that *text* is; raise ValueError if it is none."""
    if len(text) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if error := jsonschema.exceptions.best_match(validator().iter_errors(report)):
        place = "/".join(map(str, error.absolute_path))
        raise ValueError(f"it is no report{place and f', because of {place}'}")
    return Report(report["name"].strip(), report["records"])


def collected(paths: list[Path]) -> tuple[dict[Asked, list[Record]], list[str]]:
    """Return the records of all learners by questions, and what to say of files that are no reports.

    A learner who hands in a report twice counts once, and is known by the time and the answer of
    the first try, and by the name where both reports have one: in a large class two learners
    commit in the same millisecond.
    """
    found: dict[Asked, list[Given]] = defaultdict(list)
    left_out = []
    for path in paths:
        try:
            reports = [report_in(text) for text in texts(path)]
            if not reports:
                raise ValueError("it holds no report")
        except UNREADABLE as error:
            left_out.append(f"{path} is left out: {error}")
            continue
        for report in reports:
            for record in report.records:
                add(found[record["lesson"], record["question"]], Given(report.name, record))
    ordered = sorted(found.items(), key=lambda one: one[0][0])
    return {asked: [one.record for one in given] for asked, given in ordered}, left_out


def add(known: list[Given], given: Given) -> None:
    """Add what a learner has *given* to one question, or let it take the place of an older report."""
    for place, one in enumerate(known):
        if one.is_of_the_same_learner(given):
            known[place] = max(one, given, key=lambda each: each.record["when"])
            return
    known.append(given)


def table(found: dict[Asked, list[Record]]) -> Iterator[str]:
    """Write for each question the first answers, the most frequent ones first; and who passed a challenge."""
    for (lesson, question), learners in found.items():
        told = [(record, judged) for record in learners if (judged := tries(record))]
        passed = [record["right"] for record in learners if record["kind"] == "challenge"]
        if told or passed:
            yield f"{lesson}: {question}"
        if passed:
            yield f"  {sum(passed)} of {len(passed)} passed"
        if told:
            yield from first_answers([judged[0] for _, judged in told])
            ended = sum(record.get("right", False) for record, _ in told)
            yield f"  {ended} of {len(told)} right in the end"


def tries(record: Record) -> list[Record]:
    """Return the answers that were judged."""
    return [one for one in record.get("tries", ()) if "words" in one and "right" in one]


def first_answers(firsts: list[Record]) -> Iterator[str]:
    """Write how many learners gave each answer, and how sure they were."""
    counts = Counter((one["words"], one["right"]) for one in firsts)
    for (words, right), count in counts.most_common():
        sure = Counter(one["sure"] for one in firsts if one["words"] == words)
        told = ", ".join(f"{many} {how}" for how, many in sure.most_common())
        bar = "▇" * max(1, round(WIDE * count / len(firsts)))
        yield f"  {'✓' if right else '✗'} {words:32} {count:3} {bar} ({told})"


def printable(line: str) -> str:
    """Return a line in which nothing moves the cursor or changes a colour."""
    return "".join(letter if letter.isprintable() else " " for letter in line)


def main() -> int:
    """Total what the command line names; return 1 if a file was left out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "files", nargs="+", type=Path, help="reports, or archives with reports"
    )
    found, left_out = collected(parser.parse_args().files)
    for line in table(found):
        print(printable(line))
    for line in left_out:
        print(printable(line), file=sys.stderr)
    return bool(left_out)


if __name__ == "__main__":
    sys.exit(main())
