"""What a `DataLoader` does: in the main process, and in workers that are modelled or real."""

from lessonkit.engine.workers.main_process import open_loader

__all__ = ["open_loader"]
