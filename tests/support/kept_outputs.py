"""What a notebook keeps of its cells, beside what they give when they are run again."""

import re
from typing import Any

import nbformat
import pytest
from IPython.core.formatters import DisplayFormatter

from lessonkit.pictures import drawing
from tools.lesson import Shown, lesson
from tools.notebooks import normalised

EMBEDDED = re.compile(r"(?<=base64,)[\w+/=]*")  # a picture within a page


def gives(shown: Shown) -> list[Any]:
    """What a notebook keeps of what a cell gave."""
    outputs = (
        [{"output_type": "stream", "name": "stdout", "text": shown.printed}]
        if shown.printed
        else []
    )
    if shown.value is not None:
        formatter: Any = DisplayFormatter()
        data, metadata = formatter.format(shown.value)
        outputs.append(
            {"output_type": "execute_result", "data": data, "metadata": metadata}
        )
    return normalised([nbformat.from_dict(output) for output in outputs], 0)


def as_compared(outputs: list[Any]) -> list[Any]:
    """Outputs without counts; of a picture only how large it is, for fonts and packers have new versions."""
    for output in outputs:
        output.pop("execution_count", None)
        data = output.get("data", {})
        if "image/png" in data:
            data["image/png"] = ""
        if "text/html" in data:
            data["text/html"] = EMBEDDED.sub("", data["text/html"])
    return outputs


def changed(name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cells that give something else when a notebook is run again; then say make notebooks."""
    # It is drawn; its bytes are not compared
    monkeypatch.setattr(drawing, "png", lambda picture: b"")
    found = lesson(name)
    cells = [cell for cell in found.cells if cell.id in found.shown]
    return [
        cell.id
        for cell in cells
        if as_compared(gives(found.shown[cell.id])) != as_compared(cell.outputs)
    ]
