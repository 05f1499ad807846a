"""A widget whose page is ours: what it shows at first, and the messages that go to and fro."""

from __future__ import annotations

from contextlib import suppress
from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from lessonkit.engine.trace import Trace
from lessonkit.pictures.strip import plot_ranks
from lessonkit.pictures.style import Picture
from lessonkit.pictures.timeline import plot_timelines
from lessonkit.widgets.controls import RefusedError
from lessonkit.widgets.page_data import packed
from lessonkit.widgets.sandbox import sentence_of

HERE = files("lessonkit.widgets") / "page"  # in a browser the package is an archive
# anywidget loads a page as one module, in which relative imports would fail: so the files
# are joined.
SCRIPTS = "dom words timeline plumbing strip view controls pictures formula placing drawing cover tasks"
SCRIPTS += " explore heat_map mystery chart installation saved teaching main"


class Page(anywidget.AnyWidget):
    """A widget that the page draws by its *role* from its *state*, and that then answers questions.

    A question names one of *questions*, the methods that may be asked. Nothing that comes
    from the page is trusted: what does not fit is refused, and the widget stays as it is.
    """

    _esm = "\n".join(
        (HERE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS.split()
    )
    _css = (HERE / "style.css").read_text(encoding="utf-8")
    role = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode("{}").tag(sync=True)
    kept = traitlets.Unicode("").tag(sync=True)  # the page's own: how far the learner is
    questions: tuple[str, ...] = ()
    runs: dict[str, Trace]  # what the kept picture shows

    def __init__(
        self, role: str, state: dict[str, Any], runs: dict[str, Trace] | None = None
    ) -> None:
        self.runs = runs or {}
        super().__init__(role=role, state=packed(state))
        self.on_msg(self.hear)

    def hear(self, _: Any, content: Any, buffers: Any) -> None:
        """Answer a question of the page."""
        try:
            what = content.pop("do", None) if isinstance(content, dict) else None
            if what not in self.questions:
                raise RefusedError("there is no such question")
            if type(content.get("id", 0)) is not int:
                raise RefusedError("a question needs a number")
            getattr(self, what)(**content)
        except (Exception, KeyboardInterrupt) as error:
            self.tell("error", text=sentence_of(error))

    def tell(self, about: str, answer: Any = None, **more: Any) -> None:
        """Tell the page something; what is large goes as bytes, which nobody has to look through."""
        buffers = None if answer is None else [packed(answer).encode()]
        self.send({"about": about, **more}, buffers=buffers)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget, and what a notebook shows where no widget can run: a picture, or the text."""
        widget, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        kept = {"text/plain": repr(self)}
        if picture := self.stored():
            with suppress(ImportError):  # without matplotlib there is none
                drawn, size = picture._repr_mimebundle_()
                kept, metadata = drawn | kept, metadata | size
        return widget | kept, metadata

    def stored(self) -> Picture | None:
        """The picture that a notebook keeps beside the widget."""
        first = next(iter(self.runs.values()), None)
        if first is not None and first.ranks:
            return plot_ranks(first.ranks)
        return plot_timelines(self.runs) if self.runs else None

    def __repr__(self) -> str:
        """The same on every run, for a notebook keeps it."""
        return self.in_words()

    def in_words(self) -> str:
        """What it shows, as text."""
        return self.role
