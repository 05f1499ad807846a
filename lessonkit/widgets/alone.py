"""A view in one file that is alive without Python: all settings are run, and their answers stored."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from string import Template
from typing import TYPE_CHECKING

from lessonkit.pictures.scene import Failed, Scene

from .controls import Control, Values
from .page_data import Json, packed
from .sandbox import sentence_of
from .widget import BUILT

if TYPE_CHECKING:
    from .explorer import Explore

MOST_SETTINGS = 500  # whose runs a file holds: each has up to some kilobytes


def by_itself(explore: Explore, suffix: str, title: str, caption: str) -> str:
    """Return *explore* as a page, or as a module if *suffix* is that of one.

    The file says of a setting that raises, or takes too long, what the live view would say. Raises
    ValueError if there are cards, or more than 500 settings.
    """
    content = content_of(explore) | {"title": title, "caption": caption}
    still = explore._repr_mimebundle_()[0].get("image/png", b"")
    form = "by_itself.mjs" if suffix == ".mjs" else "by_itself.html"
    return Template((BUILT / form).read_text("utf-8")).substitute(
        TITLE=html.escape(title or "A pipeline and its run"),
        HEADING=f"<h1>{html.escape(title)}</h1>\n" if title else "",
        CAPTION=f"<p>{html.escape(caption)}</p>\n" if caption else "",
        WORDS=html.escape(repr(explore)),
        STILL=base64.b64encode(still).decode(),
        CONTENT=base64.b64encode(compressed(packed(content))).decode(),
        SCRIPT=(BUILT / "by_itself.js").read_text("utf-8"),
    )


def compressed(text: str) -> bytes:
    """Return *text* packed by gzip: the same bytes each time, for they have no date."""
    return gzip.compress(text.encode(), 9, mtime=0)


def content_of(explore: Explore) -> Json:
    """Return what the file holds beside the program: `Content` in `page/alone/by_itself.js`."""
    controls = list(explore.controls.values())
    refuse_too_many(controls)
    answers = {
        ",".join(map(str, numbers.values())): answer_of(explore, numbers)
        for numbers in all_settings(controls)
    }
    return {
        "state": json.loads(explore.state) | {"alone": True},
        "values": {one.name: [str(value) for value in one.values] for one in controls},
        "answers": answers,
        "style": (BUILT / "style.css").read_text("utf-8"),
    }


def refuse_too_many(controls: Sequence[Control]) -> None:
    """Raise ValueError if a file cannot hold all settings of *controls*."""
    for one in controls:
        if one.kind == "order":
            raise ValueError(
                f"{one.name}: cards cannot be saved, for they have too many orders"
            )
    count = prod(len(one.values) for one in controls)
    if count > MOST_SETTINGS:
        widest = max(controls, key=lambda one: len(one.values))
        advice = f"give {widest.name}, which has {len(widest.values)}, fewer values"
        raise ValueError(f"{count:,} settings are more than {MOST_SETTINGS}: {advice}")


def all_settings(controls: Sequence[Control]) -> Iterator[Values]:
    """Give each setting of *controls*: the number of a value for each, as the page has it."""
    for numbers in product(*(range(len(one.values)) for one in controls)):
        yield {one.name: number for one, number in zip(controls, numbers, strict=True)}


def answer_of(explore: Explore, numbers: Values) -> Scene | Failed:
    """Return how the page draws a setting, or what it says where there is nothing to draw."""
    try:
        return explore.compared(explore.values(numbers))
    except Exception as error:
        setting = explore.setting_in_words(numbers)
        return {"error": f"{setting}: {sentence_of(error)}"}
