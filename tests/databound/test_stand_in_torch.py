"""The stand-in for PyTorch does what PyTorch does, as far as our tests rely on it."""

import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.stand_in_device import Clock, Device

pytestmark = pytest.mark.usefixtures("workers_gone")


class Squares:
    """Nine samples; *broken* is the number of one that fails."""

    def __init__(self, broken: int = -1) -> None:
        self.broken = broken

    def __len__(self) -> int:
        return 9

    def __getitem__(self, index: int) -> int:
        if index == self.broken:
            raise KeyError(index)
        return index * index


def stream(library: Any, sizes: list[int]) -> Any:
    """An iterable data set of which worker n gives *sizes[n]* samples; without workers as the first."""

    class Stream(library.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            info = library.utils.data.get_worker_info()
            number = info.id if info else 0
            return iter(range(10 * number, 10 * number + sizes[number]))

    return Stream()


def loader(library: Any, dataset: Any, workers: int = 0, **more: Any) -> Any:
    more = {"batch_size": 2, "collate_fn": list} | more
    return library.utils.data.DataLoader(dataset, num_workers=workers, **more)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_batches_come_in_the_order_of_the_sampler(library: Any, workers: int) -> None:
    for said, expected in (
        ({"drop_last": True}, [[0, 1], [4, 9], [16, 25], [36, 49]]),
        ({"sampler": [3, 1, 2]}, [[9, 1], [4]]),
        (
            {"batch_size": 1, "batch_sampler": [[2, 1], [3], [0, 1]]},
            [[4, 1], [9], [0, 1]],
        ),
        ({"batch_size": None, "sampler": [3, 0], "collate_fn": None}, [9, 0]),
    ):
        assert list(loader(library, Squares(), workers, **said)) == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_a_shuffle_has_all_samples_and_another_order_each_time(
    library: Any, workers: int
) -> None:
    shuffled = loader(library, Squares(), workers, shuffle=True, batch_size=9)
    assert [sorted(*shuffled) for _ in range(2)] == [
        [index * index for index in range(9)]
    ] * 2
    orders = {tuple(*shuffled) for _ in range(6)}
    assert len(orders) > 1


def test_out_of_order_a_batch_overtakes_one_that_takes_long(
    library: Any, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"

    class SlowFirst(Squares):
        def __getitem__(self, index: int) -> int:
            while index == 0 and not taken.exists():
                time.sleep(0.001)
            return super().__getitem__(index)

    loaded = []
    for batch in loader(library, SlowFirst(), 2, in_order=False, timeout=60):
        loaded.append(batch)
        taken.touch()
    assert loaded[0] != [0, 1]
    assert sorted(loaded) == [[0, 1], [4, 9], [16, 25], [36, 49], [64]]


@pytest.mark.parametrize(
    ("workers", "expected"),
    [(0, [[0, 1], [2]]), (2, [[0, 1], [10, 11], [2], [12, 13]])],
)
def test_workers_of_an_iterable_take_turns_until_each_has_ended(
    library: Any, workers: int, expected: list[list[int]]
) -> None:
    assert (
        list(loader(library, stream(library, [3, 5]), workers))[: len(expected)] == expected
    )
    assert sum(map(len, loader(library, stream(library, [3, 5]), 2))) == 8
    assert list(loader(library, stream(library, [3, 4]), 2, drop_last=True)) == [
        [0, 1],
        [10, 11],
        [12, 13],
    ]


def test_workers_that_stay_begin_the_next_epoch_anew(library: Any) -> None:
    kept = loader(library, Squares(), 2, persistent_workers=True, prefetch_factor=3)
    assert list(kept) == list(kept)
    assert len(multiprocessing.active_children()) == 2
    next(iter(kept))
    assert list(kept)[-1] == [64]
    del kept
    assert not multiprocessing.active_children()


def test_an_error_says_in_which_process_it_was_raised(library: Any) -> None:
    with pytest.raises(KeyError) as alone:
        list(loader(library, Squares(broken=3)))
    assert str(alone.value) == "3"
    source = iter(loader(library, Squares(broken=3), 2))
    with pytest.raises(KeyError) as beside:
        list(source)
    source._shutdown_workers()
    assert "Caught KeyError in DataLoader worker process 1." in str(beside.value)

    def fail(_: int) -> None:
        raise OSError("no")

    source = iter(loader(library, Squares(), 1, worker_init_fn=fail))
    with pytest.raises(OSError, match="worker process 0"):
        list(source)
    source._shutdown_workers()
    assert not multiprocessing.active_children()


def test_arguments_can_be_read_and_those_that_exclude_each_other_are_refused(
    library: Any,
) -> None:
    alone, beside = loader(library, Squares()), loader(library, Squares(), 2)
    assert (alone.prefetch_factor, beside.prefetch_factor) == (None, 2)
    names = (
        "batch_size",
        "drop_last",
        "timeout",
        "worker_init_fn",
        "multiprocessing_context",
        "num_workers",
    )
    assert [getattr(alone, name) for name in names] == [2, False, 0, None, None, 0]
    assert list(alone.batch_sampler) == [[0, 1], [2, 3], [4, 5], [6, 7], [8]]
    assert list(alone.sampler) == [*range(9)]
    assert len(alone) == 5
    by_batches = loader(library, Squares(), batch_size=1, batch_sampler=[[1]])
    assert by_batches.batch_size is None
    one_by_one = loader(library, Squares(), batch_size=None, collate_fn=None)
    assert one_by_one.batch_sampler is None
    for said in (
        {"prefetch_factor": 2},
        {"persistent_workers": True},
        {"batch_sampler": [[1]]},
        {"batch_size": None, "drop_last": True},
    ):
        with pytest.raises(ValueError):
            loader(library, Squares(), **said)


def test_states_can_be_read_and_set(library: Any) -> None:
    threads, drawn = library.get_num_threads(), library.get_rng_state()
    library.set_num_threads(1)
    assert library.get_num_threads() == 1
    library.set_num_threads(threads)
    library.set_rng_state(drawn)
    assert not library.cuda.is_initialized()


def test_what_a_device_is_given_waits_in_its_queue() -> None:
    clock = Clock()
    device = Device(launch=1, busy=5, depth=2, clock=clock)
    returned = []
    for _ in range(4):
        device.launch()
        returned.append(clock.now)
    assert returned == [1, 2, 6, 11]  # the third waits for the end of the first
    device.synchronize()
    assert clock.now == 21
    device.synchronize()
    assert clock.now == 21
