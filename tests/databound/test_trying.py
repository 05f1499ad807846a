"""Arguments that are forced into the training loader of a script."""

import gc
import multiprocessing
from collections.abc import Iterator
from typing import Any

import pytest
from support.training_step import train_on

from databound.script.trying import Forced, Settings, as_text, read_settings, threads_forced
from databound.whole_runs.epochs import Epoch
from databound.whole_runs.loops import TrainingLoops

pytestmark = pytest.mark.usefixtures("workers_gone")


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("num_workers=0", {"num_workers": 0}),
        (
            "num_workers=2, persistent_workers=true,threads=1",
            {"num_workers": 2, "persistent_workers": True, "threads": 1},
        ),
        ("pin_memory=False,in_order=False", {"pin_memory": False, "in_order": False}),
        (
            "multiprocessing_context=spawn,prefetch_factor=4",
            {"multiprocessing_context": "spawn", "prefetch_factor": 4},
        ),
        (
            "num_workers=0,persistent_workers=False",
            {"num_workers": 0, "persistent_workers": False},
        ),
    ],
)
def test_settings_are_read_and_written(text: str, settings: Settings) -> None:
    assert read_settings(text) == settings
    assert read_settings(as_text(settings)) == settings


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "workers=2",
            "--set workers=2: must be NAME=VALUE with one of num_workers, prefetch",
        ),
        ("num_workers", "--set num_workers: must be NAME=VALUE"),
        ("num_workers=two", "--set num_workers=two: must be a whole number, 0 or more"),
        ("num_workers=-1", "--set num_workers=-1: must be a whole number, 0 or more"),
        ("threads=0", "--set threads=0: must be a whole number, 1 or more"),
        ("batch_size=0", "--set batch_size=0: must be a whole number, 1 or more"),
        ("prefetch_factor=0", "--set prefetch_factor=0: must be a whole number, 1 or more"),
        ("pin_memory=1", "--set pin_memory=1: must be True or False"),
        (
            "multiprocessing_context=thread",
            "multiprocessing_context=thread: must be fork or",
        ),
        ("threads=1,threads=2", "threads is said twice"),
        (
            "num_workers=0,prefetch_factor=2",
            "--set prefetch_factor=2: needs workers, and num_workers=0",
        ),
        ("num_workers=0,persistent_workers=True", "persistent_workers=True: needs workers"),
    ],
)
def test_a_setting_that_is_refused_is_named_with_what_is_allowed(
    text: str, says: str
) -> None:
    with pytest.raises(ValueError) as raised:
        read_settings(text)
    assert says in str(raised.value)


class Trial:
    """A training with *settings* forced into its loader."""

    def __init__(self, torch: Any, settings: Settings, wanted: str = "") -> None:
        self.torch = torch
        self.told: list[Epoch] = []
        self.forced = Forced(settings, wanted)
        self.loops = TrainingLoops(self.told.append, changes=self.forced)

    def loader(self, **more: Any) -> Any:
        more = {"batch_size": 2, "collate_fn": list} | more
        return self.torch.utils.data.DataLoader([*range(8)], **more)

    def other_loader(self, **more: Any) -> Any:
        more = {"batch_size": 2, "collate_fn": list} | more
        return self.torch.utils.data.DataLoader([*range(8)], **more)

    def train(self, loader: Any) -> list[int]:
        """Train for an epoch; return the samples."""
        seen = []
        for batch in loader:
            train_on(self.torch)
            seen += batch
        return seen


@pytest.fixture
def two_workers(library: Any) -> Iterator[Trial]:
    made = Trial(library, {"num_workers": 2})
    with made.loops.watched(library):
        yield made


def children() -> int:
    gc.collect()
    return len(multiprocessing.active_children())


def test_workers_are_put_into_a_loader_that_had_none(two_workers: Trial) -> None:
    loader = two_workers.loader()
    assert two_workers.train(loader) == [*range(8)]
    assert (loader.num_workers, loader.prefetch_factor) == (2, 2)
    assert [epoch.batches for epoch in two_workers.told] == [4]
    assert [line and line.file for line in two_workers.forced.lines] == [__file__]


def test_a_loader_without_gradients_keeps_its_own(two_workers: Trial) -> None:
    loader = two_workers.loader()
    with two_workers.torch.no_grad():
        assert list(loader) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert loader.num_workers == 0


@pytest.mark.parametrize("persistent", [False, True])
def test_a_validation_that_forgot_no_grad_gets_its_own_back(
    two_workers: Trial, persistent: bool
) -> None:
    loader = two_workers.loader(num_workers=1, persistent_workers=persistent)
    for _ in loader:
        pass
    assert (loader.num_workers, loader.persistent_workers) == (1, persistent)
    assert two_workers.train(two_workers.loader()) == [*range(8)]


def test_a_loader_that_has_trained_keeps_what_was_forced_when_only_looked_at(
    two_workers: Trial,
) -> None:
    loader = two_workers.loader()
    two_workers.train(loader)
    next(iter(loader))
    assert loader.num_workers == 2


