"""A number in prose is what a run gives: `tools.numbers` computes those that a comment follows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from nbconvert.filters import markdown2html

from tools import numbers
from tools.comments import comments, without_comments
from tools.lesson import lesson
from tools.lessons import LESSONS, Lesson

PAGES = numbers.pages()

each = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(numbers.ROOT).as_posix()
)


@each
def test_the_numbers_of_a_page_are_what_a_run_gives(page: Path) -> None:
    known = numbers.names_of(page)
    wrong = [
        line
        for text in numbers.texts_of(page)
        for line in numbers.differences(text, numbers.renewed(text, known))
    ]
    assert not wrong, "\n".join(wrong)


@each
def test_no_reader_sees_a_comment(page: Path) -> None:
    for text in numbers.texts_of(page):
        with_them = re.sub("<!--.*?-->", "", markdown2html(text), flags=re.S)
        without = markdown2html(without_comments(text))
        assert re.sub(r"\s+", "", with_them) == re.sub(r"\s+", "", without)


@pytest.mark.parametrize("this", LESSONS, ids=lambda this: this.name)
def test_each_lesson_and_each_page_for_its_teacher_has_numbers(this: Lesson) -> None:
    assert {this.notebook, this.teachers_page} <= {*PAGES}


@pytest.mark.parametrize(
    ("there", "expression", "right"),
    [
        ("takes 210 ms", "0.2104", "takes 210 ms"),
        ("takes 210 ms", "0.2106", "takes 211 ms"),
        ("takes 25.2 ms", "0.02525", "takes 25.2 ms"),  # a half may go either way
        ("takes 25.3 ms", "0.02525", "takes 25.3 ms"),
        ("takes 988 ms", "1.21", "takes 1,210 ms"),
        ("takes **1,210 ms**", "0.9876", "takes **988 ms**"),
        ("is $2 × 3 = 6 s$", "7", "is $2 × 3 = 7 s$"),
        ("busy 50 %", "0.286", "busy 29 %"),
        ("busy 28.6 %", "0.5", "busy 50.0 %"),
        ("has 3.2 MB", "400_000", "has 0.4 MB"),
        ("has 193 GB", "2e9", "has 2 GB"),
        ("is 3.5", "3.46", "is 3.5"),
        ("Twelve", "13", "Thirteen"),
        ("Twelve", "21", "21"),
        ("Twelve", "9", "Nine"),
        ("of four", "5", "of five"),
    ],
)
def test_a_number_is_written_in_the_unit_and_with_the_digits_that_are_there(
    there: str, expression: str, right: str
) -> None:
    comment = f"<!--= {expression} -->"
    text = f"It {there}{comment} in all."
    new = numbers.renewed(text, {})
    assert new == f"It {right}{comment} in all."
    assert bool(numbers.differences(text, new)) == (there != right)


def test_expressions_have_the_names_that_comments_before_them_define() -> None:
    text = "<!--: half = 1 / 2 -->\n\nA half, 10 %<!--= half -->, and 1 ms<!--= half / 100 -->."
    assert without_comments(numbers.renewed(text, {})) == "\n\nA half, 50 %, and 5 ms."
    solved = "<details><summary>A solution</summary>\n\n```python\nbest = 4\n```\n\nIt has 3<!--= best -->."
    assert "has 4<!--" in numbers.renewed(solved, {})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("It is fast<!--= 1 -->.", "1: there is no number directly before it"),
        ("In 2 ms <!--= 1 -->.", "1: there is no number directly before it"),
        ("In 2 ms<!--= 1 --><!--= 2 -->.", "2: there is no number directly before it"),
        ("In v2<!--= 1 -->.", "1: there is no number directly before it"),
        ("In 2 ms<!--= fast -->.", "fast: NameError: name 'fast' is not defined"),
        ("<!--: 1 / 0 -->", "1 / 0: ZeroDivisionError: division by zero"),
        ("| 2 ms<!--= {} | {} --> |", r"{} \| {}: a \| ends a cell of the table"),
        (
            "2 ms<!--= same(1, 2) -->",
            r"same\(1, 2\): ValueError: 1 is not the same as \(2,\)",
        ),
    ],
)
def test_a_comment_that_an_editor_has_to_mend_says_so(text: str, problem: str) -> None:
    with pytest.raises(numbers.CommentError, match=f"^{problem}"):
        numbers.renewed(text, numbers.names_for_all())


def test_a_wrong_number_that_no_question_explains_is_refused() -> None:
    found = lesson(LESSONS[0].name)
    assert numbers.explained(found, 0.180) == 0.180
    with pytest.raises(ValueError, match="is no wrong answer that 00_start_here explains"):
        numbers.explained(found, 0.181)


@pytest.mark.parametrize("name", ["page.md", "lesson.ipynb"])
def test_pages_are_compared_and_written_anew(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(numbers, "ROOT", tmp_path)
    text = "It takes 3 s<!--= 2 -->.\n\nThen 5 %<!--= 0.05 -->.\n"
    page = tmp_path / name
    cells = [
        {"cell_type": "code", "source": ["1 + 1"]},
        {"cell_type": "markdown", "source": text.splitlines(keepends=True)},
    ]
    page.write_text(text if name.endswith(".md") else json.dumps({"cells": cells}))
    assert numbers.main(["check", str(page)])
    assert capsys.readouterr().out == f"{name}: 3 s should be 2 s: 2\n"
    assert not numbers.main(["write", str(page)])
    assert numbers.texts_of(page) == [text.replace("3 s", "2 s")]
    assert not numbers.main(["check", str(page)])
    assert numbers.main([])


def test_code_has_no_comments() -> None:
    text = "`1<!--= 2 -->`\n\n```\n1<!--= 2 -->\n```\n\n1<!--= 2 -->"
    assert len([*comments(text)]) == 1
    assert without_comments(text) == text.removesuffix("<!--= 2 -->")


@each
def test_all_other_comments_are_around_what_is_written_from_the_table_or_waits_for_an_owner(
    page: Path,
) -> None:
    """So a comment that was to compute a number, and does not begin as it must, is seen."""
    for text in numbers.texts_of(page):
        computing = {found[0] for found in comments(text)}
        others = {*re.findall("<!--.*?-->", text, re.S)} - computing
        known = r"<!-- (lessons: \w+|end|with an owner: .+) -->"
        assert not [one for one in others if not re.fullmatch(known, one, re.S)]
