"""Lightning, transformers and Accelerate, watched: the real ones, where they are installed."""

import re
from pathlib import Path
from typing import Any

import pytest

from databound import callbacks, watch
from databound.whole_runs.epochs import Epoch

torch: Any = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings("default"),  # of these frameworks
    pytest.mark.usefixtures("workers_gone"),
]


class Numbers(torch.utils.data.Dataset):  # type: ignore[misc]
    """So many samples of four numbers."""

    def __init__(self, count: int = 24) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return torch.full((4,), float(index))


def batches_of(epochs: list[Epoch]) -> list[tuple[int, int]]:
    return [(epoch.number, epoch.batches) for epoch in epochs]


def lines_of(printed: str) -> list[str]:
    """What was printed of each epoch, up to its times."""
    return [
        str(found) for found in re.findall(r"databound: (epoch \d+: \d+ batches)", printed)
    ]


# ---- Lightning ----


def lightning_module(lightning: Any) -> Any:
    class Module(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch: Any, number: int) -> Any:
            return self.layer(batch).square().mean()

        def validation_step(self, batch: Any, number: int) -> Any:
            self.log("loss", self.layer(batch).square().mean())

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 1e-4)

        def train_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(Numbers(), batch_size=4, shuffle=True)

        def val_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(Numbers(8), batch_size=4)

    return Module()


def lightning_trainer(lightning: Any, folder: Path, **more: Any) -> Any:
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False}
    return lightning.Trainer(
        max_epochs=3, accelerator="cpu", default_root_dir=folder, **quiet, **more
    )


def test_lightning_is_told_each_epoch_and_no_validation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lightning = pytest.importorskip("lightning.pytorch")
    with watch() as watching:
        lightning_trainer(lightning, tmp_path).fit(lightning_module(lightning))
    assert batches_of(watching.epochs) == [(1, 6), (2, 6), (3, 6)]
    assert lines_of(capsys.readouterr().err) == [f"epoch {n}: 6 batches" for n in (1, 2, 3)]
    assert re.fullmatch(r"test_trainers_watched\.py:\d+", watching.epochs[0].loader)


def test_lightnings_callback_logs_what_it_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lightning = pytest.importorskip("lightning.pytorch")
    callback = callbacks.for_lightning(tmp_path / "waits.jsonl")
    trainer = lightning_trainer(lightning, tmp_path, callbacks=[callback])
    trainer.fit(lightning_module(lightning))
    assert lines_of(capsys.readouterr().err) == [f"epoch {n}: 6 batches" for n in (1, 2, 3)]
    assert len((tmp_path / "waits.jsonl").read_text().splitlines()) == 3
    assert 0 < trainer.callback_metrics["databound/waited_share"] < 1
    assert trainer.callback_metrics["databound/seconds_per_batch"] > 0


# ---- transformers ----


class Model(torch.nn.Module):  # type: ignore[misc]
    """One layer, with the loss that transformers asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, numbers: Any) -> Any:
        return {"loss": self.layer(numbers).square().mean()}


def hugging_face_trainer(transformers: Any, folder: Path, **more: Any) -> Any:
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=2,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        eval_strategy="epoch",
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        learning_rate=1e-4,
        label_names=[],
    )
    return transformers.Trainer(
        model=Model(),
        args=arguments,
        train_dataset=Numbers(),
        eval_dataset=Numbers(8),
        data_collator=lambda samples: {"numbers": torch.stack(samples)},
        **more,
    )


def test_transformers_is_told_each_epoch_and_no_evaluation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transformers = pytest.importorskip("transformers")
    with watch() as watching:
        hugging_face_trainer(transformers, tmp_path).train()
    assert batches_of(watching.epochs) == [(1, 6), (2, 6)]
    assert lines_of(capsys.readouterr().err) == [f"epoch {n}: 6 batches" for n in (1, 2)]


def test_the_callback_of_transformers_keeps_what_it_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transformers = pytest.importorskip("transformers")
    callback = callbacks.for_hugging_face()
    trainer = hugging_face_trainer(transformers, tmp_path, callbacks=[callback])
    trainer.train()
    assert lines_of(capsys.readouterr().err) == [f"epoch {n}: 6 batches" for n in (1, 2)]
    kept = [
        entry for entry in trainer.state.log_history if "databound/waited_share" in entry
    ]
    assert [(entry["epoch"], entry["step"]) for entry in kept] == [(1.0, 3), (2.0, 6)]


# ---- Accelerate ----


def test_accelerates_loader_is_that_of_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    accelerate = pytest.importorskip("accelerate")
    accelerator = accelerate.Accelerator(cpu=True)
    with watch() as watching:
        loader = torch.utils.data.DataLoader(Numbers(), batch_size=4, shuffle=True)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), 1e-4)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for _ in range(2):
            for batch in loader:
                accelerator.backward(model(batch).square().mean())
                optimizer.step()
    assert batches_of(watching.epochs) == [(1, 6), (2, 6)]
    assert watching.epochs[0].loader.startswith("test_trainers_watched.py:")
