"""The answers of a class, totalled from what learners hand in."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from tools.answers import STATE, VIEW, collected, table

QUESTION = "How long does it take?"
TOTALS = """\
00_start_here: How long does it take?
  ✗ 210 ms                             2 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ (1 certain, 1 a guess)
  ✓ 310 ms                             1 ▇▇▇▇▇▇▇▇▇▇ (1 fairly sure)
  2 of 3 right in the end"""


def notebook(*tries: tuple[str, str, bool]) -> Any:
    """A lesson with a question that was tried so often, and one that nobody has answered."""
    kept = json.dumps({"said": 1, "sure": 1, "verdict": {"tries": tries}})
    states = [
        {"state": json.dumps({"question": QUESTION}), "kept": kept},
        {"state": json.dumps({"question": "And that?"}), "kept": ""},
        {"state": json.dumps({"figures": []})},
    ]
    widgets = {f"model-{place}": {"state": state} for place, state in enumerate(states)}
    cells = [{"outputs": [{"data": {VIEW: {"model_id": name}}}]} for name in widgets]
    return {"cells": [{}, *cells], "metadata": {"widgets": {STATE: {"state": widgets}}}}


def test_first_answers_are_counted_over_archives_folders_and_notebooks(
    tmp_path: Path,
) -> None:
    with ZipFile(tmp_path / "anna.zip", "w") as archive:
        tried = notebook(("210 ms", "certain", False), ("310 ms", "certain", True))
        archive.writestr("00_start_here.ipynb", json.dumps(tried))
        archive.writestr("notes.txt", "mine")
    (tmp_path / "ben").mkdir()
    ben, clara = (
        tmp_path / "ben" / "00_start_here.ipynb",
        tmp_path / "00_start_here.ipynb",
    )
    ben.write_text(json.dumps(notebook(("210 ms", "a guess", False))))
    clara.write_text(json.dumps(notebook(("310 ms", "fairly sure", True))))
    assert "\n".join(table(collected([tmp_path / "anna.zip", ben.parent, clara]))) == TOTALS


def test_a_notebook_without_answers_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "00_start_here.ipynb"
    path.write_text(json.dumps(notebook()))
    assert list(table(collected([path]))) == []
