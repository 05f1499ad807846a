"""Which loader of a script is caught, and that its loop body is the step."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from itertools import cycle
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from support import stand_in_torch

from databound.door import opened
from databound.ends import StepsEndedError
from databound.script.caught import (
    GRADIENTS_OF_A_BATCH,
    GRADIENTS_WITHOUT_A_LOADER,
    LONGER,
    MOST_MORE,
    AnotherRunFailedError,
    Caught,
    NoTrainingError,
    Script,
    longer,
)

torch: Any = stand_in_torch.library()
DataLoader = torch.utils.data.DataLoader
HERE = Path(__file__).name


class Trained(list[Any]):
    """The batches that a script trained on, and what else it did."""

    def on(self, batch: Any) -> None:
        self.append(batch)
        torch.autograd.backward(batch)


@contextmanager
def caught_in(run: Callable[[], None], wanted: str = "") -> Iterator[tuple[Script, Caught]]:
    script = Script(run, wanted)
    with patch.dict(sys.modules, torch=torch), opened(script):
        yield script, script.until_training()


def line_of(text: str) -> int:
    """The number of the line of this file with a *text* at its end."""
    lines = Path(__file__).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(text))


# ---- the step ----


def test_a_step_is_what_the_loop_does_with_a_batch() -> None:
    trained = Trained()

    def script() -> None:
        loader = DataLoader(range(12), 4, shuffle=True)  # made here
        for batch in loader:  # asks here
            trained.on(batch)
            trained.append("stepped")

    with caught_in(script) as (running, caught):
        assert len(trained) == 2  # one real batch, until it is known that it trains
        assert str(caught.place.made) == f"{HERE}:{line_of('# made here')}"
        assert str(caught.place.loop) == f"{HERE}:{line_of('# asks here')}"
        for batch in ("ours", "another"):
            running.step(batch)
            assert trained[-2:] == [batch, "stepped"]
        assert len(trained) == 6


def test_an_epoch_of_training_never_ends() -> None:
    trained = Trained()

    def script() -> None:
        for batch in DataLoader(range(4), 4, shuffle=True):
            trained.on(batch)
        for batch in DataLoader(range(4), 2, shuffle=True):
            trained.on(batch)
        raise AssertionError

    with caught_in(script) as (running, _):
        for number in range(1000):
            running.step(number)
        assert trained[-1] == 999


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_what_the_script_raises_comes_to_who_calls_the_step(error: BaseException) -> None:
    def script() -> None:
        for batch in DataLoader(range(8), 2, shuffle=True):
            torch.autograd.backward(batch)
            if batch == "bad":
                raise error

    with caught_in(script) as (running, _):
        running.step("good")
        with pytest.raises(type(error)) as raised:
            running.step("bad")
        assert raised.value is error


def test_a_script_that_raised_goes_on_from_its_beginning() -> None:
    """A run with batches of twice the size is given up if the step refuses them."""
    trained = Trained()

    def script() -> None:
        for batch in DataLoader(range(8), 2, shuffle=True):
            trained.on(batch)
            if batch == "too large":
                raise MemoryError

    with caught_in(script) as (running, _):
        with pytest.raises(MemoryError):
            running.step("too large")
        for number in range(3):
            running.step(number)
    assert trained[-3:] == [0, 1, 2]


def test_what_a_script_raises_before_its_first_batch_is_raised_as_it_is() -> None:
    error = OSError("no data")

    def script() -> None:
        raise error

    with pytest.raises(OSError, match="no data") as raised, caught_in(script):
        pass
    assert raised.value is error


# ---- which loader ----


def test_a_loop_that_computes_a_mean_with_gradients_on_is_not_taken_for_training() -> None:
    trained = Trained()

    def script() -> None:
        loader = DataLoader(range(12), 2, shuffle=True)
        mean = sum(sum(batch) for batch in loader) / 12
        assert mean == 5.5
        for batch in loader:  # trains here
            trained.on(batch)

    with caught_in(script) as (_, caught):
        assert str(caught.place.loop) == f"{HERE}:{line_of('# trains here')}"


def test_a_loop_without_gradients_is_not_taken_for_training_and_is_whole() -> None:
    validated = list[Any]()

    def script() -> None:
        validation = DataLoader(range(6), 2)
        training = DataLoader(range(10, 20), 2, shuffle=True)
        with torch.no_grad():
            validated.extend(validation)
        for batch in training:
            torch.autograd.backward(batch)

    with caught_in(script) as (_, caught):
        assert validated == [[0, 1], [2, 3], [4, 5]]
        assert caught.loader.dataset == range(10, 20)


def test_a_mean_that_is_computed_between_two_steps_is_not_taken_for_training() -> None:
    """It asks after a backward, but not after one with its own batch."""

    def script() -> None:
        means = DataLoader(range(6), 2, shuffle=True)
        training = DataLoader(range(10, 14), 4, shuffle=True)
        for _ in range(3):  # epochs of one batch
            for batch in training:
                torch.autograd.backward(batch)
            for batch in means:
                sum(batch)

    with caught_in(script) as (_, caught):
        assert caught.loader.dataset == range(10, 14)


def test_of_two_loaders_in_step_the_first_is_measured_and_the_other_goes_on() -> None:
    trained = Trained()

    def script() -> None:
        first = DataLoader(range(6), 2, shuffle=True)
        second = DataLoader(["a", "b"], 1)  # beside
        for pair in zip(first, second, strict=False):
            trained.on(pair)

    with caught_in(script) as (running, caught):
        assert caught.loader.dataset == range(6)
        for number in range(4):
            running.step(number)
        assert [str(line) for line in running.beside] == [f"{HERE}:{line_of('# beside')}"]
    # It begins again at its end, as the first has none
    assert trained[1:] == [(0, ["b"]), (1, ["a"]), (2, ["b"]), (3, ["a"])]


def test_two_loaders_over_the_same_dataset_are_told_apart() -> None:
    trained = Trained()

    def script() -> None:
        data = range(8)
        first = DataLoader(data, 2, shuffle=True)
        second = DataLoader(data, 2)
        for pair in zip(first, second, strict=True):
            trained.on(pair)

    with caught_in(script) as (running, _):
        running.step("ours")
    assert trained[1] == ("ours", [2, 3])


@pytest.mark.parametrize("wanted", ["# one", "# two"])
def test_the_loader_of_a_line_can_be_chosen(wanted: str) -> None:
    def script() -> None:
        loaders = [
            DataLoader([1] * 9, 2, shuffle=True),  # one
            DataLoader([2] * 9, 2, shuffle=True),  # two
        ]
        for loader in loaders:
            for batch in loader:
                torch.autograd.backward(batch)

    number = line_of(wanted)
    with caught_in(script, f"{HERE}:{number}") as (_, caught):
        assert caught.place.made is not None
        assert caught.place.made.number == number
        assert caught.loader.dataset[0] == 1 + (wanted == "# two")


def test_a_line_at_which_no_training_loader_is_made_is_told_with_those_that_are() -> None:
    def script() -> None:
        for batch in DataLoader(range(6), 2, shuffle=True):  # only here
            torch.autograd.backward(batch)

    with (
        pytest.raises(NoTrainingError, match=rf"made at {HERE}:1 feeds") as raised,
        caught_in(script, f"{HERE}:1"),
    ):
        pass
    assert f"{HERE}:{line_of('# only here')}" in str(raised.value)


def test_a_script_that_never_trains_is_told_in_a_sentence() -> None:
    def script() -> None:
        for _ in DataLoader(range(6), 2):
            pass

    with (
        pytest.raises(NoTrainingError, match=r"ended, and no loop .* called backward"),
        caught_in(script),
    ):
        pass


# ---- loops that end, and trainers that take several batches ----


def test_a_trainer_that_takes_several_batches_at_once_is_fed_one_by_one() -> None:
    taken = list[Any]()

    def script() -> None:
        batches = iter(DataLoader(range(100), 2, shuffle=True))
        while True:
            several = [next(batches) for _ in range(3)]
            taken.append(several)
            for batch in several:
                torch.autograd.backward(batch)

    with caught_in(script) as (running, _):
        assert len(taken) == 1
        for number in range(6):
            running.step(number)
    assert taken[1:] == [[0, 1, 2], [3, 4, 5]]


def test_a_loop_of_so_many_steps_is_run_again_and_the_batch_between_is_left_out() -> None:
    trained = Trained()
    ends = list[str]()

    def script() -> None:
        batches = cycle(DataLoader(range(100), 2, shuffle=True))
        for _ in range(5):
            trained.on(next(batches))
        ends.append("saves the model")

    with caught_in(script) as (running, _):
        for number in range(3):
            running.step(number)
        with pytest.raises(StepsEndedError):
            running.step("the last one")
        assert ends == ["saves the model"]
        assert len(running.passes) == 2
        for number in range(3):
            running.step(f"again {number}")
        assert trained[-1] == "again 2"
        # What comes after the last batch of a pass is not run twice
        with pytest.raises(StepsEndedError):
            running.step("not given")
        assert ends == ["saves the model"]
        assert "not given" not in trained
        running.step("third pass")
        assert trained[-1] == "third pass"


def test_an_anti_pattern_that_makes_an_iterator_for_each_batch_is_caught() -> None:
    trained = Trained()

    def script() -> None:
        loader = DataLoader(range(100), 2, shuffle=True)
        while True:
            trained.on(next(iter(loader)))

    with caught_in(script) as (running, _):
        running.step("ours")
        assert trained[-1] == "ours"


def test_a_second_run_of_a_script_keeps_the_number_of_threads() -> None:
    def script() -> None:
        torch.set_num_threads(4)
        batches = iter(DataLoader(range(100), 2, shuffle=True))
        for _ in range(3):
            torch.autograd.backward(next(batches))

    with caught_in(script) as (running, _):
        torch.set_num_threads(1)
        running.step(1)
        with pytest.raises(StepsEndedError):
            running.step(2)
        assert torch.get_num_threads() == 1


def test_a_script_is_left_where_it_ends_the_process_and_begun_again() -> None:
    trained = Trained()
    ends = list[str]()

    def script() -> None:
        try:
            for batch in cycle(DataLoader(range(100), 2, shuffle=True)):
                trained.on(batch)
                if batch == "the last one":
                    os._exit(0)
        finally:
            ends.append("saves the model")

    with caught_in(script) as (running, _):
        running.step("ours")
        with pytest.raises(StepsEndedError):
            running.step("the last one")
        running.step("again")
        assert trained[-1] == "again"
        assert ends == []


def test_a_script_that_ends_the_process_before_it_trains_is_told_in_a_sentence() -> None:
    def script() -> None:
        os._exit(3)

    why = r"^the script ended itself by os\._exit\(3\) before it trained$"
    with pytest.raises(NoTrainingError, match=why), caught_in(script):
        pass


def test_a_script_that_cannot_be_run_twice_says_so_with_its_own_error() -> None:
    runs = list[int]()

    def script() -> None:
        runs.append(1)
        if len(runs) == 2:
            raise FileExistsError("runs/1")
        batches = iter(DataLoader(range(100), 2, shuffle=True))
        for _ in range(3):
            torch.autograd.backward(next(batches))

    with caught_in(script) as (running, _):
        running.step(1)
        with pytest.raises(AnotherRunFailedError, match="run again from its beg") as raised:
            running.step(2)
    assert repr(FileExistsError("runs/1")) in str(raised.value)
    assert isinstance(raised.value.__cause__, FileExistsError)


def test_ctrl_c_is_ours_again_each_time_that_the_script_has_begun() -> None:
    def script() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        batches = iter(DataLoader(range(100), 2, shuffle=True))
        for _ in range(3):
            torch.autograd.backward(next(batches))

    before = signal.getsignal(signal.SIGINT)
    with caught_in(script) as (running, _):
        ours = signal.getsignal(signal.SIGINT)
        assert ours not in (before, signal.SIG_IGN)
        running.step(1)
        with pytest.raises(StepsEndedError):
            running.step(2)
        assert signal.getsignal(signal.SIGINT) is ours
    assert signal.getsignal(signal.SIGINT) is before


# ---- loops that no loader feeds ----


def test_a_loop_that_makes_its_batches_itself_is_not_waited_for() -> None:
    def script() -> None:
        while True:
            torch.autograd.backward(None)  # nobody gave this

    line = f"{HERE}:{line_of('# nobody gave this')}"
    with pytest.raises(NoTrainingError) as raised, caught_in(script):
        pass
    assert str(raised.value).startswith(
        f"{line} computed gradients {GRADIENTS_WITHOUT_A_LOADER} times, and no DataLoader gave it"
    )


def test_a_short_loop_that_makes_its_batches_itself_is_told_when_it_has_ended() -> None:
    def script() -> None:
        torch.autograd.backward(None)

    why = "^the script ended, and computed gradients 1 time, and no DataLoader gave it a batch"
    with pytest.raises(NoTrainingError, match=why), caught_in(script):
        pass


def test_many_gradients_of_one_batch_are_a_step() -> None:
    def script() -> None:
        for _ in DataLoader(range(12), 4, shuffle=True):
            for _ in range(GRADIENTS_OF_A_BATCH - 1):
                torch.autograd.backward(None)

    with caught_in(script) as (running, _):
        running.step("ours")
        running.step("another")


def test_a_loop_that_has_left_its_loader_for_good_is_told_with_its_line() -> None:
    def script() -> None:
        warm = next(iter(DataLoader(range(12), 4, shuffle=True)))  # made once
        while True:
            torch.autograd.backward(warm)

    line = f"{HERE}:{line_of('# made once')}"
    why = rf"DataLoader, which was made at {line}$"
    with pytest.raises(NoTrainingError, match=why), caught_in(script):
        pass


def test_a_loop_that_a_thread_feeds_is_told_with_the_line_of_its_loader() -> None:
    def script() -> None:
        loader = DataLoader(range(12), 4, shuffle=True)  # a thread takes it
        thread = Thread(target=lambda: next(iter(loader)))
        thread.start()
        thread.join()
        while True:
            torch.autograd.backward(None)

    line = f"{HERE}:{line_of('# a thread takes it')}"
    why = rf"a thread takes from .* at {line}: measure"
    with pytest.raises(NoTrainingError, match=why), caught_in(script):
        pass


@pytest.mark.parametrize("name", ["spawn", "start_processes"])
def test_training_in_processes_of_its_own_is_refused_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = SimpleNamespace(spawn=print, start_processes=print)
    monkeypatch.setattr(torch, "multiprocessing", starts, raising=False)

    def script() -> None:
        getattr(torch.multiprocessing, name)(print, nprocs=2)  # starts them

    line = f"{HERE}:{line_of('# starts them')}"
    why = rf"^{line} trains in processes of its own"
    with pytest.raises(NoTrainingError, match=why), caught_in(script):
        pass
    assert vars(starts) == {"spawn": print, "start_processes": print}


# ---- how long an epoch is said to be ----


@pytest.mark.parametrize(
    ("known", "said"),
    [(0, 0), (3, 3 * LONGER), (100, 100 * LONGER), (5_000, 5_000 + MOST_MORE)],
)
def test_an_epoch_is_said_to_be_so_long(known: int, said: int) -> None:
    assert longer(known) == said


def test_a_subclass_with_a_length_of_its_own_is_said_to_be_long_once() -> None:
    told = list[int]()

    class OneMore(DataLoader):  # type: ignore[misc, valid-type]
        def __len__(self) -> int:
            return len(self.sampler) and 1 + super().__len__()

    def script() -> None:
        loader = OneMore(range(12), 4, shuffle=True)
        told.append(len(loader))
        for batch in loader:
            torch.autograd.backward(batch)

    own = OneMore.__len__
    with caught_in(script) as (_, caught):
        assert told == [4 * LONGER]
        assert len(caught.loader) == 4
    assert OneMore.__len__ is own


def test_a_script_that_checks_the_length_of_its_epoch_is_told_the_truth() -> None:
    told = list[int]()
    trained = Trained()

    def script() -> None:
        loader = DataLoader(range(12), 4, shuffle=True)
        told.append(len(loader))
        assert len(loader) == 3
        for batch in loader:
            trained.on(batch)

    with caught_in(script) as (running, _):
        for number in range(10):
            running.step(number)
    assert told == [3 * LONGER, 3]
    assert trained[-1] == 9


@pytest.mark.parametrize("asks", [True, False])
def test_a_script_that_fails_whatever_it_is_told_raises_its_own_error(asks: bool) -> None:
    errors = list[Exception]()

    def script() -> None:
        loader = DataLoader(range(12), 4, shuffle=True)
        length = len(loader) if asks else 0
        errors.append(ValueError(length))
        raise errors[-1]

    with (
        pytest.raises(ValueError, match=str(3 * LONGER) if asks else "0") as raised,
        caught_in(script),
    ):
        pass
    assert raised.value is errors[0]
    assert len(errors) == 1 + asks


def test_a_loop_with_room_for_the_batches_of_one_epoch_is_begun_again_at_its_end() -> None:
    def script() -> None:
        room = [0] * 3
        for number, batch in enumerate(DataLoader(range(12), 4, shuffle=True)):
            room[number] += 1
            torch.autograd.backward(batch)
            if batch == "bad":
                raise ValueError(batch)

    with caught_in(script) as (running, _):
        running.step(1)
        running.step(2)
        with pytest.raises(StepsEndedError):
            running.step(3)  # there is no room for a fourth batch
        running.step(1)
        with pytest.raises(ValueError, match="bad"):
            running.step("bad")  # within an epoch it is an error


def test_schedules_are_told_that_an_epoch_is_long() -> None:
    told = list[int]()

    def script() -> None:
        loader = DataLoader(range(12), 4, shuffle=True)
        validation = DataLoader(range(12), 4)
        told.extend([len(loader), len(validation)])
        for batch in loader:
            torch.autograd.backward(batch)

    with caught_in(script) as (running, caught):
        assert told == [3 * LONGER, 3]
        assert len(caught.loader) == 3  # the truth, to us
        assert len(running.passes) == 1


def test_a_training_loader_in_order_is_told_to_be_long_when_it_is_known() -> None:
    told = list[int]()

    def script() -> None:
        loader = DataLoader(range(12), 4)
        told.append(len(loader))
        for batch in loader:
            torch.autograd.backward(batch)

    with caught_in(script) as (running, _):
        assert told == [3, 3 * LONGER]
        assert len(running.passes) == 2
        running.step("ours")


# ---- what is as before ----


def test_everything_of_pytorch_is_as_before_afterwards() -> None:
    before = {
        name: getattr(DataLoader, name) for name in ("__init__", "__iter__", "__len__")
    }
    backward = torch.autograd.backward

    def script() -> None:
        for batch in DataLoader(range(6), 2, shuffle=True):
            torch.autograd.backward(batch)

    with caught_in(script):
        assert torch.autograd.backward is not backward
        for name, method in before.items():
            # Lightning reads the names of a loader's arguments there
            assert signature(getattr(DataLoader, name)) == signature(method)
    assert {name: getattr(DataLoader, name) for name in before} == before
    assert torch.autograd.backward is backward
