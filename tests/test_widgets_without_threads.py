"""The widgets where no thread can be started, as in a browser's Python: all of them work the same."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest
from pages import Said

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.analysis import measure
from lessonkit.widgets import challenge, explore, goals, predict, show, time_limit
from lessonkit.widgets.time_limit import TookTooLongError, in_time

pytestmark = pytest.mark.usefixtures("no_threads")


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread starts any more, and none that watches was started before."""

    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr("_thread.start_new_thread", refuse)
    monkeypatch.setattr(time_limit, "start_watch", time_limit.start_watch.__wrapped__)
    if not hasattr(sys, "monitoring"):
        monkeypatch.setattr(sys, "monitoring", Jumps(), raising=False)


class Jumps:
    """Stands in for the `sys.monitoring` of newer Pythons: tells of each line, also of those with a jump."""

    events = SimpleNamespace(JUMP=1)
    tool: str | None = None

    def use_tool_id(self, number: int, name: str) -> None:
        self.tool, self.before = name, sys.gettrace()

    def free_tool_id(self, number: int) -> None:
        self.tool = None

    def get_tool(self, number: int) -> str | None:
        return self.tool

    def register_callback(
        self, number: int, event: int, function: Callable[..., None]
    ) -> None:
        self.function = function

    def set_events(self, number: int, events: int) -> None:
        sys.settrace(self.line if events else self.before)

    def line(self, *_: Any) -> Any:
        self.function()
        return self.line

    # It is no code of a learner
    line.__code__ = line.__code__.replace(co_filename=time_limit.__file__)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learner's code may take half a second."""
    monkeypatch.setattr("lessonkit.widgets.sandbox.MOST_SECONDS", 0.5)


def turn_for_ever(*_: Any) -> Any:
    while True:
        pass


def turn_in_a_comprehension() -> None:
    [None for _ in iter(int, 1)]


def pipeline(n: int = 2) -> Dataset:
    return ArtificialDataset(n, open=0.001, read=0.001)


def checked(solution: Callable[[], Any]) -> Any:
    task: Any = challenge("fast", goals=[goals.per_sample(at_most=1)])
    return task.check(solution)


@pytest.mark.parametrize("loop", [turn_for_ever, turn_in_a_comprehension])
def test_an_endless_loop_is_stopped_with_the_same_sentence(
    loop: Callable[[], None],
) -> None:
    with pytest.raises(
        TookTooLongError, match=r"the loop took longer than 0\.1 s, and was stopped"
    ):
        in_time(0.1, "the loop", loop)
    assert not time_limit.is_limited.get()


def test_what_is_quick_is_left_alone_and_nothing_watches_after_it() -> None:
    before = sys.gettrace()
    watched: Any = getattr(sys, "monitoring")  # noqa: B009 - unknown to 3.11
    assert in_time(60, "this", lambda: watched.get_tool(time_limit.TOOL)) == "lessonkit"
    with pytest.raises(ZeroDivisionError):
        in_time(60, "this", lambda: 1 // 0)
    assert sys.gettrace() is before
    assert watched.get_tool(time_limit.TOOL) is None


def test_a_python_that_tells_of_no_jumps_runs_everything_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(sys, "monitoring")
    assert in_time(60, "this", lambda: 7) == 7


def test_a_run_is_shown_and_every_question_answered() -> None:
    said = Said(explore(pipeline, n=(1, 3)))
    assert json.loads(said.widget.state)["scene"]["samples"] == 4
    assert said.ask({"do": "show", "id": 1, "values": {"n": 2}})[1]["samples"] == 6
    assert json.loads(show(pipeline()).state)["scene"]["samples"] == 4


@pytest.mark.usefixtures("short")
def test_endless_code_of_a_learner_ends_with_its_line() -> None:
    def mapped(n: int = 0) -> Dataset:
        return Dataset.range(3).map(turn_for_ever) if n else turn_for_ever()

    said = Said(explore(mapped, n=(0, 1)))
    for n, what in enumerate(["mapped", "this pipeline"]):
        error = said.ask({"do": "show", "id": 1, "values": {"n": n}})[1]["error"]
        assert error.startswith("this pipeline took longer than 0.5 s, and was stopped"), (
            what
        )
        assert "(in turn_for_ever, line " in error
    assert (
        "turn_for_ever took longer than 0.5 s" in checked(turn_for_ever).verdict["message"]
    )


def test_a_question_is_asked_and_a_challenge_judged() -> None:
    said = Said(predict("How long?", pipeline()))
    assert said.ask({"do": "reveal"})[1]["scene"]["samples"] == 4
    assert checked(pipeline).passed


def test_a_real_run_goes_on_within_its_question() -> None:
    said = Said(explore(pipeline, n=(1, 3)))
    for turn in range(2):
        said.ask({"do": "run", "id": turn, "values": {"n": 1}})
        assert said.messages[-1][0] == {"about": "real", "id": turn}
        assert said.messages[-1][1]["scene"]["samples"] == 4
    assert "progress" in [about["about"] for about, _ in said.messages]


def test_an_error_in_a_real_run_is_told() -> None:
    said = Said(explore(lambda n=1: Dataset.range(3).map(lambda _: 1 / 0), n=(1, 2)))
    said.ask({"do": "run", "id": 1, "values": {"n": 0}})
    assert said.messages[-1][0]["text"].startswith("ZeroDivisionError")


def test_a_pipeline_is_measured() -> None:
    measured = measure(Dataset.range(9).map(lambda number: sleep(0.002))).dataset
    assert benchmark(measured, 1, train=0).duration > 9 * 0.001


def test_no_clock_of_threads_is_needed() -> None:
    lines = "import time; del time.thread_time; from lessonkit.analysis import measure"
    assert subprocess.run([sys.executable, "-c", lines], check=False).returncode == 0
