"""The comments in Markdown that say how a number is computed. No reader sees them; `tools.numbers` runs them.

    The run takes 210 ms<!--= benchmark(naive).duration --> for 6 samples.

Python that several expressions of a page need stands in a comment of its own, before them:

    <!--: deep = ArtificialDataset(3).prefetch(8) -->
"""

import re
from collections.abc import Iterator

# In code, it is no comment
CODE_OR_COMMENT = re.compile(
    r"```.*?```|`[^`\n]*`|(?P<comment><!--(?P<kind>[=:]?)(?P<code>.*?)-->)", re.S
)


def comments(markdown: str) -> Iterator[re.Match[str]]:
    """Yield the comments of *markdown* that are Python: the kind of each is = or :, and its code follows."""
    for found in CODE_OR_COMMENT.finditer(markdown):
        if found["kind"]:
            yield found


def without_comments(markdown: str) -> str:
    """Return *markdown* as its readers see it."""
    return CODE_OR_COMMENT.sub(lambda found: "" if found["comment"] else found[0], markdown)


def set_up(markdown: str) -> list[str]:
    """Return the Python of the comments of *markdown* that compute no number, in their order."""
    found = comments(markdown)
    return [comment["code"].strip() for comment in found if comment["kind"] == ":"]
