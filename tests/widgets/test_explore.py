import json
import re
import runpy
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import JSON, Said

from lessonkit import ArtificialDataset, DataLoader, Dataset, benchmark
from lessonkit.pictures.layout import layout
from lessonkit.widgets import cards, explore, seconds, show, slider


def pipeline(buffer: int = 1, calls: int = 2, read: float = 0.015) -> Dataset:
    return (
        ArtificialDataset(6, read=read)
        .map(cost=0.02, num_parallel_calls=calls)
        .prefetch(buffer)
    )


def lab() -> Any:
    return explore(
        pipeline, buffer=(0, 8), calls=slider(1, 8), read=seconds(0.005, 0.03, 0.005)
    )


VALUES = {"buffer": 1, "calls": 1, "read": 2}


def test_the_first_picture_is_that_of_the_defaults() -> None:
    state = json.loads(lab().state)
    assert [spec["value"] for spec in state["controls"]] == [1, 1, 2]
    laid = layout(benchmark(pipeline()))
    bars = state["scene"]["bars"]
    assert bars["start"] == [round(bar.start / 1000) for bar in laid.bars]
    assert bars["label"] == [bar.label for bar in laid.bars]
    assert [row["stage"] for row in state["scene"]["rows"]] == [
        "Open",
        "Read",
        "Map",
        "Train",
    ]


def test_a_question_is_answered_with_the_picture_of_its_values() -> None:
    said = Said(lab())
    about, scene = said.ask(
        {"do": "show", "id": 7, "values": {"buffer": 0, "calls": 0, "read": 0}}
    )
    assert (about["about"], about["id"]) == ("picture", 7)
    assert scene["end"] == round(benchmark(pipeline(0, 1, 0.005)).duration * 1e6)


def test_the_baseline_run_follows_each_control_that_it_does_not_fix() -> None:
    made = explore(pipeline, pinned={"buffer": 0}, buffer=(0, 8), read=[0.015, 0.03])
    said = Said(made)

    def baseline(buffer: int, read: int) -> Any:
        asked = {"do": "show", "id": 1, "values": {"buffer": buffer, "read": read}}
        return said.ask(asked)[1].get("pinned", "that of the start")

    assert baseline(5, 0) == "that of the start"
    slower = round(benchmark(pipeline(buffer=0, read=0.03)).duration * 1e6)
    assert baseline(5, 1)["end"] == slower
    assert baseline(0, 1)["end"] == slower


def test_where_a_pipeline_has_no_baseline_run_nothing_is_compared() -> None:
    def made(workers: int = 1, job: str = "images") -> Dataset:
        if not workers and job == "http":
            raise ValueError("http needs a worker")
        return Dataset.range(3).map(cost=0.01 if job == "images" else 0.02)

    said = Said(
        explore(made, pinned={"workers": 0}, workers=(0, 2), job=["images", "http"])
    )
    _, scene = said.ask({"do": "show", "id": 1, "values": {"workers": 1, "job": 1}})
    assert scene["pinned"] is None
    assert scene["perSample"] == benchmark(made(1, "http")).per_sample


def test_a_picture_of_200_spans_is_small() -> None:
    said = Said(
        explore(lambda n=44: ArtificialDataset(n).map(cost=0.01).prefetch(1), n=(40, 50))
    )
    said.ask({"do": "show", "id": 1, "values": {"n": 5}})
    assert len(json.dumps(said.messages[-1][1])) < 40_000


def test_of_very_many_bars_the_first_are_drawn() -> None:
    scene = json.loads(show(Dataset.range(6000), num_epochs=1).state)["scene"]
    assert len(scene["bars"]["row"]) == 5000
    assert scene["note"].startswith("Only the first 5,000 of 6,000 bars are drawn.")


