"""What a training loop waits, epoch by epoch: exactly, on a clock that the test moves."""

import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.forked_process import forked
from support.stand_in_device import Clock
from support.training_step import train_on

import databound
from databound.whole_runs import watch as watching
from databound.whole_runs.epochs import Epoch, Stretch
from databound.whole_runs.loops import TrainingLoops, waits_of

pytestmark = pytest.mark.usefixtures("workers_gone")
HERE = Path(__file__).name


class Slow:
    """So many samples, each of which takes a millisecond of a clock, the first one *opening* more."""

    def __init__(self, clock: Clock, count: int = 12, opening: float = 0.0) -> None:
        self.clock = clock
        self.count = count
        self.opening = opening

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        self.clock.spend(0.001 + (self.opening if index == 0 else 0))
        return index


class Job:
    """A script that trains with *torch*, watched; its clock goes on when a test says so."""

    def __init__(self, torch: Any, **more: Any) -> None:
        self.torch = torch
        self.clock = Clock()
        self.told: list[Epoch] = []
        self.loops = TrainingLoops(self.told.append, clock=self.clock, **more)

    def loader(self, count: int = 12, opening: float = 0.0, **more: Any) -> Any:
        """Batches of four samples: 4 ms each."""
        data = Slow(self.clock, count, opening)
        more = {"batch_size": 4, "collate_fn": list} | more
        return self.torch.utils.data.DataLoader(data, **more)

    def step(self, seconds: float = 0.006) -> None:
        """Train on a batch: 6 ms."""
        train_on(self.torch)
        self.clock.spend(seconds)


@pytest.fixture
def job(library: Any) -> Iterator[Job]:
    made = Job(library)
    with made.loops.watched(library):
        yield made


def seen(epoch: Epoch) -> tuple[int, int, float, float, float]:
    """Return number, batches, and milliseconds: of the first wait, of all that came then, and waited."""
    return (
        epoch.number,
        epoch.batches,
        round(1e3 * epoch.first, 6),
        round(1e3 * epoch.seconds, 6),
        round(1e3 * epoch.waited, 6),
    )


def line() -> int:
    """The line of the test that calls it."""
    return sys._getframe(1).f_lineno


# ---- one loop ----


def test_an_epoch_is_counted_from_batch_to_batch_and_its_first_batch_stands_apart(
    job: Job,
) -> None:
    loader = job.loader(opening=0.5)
    for _ in loader:
        job.step()
    # Two rounds of 6 ms of a step and 4 ms of waiting lie between three batches
    assert [seen(epoch) for epoch in job.told] == [(1, 3, 504, 20, 8)]
    assert job.told[0].share == pytest.approx(0.4)
    assert job.told[0].each == pytest.approx(0.010)


def test_a_line_says_what_a_reader_asks_for(job: Job) -> None:
    data = Slow(job.clock, 1_250, opening=0.5)
    loader = job.torch.utils.data.DataLoader(data, collate_fn=list)
    made = line() - 1
    for _ in loader:
        job.step()
    told = "epoch 1: 1,250 batches, 7 ms each, waited 14 %"
    assert str(job.told[0]) == f"{told} ({HERE}:{made}); the first came after 501 ms"


def test_a_loop_that_never_asks_past_its_last_batch_says_the_same(job: Job) -> None:
    loader = job.loader()
    for _ in loader:
        job.step()
    batches = iter(loader)
    for _ in islice(batches, 3):
        job.step()
    assert len(job.told) == 1
    for _ in loader:  # another epoch begins, and the loop lets go of the one before
        batches = iter(())
        job.step()
    assert [seen(epoch) for epoch in job.told] == [(n, 3, 4, 20, 8) for n in (1, 2, 3)]


def test_the_last_epoch_is_told_when_watching_ends(library: Any) -> None:
    job = Job(library)
    with job.loops.watched(library):
        batches = iter(job.loader())
        for _ in islice(batches, 3):
            job.step()
        assert job.told == []
    assert [seen(epoch) for epoch in job.told] == [(1, 3, 4, 20, 8)]


def test_a_loop_that_is_left_is_told_as_far_as_it_came(job: Job) -> None:
    loader = job.loader()
    for batch in loader:
        job.step()
        if batch[0] == 4:
            break
    assert [seen(epoch) for epoch in job.told] == [(1, 2, 4, 10, 4)]


