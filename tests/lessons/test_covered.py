"""Nothing in sight tells the answer to a question before the learner commits, and no source holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.sections import further_of, sections, tags

from lessonkit.engine.trace import Trace
from lessonkit.widgets.page_data import page_data
from lessonkit.widgets.questions import Number, Question
from tools.lesson import WRITTEN, Lesson, lesson

NOTE = re.compile(r"<details>.*?</details>", re.S)
COVERED = {"tags": ["covered"], "jp-MarkdownHeadingCollapsed": True}
each = pytest.mark.parametrize("name", WRITTEN)


def asked(found: Lesson) -> dict[str, Question]:
    return {
        cell: value for cell, value in found.values.items() if isinstance(value, Question)
    }


@each
def test_a_cell_that_asks_says_so_by_its_tag_and_holds_no_answer(name: str) -> None:
    found = lesson(name)
    assert {cell.id for cell in found.cells if "predict" in tags(cell)} == set(asked(found))
    for cell in found.cells:
        if cell.id in asked(found):  # `answer=` says what is measured, which is no answer
            assert not re.search(r"\b(wrong|why)\s*=", cell.source), cell.id


@each
def test_a_covered_section_begins_with_a_folded_heading_that_tells_nothing(
    name: str,
) -> None:
    found = lesson(name)
    for above, place, end in sections(found):
        cell = found.cells[place]
        assert re.fullmatch(r"#+ .+", cell.source), cell.id
        assert dict(cell.metadata) == COVERED, cell.id
        assert any("predict" in tags(other) for other in found.cells[above:place]), (
            f"{cell.id} waits for no question"
        )
        assert end > place + 1, cell.id


@each
def test_each_question_of_the_main_path_covers_what_comes_next(name: str) -> None:
    """A vote covers the recap, which would answer it."""
    found = lesson(name)
    covering = {
        place for above, start, _ in sections(found) for place in range(above, start)
    }
    questions = [
        place
        for place, cell in enumerate(found.cells[: further_of(found)])
        if cell.id in asked(found)
    ]
    assert questions
    assert set(questions) <= covering


@each
def test_no_right_number_is_in_sight(name: str) -> None:
    """In the main path: what is below Further is folded, and asks for itself."""
    found = lesson(name)
    hidden = {place for _, start, end in sections(found) for place in range(start, end)}
    seen = [
        (cell.id, text)
        for place, cell in enumerate(found.cells[: further_of(found)])
        if place not in hidden
        for text in shown(cell)
    ]
    for question, value in asked(found).items():
        if isinstance(value, Number):
            answer = re.compile(
                rf"(?<![\d.]){re.escape(value.shown(value.right))}(?![\d.])"
            )
            if not answer.search(value.question):
                telling = [
                    cell for cell, text in seen if answer.search(text.replace("**", ""))
                ]
                assert not telling, (
                    f"{value.shown(value.right)}, the answer of {question}, is told"
                )


def shown(cell: Any) -> Iterator[str]:
    """The texts of a cell that a reader sees without asking for more."""
    if cell.cell_type == "markdown":
        yield NOTE.sub("", cell.source)
        return
    if not cell.metadata.get("jupyter", {}).get("source_hidden"):
        yield cell.source
    if not cell.metadata.get("jupyter", {}).get("outputs_hidden"):
        for output in cell.outputs:
            yield output.get("text", "") or output.get("data", {}).get("text/plain", "")


def same(one: Trace, other: Trace) -> bool:
    """Whether two traces are of the same run."""
    return (repr(one.dataset), one.duration, one.samples) == (
        repr(other.dataset),
        other.duration,
        other.samples,
    )


@each
def test_what_an_answer_reveals_never_shows_the_answer_to_a_later_question(
    name: str,
) -> None:
    questions = [value for _, value in lesson(name).widgets(Question)]
    for place, one in enumerate(questions):
        told = one.why
        for run in [*one.traces[:1], *one.traces[-1:]]:  # which are shown
            scene = page_data(run)
            told += f" {scene['summary']} {scene['figures']}"
            for later in questions[place + 1 :]:
                assert not any(same(run, answer) for answer in later.traces[-1:]), (
                    f"{one.question} shows the run of {later.question}"
                )
        for later in questions[place + 1 : place + 2]:
            if later.for_board()["worded"] and later.traces:
                answer = re.escape(later.judge(later.right).words)
                assert not re.search(rf"(?<![\d.]){answer}(?![\d.])", told), later.question
