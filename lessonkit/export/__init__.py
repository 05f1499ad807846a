"""Turns a lesson that was run and saved into a page: with its pictures, questions, tries and verdicts.

`python -m lessonkit export NOTEBOOK` writes such a page. Where lessonkit is installed beside a Jupyter
server, it is also an extension of that server, so that *File, Save and Export As, HTML* shows the
same. Without it nbconvert leaves a gap for each widget, which a network and a widget manager fill.
"""

from typing import Any

__all__: list[str] = []

DRAWS_SAVED = "lessonkit.export.notebook.DrawSaved"


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Return what a Jupyter server asks an extension for: the module that it loads."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Have the HTML exporter of this *server* draw saved widgets; others need nothing of it."""
    given = server.config.HTMLExporter.get("preprocessors", [])
    server.config.HTMLExporter.preprocessors = [*given, DRAWS_SAVED]
