"""The install check: every finding, good and bad."""

import sys

import pytest
from pages import Said

from lessonkit import install_check
from lessonkit.install_check import Finding, check, findings, in_words
from lessonkit.widgets.widget import WITHOUT_WIDGETS

CELL = "from lessonkit.install_check import check\ncheck()"
NAMES = ["Python", "widget manager"]


def test_here_everything_is_as_it_should_be() -> None:
    found = findings()
    assert [finding.what for finding in found] == NAMES
    assert all(finding.good for finding in found)


def test_a_missing_widget_manager_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [])
    found = install_check.find_widgets()
    assert (found.found, found.good) == ("none for ipywidgets and anywidget", False)


def test_without_jupyter_there_is_no_widget_manager(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_core.paths", None)
    assert not install_check.find_widgets().good


@pytest.mark.usefixtures("no_threads")
def test_a_browser_is_told_what_its_python_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    [python] = findings()
    assert (python.what, python.good) == ("Python", True)
    assert (
        "in a browser, without threads: in real runs waits go on side by side"
        in python.found
    )


def test_what_to_do_stands_under_what_is_not_good() -> None:
    told = in_words(
        [
            Finding("kernel", "answers", True),
            Finding("numpy", "1.0", False, "Take a newer one."),
        ]
    )
    assert told.splitlines() == [
        "ok  kernel  answers",
        "!!  numpy   1.0",
        "    Take a newer one.",
    ]


def test_a_notebook_keeps_the_same_text_wherever_it_runs() -> None:
    shown = check()
    assert repr(shown) == WITHOUT_WIDGETS
    assert shown._repr_mimebundle_()[0]["text/plain"] == WITHOUT_WIDGETS


def test_the_page_is_answered() -> None:
    about, _ = Said(check()).ask({"do": "greet"})
    assert about == {"about": "greeting"}


def test_without_widgets_it_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "lessonkit.widgets.widget", None)
    assert check() is None
    told = capsys.readouterr().out
    assert "widget manager" in told
    assert "lessonkit.widgets.widget" in told  # what is missing, and what to do
    assert "make lab" in told
