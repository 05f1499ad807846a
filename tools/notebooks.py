"""Run notebooks and write them back as they are kept: a second run changes nothing.

python -m tools.notebooks notebooks/01_prefetch.ipynb
"""

from __future__ import annotations

import asyncio
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbclient import NotebookClient

ALL = Path(__file__).parent.parent / "notebooks"
CONTROLS = ALL.parent / "docs" / "controls.ipynb"
CELL_LIMIT = 60  # seconds
NOTEBOOK_LIMIT = 120
END = "import os\nprint(sum(os.times()[:4]))\n%reset -f"  # a cell after each notebook
KEPT = ("tags", "jupyter", "jp-MarkdownHeadingCollapsed")  # of a cell's metadata
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
# Names a model that is gone once the kernel is
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?")


class Ran(NamedTuple):
    """A *notebook* with what its cells gave, and how many *seconds* the kernel computed for it."""

    notebook: Any
    seconds: float


def run(paths: list[Path]) -> dict[Path, Ran]:
    """Run notebooks one after another, all in one kernel, since each would need seconds to start.

    None finds a name that one before it has made. An error in a cell is among its outputs.
    """
    books = {path: nbformat.read(path, as_version=4) for path in paths}
    first, *ends = (nbformat.v4.new_code_cell(END) for _ in range(len(books) + 1))
    cells = [first]
    for book, end in zip(books.values(), ends, strict=True):
        cells += [*book.cells, end]
    before = [(cell, cell.id, kept_outputs(cell)) for cell in cells]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # two lessons may have the same
    client = NotebookClient(
        nbformat.v4.new_notebook(cells=cells),
        timeout=CELL_LIMIT,
        interrupt_on_timeout=True,  # and go on with the next
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(ALL)}},
        record_timing=False,
        store_widget_state=False,
        shutdown_kernel="immediate",
    )
    asyncio.run(asyncio.wait_for(client.async_execute(), NOTEBOOK_LIMIT * len(books)))
    for cell, own, outputs in before:
        cell.id = own
        if outputs and all(output.output_type != "error" for output in cell.outputs):
            cell.outputs = outputs
    times = [float(end.outputs[0].text) for end in (first, *ends)]
    took = [later - sooner for sooner, later in pairwise(times)]
    return {
        path: Ran(book, seconds)
        for (path, book), seconds in zip(books.items(), took, strict=True)
    }


def kept_outputs(cell: Any) -> list[Any]:
    """The outputs of a cell on the real clock, which are other ones each time."""
    return list(cell.outputs) if "real-clock" in cell.metadata.get("tags", ()) else []


def text_of(notebook: Any) -> str:
    """A notebook as it is kept: without anything that changes when nothing has changed.

    ValueError says what a cell raised.
    """
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat = 4
    notebook.nbformat_minor = 5
    codes = 0
    for place, cell in enumerate(notebook.cells):
        cell.metadata = {
            name: value for name, value in cell.metadata.items() if name in KEPT
        }
        if RANDOM_ID.fullmatch(cell.get("id", "00000000")):
            cell.id = f"cell-{place}"
        cell.source = cell.source.rstrip("\n")
        if cell.cell_type == "code":
            codes += 1
            cell.execution_count = codes
            cell.outputs = normalised(cell.outputs, codes)
        else:
            cell.pop("attachments", None)
    return f"{nbformat.writes(notebook).rstrip()}\n"


def normalised(outputs: list[Any], count: int) -> list[Any]:
    """Outputs without widget views; what was printed at once and what was printed in pieces is the same."""
    found: list[Any] = []
    for output in outputs:
        if output.output_type == "stream":
            if found and found[-1].get("name") == output.name:
                found[-1].text += output.text
            else:
                found.append(output)
            continue
        if output.output_type == "error":
            raise ValueError(f"a cell raised {output.ename}: {output.evalue}")
        output.data.pop(WIDGET_VIEW, None)
        output.metadata = {
            kind: size for kind, size in output.metadata.items() if kind in output.data
        }
        if "execution_count" in output:
            output.execution_count = count
        if output.data:
            found.append(output)
    return found


def main(names: list[str]) -> None:
    """Run the notebooks that are named, or all."""
    paths = [Path(name) for name in names] or [*sorted(ALL.glob("*.ipynb")), CONTROLS]
    for path, ran in run(paths).items():
        print(f"{path}: {ran.seconds:.1f} s")
        path.write_text(text_of(ran.notebook), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
