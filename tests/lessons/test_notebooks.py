"""That the lessons run, say what is so, and hold whatever a learner turns."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

import nbformat
import pytest
from support.kept_outputs import changed
from support.questions import CARDS
from support.random_pipelines import seeds

from lessonkit import benchmark
from lessonkit.code import Program
from lessonkit.engine.node import loaders_in
from lessonkit.widgets.challenges import Challenge, Outcome
from lessonkit.widgets.controls import Control
from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.questions import Question
from lessonkit.widgets.sandbox import described
from lessonkit.widgets.widget import Page
from lessonkit.words import worded
from tools.lesson import NOTEBOOK_NAMES, WRITTEN, lesson, run
from tools.lessons import FIELD_GUIDE, NOTEBOOKS
from tools.notebooks import run as run_again
from tools.notebooks import text_of

PARTS = [
    "The situation",
    "Predict",
    "Run and look",
    "Explain",
    "Play",
    "For real",
    "Challenge",
    "In the wild",
    "Vote",
    "Recap",
    "Further",
]
# Seconds for one notebook; 10 are the goal, and a busy machine doubles what is counted
CPU_LIMIT = 20.0
RANDOM = 8  # settings of one lab
MARKED_UP = re.compile(r"`|\*\w[^*]*\w\*|\*\w\*|\]\(")  # Markdown
NONSENSE: tuple[Any, ...] = (
    None,
    True,
    "many",
    float("nan"),
    float("inf"),
    1e15,
    -1e15,
    [1],
    {},
)

each = pytest.mark.parametrize("name", WRITTEN)
each_notebook = pytest.mark.parametrize("name", NOTEBOOK_NAMES)


# ---- as they are kept ----


def test_a_cell_that_raises_is_told_also_on_the_real_clock_and_leaves_no_name_to_the_next(
    tmp_path: Path,
) -> None:
    kept = {
        "outputs": [nbformat.v4.new_output("stream", text="kept")],
        "metadata": {"tags": ["real-clock"]},
    }
    raises = [
        nbformat.v4.new_code_cell("name = 1"),
        nbformat.v4.new_code_cell("1 / 0", **kept),
    ]
    paths = [tmp_path / "raises.ipynb", tmp_path / "next.ipynb"]
    for path, cells in zip(
        paths, (raises, [nbformat.v4.new_code_cell("'name' in globals()")]), strict=True
    ):
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    first, second = run_again(paths).values()
    with pytest.raises(ValueError, match="a cell raised ZeroDivisionError"):
        text_of(first.notebook)
    assert second.notebook.cells[0].outputs[0].data["text/plain"] == "False"


@each_notebook
def test_running_it_again_gives_what_is_kept(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    took = lesson(name).took
    began = process_time()
    assert not changed(name, monkeypatch)
    assert took + process_time() - began < CPU_LIMIT


@each_notebook
def test_its_cells_on_the_real_clock_run(name: str) -> None:
    for cell in lesson(name).cells:
        if "real-clock" in cell.metadata.get("tags", ()):
            run(cell.source, dict(lesson(name).names), f"<{name} {cell.id}>")


@each_notebook
def test_it_is_kept_without_what_changes(name: str) -> None:
    path = NOTEBOOKS / f"{name}.ipynb"
    text = path.read_text(encoding="utf-8")
    assert text_of(nbformat.reads(text, as_version=4)) == text, "say make notebooks"
    assert not re.search(r"\bat 0x[0-9a-f]{6,}", text), "an address changes on every run"
    ids = [cell.id for cell in lesson(name).cells]
    assert len(set(ids)) == len(ids)


def has_picture_in_html(cell: Any) -> bool:
    shown = [output.get("data", {}) for output in cell.get("outputs", ())]
    return any("data:image/png" in data.get("text/html", "") for data in shown)


@each_notebook
def test_every_cell_was_run(name: str) -> None:
    for cell in lesson(name).cells:
        shows = isinstance(
            lesson(name).values.get(cell.id),
            (Explore, Question, Challenge, Outcome),
        )
        assert cell.cell_type != "code" or cell.outputs or not shows, cell.id
        if isinstance(lesson(name).values.get(cell.id), Explore):
            assert any("image/png" in output.get("data", {}) for output in cell.outputs), (
                cell.id
            )
        tags = cell.metadata.get("tags", ())
        # What real time makes differs in each run, and the bytes of a picture with each matplotlib
        differs = "real-clock" in tags or has_picture_in_html(cell)
        assert ("nbval-ignore-output" in tags) == differs, cell.id
        assert ("real-clock" in tags) >= (
            'clock="real"' in cell.source and cell.cell_type == "code"
        ), cell.id


# ---- prose ----


@each
def test_its_parts_are_those_of_every_lesson(name: str) -> None:
    first, *others = lesson(name).headings
    assert first.level == 1
    begins = lesson(name).prose.partition("## The situation")[0]
    for told in ("After this you can", "You need", "Time"):
        assert f"**{told}**" in begins, told
    assert [heading.text for heading in others if heading.level == 2] == PARTS
    further = [heading.text for heading in others].index("Further")
    sections = [
        heading for heading in others[further + 1 :] if heading.text != "What happens"
    ]
    assert all(heading.level == 3 for heading in sections)
    for heading in sections:
        assert heading.cell.metadata.get("jp-MarkdownHeadingCollapsed"), (
            f"{heading.text}: is not folded"
        )
        assert "\n" not in heading.cell.source, (
            f"{heading.text}: text in a heading's cell is not hidden"
        )
    folded = others[further].cell.metadata.get("jp-MarkdownHeadingCollapsed")
    assert not folded, "links do not lead to a section below a folded heading"


@each_notebook
def test_what_a_learner_need_not_read_is_hidden(name: str) -> None:
    for cell in lesson(name).cells:
        if cell.cell_type == "code" and re.search(
            r"^(\w+ = )?(predict|challenge)\(", cell.source, re.M
        ):
            assert cell.metadata.get("jupyter", {}).get("source_hidden"), cell.id


@each_notebook
def test_its_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", lesson(name).prose):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        other = (NOTEBOOKS / file).resolve() if file else lesson(name).path
        assert other.exists(), target
        if anchor:
            assert other.suffix == ".ipynb", target
            anchors = [
                heading.text.replace(" ", "-") for heading in lesson(other.stem).headings
            ]
            assert anchor in anchors, target


def test_the_index_of_the_field_guide_leads_to_each_of_its_sections_in_their_order() -> (
    None
):
    guide = lesson(FIELD_GUIDE)
    sections = [heading for heading in guide.headings if heading.level == 3]
    (index,) = (cell.source for cell in guide.markdown if cell.id == "index")
    rows = re.findall(r"\| \[(.+)\]\(#(.+)\) \|", index)
    assert [text for text, _ in rows] == [heading.text for heading in sections]
    assert all(anchor == text.replace(" ", "-") for text, anchor in rows)
    for heading in sections:
        assert heading.cell.metadata.get("jp-MarkdownHeadingCollapsed"), heading.text
        assert "\n" not in heading.cell.source, heading.text


@each_notebook
def test_pictures_have_words_and_prose_is_calm(name: str) -> None:
    prose = lesson(name).prose
    assert not re.search(r"!\[\s*\]", prose), "a picture without words"
    assert all("alt=" in tag for tag in re.findall(r"<img[^>]*>", prose))
    text = re.sub(r"!\[|\$[^$]*\$", "", prose)
    assert "!" not in text, re.findall(r"[^\n]*![^\n]*", text)


def test_the_words_are_spelt_right() -> None:
    text = "\n".join(cell.source for name in NOTEBOOK_NAMES for cell in lesson(name).cells)
    found = subprocess.run(
        [sys.executable, "-m", "codespell_lib", "-"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert not found.stdout, found.stdout


# ---- what a learner turns ----


def everything(control: Control) -> list[Any]:
    """Every value of a control as the page says it; of cards a few orders."""
    if control.kind == "order":
        cards = list(range(len(control.values)))
        turned = [cards[place:] + cards[:place] for place in cards]
        return turned + [order[::-1] for order in turned]
    return list(range(len(control.values)))


def drawn(lab: Explore, values: dict[str, Any]) -> Any:
    """The picture of a setting; it must be one."""
    said = {name: (control.texts, values[name]) for name, control in lab.controls.items()}
    picture: Any = lab.picture(lab.values(values))[1]
    assert picture["perSample"] > 0, said
    bars = picture["bars"]
    assert min(bars["start"]) >= 0, said
    assert (
        max(map(sum, zip(bars["start"], bars["length"], strict=True))) <= picture["end"] + 1
    ), said
    return picture


def settings(lab: Explore) -> list[dict[str, Any]]:
    """Every value of each control, the others in the middle."""
    middle = {
        name: (found := everything(control))[len(found) // 2]
        for name, control in lab.controls.items()
    }
    return [
        middle | {name: value}
        for name, control in lab.controls.items()
        for value in everything(control)
    ]


@each
def test_every_setting_of_every_lab_has_a_picture(name: str) -> None:
    draw = random.Random(name)
    for cell, lab in lesson(name).widgets(Explore):
        assert not json.loads(lab.state)["error"], (
            cell,
            json.loads(lab.state)["error"],
        )
        for values in settings(lab):
            drawn(lab, values)
        choices = {control: everything(lab.controls[control]) for control in lab.controls}
        for _ in seeds(RANDOM) if len(choices) > 1 else ():
            drawn(
                lab,
                {control: draw.choice(values) for control, values in choices.items()},
            )


@each
def test_every_live_view_of_a_lesson_has_programs(name: str) -> None:
    for _, view in lesson(name).widgets(Explore):
        dataset, options = described(view.pipeline, **view.start).of_one_rank
        program = Program()
        text = program.text(dataset.node)
        names = dict(program.missing)
        exec(text, names)
        again = benchmark(names["dataset"], **options)
        assert again.duration == benchmark(dataset, **options).duration
        text = dataset.code("torch" if loaders_in(dataset.node) else "tf.data")
        compile(text, "program", "exec")


def answers(
    monkeypatch: pytest.MonkeyPatch, asked: Question, said: Any
) -> tuple[str, dict[str, Any]]:
    """What a prediction is told."""
    heard: list[tuple[str, dict[str, Any]]] = []
    with monkeypatch.context() as patch:
        patch.setattr(
            asked,
            "tell",
            lambda about, answer=None, **more: heard.append((about, (answer or {}) | more)),
        )
        asked.hear(None, {"do": "commit", "said": said, "sure": 1}, None)
    return heard[-1]


@each_notebook
def test_every_question_explains_what_is_wrong(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cell, asked in lesson(name).widgets(Question):
        card = CARDS[asked.kind]
        about, verdict = answers(monkeypatch, asked, card.said(asked, asked.right))
        assert (about, verdict["right"]) == ("verdict", True), cell
        assert asked.wrong, f"{cell}: no misconception is explained"
        assert len({sentence for _, sentence in asked.wrong}) == len(asked.wrong), cell
        for known, sentence in asked.wrong:
            about, verdict = answers(monkeypatch, asked, card.said(asked, known))
            assert (about, verdict["right"]) == ("verdict", False), (cell, sentence)
            assert f" {sentence} " in f"{verdict['text']} ", (cell, sentence)
        for nonsense in (*NONSENSE, *card.nonsense(asked)):
            assert answers(monkeypatch, asked, nonsense)[0] == "error", (cell, nonsense)
        choices = asked.for_board().get("choices", ())
        # A page shows them letter by letter
        texts = [asked.question, asked.why, *choices, *(why for _, why in asked.wrong)]
        assert not [text for text in texts if MARKED_UP.search(text)], cell
        assert len(asked.wrong) >= len(choices) - 1, f"{cell}: a choice has no explanation"


def record_of(widget: Page) -> tuple[str, str] | None:
    """The kind and the text by which a page keeps what a learner did with a widget, if it keeps any."""
    state = json.loads(widget.state)
    if isinstance(widget, Question):
        return widget.kind, widget.question
    if task := state.get("task"):
        return "challenge", task["text"]
    if not isinstance(widget, Explore) or not state["controls"]:
        return None
    told = []
    for control in state["controls"]:
        value = control["value"]
        steps = value if isinstance(value, list) else [value]
        told.append((control["label"], [control["texts"][step] for step in steps]))
    return "view", json.dumps(told)


@each_notebook
def test_no_two_widgets_of_a_lesson_share_a_record(name: str) -> None:
    found = [record_of(widget) for _, widget in lesson(name).widgets(Page)]
    shared = Counter(record for record in found if record)
    assert [record for record, many in shared.items() if many > 1] == []


@each
def test_every_challenge_fails_at_first_and_its_solution_passes(name: str) -> None:
    found = lesson(name).solved()
    assert found, "there is no challenge"
    for task, code in found:
        names = dict(lesson(name).names)
        run(code, names, f"<{name} solution>")
        if isinstance(task, Explore):
            start = {control.name: control.start for control in task.controls.values()}
            first = drawn(task, start)["verdict"]
            solved = start | {
                key: task.controls[key].number(value)
                for key, value in names["values"].items()
            }
            last = drawn(task, solved)["verdict"]
        else:
            last = task.check(names["solution"]).verdict
            tried = [outcome.verdict for _, outcome in lesson(name).widgets(Outcome)]
            wanted = [{goal.name, goal.zero} for goal in task.task.goals]
            said = [
                [text.split(":")[0] for _, text in verdict["goals"]] for verdict in tried
            ]
            first = next(
                verdict
                for verdict, names_said in zip(tried, said, strict=True)
                if len(names_said) == len(wanted)
                and all(
                    name in either for name, either in zip(names_said, wanted, strict=True)
                )
            )
        assert last["passed"], last["message"]
        assert not first["passed"], "it passes before anything was done"
        goals = task.task.goals
        words = task.words if isinstance(task, Explore) else {}
        names_of_goals = [worded(goal.name, words).lower() for goal in goals]
        said_first = first["message"].lower()
        assert any(name in said_first for name in names_of_goals), first["message"]


@each
def test_the_teacher_has_a_page_for_it(name: str) -> None:
    docs = NOTEBOOKS.parent / "docs"
    page = (docs / "teaching" / f"{name[:2]}.md").read_text(encoding="utf-8")
    for part in (
        "**Minutes.**",
        "**On the projector.**",
        "**On the board.**",
        "## What learners get wrong",
    ):
        assert part in page, part
    assert "## What to ask next" in page
    vote = lesson(name).vote
    assert [choice[:2] for choice in vote.choices] == ["A:", "B:", "C:", "D:"]
    assert len(vote.wrong) == 3
    at = [cell.id for cell in lesson(name).cells]
    assert at.index("vote") + 1 == at.index("recap"), "the recap would answer the vote"
    assert at.index("next") + 1 == at.index("further")


def test_there_is_no_notebook_beside_the_series_and_the_field_guide() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == NOTEBOOK_NAMES
