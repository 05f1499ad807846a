"""What a script does not save while it trains for us, and what is seen that it writes."""

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from databound.script.unsaved import TRACKERS_OFF, Unsaved, saving_nothing


class Trainer:
    """A trainer of a framework that has been imported."""

    saved: list[str]

    def __init__(self) -> None:
        self.saved = []

    def save_model(self, path: str) -> str:
        self.saved.append(path)
        return path


@pytest.fixture
def library() -> Iterator[Any]:
    """A framework of which some savers are known."""
    trainer: Any = ModuleType("transformers.trainer")
    trainer.Trainer = Trainer
    torch: Any = ModuleType("torch")
    torch.save = lambda model, path: "saved"
    modules = {"transformers.trainer": trainer, "torch": torch}
    with patch.dict(sys.modules, modules):
        yield torch


def test_savers_do_nothing_while_it_trains_and_are_as_before_afterwards(
    library: Any,
) -> None:
    state = SimpleNamespace(trains=False)
    original = library.save, Trainer.save_model
    with saving_nothing(lambda: state.trains) as unsaved:
        unsaved.withhold()
        unsaved.withhold()  # a second time, when more has been imported
        trainer = Trainer()
        assert library.save("model", "m.pt") == "saved"
        assert trainer.save_model("before") == "before"
        state.trains = True
        assert library.save("model", "m.pt") is None
        assert trainer.save_model("meanwhile") is None
        assert library.save("model", io.BytesIO()) == "saved"  # nothing of that stays
        assert trainer.saved == ["before"]
        assert unsaved.withheld == {
            "torch.save": 1,
            "transformers.trainer.Trainer.save_model": 1,
        }
        assert str(unsaved) == "Nothing was saved by the script."
    assert (library.save, Trainer.save_model) == original


def test_files_that_it_opens_to_write_are_named_and_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/nowhere")
    (tmp_path / "read.txt").touch()
    state = SimpleNamespace(trains=False)

    def touch(*names: str) -> None:
        for name in names:
            (tmp_path / name).open("a").close()

    with saving_nothing(lambda: state.trains) as unsaved:
        touch("early.log")  # it is written to while it trains
        state.trains = True
        touch("losses.csv", "losses.csv", "a.log")
        (tmp_path / "read.txt").read_text()
        open(os.devnull, "w").close()
        state.trains = False
        assert (
            str(unsaved)
            == "No model was saved by the script; it wrote a.log, early.log, losses.csv."
        )
        touch(*"cbd")
        assert str(unsaved).endswith("it wrote a.log, b, c, d, early.log and 1 other file.")
    touch("after.csv")
    assert len(unsaved.written) == 6


def test_what_is_temporary_is_nobodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    unsaved = Unsaved(lambda: True)
    unsaved.note("open", (str(tmp_path / "cache"), "w", 0))
    unsaved.note("open", (5, "w", 0))  # by its descriptor
    unsaved.note("import", ("json",))
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/me/caches")
    unsaved.note("open", ("/home/me/caches/fonts.json", "w", 0))
    assert unsaved.written == set()


def test_a_folder_whose_name_only_begins_like_a_temporary_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    unsaved = Unsaved(lambda: True)
    beside = str(tmp_path / "tmp-of-mine" / "last.pt")
    assert unsaved.is_to_stay([beside])
    assert not unsaved.is_to_stay([str(tmp_path / "tmp" / "last.pt")])
    unsaved.note("open", (beside, "w", 0))
    assert unsaved.written == {beside}


def test_nothing_is_deleted_while_it_trains_and_what_was_not_saved_is_not_moved(
    library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that keeps its last checkpoints would delete those of a real training."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    Path("temporary").mkdir()
    Path("old").mkdir()
    for name in ("oldest.pt", "other.txt", "temporary/lock", "old/1.pt"):
        Path(name).touch()
    state = SimpleNamespace(trains=True)
    with saving_nothing(lambda: state.trains) as unsaved:
        unsaved.withhold()
        library.save("model", Path("new.tmp"))
        os.replace("new.tmp", "last.pt")
        shutil.copyfile(tmp_path / "new.tmp", "best.pt")
        os.rename("other.txt", "moved.txt")
        Path("oldest.pt").unlink()
        os.remove("oldest.pt")
        shutil.rmtree("old")
        os.remove("temporary/lock")
        with pytest.raises(FileNotFoundError):
            os.replace("never.tmp", "last.pt")  # it is the script's own error
        assert unsaved.withheld.keys() == {
            *("torch.save", "os.replace", "shutil.copyfile"),
            *("os.unlink", "os.remove", "shutil.rmtree"),
        }
        state.trains = False
        os.remove("oldest.pt")
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert left == {"moved.txt", "old", "old/1.pt", "temporary"}


def test_a_temporary_folder_is_deleted_with_all_that_is_in_it(
    library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler makes one, and fails if something stays in it."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    Path(tmp_path, "temporary").mkdir()
    with saving_nothing(lambda: True) as unsaved:
        unsaved.withhold()
        with tempfile.TemporaryDirectory(dir=tmp_path / "temporary") as folder:
            Path(folder, "inner").mkdir()
            Path(folder, "inner", "a.o").touch()
        assert not Path(folder).exists()
        with pytest.raises(FileNotFoundError):
            shutil.rmtree(tmp_path / "temporary" / "never")
        Path(tmp_path, "kept.pt").touch()
        os.remove(tmp_path / "kept.pt")  # one that failed does not open the way for others
    assert unsaved.withheld == {"os.remove": 1}
    assert Path(tmp_path, "kept.pt").exists()


def test_trackers_are_off_in_the_block_and_as_before_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WANDB_MODE", "online")
    monkeypatch.delenv("NEPTUNE_MODE", raising=False)
    with saving_nothing(lambda: False):
        assert os.environ.items() >= TRACKERS_OFF.items()
    assert os.environ["WANDB_MODE"] == "online"
    assert "NEPTUNE_MODE" not in os.environ
