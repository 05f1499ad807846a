"""What limits a pipeline function leaves everything alone that runs beside it."""

import builtins
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from lessonkit import Dataset, benchmark
from lessonkit.widgets.sandbox import MOST_PRINTED, bounded

LONG = "x" * (MOST_PRINTED + 1)


def beside(function: Callable[[], Any]) -> Any:
    """What *function* returns, or raises, on another thread while a pipeline function runs."""
    outcome: list[Any] = []

    def other() -> None:
        try:
            outcome.append(function())
        except Exception as error:
            outcome.append(error)

    def waits() -> None:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    bounded("a pipeline function", waits)
    return outcome[0]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_another_thread_prints_is_neither_counted_nor_cut(
    capsys: pytest.CaptureFixture[str], stream: str
) -> None:
    assert beside(lambda: print(LONG, file=getattr(sys, stream))) is None
    assert getattr(capsys.readouterr(), stream.removeprefix("std")) == f"{LONG}\n"


def test_another_thread_may_ask_for_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "input", lambda prompt="": f"{prompt} 7")
    assert beside(lambda: input("how many?")) == "how many? 7"


def test_what_the_pipeline_function_prints_is_cut_and_at_last_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bounded("it", lambda: print(LONG[:-1], end=""))
    assert capsys.readouterr().out == f"{LONG[:1000]}…\n"
    with pytest.raises(ValueError, match="printed more than 10,000 characters"):
        bounded("it", lambda: print(LONG))


def test_what_the_threads_of_its_own_real_run_print_counts_too() -> None:
    def talks() -> None:
        loud = Dataset.range(8).map(lambda number: print(LONG[:2000]), num_parallel_calls=2)
        benchmark(loud, 1, train=0, clock="real")

    with pytest.raises(ValueError, match="printed more than 10,000 characters"):
        bounded("it", talks)
