"""The widgets where no thread can be started, as in a browser's Python: all of them work the same."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from time import sleep
from typing import Any

import pytest
from support.pages import Said

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.analysis import measure
from lessonkit.widgets import challenge, explore, goals, predict, sandbox, show
from lessonkit.widgets.sandbox import in_time

pytestmark = pytest.mark.usefixtures("no_threads")


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread starts any more, and none that watches was started before."""

    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr("_thread.start_new_thread", refuse)
    monkeypatch.setattr(sandbox, "start_watch", sandbox.start_watch.__wrapped__)
    monkeypatch.setattr(sandbox.Deadline, "look", lambda _: None)  # if one was


def pipeline(n: int = 2) -> Dataset:
    return ArtificialDataset(n, open=0.001, read=0.001)


def checked(solution: Callable[[], Any]) -> Any:
    task: Any = challenge("fast", goals=[goals.per_sample(at_most=1)])
    return task.check(solution)


def test_nothing_is_stopped() -> None:
    assert in_time("this", lambda: sleep(0.1) or 7, 0.001) == 7  # type: ignore[func-returns-value]
    with pytest.raises(ZeroDivisionError):
        in_time("this", lambda: 1 // 0, 60)
    assert not sandbox.has_deadline.get()


def test_a_run_is_shown_and_every_question_answered() -> None:
    said = Said(explore(pipeline, n=(1, 3)))
    assert json.loads(said.widget.state)["scene"]["figures"][1][1] == "for 4 samples"
    assert (
        said.ask({"do": "show", "id": 1, "values": {"n": 2}})[1]["figures"][1][1]
        == "for 6 samples"
    )
    assert json.loads(show(pipeline()).state)["scene"]["figures"][1][1] == "for 4 samples"


def test_a_question_is_asked_and_a_challenge_judged() -> None:
    said = Said(predict("How long?", pipeline()))
    assert said.ask({"do": "reveal"})[1]["scene"]["figures"][1][1] == "for 4 samples"
    assert checked(pipeline).passed


def test_a_real_run_goes_on_within_its_question() -> None:
    said = Said(explore(pipeline, n=(1, 3)))
    for turn in range(2):
        said.ask({"do": "run", "id": turn, "values": {"n": 1}})
        assert said.messages[-1][0] == {"about": "real", "id": turn}
        assert said.messages[-1][1]["scene"]["figures"][1][1] == "for 4 samples"
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
