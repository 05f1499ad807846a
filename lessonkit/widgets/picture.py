"""A picture that the page draws: with names to point at, keys, and the colours of the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from lessonkit.pictures.style import Picture
from lessonkit.widgets.page_data import page_data
from lessonkit.widgets.widget import Page

Given = ParamSpec("Given")


class Live(Page):
    """Shows a *picture*; where no page can draw it, as matplotlib does."""

    def __init__(self, picture: Picture) -> None:
        self.picture, scene = picture, picture.scene
        if "runs" in scene:
            told = zip(scene["runs"].items(), scene["words"], strict=True)
            runs = [[title, words, page_data(trace)] for (title, trace), words in told]
            scene = {"runs": runs, "path": scene["path"]}
        super().__init__("runs" if "runs" in scene else "chart", scene)

    def stored(self) -> Picture:
        return self.picture

    def in_words(self) -> str:
        return self.picture.words


def live(draw: Callable[Given, Picture]) -> Callable[Given, Live]:
    """Make of a function that describes a picture one that shows it."""

    @wraps(draw)
    def shown(*given: Given.args, **options: Given.kwargs) -> Live:
        return Live(draw(*given, **options))

    return shown
