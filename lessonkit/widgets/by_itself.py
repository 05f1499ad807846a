"""An `explore` as one file that is alive without Python: all settings are run beforehand."""

import base64
import gzip
import html
import json
from itertools import product
from math import prod
from string import Template
from typing import Any

from lessonkit.widgets.page_data import packed
from lessonkit.widgets.sandbox import sentence_of
from lessonkit.widgets.widget import HERE

MOST_SETTINGS = 500
PAGE = Template((HERE / "by_itself.html").read_text(encoding="utf-8"))


def page_by_itself(explore: Any) -> str:
    """Return *explore* as a page. Raise ValueError if it has cards, or too many settings.

    The page says of a setting that raises, or takes too long, what the live view would say.
    """
    controls = list(explore.controls.values())
    for one in controls:
        if one.kind == "order":
            raise ValueError(
                f"{one.name}: cards cannot be saved, for they have too many orders"
            )
    sizes = [len(one.values) for one in controls]
    if (count := prod(sizes)) > MOST_SETTINGS:
        widest = controls[sizes.index(max(sizes))]
        most = f"{count:,} settings are more than {MOST_SETTINGS}"
        raise ValueError(
            f"{most}: give {widest.name}, which has {len(widest.values)}, fewer values"
        )
    state = json.loads(explore.state) | {"alone": True}
    answers = {}
    for chosen in product(*map(range, sizes)):
        key = ",".join(map(str, chosen))
        setting = dict(zip(explore.controls, chosen, strict=True))
        try:
            answers[key] = explore.picture(explore.values(setting))[1]
        except Exception as error:
            text = f"{explore.setting_in_words(setting)}: {sentence_of(error)}"
            answers[key] = {"error": text}
    values = {one.name: [str(value) for value in one.values] for one in controls}
    content = packed({"state": state, "values": values, "answers": answers}).encode()
    title = getattr(explore.pipeline, "__name__", "A run").replace("_", " ")
    scripts = explore._esm.replace("export default", "const lessonkit =", 1)
    return PAGE.substitute(
        TITLE=html.escape(title),
        STYLE=explore._css,
        WORDS=html.escape(repr(explore)),
        ANSWERS=base64.b64encode(gzip.compress(content, 9, mtime=0)).decode(),
        SCRIPT=scripts + (HERE / "by_itself.js").read_text(encoding="utf-8"),
    )
