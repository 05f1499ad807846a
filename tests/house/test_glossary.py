"""One word for one thing: the words that the glossary replaces are not in what people read."""

import html
import json
import re
from pathlib import Path

import pytest

from databound.advise.three_runs import ThreeRuns
from databound.advise.verdict import VERDICTS
from lessonkit import benchmark
from tools.lesson import lesson
from tools.lessons import NOTEBOOKS

DOCS = NOTEBOOKS.parent / "docs"
GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ") for line in GLOSSARY.splitlines() if re.match(r"\| [a-z]", line)]

# Of the words that are replaced, those that have no other meaning in a lesson
FORBIDDEN = (
    "bursts or contention",
    "compute-bound",
    "data set",
    "foretold",
    "gpu-bound",
    "headspace",
    "input-bound",
    "no overlap",
    "pinned run",
)


def text_of(path: Path) -> str:
    """What is read in a file: of a notebook its Markdown, of the symptoms not what others call them."""
    text = path.read_text(encoding="utf-8")
    if path.name == "symptoms.txt":
        return "\n".join(line.rpartition("::")[0] or line for line in text.splitlines())
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
    )


READ = [
    *sorted(NOTEBOOKS.glob("*.ipynb")),
    *sorted(NOTEBOOKS.glob("answers_*.py")),
    *sorted((DOCS / "teaching").glob("*.md")),
    *sorted(DOCS.glob("*.html")),
    *(path for path in sorted(DOCS.glob("*.md")) if path.name != "glossary.md"),
    DOCS.parent / "README.md",
    DOCS.parent / "benchmarks" / "README.md",
    DOCS.parent / "delivery" / "site" / "answers.md",
    DOCS.parent / "delivery" / "site" / "symptoms.txt",
    *sorted((DOCS.parent / "lessonkit").rglob("*.py")),
    *sorted((DOCS.parent / "lessonkit").rglob("*.js")),
    *sorted((DOCS.parent / "databound").rglob("*.py")),
]


@pytest.mark.parametrize("path", READ, ids=lambda path: str(path.relative_to(DOCS.parent)))
def test_the_words_that_were_replaced_are_gone(path: Path) -> None:
    text = text_of(path).lower()
    assert not [word for word in FORBIDDEN if re.search(rf"\b{word}s?\b", text)]


def test_the_glossary_has_each_word_once() -> None:
    words = [row[0] for row in ROWS]
    assert len(words) == len({*words})
    replaced = ", ".join(row[3] for row in ROWS).lower()
    assert all(word in replaced for word in FORBIDDEN if word != "data set")


def source(name: str, cell: str) -> str:
    """The source of a *cell* of the lesson *name*."""
    text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    return "".join(
        next(one["source"] for one in json.loads(text)["cells"] if one["id"] == cell)
    )


def test_the_verdicts_are_the_same_six_in_each_of_their_tables() -> None:
    patterns = source("08_put_it_together", "situation")
    assert re.findall(r"^\| \*([^*|]+)\* \|", patterns, re.M) == [*VERDICTS]
    kept = source("08_put_it_together", "page-text").partition("**The limit.**")[0]
    verdicts = re.findall(r"^\|[^|]+\| (.+?) \|[^|]+\|$", kept, re.M)
    assert verdicts == ["it means", *(f"*{verdict}*" for verdict in VERDICTS)]
    handout = html.unescape((DOCS / "handout.html").read_text(encoding="utf-8"))
    assert re.findall(r"</td><td><em>([^<]+)</em></td><td>", handout) == [*VERDICTS]
    (row,) = (row for row in ROWS if row[0] == "| verdict")
    assert re.findall(r"\*([^*]+)\*", row[1]) == [*VERDICTS]


def test_what_lesson_08_calls_three_runs_is_what_probe_calls_them() -> None:
    *cases, (_, deeper) = lesson("08_put_it_together").names["cases"].items()
    named = [name.partition(" (")[0] for name, _ in cases]
    assert named == ["they take turns", "data-bound", "step-bound", "cannot tell"]
    # With the deeper buffer neither side is slower than the other, and one hides the other
    for name, (loader, train) in [*cases, ("data-bound or step-bound", deeper)]:
        alone, both = (benchmark(loader, num_epochs=1, train=cost) for cost in (0, train))
        kind = ThreeRuns(
            alone.duration, both.samples * train, both.duration, both.samples
        ).kind
        assert kind in name


# What people search for; each is a word of ours, or what another one is also called
OF_THE_FIELD = (
    "GIL",
    "persistent workers",
    "I/O",
    "copy-on-write",
    "page-locked",
    "oversubscription",
    "head-of-line blocking",
    "backpressure",
    "Little's law",
    "Amdahl's law",
    "DDP",
    "NFS",
    "warm",
    "cold",
    "launch-bound",
)


@pytest.mark.parametrize("word", OF_THE_FIELD)
def test_the_glossary_has_the_words_of_the_field(word: str) -> None:
    lines = [line for line in GLOSSARY.splitlines() if line.startswith("| ")]
    told = [line.split("|")[1:-1] for line in lines]
    assert any(word in f"{cells[0]} {cells[-1]}" for cells in told)
