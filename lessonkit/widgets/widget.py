"""`Page`, from which all widgets go on, and the two that only show something."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from hashlib import sha256
from importlib.resources import files
from typing import Any, ParamSpec

import anywidget
import traitlets
from ipywidgets import widget_serialization

from lessonkit.engine.trace import Trace
from lessonkit.pictures.drawing import Drawing
from lessonkit.pictures.scene import RunScene
from lessonkit.pictures.strip import plot_ranks
from lessonkit.pictures.timeline import plot_timelines

from .page_data import packed, page_data
from .sandbox import sentence_of

Given = ParamSpec("Given")
# What `python -m tools.page build` makes of the modules in page/; in a browser the package is an
# archive.
BUILT = files("lessonkit.widgets") / "page" / "built"
PROGRAM = (BUILT / "host.js").read_text("utf-8")
VERSION = sha256(PROGRAM.encode()).hexdigest()[:16]


class Host(anywidget.AnyWidget):
    """The hidden widget with which the page's program comes to a page, once for all widgets.

    A page that makes all models of a kernel, as JupyterLab and Voilà do, runs `initialize` of
    its program without being asked to show it. Each other widget carries `loader.js`, which
    finds the program by its *version*, and else asks the page for this widget by its name.
    """

    _esm = PROGRAM
    version = traitlets.Unicode(VERSION).tag(sync=True)


_hosts: list[Host] = []


def host() -> Host:
    """Return the host of this kernel; make it where there is none, or where it was closed."""
    if not _hosts or _hosts[0].comm is None:
        _hosts[:] = [Host()]
    return _hosts[0]


class Page(anywidget.AnyWidget):
    """A widget that the page draws by its *role* from its *state*, and that answers questions.

    A question names one of *questions*, the methods that may be asked. Nothing that comes
    from the page is trusted: what does not fit is refused, and the widget stays as it is.
    """

    _esm = (BUILT / "loader.js").read_text("utf-8")
    # A reference, so that whatever saves or embeds this widget takes the host along
    host = traitlets.Instance(Host).tag(sync=True, **widget_serialization)
    version = traitlets.Unicode(VERSION).tag(sync=True)  # of that program
    role = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode("{}").tag(sync=True)
    kept = traitlets.Unicode("").tag(sync=True)  # the page's own: how far the learner is
    questions: tuple[str, ...] = ()
    runs: dict[str, Trace]  # what the kept picture shows

    def __init__(
        self, role: str, state: Mapping[str, object], runs: dict[str, Trace] | None = None
    ) -> None:
        self.runs = runs or {}
        super().__init__(role=role, state=packed(state), host=host())
        self.on_msg(self.hear)

    def hear(self, _: Any, content: Any, buffers: Any) -> None:
        """Answer a question of the page."""
        try:
            asked = content.pop("do", None) if isinstance(content, dict) else None
            if asked not in (*self.questions, "program"):
                raise ValueError("there is no such question")
            getattr(self, asked)(**content)
        except (Exception, KeyboardInterrupt) as error:
            self.tell("error", text=sentence_of(error))

    def program(self) -> None:
        """Send the page's program, which a page that makes no other widget cannot find."""
        self.send({"about": "program"}, buffers=[PROGRAM.encode()])

    def tell(self, about: str, answer: Any = None, **more: Any) -> None:
        """Tell the page something. An *answer* goes as bytes, for it may be large."""
        buffers = None if answer is None else [packed(answer).encode()]
        self.send({"about": about, **more}, buffers=buffers)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and what a notebook shows without it: a picture, or the text."""
        widget, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        kept = {"text/plain": repr(self)}
        if picture := self.stored():
            with suppress(ImportError):  # without matplotlib there is none
                drawn, size = picture._repr_mimebundle_()
                kept = drawn | kept
                metadata |= size
        return widget | kept, metadata

    def stored(self) -> Drawing | None:
        """Return the picture that a notebook keeps with the widget."""
        for trace in self.runs.values():
            if trace.ranks:
                return plot_ranks(trace.ranks)
        return plot_timelines(self.runs) if self.runs else None

    def __repr__(self) -> str:
        """Return what it shows, as text that is the same on every run: a notebook keeps it."""
        return self.role


class Live(Page):
    """A *picture* that the page draws, with names to point at, keys, and the page's colours."""

    def __init__(self, picture: Drawing) -> None:
        self.picture = picture
        scene = picture.scene
        role = next(
            (role for role in ("runs", "kitchen", "roofs") if role in scene), "chart"
        )
        if role == "runs":
            told: list[RunScene] = [
                {"title": title, "words": words, "scene": page_data(run)}
                for title, words, run in scene["runs"]
            ]
            scene = {"runs": told}
        super().__init__(role, scene)

    def stored(self) -> Drawing:
        return self.picture

    def __repr__(self) -> str:
        return self.picture.words


def live(draw: Callable[Given, Drawing]) -> Callable[Given, Live]:
    """Make of a function that describes a picture one that shows it."""

    @wraps(draw)
    def shown(*given: Given.args, **options: Given.kwargs) -> Live:
        return Live(draw(*given, **options))

    return shown


class Installation(Page):
    """The install check: the version of *python*, and answers to greetings, if the kernel hears."""

    questions = ("greet",)

    def __init__(self, python: str) -> None:
        super().__init__("installation", {"python": python})

    def greet(self) -> None:
        """Answer."""
        self.tell("greeting")
