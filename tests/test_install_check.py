"""The install check: what this Python can tell, and what only the page can."""

import json
import re
import sys

import pytest
from pages import Said

from lessonkit.install_check import ADVICE, check, python
from lessonkit.widgets.widget import PROGRAM

CELL = "from lessonkit.install_check import check\ncheck()"


def test_the_page_is_told_the_version_of_python() -> None:
    assert json.loads(check().state) == {"python": python()}
    assert python() == sys.version.split()[0]


@pytest.mark.usefixtures("no_threads")
def test_a_browser_is_told_what_its_python_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert (
        "in a browser, without threads: in real runs waits go on side by side" in python()
    )


def test_what_to_do_is_printed_where_no_page_may_show_a_widget(
    capsys: pytest.CaptureFixture[str],
) -> None:
    check()
    assert capsys.readouterr().out == ADVICE + "\n"


def test_the_page_knows_the_advice_that_it_takes_away() -> None:
    (begins,) = re.findall(r'"(The packages that show widgets [^"]+)"', PROGRAM)
    assert ADVICE.startswith(begins)


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