def test_all_epochs_have_the_same_workers_where_they_stay(library: Any) -> None:
    trial = Trial(library, {"num_workers": 1, "persistent_workers": True})
    with trial.loops.watched(library):
        loader = trial.loader(num_workers=2, persistent_workers=True)
        with library.no_grad():
            next(iter(loader))  # two workers begin
        assert children() == 2
        trial.train(loader)
        first = {child.pid for child in multiprocessing.active_children()}
        trial.train(loader)
        second = {child.pid for child in multiprocessing.active_children()}
    assert first == second
    assert len(first) == 1
    loader._iterator._shutdown_workers()


def test_without_workers_what_goes_with_them_goes(library: Any) -> None:
    trial = Trial(library, {"num_workers": 0})
    with trial.loops.watched(library):
        loader = trial.loader(
            num_workers=2, persistent_workers=True, prefetch_factor=4, timeout=30
        )
        assert trial.train(loader) == [*range(8)]
        assert children() == 0
    told = (loader.num_workers, loader.prefetch_factor, loader.persistent_workers)
    assert told == (0, None, False)


def test_what_needs_workers_is_refused_where_there_are_none(library: Any) -> None:
    trial = Trial(library, {"prefetch_factor": 4})
    with trial.loops.watched(library), pytest.raises(ValueError) as raised:
        trial.train(trial.loader())
    told = str(raised.value)
    assert told.startswith(
        "--set prefetch_factor=4: needs workers, and the loader of test_try"
    )
    assert told.endswith("has none")


def test_batches_are_of_another_size_until_that_is_taken_back(library: Any) -> None:
    trial = Trial(library, {"batch_size": 4})
    with trial.loops.watched(library):
        loader = trial.loader()
        assert [len(batch) for batch in loader] == [4, 4]  # a look, without training
        assert (loader.batch_size, len(loader)) == (2, 4)
        assert trial.train(loader) == [*range(8)]
        assert (loader.batch_size, len(loader)) == (4, 2)
    assert trial.told[0].batches == 2


def test_a_sampler_of_batches_keeps_its_size(library: Any) -> None:
    trial = Trial(library, {"batch_size": 4})
    with (
        trial.loops.watched(library),
        pytest.raises(ValueError, match="a sampler of the script's"),
    ):
        trial.train(trial.loader(batch_size=1, batch_sampler=[[0, 1], [2]]))


def test_an_argument_that_this_pytorch_has_not_is_named(library: Any) -> None:
    trial = Trial(library, {"in_order": False})
    with (
        trial.loops.watched(library),
        pytest.raises(ValueError, match="has no such argument"),
    ):
        loader = trial.loader()
        vars(loader).pop("in_order")
        trial.train(loader)


def test_a_line_says_which_loader_is_meant(library: Any) -> None:
    made = Trial.loader.__code__.co_firstlineno + 2
    trial = Trial(library, {"num_workers": 1}, f"test_trying.py:{made}")
    with trial.loops.watched(library):
        meant = trial.loader()
        other = trial.other_loader()
        trial.train(meant)
        trial.train(other)
    assert (meant.num_workers, other.num_workers) == (1, 0)


def test_an_iterable_is_warned_of(library: Any) -> None:
    class Stream(library.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            return iter(range(4))

    trial = Trial(library, {"num_workers": 2})
    with trial.loops.watched(library):
        loader = library.utils.data.DataLoader(Stream(), batch_size=2, collate_fn=list)
        assert sorted(trial.train(loader)) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert "2 workers give each sample 2 times unless" in trial.forced.cautions[0]


def test_an_iterable_with_one_worker_is_not_warned_of(library: Any) -> None:
    class Stream(library.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            return iter(range(4))

    trial = Trial(library, {"num_workers": 1})
    with trial.loops.watched(library):
        trial.train(library.utils.data.DataLoader(Stream(), batch_size=2, collate_fn=list))
    assert trial.forced.cautions == []


def test_a_line_is_told_once_however_often_it_makes_a_loader(library: Any) -> None:
    trial = Trial(library, {"num_workers": 1})
    with trial.loops.watched(library):
        for _ in range(2):
            trial.train(trial.loader())
    assert len(trial.forced.lines) == 1


class Threads:
    """Samples that are the number of threads where they are fetched."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return int(self.torch.get_num_threads())


def test_threads_are_those_of_the_training_whatever_the_script_sets(library: Any) -> None:
    before = library.get_num_threads()
    data = Threads(library)
    with threads_forced(library, 3):
        library.set_num_threads(7)
        assert library.get_num_threads() == 3
        loader = library.utils.data.DataLoader(
            data,
            num_workers=1,
            collate_fn=list,
            worker_init_fn=lambda worker: library.set_num_threads(1),  # as PyTorch's own do
        )
        assert [*loader] == [[1], [1]]
    assert library.get_num_threads() == before
    library.set_num_threads(before)
