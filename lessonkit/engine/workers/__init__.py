"""Worker processes: how a `DataLoader` gives them tasks, and how each makes batches, modelled or real."""

from lessonkit.engine.workers.main import open_loader

__all__ = ["open_loader"]
