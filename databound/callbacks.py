"""Callbacks by which a trainer watches its epochs: they put what was waited where its other numbers go.

A trainer asks for a class of its own, so each is made when it is asked for. Nothing of a
framework is imported before.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from .whole_runs.watch import EpochWatch, watch

# `Any` in this module is a class, or an object, of Lightning or of transformers.


def as_metrics(watching: EpochWatch | None) -> dict[str, float]:
    """Return what the latest epoch waited, by names that stand beside other metrics."""
    epoch = watching.latest() if watching else None
    if epoch is None:
        return {}
    return {
        "databound/waited_share": epoch.share,
        "databound/seconds_per_batch": epoch.each,
        "databound/first_batch_seconds": epoch.first,
    }


def for_lightning(log: str | Path | None = None) -> Any:
    """Return a callback for Lightning's `Trainer(callbacks=[...])`.

    It prints a line for each epoch of `fit`, and logs the same numbers as the module logs its own.
    *log* is a file for a line of JSON each. Raises ImportError if Lightning is not installed.
    """
    if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
        from pytorch_lightning import Callback
    else:
        from lightning.pytorch import Callback

    class WatchEpochs(Callback):  # type: ignore[misc]
        """Watches while `fit` goes on."""

        watching: EpochWatch | None = None

        def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if stage == "fit":
                self.watching = watch(log)

        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            pl_module.log_dict(as_metrics(self.watching))

        def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if self.watching is not None:
                self.watching.stop()

    return WatchEpochs()


def for_hugging_face(log: str | Path | None = None) -> Any:
    """Return a callback for `Trainer(callbacks=[...])` of transformers.

    It prints a line for each epoch of `train`, and adds the same numbers to `trainer.state.log_history`,
    which checkpoints keep. *log* is a file for a line of JSON each. Raises ImportError if
    transformers is not installed.
    """
    from transformers import TrainerCallback

    class WatchEpochs(TrainerCallback):  # type: ignore[misc]
        """Watches from when the trainer is made until it has trained."""

        def __init__(self) -> None:
            self.watching: EpochWatch | None = None

        def on_init_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self.watching = watch(log)

        def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            metrics = as_metrics(self.watching)
            if metrics:
                when = {"epoch": state.epoch, "step": state.global_step}
                state.log_history.append(metrics | when)

        def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if self.watching is not None:
                self.watching.stop()

    return WatchEpochs()
