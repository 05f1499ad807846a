"""The page of the install check."""

from typing import Any

from lessonkit.widgets.widget import Page

# A notebook keeps this text, and a page that cannot show widgets shows it: so it says what
# to do then.
WITHOUT_WIDGETS = """\
The installation check.
If this text is all that you see in a notebook that runs, its page cannot show widgets, and sliders will
not work. Start the lessons with `make lab`; or, in a JupyterLab of your own, install ipywidgets and
anywidget where JupyterLab itself is installed, and load the page again."""


class Installation(Page):
    """Shows *findings*, and answers the page's greeting: so both know that they hear each other."""

    questions = ("greet",)

    def __init__(self, findings: list[dict[str, Any]]) -> None:
        super().__init__("installation", {"findings": findings})

    def greet(self) -> None:
        """Answer."""
        self.tell("greeting")

    def in_words(self) -> str:
        """The same on every machine."""
        return WITHOUT_WIDGETS
