"""The comments in Markdown that say how a number is computed. No reader sees them; `tools.numbers` runs them.

    The run takes 210 ms<!--= benchmark(naive).duration --> for 6 samples.

Python that several expressions of a page need stands in a comment of its own, before them:

    <!--: deep = ArtificialDataset(3).prefetch(8) -->
"""

import re

COMMENT = re.compile(r"<!--(?P<kind>[=:])(?P<code>.*?)-->", re.S)
ANY = re.compile(r"<!--.*?-->", re.S)


def without_comments(markdown: str) -> str:
    """Return *markdown* as its readers see it."""
    return ANY.sub("", markdown)


def set_up(markdown: str) -> list[str]:
    """Return the Python of the comments of *markdown* that compute no number, in their order."""
    found = COMMENT.finditer(markdown)
    return [comment["code"].strip() for comment in found if comment["kind"] == ":"]
