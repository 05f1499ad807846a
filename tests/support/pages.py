"""What a widget says to its page, taken down, and whatever a page may say."""

import json
from typing import Any

from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


class Said:
    """Stands in for the page: keeps what it is told."""

    def __init__(self, widget: Any) -> None:
        self.widget = widget
        self.messages: list[tuple[dict[str, Any], Any]] = []
        widget.send = self.take

    def take(self, content: dict[str, Any], buffers: Any = None) -> None:
        self.messages.append((content, json.loads(buffers[0]) if buffers else None))

    def ask(self, content: Any) -> tuple[dict[str, Any], Any]:
        """Ask a question as the page does; the last answer."""
        self.widget.hear(self.widget, content, [])
        return self.messages[-1] if self.messages else ({}, None)
