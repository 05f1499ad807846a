"""Cells of a lesson that asks, which several tests store as notebooks of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat.v4 import new_notebook

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

BEGIN = """
from lessonkit import ArtificialDataset
from lessonkit.widgets import predict, show

naive, once = ArtificialDataset(), {"num_epochs": 1}

def mapped(calls):
    return ArtificialDataset(20).map(cost=0.030, num_parallel_calls=calls), once
"""
NUMBER = """
predict("How long?", (naive, once), wrong=[(0.2, "That is two epochs.")], why="It adds up.")
"""
PLACE = """
predict("When does each bar begin?", (naive.prefetch(1), once), place=["Open", "Read", "Train"],
        wrong=[((naive, once), "You let them take turns.")], why="Reading goes on.")
"""
DRAW = """
predict("How many ms a sample?", mapped, draw={"calls": range(1, 6)},
        wrong=[(lambda *runs: [runs[0].per_sample] * 5, "More calls do help.")], why="Training decides.")
"""
FOLDED = {"tags": ["covered"], "jp-MarkdownHeadingCollapsed": True}
PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}


def store(path: Path, cells: Sequence[Any]) -> Path:
    """Write a notebook of these *cells*, and return its *path*."""
    made = new_notebook(cells=list(cells), metadata={"kernelspec": PYTHON})
    path.write_text(json.dumps(made))
    return path


def text(page: Page, told: str) -> Locator:
    """Find a text of the lesson; JupyterLab has its source in the page as well."""
    return page.locator("p", has_text=told)
