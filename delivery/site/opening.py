"""How a lesson begins, as a page that needs no script: it is read while the lesson itself still loads."""

import re
from html import escape
from typing import Any

from nbconvert.filters import markdown2html

LESSON = "index.html?path="
LAST = "A question appears here when the lesson has loaded."


def opening(notebook: dict[str, Any]) -> str:
    """Return text, code and stored pictures of a *notebook* up to its first question, or "" without one."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if "predict" in cell["metadata"].get("tags", ()):
            return "\n".join([*parts, f"<p><em>{LAST}</em></p>"])
        if cell["cell_type"] == "markdown":
            parts.append(f"<section>{leading(markdown2html(source))}</section>")
        elif not cell["metadata"].get("jupyter", {}).get("source_hidden"):
            parts.append(f"<pre>{escape(source)}</pre>")
        parts += [picture(output) for output in cell.get("outputs", ())]
    return ""


def leading(html: str) -> str:
    """Return *html* in which links to other lessons lead there, as JupyterLite would make them."""
    return re.sub(r'<a href="(?=\d\d_\w+\.ipynb)', f'<a href="{LESSON}', html)


def picture(output: dict[str, Any]) -> str:
    """Return the stored picture of an *output*, or ""; its text is for those who do not see it."""
    data = output.get("data", {})
    told = escape("".join(data.get("text/plain", "")))
    if "image/svg+xml" in data:
        return f"<figure>{''.join(data['image/svg+xml'])}</figure>"
    if "image/png" not in data:
        return ""
    width = output["metadata"].get("image/png", {}).get("width", "")
    source = "".join(data["image/png"]).replace("\n", "")
    return f'<figure><img alt="{told}" width="{width}" src="data:image/png;base64,{source}"></figure>'