def test_the_message_about_an_error_has_its_sentence_and_line() -> None:
    def broken(size: int = 1) -> Dataset:
        return Dataset.range(3).batch(size - 1)

    said = Said(explore(broken, size=(1, 4)))
    assert "batch_size=0: must be 1 or more" in json.loads(said.widget.state)["error"]
    assert (
        "return Dataset.range(3).batch(size - 1)" in json.loads(said.widget.state)["error"]
    )
    assert (
        said.ask({"do": "show", "id": 1, "values": {"size": 1}})[1]["figures"][1][1]
        == "for 6 samples"
    )
    assert (
        "batch_size=0"
        in said.ask({"do": "show", "id": 2, "values": {"size": 0}})[1]["error"]
    )


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda n=1: None, "must return a Dataset"),
        (
            lambda n=1: (Dataset.range(3), {"clock": "real"}),
            "clock='real': must be one of num_epochs",
        ),
        (lambda n=1: Dataset.range(3).repeat(), "never ends"),
        (lambda n=1: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda n=1: sys.exit(), "tried to end Python and was stopped"),
        (
            lambda n=1: Dataset.range(3).map(lambda x: sys.exit()),
            "tried to end Python",
        ),
        (
            lambda n=1: Dataset.range(3).prefech(2),  # type: ignore[attr-defined]
            "a Dataset has no prefech; do you mean prefetch",
        ),
        (
            lambda n=1: (Dataset.range(3), {"machine": 4}),
            "machine=4: must be a Machine",
        ),
        (lambda n=1: json.loads("{"), r"Expecting property name .*\(in <lambda>, line"),
    ],
)
def test_what_can_not_be_shown_is_said(made: Any, sentence: str) -> None:
    said = Said(explore(made, n=(1, 3)))
    assert re.search(
        sentence, said.ask({"do": "show", "id": 1, "values": {"n": 1}})[1]["error"]
    )


