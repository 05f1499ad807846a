"""Run notebooks and write them back as they are kept: a second run changes nothing.

python -m tools.notebooks notebooks/01_prefetch.ipynb
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ALL = Path(__file__).parent.parent / "notebooks"
CELL_LIMIT = 60  # seconds
NOTEBOOK_LIMIT = 120
KEPT = ("tags", "jupyter", "jp-MarkdownHeadingCollapsed")  # of a cell's metadata
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"  # names a model that is gone once the kernel is
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?")


def run(path: Path) -> None:
    """Run a notebook, and keep what it gives."""
    before = nbformat.read(path, as_version=4)
    after = nbformat.from_dict(before)
    client = NotebookClient(
        after,
        timeout=CELL_LIMIT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,
        shutdown_kernel="immediate",
    )
    old = [kept_outputs(cell) for cell in before.cells]
    asyncio.run(asyncio.wait_for(client.async_execute(), NOTEBOOK_LIMIT))
    for cell, outputs in zip(after.cells, old, strict=True):
        if outputs:
            cell.outputs = outputs
    path.write_text(text_of(after), encoding="utf-8")


def kept_outputs(cell: Any) -> list[Any]:
    """The outputs of a cell on the real clock, which are other ones each time."""
    return list(cell.outputs) if "real-clock" in cell.metadata.get("tags", ()) else []


def text_of(notebook: Any) -> str:
    """A notebook as it is kept: without anything that changes when nothing has changed."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    codes = 0
    for place, cell in enumerate(notebook.cells):
        cell.metadata = {name: value for name, value in cell.metadata.items() if name in KEPT}
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
            raise ValueError(f"an error is among the outputs: {output.ename}: {output.evalue}")
        output.data.pop(WIDGET_VIEW, None)
        output.metadata = {kind: size for kind, size in output.metadata.items() if kind in output.data}
        if "execution_count" in output:
            output.execution_count = count
        if output.data:
            found.append(output)
    return found


def main(names: list[str]) -> None:
    """Run the notebooks that are named, or all."""
    for path in [Path(name) for name in names] or sorted(ALL.glob("*.ipynb")):
        print(path)
        run(path)


if __name__ == "__main__":
    main(sys.argv[1:])
