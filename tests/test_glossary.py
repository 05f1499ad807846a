"""One word for one thing: the words that the glossary replaces are not in what people read, and
what had several meanings in the code has one.
"""

import ast
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


# What each of these words means in the package, and the files that have it in a name
ONE_MEANING = {
    "lane": (  # one of several rows of a stage whose calls overlap
        "layout main_process marks page_data run stream threads timeline trace"
    ),
    "limit": "analysis limits marks page_data",  # a time that no other order beats
    "place": "__init__ layout run storage trace",  # what a task waits for; to place a bar
    "turn": "interleave",  # of a file, to give the next element
}


def words_in_names(path: Path) -> set[str]:
    """The words, in the singular, of which the names in a file of Python are made."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        fields = (getattr(node, field, None) for field in ("name", "id", "attr", "arg"))
        names |= {name for name in fields if isinstance(name, str)}
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", " ".join(names))
    return {word.lower().removesuffix("s") for word in words}


@pytest.mark.parametrize("word", ONE_MEANING)
def test_a_word_is_in_names_only_where_it_has_its_one_meaning(word: str) -> None:
    package = (DOCS.parent / "lessonkit").rglob("*.py")
    found = {path.stem for path in package if word in words_in_names(path)}
    assert found <= {*ONE_MEANING[word].split()}
