"""One word for one thing: the words that the glossary replaces are not in what people read."""

import json
import re
from pathlib import Path

import pytest
from lesson import NOTEBOOKS

DOCS = NOTEBOOKS.parent / "docs"
GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ") for line in GLOSSARY.splitlines() if re.match(r"\| [a-z]", line)]

# Of the words that are replaced, those that have no other meaning in a lesson
FORBIDDEN = ("compute-bound", "data set", "foretold", "headspace", "pinned run")


def text_of(path: Path) -> str:
    """What is read in a file: of a notebook its Markdown."""
    text = path.read_text(encoding="utf-8")
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
    DOCS / "teaching.md",
    DOCS.parent / "README.md",
    *sorted((DOCS.parent / "lessonkit").rglob("*.py")),
    *sorted((DOCS.parent / "lessonkit").rglob("*.js")),
]


@pytest.mark.parametrize("path", READ, ids=lambda path: path.name)
def test_the_words_that_were_replaced_are_gone(path: Path) -> None:
    text = text_of(path).lower()
    assert not [word for word in FORBIDDEN if re.search(rf"\b{word}s?\b", text)]


def test_the_glossary_is_short_and_has_each_word_once() -> None:
    words = [row[0] for row in ROWS]
    assert len(words) == len({*words}) <= 40
    replaced = ", ".join(row[3] for row in ROWS)
    assert all(word in replaced for word in FORBIDDEN if word != "data set")
