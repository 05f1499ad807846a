"""The table of lessons, `notebooks/lessons.toml`, and everything that is written from it.

python -m tools.lessons

This writes the titles, questions and ideas of the table into the notebooks, into `README.md` and into the
pages for teachers, which get the votes of the lessons as well. In a document, what it writes stands between
two comments, `<!-- lessons: ... -->` and `<!-- end -->`; nothing between them is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from lessonkit.lessons import find_answers
from tools import toml

if TYPE_CHECKING:
    from lessonkit.widgets.questions.ballot import Ballot

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ROOT / "notebooks"
README = ROOT / "README.md"
GUIDE = ROOT / "docs" / "teaching.md"
FIELD_GUIDE = "09_workers_field_guide"  # a notebook, and no lesson: nobody reads it from its beginning
PART = re.compile(
    r"(?P<begin><!-- lessons: (?P<name>\w+) -->\n\n).*?(?P<end>\n\n<!-- end -->)", re.S
)
OUTCOME = re.compile(r"^- \*\*After this you can\*\* (.+)$", re.M)
# Up to twenty, a number may be a word
WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
)


@dataclass(frozen=True)
class Lesson:
    """A lesson as the table has it.

    *name* is that of its notebook. *question* is the rest of its title, and what it asks;
    *idea* is what it teaches, and no learner reads it before the recap. *vote* is its vote in short.
    """

    name: str
    title: str
    question: str
    idea: str
    vote: str
    minutes: int  # of the main path, alone, with the solutions
    challenge_minutes: int  # of these
    class_minutes: int  # of the main path, in class

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def numbered(self) -> str:
        return f"{self.number} {self.title}"

    @property
    def heading(self) -> str:
        return f"# {self.numbered}: {self.question}"

    @property
    def notebook(self) -> Path:
        return NOTEBOOKS / f"{self.name}.ipynb"

    @property
    def teachers_page(self) -> Path:
        return ROOT / "docs" / "teaching" / f"{self.number}.md"


def read() -> tuple[tuple[Lesson, ...], dict[str, tuple[Lesson, ...]]]:
    """Return the lessons of the table in their order, and those of each way through them."""
    table = toml.loads((NOTEBOOKS / "lessons.toml").read_text(encoding="utf-8"))
    named = table.pop("ways")
    lessons = tuple(Lesson(name, **about) for name, about in table.items())
    numbered = {lesson.number: lesson for lesson in lessons}
    ways = {way: tuple(numbered[number] for number in of) for way, of in named.items()}
    return lessons, ways


LESSONS, WAYS = read()


def in_words(count: float) -> str:
    """Return a *count* as a word, or as a number if it is not one of `WORDS`."""
    return WORDS[int(count)] if count in range(len(WORDS)) else f"{count:g}"


def listed(lessons: Iterable[str]) -> str:
    """Return *lessons* as a sentence lists them: 00, 01 and 09."""
    *others, last = lessons
    return f"{', '.join(others)} and {last}" if others else last


def minutes_of_a_lesson() -> str:
    """Return how long lessons take: from the shortest to the longest."""
    minutes = [lesson.minutes for lesson in LESSONS]
    return f"{min(minutes)} to {max(minutes)}"


def ways_of_readme() -> str:
    """Return which lessons somebody takes who has little time."""
    *hour, job = (lesson.number for lesson in WAYS["an hour with PyTorch"])
    ninety = listed(lesson.number for lesson in WAYS["ninety minutes"])
    return (
        f"Each lesson takes {minutes_of_a_lesson()} minutes, and has further sections to unfold below. "
        f"If you use PyTorch and have an hour, take\n{listed(hour)} without their challenges, "
        f"then `recommend` in {job}. If you have ninety minutes, take {ninety},\n"
        "each up to *Recap* and without *For real*."
    )


def ways_of_first_lesson() -> str:
    """Return the same for those who have the first lesson open, with links to the others."""

    def linked(lesson: Lesson) -> str:
        return f"[{lesson.number}]({lesson.notebook.name})"

    this, *hour, job = WAYS["an hour with PyTorch"]
    _, *ninety = WAYS["ninety minutes"]
    return (
        f"**You use PyTorch and have an hour:** do {listed([this.number, *map(linked, hour)])} "
        f"without their challenges, then `recommend` in [{job.number}]({job.notebook.name}#For-real). "
        f"**You have ninety minutes:** do {listed([this.number, *map(linked, ninety)])}, "
        "each up to *Recap* and without *For real*."
    )


def table_of_readme() -> str:
    """Return the lessons, and what each asks."""
    rows = [
        f"| [{lesson.numbered}](notebooks/{lesson.notebook.name}) | {lesson.question} |"
        for lesson in LESSONS
    ]
    return "\n".join(["| lesson | what it asks |", "| --- | --- |", *rows])


def table_of_first_lesson() -> str:
    """Return the same, for those who have the first lesson open."""
    rows = [f"| {link(lesson)} | {lesson.question} |" for lesson in LESSONS]
    return "\n".join(["| lesson | what it asks |", "| --- | --- |", *rows])


def table_for_teachers() -> str:
    """Return what a teacher wants to know of each lesson, and the right answer of its vote."""
    rows = []
    for lesson in LESSONS:
        cells = [
            f"[{lesson.numbered}](../notebooks/{lesson.notebook.name})",
            lesson.idea,
            str(lesson.class_minutes),
            f"{lesson.vote} **{right_choice(lesson)[0]}**",
            f"[{lesson.number}](teaching/{lesson.teachers_page.name})",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    head = "| lesson | the idea | minutes in class | vote | page |"
    return "\n".join([head, "|---|---|---|---|---|", *rows])


def outcome(lesson: Lesson) -> str:
    """Return what a learner can do after a *lesson*, as the lesson itself says it."""
    notebook = json.loads(lesson.notebook.read_text(encoding="utf-8"))
    texts = ["".join(cell["source"]) for cell in notebook["cells"]]
    (told,) = [told for text in texts for told in OUTCOME.findall(text)]
    return str(told)


def outcomes() -> str:
    """Return what learners can do after each lesson."""
    rows = [f"| {lesson.number} | {outcome(lesson)} |" for lesson in LESSONS]
    return "\n".join(["| lesson | they can |", "| --- | --- |", *rows])


def vote_of(lesson: Lesson) -> Ballot:
    """Return the vote of a *lesson*, before its recap: what its file of answers gives `predict`."""
    find_answers()
    vote: Ballot = import_module(f"answers_{lesson.number}").vote()
    return vote


def right_choice(lesson: Lesson) -> str:
    """Return the right choice of the vote of a *lesson*."""
    right: str = vote_of(lesson)["answer"]()
    return right


def vote_for_teachers(lesson: Lesson) -> str:
    """Return the vote of a *lesson*, and what each answer means."""
    vote = vote_of(lesson)
    right = right_choice(lesson)
    said = dict(vote["wrong"])
    rows = [
        f"| **{choice}** | Right. {vote['why']} |"
        if choice == right
        else f"| {choice} | {said[choice]} |"
        for choice in vote["choices"]
    ]
    table = "\n".join(["| answer | what it means |", "| --- | --- |", *rows])
    return f"> {vote['question']}\n\n{table}"


# The ways through the whole series; the others are for an hour or two
LONG_WAYS = ("PyTorch", "tf.data")


def next_link(lesson: Lesson) -> str:
    """Return the last cell of the main path of a *lesson*: where each of the long ways goes on."""
    after = {
        way: following
        for way in LONG_WAYS
        for this, following in pairwise(WAYS[way])
        if this == lesson
    }
    if not after:
        first = LESSONS[0]
        return f"This is the end of the way. Back to the [first lesson]({first.notebook.name})."
    if len(after) == len(LONG_WAYS) and len(set(after.values())) == 1:
        return f"Next: {link(after[LONG_WAYS[0]])}"
    steps = [f"with {way}: {link(following)}" for way, following in after.items()]
    return f"Next {'; '.join(steps)}"


def link(lesson: Lesson) -> str:
    """Return a link from one notebook to that of a *lesson*."""
    return f"[{lesson.numbered}]({lesson.notebook.name})"


def with_parts(text: str, parts: dict[str, str]) -> str:
    """Return a document with these *parts*, by the names in the comments around them.

    Raise KeyError if the document asks for a part that is not there.
    """
    return PART.sub(lambda old: f"{old['begin']}{parts[old['name']]}{old['end']}", text)


def with_heading(text: str, lesson: Lesson) -> str:
    """Return a text about a *lesson* that begins with its title."""
    return "\n".join([lesson.heading, *text.split("\n")[1:]])


def renewed_notebook(lesson: Lesson) -> str:
    """Return the notebook of a *lesson* with its title, the ways, and the link to the next."""
    notebook = json.loads(lesson.notebook.read_text(encoding="utf-8"))
    first = notebook["cells"][0]
    first["source"] = with_heading("".join(first["source"]), lesson).splitlines(
        keepends=True
    )
    parts = {"ways": ways_of_first_lesson(), "table": table_of_first_lesson()}
    for cell in notebook["cells"]:
        if cell["id"] == "next":
            cell["source"] = [next_link(lesson)]
        elif cell["cell_type"] == "markdown":
            text = with_parts("".join(cell["source"]), parts)
            cell["source"] = text.splitlines(keepends=True)
    return f"{json.dumps(notebook, indent=1, ensure_ascii=False)}\n"


def written() -> dict[Path, str]:
    """Return what each file that has a part of the table should be."""
    found = {lesson.notebook: renewed_notebook(lesson) for lesson in LESSONS}
    for lesson in LESSONS:
        page = with_heading(lesson.teachers_page.read_text(encoding="utf-8"), lesson)
        found[lesson.teachers_page] = with_parts(page, {"vote": vote_for_teachers(lesson)})
    parts = {"ways": ways_of_readme(), "table": table_of_readme()}
    found[README] = with_parts(README.read_text(encoding="utf-8"), parts)
    parts = {"table": table_for_teachers(), "outcomes": outcomes()}
    found[GUIDE] = with_parts(GUIDE.read_text(encoding="utf-8"), parts)
    return found


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
