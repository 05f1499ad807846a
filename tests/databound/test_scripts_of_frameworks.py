"""Training scripts as the documentation of each framework has them, run by the command as they are."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.commands import begun_as_it_is
from support.places import ROOT

pytest.importorskip("torch")
SCRIPTS = ROOT / "evidence" / "scripts"


class Script(NamedTuple):
    """A script: the library that it needs, the batches of an epoch, and the lines that it is told by."""

    needs: str
    batches: int
    made: str
    loop: str
    arguments: str = ""


CASES = {
    "plain_loop": Script(
        "torch", 40, "train_loader = DataLoader(", "in enumerate(train_loader):"
    ),
    "torchvision_main": Script(
        "torchvision", 40, "data_loader = DataLoader(", "in enumerate(data_loader):"
    ),
    "lightning_trainer": Script(
        "lightning", 50, "return DataLoader(self.digits_train", "trainer.fit("
    ),
    "transformers_trainer": Script(
        "transformers", 80, "trainer.train()", "trainer.train()", "TrainingArguments("
    ),
    "accelerate_loop": Script(
        "accelerate", 80, "train_dataloader = DataLoader(", "for batch in train_dataloader:"
    ),
}


def line(file: Path, text: str) -> str:
    lines = file.read_text("utf-8").splitlines()
    numbers = [number for number, each in enumerate(lines, 1) if text in each]
    return f"{file.name}:{numbers[0]}"


def said_of(name: str, folder: Path, *options: str) -> tuple[int, str, str]:
    # One thread: what is tested is which loader is caught, not how fast it is
    environment = {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    process = begun_as_it_is(
        folder, *options, str(SCRIPTS / f"{name}.py"), environment=environment
    )
    out, err = process.communicate()
    return process.returncode, out, err


@pytest.mark.parametrize("name", CASES)
def test_the_loader_of_a_script_is_caught_and_nothing_is_saved(
    name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    pytest.importorskip(case.needs)
    code, out, err = said_of(name, tmp_path, "--json")
    assert code in (0, 1, 3), err
    page: dict[str, Any] = json.loads(out)
    script = page["origin"]["script"]
    file = SCRIPTS / f"{name}.py"
    assert page["batches"] == case.batches
    assert script["made_at"] == line(file, case.made)
    assert script["loop_at"] == line(file, case.loop)
    if case.arguments:
        assert script["arguments_at"] == line(file, case.arguments)
    for change in page["changes"]:
        where = script["arguments_at"] or script["made_at"]
        assert change["line"].startswith(f"{where}   ")
        assert ("dataloader_num_workers" in change["line"]) == (
            bool(case.arguments) and "num_workers" in change["settings"]
        )
    models = (".pt", ".pth", ".ckpt", ".safetensors", ".bin")
    saved = [path for path in tmp_path.rglob("*") if path.suffix in models]
    assert saved == []
