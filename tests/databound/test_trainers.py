"""Whose arguments make a loader, and in which words a change is told."""

import sys
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

from databound.advise.wording import as_call, in_their_words
from databound.origin import InScript
from databound.script.patching import Line
from databound.script.trainers import Arguments, arguments_of_trainer

HERE = __file__


class TrainingArguments(SimpleNamespace):
    pass


class Trainer:
    def __init__(self, args: Any) -> None:
        self.args = args

    def train(self) -> tuple[FrameType, None]:
        return sys._getframe(), None


Trainer.__module__ = "transformers.trainer"


class OwnTrainer(Trainer):
    pass


ARGUMENTS = TrainingArguments()  # made here


def line_of(text: str) -> int:
    lines = Path(HERE).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(text))


def test_the_arguments_of_a_trainer_are_found_above_the_loop() -> None:
    for kind in (Trainer, OwnTrainer):
        frame, _ = kind(ARGUMENTS).train()
        found = arguments_of_trainer(frame, Line(HERE, line_of("kind(ARGUMENTS).train()")))
        assert found == Arguments("TrainingArguments", Line(HERE, line_of("# made here")))


def test_a_loop_without_a_trainer_has_none() -> None:
    assert arguments_of_trainer(sys._getframe(), None) is None


def test_a_trainer_whose_loader_the_script_makes_has_the_line_of_that(
    tmp_path: Path,
) -> None:
    script = tmp_path / "train.py"
    script.write_text("loader = DataLoader(data)", "utf-8")
    frame, _ = Trainer(ARGUMENTS).train()
    assert arguments_of_trainer(frame, Line(str(script), 1)) is None


CHANGE = {"num_workers": 2, "persistent_workers": True, "timeout": 0}
IN_LOOP = InScript(target="train.py", loader="DataLoader()", made_at="train.py:23")
OF_TRAINER = InScript(
    target="train.py",
    loader="DataLoader()",
    arguments="TrainingArguments",
    arguments_at="t.py:9",
)


def test_a_change_is_told_in_the_words_of_whoever_makes_the_loader() -> None:
    assert as_call(CHANGE, None).startswith("DataLoader(..., num_workers=2, persistent")
    assert as_call(CHANGE, IN_LOOP) == "num_workers=2, persistent_workers=True, timeout=0"
    assert as_call(CHANGE, OF_TRAINER) == (
        "TrainingArguments(dataloader_num_workers=2, dataloader_persistent_workers=True)"
    )
    assert in_their_words({"batch_size": 8}, OF_TRAINER) == {
        "per_device_train_batch_size": 8
    }
    assert IN_LOOP.change_at == "train.py:23"
    assert OF_TRAINER.change_at == "t.py:9"
    assert "t.py:9  TrainingArguments makes DataLoader()" in str(OF_TRAINER)
