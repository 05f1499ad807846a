"""The answers of a class, totalled from the reports that learners hand in, whatever those hold."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from delivery.classroom.answers import LARGEST, collected, report_in, table

QUESTION = "How long does it take?"
TOTALS = """\
00_start_here: How long does it take?
  ✗ 210 ms                             2 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ (1 certain, 1 a guess)
  ✓ 310 ms                             1 ▇▇▇▇▇▇▇▇▇▇ (1 fairly sure)
  2 of 3 right in the end
01_prefetch: Be quick.
  1 of 2 passed"""


def at(second: int) -> str:
    return f"2026-03-01T09:00:{second:02}.000Z"


def answered(*tries: tuple[str, str, bool], begun: int, **changes: Any) -> dict[str, Any]:
    """The record of a question that was tried so often."""
    told = [
        {"said": 1, "words": words, "sure": sure, "right": right, "when": at(begun + place)}
        for place, (words, sure, right) in enumerate(tries)
    ]
    record = {
        "schema": 1,
        "lesson": "00_start_here",
        "kind": "number",
        "question": QUESTION,
        "said": 1,
        "sure": "certain",
        "tries": told,
        "right": any(right for *_, right in tries),
        "when": at(begun + len(tries)),
    }
    return record | changes


def task(right: bool, when: int) -> dict[str, Any]:
    about = {
        "schema": 1,
        "lesson": "01_prefetch",
        "kind": "challenge",
        "question": "Be quick.",
    }
    return about | {"said": None, "right": right, "when": at(when)}


def report(*of: dict[str, Any], **changes: Any) -> str:
    made = {"schema": 1, "name": "", "when": at(59), "records": [*of]}
    return json.dumps(made | changes)


def test_first_answers_are_counted_over_reports_and_archives(tmp_path: Path) -> None:
    anna = answered(("210 ms", "certain", False), ("310 ms", "certain", True), begun=1)
    with ZipFile(tmp_path / "anna.zip", "w") as archive:
        archive.writestr("my-report.json", report(anna, task(True, 4)))
        archive.writestr("00_start_here.ipynb", "{}")
    with ZipFile(tmp_path / "others.zip", "w") as archive:
        ben = answered(("210 ms", "a guess", False), begun=5)
        clara = answered(("310 ms", "fairly sure", True), begun=7)
        archive.writestr("ben-report.json", report(ben, task(False, 8)))
        archive.writestr("sub/clara-report.json", report(clara))
    found, left_out = collected([tmp_path / "anna.zip", tmp_path / "others.zip"])
    assert "\n".join(table(found)) == TOTALS
    assert not left_out


def test_who_hands_in_twice_counts_once_with_the_later_report(tmp_path: Path) -> None:
    paths = [tmp_path / "first.json", tmp_path / "then.json", tmp_path / "again.json"]
    first = answered(("210 ms", "certain", False), begun=1)
    then = answered(("210 ms", "certain", False), ("310 ms", "certain", True), begun=1)
    for path, one in zip(paths, (first, then, first), strict=True):
        path.write_text(report(one))
    found, _ = collected(paths)
    assert [*table(found)][-1] == "  1 of 1 right in the end"


def test_two_learners_in_one_millisecond_count_twice(tmp_path: Path) -> None:
    """In a room of 300 they commit in the same one; names or answers tell them apart."""

    def count(*given: tuple[str, str]) -> int:
        paths = []
        for number, (name, words) in enumerate(given):
            one = report(answered((words, "certain", True), begun=1), name=name)
            paths.append(tmp_path / f"{number}.json")
            paths[-1].write_text(one)
        (found,) = collected(paths)[0].values()
        return len(found)

    assert count(("Anna", "1 ms"), ("Ben", "1 ms")) == 2
    assert count(("Anna", "1 ms"), ("", "1 ms")) == 1  # who typed the name the second time
    assert count(("Anna", "1 ms"), ("Anna", "1 ms"), ("Ben", "1 ms")) == 2


def test_who_only_looked_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    untried = answered(begun=1, said=-1, sure="")
    unjudged = answered(begun=1, question="And that?")
    unjudged["tries"] = [{"said": 1, "sure": "certain", "when": at(1)}]
    path.write_text(report(untried, unjudged))
    assert [*table(collected([path])[0])] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is not JSON"),
        ("\x00\xff", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it is no report"),
        (report(schema=2), "it is no report, because of schema"),
        (report(answered(begun=1, schema=2)), "it is no report, because of records/0"),
        (report(answered(begun=1, kind="poll")), "it is no report, because of records/0"),
        (
            report(answered(begun=1, tries={})),
            "it is no report, because of records/0/tries",
        ),
        (report(answered(begun=1, more=1)), "it is no report, because of records/0"),
        (report(name="x" * 101), "it is no report, because of name"),
        (" " * (LARGEST + 1), "it has more than 2,000,000 bytes"),
    ],
)
def test_what_is_no_report_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        report_in(text.encode("latin-1"))


def test_a_file_that_is_no_report_is_named_and_the_others_count(tmp_path: Path) -> None:
    names = "bomb.zip", "no.zip", "empty.zip", "notebook.ipynb", "missing.json"
    bomb, no, empty, notebook, _ = paths = [tmp_path / name for name in names]
    with ZipFile(bomb, "w", ZIP_DEFLATED) as archive:
        archive.writestr("report.json", b" " * 100 * LARGEST)
    no.write_text("no archive")
    with ZipFile(empty, "w") as archive:
        archive.writestr("notes.txt", "mine")
    notebook.write_text(json.dumps({"cells": [], "metadata": {}}))
    good = tmp_path / "good.json"
    red = "\x1b[31m<b>red</b>"
    good.write_text(report(answered((red, "certain", True), begun=1)))
    command = [
        sys.executable,
        "-m",
        "delivery.classroom.answers",
        *map(str, paths),
        str(good),
    ]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
    assert ran.returncode == 1
    assert "✓  [31m<b>red</b>" in ran.stdout
    assert "\x1b" not in ran.stdout
    said = ran.stderr.splitlines()
    assert [line.split(" is left out: ")[0] for line in said] == [*map(str, paths)]
    told = (
        "more than 2,000,000 bytes",
        "not a zip",
        "no report",
        "no report",
        "No such file",
    )
    assert all(words in line for words, line in zip(told, said, strict=True))
