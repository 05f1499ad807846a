import signal
import threading
from time import perf_counter, sleep

import pytest

from lessonkit.widgets.sandbox import in_time


def for_ever() -> None:
    while True:
        pass


def test_an_endless_loop_is_stopped_with_a_sentence() -> None:
    said = r"the loop took longer than 0\.1 s and was stopped"
    with pytest.raises(TimeoutError, match=said):
        in_time("the loop", for_ever, 0.1)


def test_who_sleeps_is_woken_up() -> None:
    with pytest.raises(TimeoutError):
        in_time("the nap", lambda: sleep(60), 0.1)


def test_what_is_quick_is_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    for _ in range(50):
        assert in_time("this", lambda: 7, 60) == 7
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_never_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it comes, before, in or after the function: it is never seen from outside."""
    # So that it comes on time
    monkeypatch.setattr("lessonkit.widgets.sandbox.BETWEEN_LOOKS", 0.0001)
    stopped = 0
    for turn in range(300):
        began, least = perf_counter(), turn * 1e-5

        def until_about_then() -> None:
            while perf_counter() - began < least:  # noqa: B023
                pass

        try:
            in_time("this", until_about_then, 0.0015)
        except TimeoutError:
            stopped += 1
        for _ in range(1000):  # here a late interrupt would show
            pass
    assert stopped


def test_an_interrupt_of_the_user_stays_one() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_time("this", interrupted, 60)


def test_a_loop_on_another_thread_is_stopped_too() -> None:
    """JupyterLab has the page's questions answered there."""
    said = []

    def work() -> None:
        try:
            in_time("the loop", for_ever, 0.05)
        except TimeoutError as stopped:
            said.append(str(stopped))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert said == ["the loop took longer than 0.05 s and was stopped"]


def test_an_interrupt_that_nobody_heard_comes_again() -> None:
    heard = []

    def deaf_once() -> None:
        try:
            while True:
                pass
        except KeyboardInterrupt:  # as if it had come while memory was cleared up
            heard.append(1)
        while True:
            pass

    with pytest.raises(TimeoutError):
        in_time("it", deaf_once, 0.05)
    assert heard == [1]