@pytest.mark.parametrize(
    "made",
    [
        lambda n=1: [None for _ in iter(int, 1)],
        lambda n=1: (Dataset.range(10**6).map(cost=0.001), {"num_epochs": 1}),
    ],
)
def test_what_takes_too_long_is_ended(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lessonkit.widgets.sandbox.MOST_SECONDS", 0.1)
    said = Said(explore(made, n=(1, 3)))
    assert (
        "took longer than 0.1 s"
        in said.ask({"do": "show", "id": 1, "values": {"n": 1}})[1]["error"]
    )


def test_the_code_of_a_loader_is_for_pytorch_and_that_of_others_for_tf_data() -> None:
    def workers(n: int = 2) -> Dataset:
        return DataLoader(Dataset.range(8).map(cost=0.01), 2, num_workers=n).prefetch(1)

    _, programs = Said(explore(workers, n=(1, 3))).ask({"do": "code", "values": {"n": 1}})
    assert programs == {name: workers().code(name) for name in ("lessonkit", "torch")}
    assert "DataLoader(samples, batch_size=2, num_workers=2)" in programs["torch"]
    _, programs = Said(lab()).ask({"do": "code", "values": VALUES})
    assert list(programs) == ["lessonkit", "tf.data"]


def test_a_function_that_waits_for_its_own_thread_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lessonkit.widgets.sandbox.MOST_SECONDS", 0.5)
    enough = threading.Event()

    def waits(n: int = 1) -> None:
        thread = threading.Thread(target=enough.wait)
        thread.start()
        thread.join()

    error = json.loads(explore(waits, n=(1, 3)).state)["error"]
    enough.set()
    assert error.startswith(
        "this pipeline took longer than 0.5 s and was stopped (in waits, line "
    )
    assert error.endswith(": thread.join())")


def test_values_may_be_arrays() -> None:
    arrays = [np.zeros(3), np.ones(4)]
    said = Said(explore(lambda data: Dataset.range(len(data)), data=arrays))
    assert (
        said.ask({"do": "show", "id": 1, "values": {"data": 1}})[1]["figures"][1][1]
        == "for 8 samples"
    )


def test_the_learners_line_is_said_whatever_its_folder_is_called(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lessonkit" / "mine.py"
    file.parent.mkdir()
    file.write_text(
        "from lessonkit import Dataset\ndef mine(n=1):\n    return Dataset.range(3).batch(0)\n"
    )
    mine = runpy.run_path(str(file))["mine"]
    assert json.loads(explore(mine, n=(1, 3)).state)["error"] == (
        "batch_size=0: must be 1 or more (in mine, line 3: return Dataset.range(3).batch(0))"
    )


def test_a_baseline_is_there_from_the_start() -> None:
    state = json.loads(explore(pipeline, pinned={"calls": 1}, calls=(1, 4)).state)
    assert state["pinned"]["end"] == round(benchmark(pipeline(calls=1)).duration * 1e6)


def test_one_pipeline_is_shown_without_controls() -> None:
    state = json.loads(show(pipeline(), pinned=pipeline(calls=1), num_epochs=1).state)
    assert state["controls"] == []
    assert state["scene"]["figures"][1][1] == "for 6 samples"
    assert state["pinned"]["end"] > state["scene"]["end"]


def test_cards_reach_the_pipeline_in_their_order() -> None:
    def puzzle(order: Any) -> Dataset:
        data: Dataset = Dataset.range(8)
        for step in order:
            data = step(data)
        return data

    def shuffle(data: Dataset) -> Dataset:
        return data.shuffle(4)

    def repeat(data: Dataset) -> Dataset:
        return data.repeat(2)

    said = Said(explore(puzzle, order=cards(shuffle=shuffle, repeat=repeat)))
    assert "blur" not in json.loads(said.widget.state)["scene"]["data"]
    assert (
        said.ask({"do": "show", "id": 1, "values": {"order": [1, 0]}})[1]["data"]
        == "epochs blur"
    )


def test_a_real_run_is_laid_over_the_prediction() -> None:
    said = Said(explore(lambda n=2: ArtificialDataset(n, open=0.001, read=0.001), n=(1, 3)))
    said.ask({"do": "run", "id": 1, "values": {"n": 1}})
    _, answer = wait_for(said, "real")
    assert answer["scene"]["figures"][1][1] == "for 4 samples"
    assert [row[0] for row in answer["rows"]] == ["Open", "Read", "Train"]
    assert answer["total"][0] == "total"


def test_a_real_run_can_be_cancelled() -> None:
    said = Said(
        explore(lambda n=2: ArtificialDataset(n, open=0.05, read=0.05), n=(1000, 1001))
    )
    said.ask({"do": "run", "id": 1, "values": {"n": 0}})
    said.ask({"do": "cancel"})
    about, _ = wait_for(said, "stopped")
    assert about["text"].startswith("Cancelled after")


def test_a_real_run_whose_picture_never_comes_can_be_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = Said(explore(lambda n=2: ArtificialDataset(n, open=0.001, read=0.001), n=(1, 3)))
    begun = threading.Event()

    def never(*_: object, **__: object) -> None:
        begun.set()
        while True:
            pass

    monkeypatch.setattr("lessonkit.widgets.explorer.page_data", never)
    before = {*threading.enumerate()}
    said.ask({"do": "run", "id": 1, "values": {"n": 1}})
    assert begun.wait(60)
    # Not a count of all: threads of an earlier test may end just now
    draws = {*threading.enumerate()} - before
    assert draws
    said.ask({"do": "cancel"})
    assert wait_for(said, "stopped")[0] == {
        "about": "stopped",
        "id": 1,
        "text": "Cancelled.",
    }
    deadline = time.monotonic() + 60
    while any(thread.is_alive() for thread in draws) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not any(thread.is_alive() for thread in draws)


def test_of_two_real_runs_the_newer_goes_on() -> None:
    said = Said(
        explore(lambda n=1: ArtificialDataset(n, open=0.001, read=0.001), n=[9000, 1])
    )
    said.ask({"do": "run", "id": 1, "values": {"n": 0}})
    said.ask({"do": "run", "id": 2, "values": {"n": 1}})
    assert wait_for(said, "real")[0]["id"] == 2
    # Before or after: it may still have been predicting
    assert wait_for(said, "stopped")[0]["id"] == 1
    assert (
        len([about for about, _ in said.messages if about["about"] in ("real", "stopped")])
        == 2
    )


@pytest.mark.parametrize("wrong", [{"pinned": (1, 3)}])
def test_an_option_is_no_control(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="no control can have this name"):
        explore(pipeline, **wrong)


def test_what_is_no_pipeline_is_refused() -> None:
    with pytest.raises(TypeError, match="pipeline=3: must be a function"):
        explore(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="None: show takes a Dataset"):
        show(None)


def test_an_interrupt_is_an_answer() -> None:
    def interrupted(n: int = 1) -> Dataset:
        raise KeyboardInterrupt

    said = Said(explore(lambda n=1: Dataset.range(n), n=(1, 2)))
    said.widget.pipeline = interrupted
    assert said.ask({"do": "show", "id": 1, "values": {"n": 1}})[1] == {
        "error": "The simulation was interrupted."
    }


def test_of_an_error_without_end_the_beginning_is_said() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise ValueError

    def endless(n: int = 1) -> Dataset:
        raise ValueError("x" * 10**6) if n else SilentError

    said = Said(explore(endless, n=[0, 1]))
    assert len(json.loads(said.widget.state)["error"]) < 1000
    assert (
        "SilentError (in endless"
        in said.ask({"do": "show", "id": 1, "values": {"n": 0}})[1]["error"]
    )


@pytest.mark.parametrize(
    "error", [OSError("no such file"), KeyboardInterrupt("no such file")]
)
def test_an_error_in_a_real_run_is_told(error: BaseException) -> None:
    raised: list[BaseException] = []

    def explode(value: Any) -> Any:
        if raised:
            raise raised[0]

    said = Said(explore(lambda n=1: Dataset.range(3).map(explode), n=(1, 2)))
    raised.append(error)
    said.ask({"do": "run", "id": 1, "values": {"n": 0}})
    assert wait_for(said, "stopped")[0]["text"].startswith(
        f"{type(error).__name__}: no such file"
    )


def test_a_pipeline_function_that_fails_ends_the_real_run_that_asked_for_it() -> None:
    def broken(n: int = 1) -> Dataset:
        raise OSError("no disk")

    said = Said(explore(broken, n=(1, 2)))
    said.ask({"do": "run", "id": 7, "values": {"n": 0}})
    about, _ = wait_for(said, "stopped")
    assert (about["id"], about["text"][:16]) == (7, "OSError: no disk")


def wait_for(said: Said, about: str) -> tuple[dict[str, Any], Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for message in said.messages:
            if message[0]["about"] == about:
                return message
        time.sleep(0.005)
    raise AssertionError(said.messages)


NEAR = st.fixed_dictionaries(
    {"do": st.sampled_from(["show", "code", "cancel", "hear", "__init__", "run "]) | JSON},
    optional={
        "id": JSON,
        "values": st.just(VALUES)
        | JSON
        | st.fixed_dictionaries(dict.fromkeys(VALUES, JSON)),
    },
)
WIDGET = Said(lab())


@given(JSON | NEAR)
def test_nothing_that_a_page_may_send_breaks_the_widget(content: Any) -> None:
    before = len(WIDGET.messages)
    WIDGET.widget.hear(WIDGET.widget, content, [])
    assert len(WIDGET.messages) - before <= 1
    assert (
        WIDGET.ask({"do": "show", "id": 1, "values": VALUES})[1]["figures"][1][1]
        == "for 12 samples"
    )


def test_a_message_far_too_large_is_refused() -> None:
    said = Said(lab())
    huge = "x" * 10**6
    assert "error" in said.ask({"do": "show", "id": 1, "values": {huge: 1}})[1]
    assert said.ask({"do": huge})[0]["text"] == "there is no such question"
    assert len(said.messages[-1][0]["text"]) < 200


def test_what_is_shown_is_the_same_text_on_every_run() -> None:
    assert repr(lab()) == repr(lab())
    assert "0x" not in repr(lab())


def test_settings_in_words_have_their_units_once_and_a_space_after_each_comma() -> None:
    def job(ranks: int = 1, slots: int = 2, num_workers: int = 0) -> Dataset:
        return ArtificialDataset(2)

    units: dict[str, Any] = {
        "slots": slider(0, 4, unit="slots"),
        "num_workers": slider(0, 4, unit="workers"),
    }
    said = repr(explore(job, ranks=[1, 2], **units))
    assert said.startswith("ranks 1, 2 slots, 0 workers: ")
