"""What a script does not save while it trains for us, and what is seen that it writes."""

import bz2
import io
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from threading import Thread
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from databound.script.shadows import OF_HOME, is_temporary
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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which files of a real training lie, and that is not temporary."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "compiled"))
    for folder in ("temporary", "compiled", "models"):
        (tmp_path / folder).mkdir()
    for name in ("last.pt", "log.txt", "models/best.pt"):
        (tmp_path / name).write_text("precious")
    return tmp_path


def contents(folder: Path) -> dict[str, str]:
    """What is in all files of a folder."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def test_a_file_that_was_there_is_not_written_over(project: Path) -> None:
    """`open("last.pt", "wb")` empties a model before anything is saved."""
    before = contents(project)
    with saving_nothing(lambda: True) as unsaved:
        with open("last.pt", "wb") as file:
            file.write(b"spoilt")
        Path("models/best.pt").write_bytes(b"spoilt")
        Path("log.txt").write_text("spoilt")
        assert Path("last.pt").read_bytes() == b"spoilt"  # as the script left it
        assert Path("log.txt").read_text() == "spoilt"
        tarfile.open("last.pt", "w").close()
        bz2.open("models/best.pt", "w").close()
        assert str(unsaved) == "Nothing was saved by the script."
    assert contents(project) == before
    assert Path("last.pt").read_text() == "precious"
    Path("last.pt").write_text("anew")  # nobody is in the way any more
    assert Path("last.pt").read_text() == "anew"


def test_files_of_bytes_are_not_made_and_new_ones_of_text_are(project: Path) -> None:
    before = contents(project)
    with saving_nothing(lambda: True) as unsaved:
        for mode in ("wb", "w+b", "xb"):
            with open(f"new-{mode}.pt", mode) as file:
                file.write(b"weights")
            assert Path(f"new-{mode}.pt").read_bytes() == b"weights"
        for text in ("loss", "losses"):
            Path("losses.csv").write_text(text)
        with open("log.txt", "a") as log:
            log.write(", more")
        with pytest.raises(FileExistsError):
            Path("log.txt").open("x").close()
        assert str(unsaved).endswith("it wrote log.txt, losses.csv.")
    assert contents(project) == before | {
        "losses.csv": "losses",
        "log.txt": "precious, more",
    }


def test_what_the_script_made_before_it_trained_is_its_own(project: Path) -> None:
    state = SimpleNamespace(trains=False)
    with saving_nothing(lambda: state.trains):
        Path("settings.json").write_text("{}")
        with open("new.log", "a") as log:
            log.write("first, ")
        with open("log.txt", "a"):
            pass  # it was there
        state.trains = True
        for name in ("settings.json", "new.log", "log.txt"):
            Path(name).write_text("again")
        for folder in ("temporary", "compiled"):
            Path(folder, "kernel.so").write_bytes(b"built")
    found = contents(project)
    assert (found["settings.json"], found["new.log"]) == ("again", "again")
    assert found["log.txt"] == "precious"
    assert found["compiled/kernel.so"] == found["temporary/kernel.so"] == "built"


MOVES = [
    *product(["rename", "replace"], ["last.pt", "models/new.pt"]),
    *product(["move", "copy", "copyfile"], ["last.pt", "models/new.pt"]),
    ("move", "models"),
    ("copy", "models"),
]


@pytest.mark.parametrize("mode", ["w", "wb"])
@pytest.mark.parametrize(("name", "target"), MOVES)
def test_what_is_moved_over_a_file_that_was_there_leaves_it(
    project: Path, name: str, target: str, mode: str
) -> None:
    """A file is written beside, and then gets its last name: new text gets it, and nothing else does."""
    before = contents(project)
    path = "models/new.tmp" if target == "models" else target
    with saving_nothing(lambda: True) as unsaved:
        with open("new.tmp", mode) as file:
            file.write("anew" if mode == "w" else b"anew")
        getattr(os if name in ("rename", "replace") else shutil, name)("new.tmp", target)
        assert Path(path).read_text() == "anew"
        told = str(unsaved)
    made = set[str]()
    if mode == "w" and path != "last.pt":
        made.add(path)
    if mode == "w" and name.startswith("copy"):
        made.add("new.tmp")
    assert contents(project) == before | dict.fromkeys(made, "anew")
    named = ", ".join(sorted({Path(each).name for each in made}))
    assert told.endswith(
        f"it wrote {named}." if made else "Nothing was saved by the script."
    )


def test_a_model_that_is_moved_over_another_is_still_there(project: Path) -> None:
    """A script that keeps its last two models moves a real one over a real one before it saves."""
    before = contents(project)
    with saving_nothing(lambda: True):
        os.replace("last.pt", "models/best.pt")
        shutil.move("log.txt", "models/best.pt")
    assert contents(project) == before


def test_text_that_is_moved_to_where_the_script_wrote_bytes_is_read_from_there(
    project: Path,
) -> None:
    before = contents(project)
    with saving_nothing(lambda: True):
        Path("new.pt").write_bytes(b"weights")
        Path("new.tmp").write_text("text")
        os.replace("new.tmp", "new.pt")
        assert Path("new.pt").read_text() == "text"
        for folder in ("a", "b"):  # each has a shadow of its own
            Path(f"{folder}.pt").write_bytes(folder.encode())
            os.replace(f"{folder}.pt", f"models/{folder}.pt")
            Path(f"{folder}.pt").write_bytes(b"next")
        assert Path("models/a.pt").read_text() == "a"
    assert contents(project) == before


def test_what_is_temporary_is_written_over_and_moved(project: Path) -> None:
    Path("temporary/made.so").write_text("before")
    with saving_nothing(lambda: True):
        for name in ("made.tmp", "other.tmp"):
            Path("temporary", name).write_bytes(b"built")
        os.replace("temporary/made.tmp", "temporary/made.so")
        with tempfile.NamedTemporaryFile(dir=project) as file:
            file.write(b"bytes")
            assert Path(file.name).exists()
    found = contents(project)
    assert found["temporary/made.so"] == found["temporary/other.tmp"] == "built"


@pytest.mark.parametrize("name", OF_HOME)
def test_caches_of_programs_are_temporary(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    monkeypatch.setenv("USERPROFILE", str(project))
    assert is_temporary(str(project / name / "kernel.so"))
    assert not is_temporary(str(project / "models" / name))


def test_nothing_is_left_of_shadows(project: Path) -> None:
    with saving_nothing(lambda: True):
        Path("new.pt").write_bytes(b"weights")
        assert [*Path("temporary").iterdir()] != []
    assert [*Path("temporary").iterdir()] == []


def test_samples_are_read_where_they_are(project: Path) -> None:
    """A dataset opens a file for each, and our own runs write what they like."""
    with saving_nothing(lambda: False):
        for file in ("last.pt", b"log.txt", os.open("log.txt", os.O_RDONLY)):
            with open(file) as read:
                assert read.read() == "precious"
        Path("last.pt").write_text("ours")
    assert Path("last.pt").read_text() == "ours"


def test_a_function_is_withheld_by_each_name_that_it_has(
    library: Any, project: Path
) -> None:
    """`from os import remove` has made a name before anybody withholds it."""
    mine: Any = ModuleType("mine")
    mine.delete, mine.save = os.remove, library.save
    with patch.dict(sys.modules, {"mine": mine}):
        with saving_nothing(lambda: True) as unsaved:
            unsaved.withhold()
            mine.delete("last.pt")
            assert mine.save("model", "a.pt") is None
            mine.later = os.remove
        assert (mine.delete, mine.save) == (os.remove, library.save)
        assert Path("last.pt").exists()
        mine.later("last.pt")  # a name that was made meanwhile, when all is over
    assert not Path("last.pt").exists()


def test_what_one_function_does_inside_opens_no_way_for_another_thread(
    library: Any, project: Path
) -> None:
    """A checkpoint is saved in a thread while the script deletes a temporary folder."""
    Path("temporary/inner").mkdir()
    deleted = list[object]()

    def delete(path: str) -> None:
        thread = Thread(target=lambda: deleted.append(library.save("model", "a.pt")))
        thread.start()
        thread.join()

    with patch.object(shutil, "rmtree", delete), saving_nothing(lambda: True) as unsaved:
        unsaved.withhold()
        shutil.rmtree("temporary/inner")
        assert deleted == [None]


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
