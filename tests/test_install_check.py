"""The install check: what this Python can tell, and what only the page can."""

import json
import sys

import pytest
from pages import Said

from lessonkit.install_check import check, python
from lessonkit.widgets.widget import WITHOUT_WIDGETS

CELL = "from lessonkit.install_check import check\ncheck()"


def test_the_page_is_told_the_version_of_python() -> None:
    [found] = json.loads(check().state)["findings"]
    assert found == {"what": "Python", "found": python(), "good": True}
    assert python() == sys.version.split()[0]


@pytest.mark.usefixtures("no_threads")
def test_a_browser_is_told_what_its_python_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert (
        "in a browser, without threads: in real runs waits go on side by side" in python()
    )


def test_a_notebook_keeps_the_same_text_wherever_it_runs() -> None:
    shown = check()
    assert repr(shown) == WITHOUT_WIDGETS
    assert shown._repr_mimebundle_()[0]["text/plain"] == WITHOUT_WIDGETS


def test_the_page_is_answered() -> None:
    about, _ = Said(check()).ask({"do": "greet"})
    assert about == {"about": "greeting"}


def test_without_widgets_it_says_what_is_missing_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "lessonkit.widgets.widget", None)
    assert check() is None
    told = capsys.readouterr().out
    assert "lessonkit.widgets.widget" in told
    assert "make lab" in told