def test_an_error_in_the_loop_or_in_the_loader_ends_the_epoch(job: Job) -> None:
    def train(loader: Any, most: int) -> None:
        for number, _ in enumerate(loader):
            if number == most:
                raise ValueError("loss is not a number")
            job.step()

    with pytest.raises(ValueError, match="not a number"):
        train(job.loader(), 2)
    with pytest.raises(KeyError):
        train(job.loader(collate_fn=lambda batch: {0: batch}[batch[0] // 8]), 3)
    told = [seen(epoch) for epoch in job.told]
    assert told == [(1, 3, 4, 20, 8), (2, 2, 4, 10, 4)]


def test_an_epoch_of_one_batch_has_no_time_between_batches(job: Job) -> None:
    for _ in job.loader(count=4):
        job.step()
    assert [seen(epoch) for epoch in job.told] == [(1, 1, 4, 0, 0)]
    assert re.fullmatch(
        r"epoch 1: 1 batch \(test_epochs.py:\d+\); the first came after 4 ms",
        str(job.told[0]),
    )
    assert (job.told[0].share, job.told[0].each) == (0, 0)


def test_the_start_of_workers_belongs_to_the_first_batch(job: Job) -> None:
    loader = job.loader()

    def begin() -> Iterator[int]:
        job.clock.spend(0.3)  # starts workers
        for number in range(3):
            job.clock.spend(0.004)
            yield number

    def begun() -> Iterator[int]:
        job.clock.spend(0.5)
        return begin()

    for _ in job.loops.iterate(loader, begun, None):
        job.step()
    assert [seen(epoch) for epoch in job.told] == [(1, 3, 804, 20, 8)]


def test_time_before_the_first_batch_is_asked_for_is_no_wait(job: Job) -> None:
    batches = iter(job.loader())
    job.clock.spend(3)
    for _ in batches:
        job.step()
    assert [seen(epoch) for epoch in job.told] == [(1, 3, 4, 20, 8)]


def test_an_iterator_is_pytorchs_own_in_all_else(job: Job) -> None:
    batches = iter(job.loader())
    assert iter(batches) is batches
    assert len(list(batches)) == 3
    with pytest.raises(StopIteration):
        next(batches)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = batches.no_such_name


@pytest.mark.parametrize("count", [1, 2, 20, 21, 22, 1_000, 12_345])
def test_stretches_are_few_and_add_up(job: Job, count: int) -> None:
    for _ in job.loader(count=4 * count):
        job.step()
    stretches = job.told[0].stretches
    assert sum(stretch.batches for stretch in stretches) == count - 1
    assert min(10, count - 1) <= len(stretches) <= 20
    for stretch in stretches:
        assert stretch.seconds == pytest.approx(0.010 * stretch.batches)
        assert stretch.waited == pytest.approx(0.004 * stretch.batches)
    sizes = {stretch.batches for stretch in stretches[:-1]}
    assert len(sizes) <= 1


# ---- which loops train ----


def test_what_is_iterated_without_gradients_or_without_backward_is_not_told(
    job: Job,
) -> None:
    loader = job.loader()
    with job.torch.no_grad():
        for _ in job.loader():
            job.clock.spend(1)
    next(iter(loader))  # a look at the first batch
    for _ in job.loader():  # a validation that forgot no_grad
        job.clock.spend(1)
    assert job.told == []
    for _ in loader:
        job.step()
    assert [seen(epoch) for epoch in job.told] == [(1, 3, 4, 20, 8)]


def test_a_validation_in_the_middle_of_an_epoch_is_not_told(job: Job) -> None:
    validation = job.loader()
    for batch in job.loader():
        job.step()
        if batch[0] == 4:
            for _ in validation:
                pass
    # Its time lies between two batches of training
    assert [seen(epoch) for epoch in job.told] == [(1, 3, 4, 32, 8)]


def test_steps_that_work_at_each_second_batch_train_on_all(job: Job) -> None:
    for batch in job.loader(count=24):
        if batch[0] % 8:
            job.step()
    assert [seen(epoch)[:2] for epoch in job.told] == [(1, 6)]


def test_a_loader_that_is_made_anew_is_the_same_loop(job: Job) -> None:
    for _ in range(3):
        for _ in job.loader():
            job.step()
    assert [epoch.number for epoch in job.told] == [1, 2, 3]
    assert len(job.loops.loops) == 1


def test_loaders_of_two_lines_are_two_loops(job: Job) -> None:
    kind = job.torch.utils.data.DataLoader
    first = kind(Slow(job.clock), batch_size=4, collate_fn=list)
    second = kind(Slow(job.clock), batch_size=4, collate_fn=list)
    for loader in (first, second, first):
        for _ in loader:
            job.step()
    assert [epoch.number for epoch in job.told] == [1, 1, 2]
    assert len({epoch.loader for epoch in job.told}) == 2


def test_a_copy_in_a_forked_process_tells_nothing(job: Job) -> None:
    batches = iter(job.loader())
    next(batches)
    job.step()

    def told_by_copy() -> int:
        job.loops.close()
        return len(job.told)

    assert forked(told_by_copy) == "0"
    job.loops.close()
    assert [seen(epoch)[:2] for epoch in job.told] == [(1, 1)]


def test_zipped_loaders_are_two_loops(job: Job) -> None:
    labelled = job.loader()
    other = job.loader(count=20)
    for _ in range(2):
        for _ in zip(labelled, other, strict=False):
            job.step()
    assert [len(loop.epochs) for loop in job.loops.loops] == [2, 2]
    # What each waits is the other's step: rounds of 4 + 4 + 6 ms
    told = {seen(epoch) for epoch in job.told}
    assert told == {(1, 3, 4, 28, 8), (2, 3, 4, 28, 8)}
    together = waits_of(job.loops.loops)
    assert together.share < 1


def test_a_loader_zipped_with_itself_is_two_loops(job: Job) -> None:
    loader = job.loader()
    for _ in zip(loader, loader, strict=True):
        job.step()
    assert [epoch.number for epoch in job.told] == [1, 1]


def test_a_loop_inside_another_is_a_loop_of_its_own(job: Job) -> None:
    def loader_of(count: int) -> Any:
        return job.loader(count=count)

    for _ in loader_of(8):
        for _ in loader_of(12):
            job.step()
    assert [(epoch.number, epoch.batches) for epoch in job.told] == [(1, 3), (2, 3), (1, 2)]


def test_a_loop_in_another_thread_hands_batches_over_and_is_not_told(job: Job) -> None:
    batches = iter(job.loader())
    taken: list[Any] = []
    thread = threading.Thread(target=lambda: taken.extend(islice(batches, 2)))
    thread.start()
    thread.join()
    for _ in taken:
        job.step()
    job.loops.close()
    assert job.told == []
    assert len(taken) == 2


def test_workers_are_never_watched(job: Job) -> None:
    class Nested:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> str:
            inner = job.torch.utils.data.DataLoader([1, 2], collate_fn=list)
            return type(iter(inner)).__name__

    data = Nested()
    loader = job.torch.utils.data.DataLoader(data, num_workers=1, collate_fn=list)
    assert {name for batch in loader for name in batch}.isdisjoint({"Timed"})
    loader = job.torch.utils.data.DataLoader(data, collate_fn=list)
    assert {name for batch in loader for name in batch} == {"Timed"}


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_give_the_same_batches_and_end(job: Job, persistent: bool) -> None:
    loader = job.loader(num_workers=2, persistent_workers=persistent)
    for _ in range(2):
        got = []
        for batch in loader:
            job.step()
            got += batch
        assert got == [*range(12)]
    assert [(epoch.number, epoch.batches) for epoch in job.told] == [(1, 3), (2, 3)]


# ---- all of it ----


def test_all_waits_have_the_first_batches_of_later_epochs_and_count_time_once(
    job: Job,
) -> None:
    loader = job.loader(opening=0.1)
    for _ in range(3):
        for _ in loader:
            job.step()
        job.clock.spend(1)  # a validation: no loop goes on
    # 20 ms between three batches, three times, and 104 ms twice
    assert waits_of(job.loops.loops).seconds == pytest.approx(0.060 + 0.208)
    assert waits_of(job.loops.loops).waited == pytest.approx(0.024 + 0.208)


def test_loops_that_overlap_share_their_time(job: Job) -> None:
    for _ in job.loader(count=8):
        for _ in job.loader():
            job.step()
    # The outer loop: from 4 ms on, a round of 4 + 20 + 6 and a wait of 4; then the inner one of 4 + 20
    outer = 0.034
    inside = 0.004 + 0.020
    assert waits_of(job.loops.loops).seconds == pytest.approx(outer + inside)


def test_nothing_is_left_of_it(library: Any) -> None:
    job = Job(library)
    kind = library.utils.data.DataLoader
    before = (kind.__init__, kind.__iter__, kind.__len__, library.autograd.backward)
    with job.loops.watched(library):
        for _ in job.loader():
            job.step()
    assert before == (kind.__init__, kind.__iter__, kind.__len__, library.autograd.backward)
    assert not job.loops.going_on
    assert not job.loops.undecided


class EnoughError(Exception):
    pass


def enough() -> None:
    raise EnoughError


def test_after_so_many_batches_of_the_first_loop_it_is_enough(library: Any) -> None:
    job = Job(library, most=5, enough=enough)
    with job.loops.watched(library):
        for _ in job.loader(count=40):  # not a training
            pass
        loader = job.loader()
        with pytest.raises(EnoughError):
            for _ in range(3):
                for _ in loader:
                    job.step()
    assert [seen(epoch) for epoch in job.told] == [(1, 3, 4, 20, 8), (2, 2, 4, 10, 4)]


def test_batches_count_where_the_iterator_before_is_still_there(library: Any) -> None:
    job = Job(library, most=5, enough=enough)
    with job.loops.watched(library):
        loader = job.loader()
        batches = iter(loader)
        for _ in islice(batches, 3):
            job.step()
        following = iter(loader)
        batches = following  # as Lightning does: it never asks past the last one
        with pytest.raises(EnoughError):
            for _ in batches:
                job.step()
    assert [seen(epoch) for epoch in job.told] == [(1, 3, 4, 20, 8), (2, 2, 4, 10, 4)]


# ---- in a script ----


@pytest.fixture
def training(library: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function that trains for an epoch on the clock that watching reads."""
    job = Job(library)
    defaults = TrainingLoops.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "clock", job.clock)

    def train() -> None:
        for _ in job.loader():
            job.step()

    return train


def test_a_block_watches_and_tells(
    training: Callable[[], None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "waits.jsonl"
    with databound.watch(log) as seen_here:
        training()
        training()
    training()
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert [text.split(":")[:2] for text in lines] == [
        ["databound", " epoch 1"],
        ["databound", " epoch 2"],
    ]
    assert [epoch.number for epoch in seen_here.epochs] == [1, 2]
    stored = [json.loads(text) for text in log.read_text().splitlines()]
    assert [told["epoch"] for told in stored] == [1, 2]
    assert stored[0].keys() == {
        "epoch",
        "loader",
        "loop",
        "batches",
        "first_batch_seconds",
        "seconds_per_batch",
        "waited_share",
    }


def test_the_latest_epoch_is_the_one_that_goes_on(library: Any) -> None:
    job = Job(library)
    with databound.watch() as watching:
        assert watching.latest() is None
        loader = job.loader()
        for number, _ in enumerate(loader):
            job.step()
            latest = watching.latest()
            assert latest is not None
            assert (latest.number, latest.batches) == (1, number + 1)
        assert watching.latest() == watching.epochs[0]


def test_a_call_watches_until_it_is_stopped(
    training: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    watching = databound.watch()
    training()
    watching.stop()
    watching.stop()
    training()
    assert capsys.readouterr().err.count("databound:") == 1


def test_who_is_watched_already_is_not_watched_twice(
    training: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with databound.watch(), databound.watch() as inner:
        training()
    assert inner.epochs == []
    assert capsys.readouterr().err.count("databound:") == 1


def test_the_environment_may_name_a_log_and_a_rank_is_told(
    training: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("DATABOUND_LOG", os.fspath(tmp_path / "log"))
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    with databound.watch():
        training()
    assert capsys.readouterr().err.startswith("databound: rank 3, epoch 1: 3 batches")
    assert json.loads((tmp_path / "log").read_text())["rank"] == 3


def test_one_process_alone_has_no_rank(
    training: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    with databound.watch():
        training()
    assert capsys.readouterr().err.startswith("databound: epoch 1: ")


def test_a_bar_of_tqdm_steps_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bars:
        tqdm: Any = None
        written: ClassVar[list[tuple[str, object]]] = []

        @classmethod
        def write(cls, text: str, file: object) -> None:
            cls.written.append((text, file))

    Bars.tqdm = Bars
    monkeypatch.setitem(sys.modules, "tqdm", Bars)
    watching.say("a line")
    assert Bars.written == [("databound: a line", sys.stderr)]


def test_a_stretch_is_a_part_of_an_epoch() -> None:
    parts = (Stretch(2, 0.2, 0.1), Stretch(3, 0.3, 0.0))
    epoch = Epoch(1, "a", "b", 6, 0.0, 9.0, parts)
    assert (epoch.seconds, epoch.waited, epoch.each) == (0.5, 0.1, 0.1)
    assert epoch.share == 0.2
