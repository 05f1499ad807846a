"""The page's program is sent once, whatever a lesson shows."""

from typing import Any

from support.pages import Said

from lessonkit import ArtificialDataset, Dataset
from lessonkit.plot import kitchen
from lessonkit.widgets import explore, predict
from lessonkit.widgets.widget import PROGRAM, VERSION, Page, host

# Bytes of the loader, which each widget carries: not a hundredth of the program
SMALL = 2000


def few(samples: int = 2) -> Dataset:
    return ArtificialDataset(samples)


def widgets() -> list[Page]:
    return [
        explore(few, samples=(1, 3)),
        predict("How long?", few(), wrong=[(1, "x")]),
        kitchen(),
    ]


def test_every_widget_carries_a_loader_and_names_the_one_host() -> None:
    for widget in widgets():
        state = widget.get_state()
        assert len(str(state["_esm"])) < SMALL < len(PROGRAM) / 40
        assert "_css" not in state
        assert state["host"] == f"IPY_MODEL_{host().model_id}"
        assert state["version"] == VERSION


def test_the_host_brings_the_program_of_that_version() -> None:
    state = host().get_state()
    assert state["_esm"] == PROGRAM
    assert state["version"] == VERSION


def test_a_host_that_was_closed_is_made_anew() -> None:
    before = host()
    assert host() is before
    before.close()
    after = host()
    assert after is not before
    assert widgets()[0].host is after


def test_a_page_without_the_host_gets_the_program_from_any_widget() -> None:
    for widget in widgets():
        told: list[Any] = []
        widget.send = lambda content, buffers=None, told=told: told.append(
            (content, buffers)
        )
        widget.hear(widget, {"do": "program"}, [])
        assert told == [({"about": "program"}, [PROGRAM.encode()])]


def test_nothing_can_be_asked_of_a_host_by_way_of_a_widget() -> None:
    about, _ = Said(widgets()[0]).ask({"do": "host"})
    assert about["about"] == "error"
