import signal
import threading
from time import perf_counter, sleep

import pytest

from lessonkit.widgets.patience import TookTooLongError, patience


def test_an_endless_loop_is_stopped_with_a_sentence() -> None:
    said = r"the loop took longer than 0\.1 s, and was stopped"
    with pytest.raises(TookTooLongError, match=said), patience(0.1, "the loop"):
        while True:
            pass


def test_who_sleeps_is_woken_up() -> None:
    with pytest.raises(TookTooLongError), patience(0.1, "the nap"):
        sleep(60)


def test_what_is_quick_is_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    for _ in range(50):
        with patience(5, "this"):
            sleep(0)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_never_comes_late() -> None:
    for _ in range(100):
        began = perf_counter()
        try:
            with patience(0.002, "this"):
                while perf_counter() - began < 0.002:
                    pass
        except TookTooLongError:
            pass
        for _ in range(1000):  # here a late interrupt would show
            pass


def test_an_interrupt_of_the_user_stays_one() -> None:
    with pytest.raises(KeyboardInterrupt), patience(5, "this"):
        raise KeyboardInterrupt


def test_a_loop_on_another_thread_is_stopped_too() -> None:
    """JupyterLab has the page's questions answered there."""
    said = []

    def work() -> None:
        try:
            with patience(0.05, "the loop"):
                while True:
                    pass
        except TookTooLongError as stopped:
            said.append(str(stopped))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert said == ["the loop took longer than 0.05 s, and was stopped"]
