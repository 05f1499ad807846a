"""A saved notebook as a page: nbconvert turns its cells, and this what its widgets show."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import Preprocessor

from .saved import STYLE, html_of, saved_widget

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"

# The page of the command: a column to read, and nothing that is asked for anywhere.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
body {{ max-width: 57rem; margin: 2rem auto; padding: 0 1rem; background: #fff; color: #1b1f24;
  font: 16.5px / 1.6 system-ui, sans-serif; }}
:is(h1, h2, h3) {{ line-height: 1.25; }}
.text_cell_render > * {{ max-width: 68ch; }}
pre {{ overflow-x: auto; padding: 8px 12px; border-radius: 6px; background: #f3f5f7;
  font: 13px / 1.4 ui-monospace, Menlo, Consolas, monospace; }}
img {{ max-width: 100%; height: auto; }}
table {{ border-collapse: collapse; }}
:is(td, th) {{ padding: 4px 12px 4px 0; text-align: left; border-bottom: 1px solid #d0d7de; }}
.anchor-link {{ display: none; }}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


class DrawSaved(Preprocessor):
    """Put in the place of each widget of a lesson what it showed when the notebook was saved."""

    enabled = True

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Return the notebook *nb* with these outputs as HTML; other widgets stay as they are.

        Without any other the states go, too: a page would carry them for nothing.
        """
        models = nb.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
        style = f"<style>{STYLE}</style>"
        for cell in nb.cells:
            for output in cell.get("outputs", ()):
                data = output.get("data", {})
                name = data.get(VIEW, {}).get("model_id")
                model = models.get(name, {}).get("state", {})
                if widget := saved_widget(model, still(output)):
                    for kind in [*data]:
                        del data[kind]
                    data["text/html"] = style + html_of(widget)
                    style = ""  # once is enough
        outputs = [output for cell in nb.cells for output in cell.get("outputs", ())]
        if not any(VIEW in output.get("data", {}) for output in outputs):
            nb.metadata.pop("widgets", None)
        return nb, resources


def still(output: Mapping[str, Any]) -> str:
    """Return what an *output* has beside its widget: a picture, or the text."""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        return "".join(data["image/svg+xml"])
    words = escape("".join(data.get("text/plain", "")), quote=True)
    if "image/png" not in data:
        return f"<pre>{words}</pre>"
    width = output.get("metadata", {}).get("image/png", {}).get("width", "")
    content = "".join(data["image/png"]).replace("\n", "")
    return f'<img alt="{words}" width="{width}" src="data:image/png;base64,{content}">'


def export_html(notebook: Path) -> Path:
    """Write the saved *notebook* as a page beside it, and return the path of the page.

    The source of a cell that is folded in the notebook is left out. Raises OSError if the
    notebook cannot be read or the page not be written, and ValueError if it is no notebook.
    """
    text = notebook.read_text(encoding="utf-8")
    try:
        content = nbformat.reads(text, as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, AttributeError):
        raise ValueError(f"{notebook}: is no notebook") from None
    for cell in content.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["transient"] = {"remove_source": True}
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="basic",
        preprocessors=[DrawSaved],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    body, _ = exporter.from_notebook_node(content)
    page = notebook.with_suffix(".html")
    page.write_text(
        PAGE.format(title=escape(title_of(content)), body=body), encoding="utf-8"
    )
    return page


def title_of(content: Any) -> str:
    """Return the first heading of a notebook, or "Lesson"."""
    heads = [cell.source for cell in content.cells if cell.source.startswith("# ")]
    return heads[0].partition("\n")[0].removeprefix("# ") if heads else "Lesson"
