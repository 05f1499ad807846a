"""In a notebook: what the command does, on objects that are there already."""

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from .advise.advice import recommended
from .advise.page import Recommendation
from .model.job import save_job
from .model.measuring import measured
from .progress import Progress
from .thresholds import lasting


def here(
    loader: Any,
    step: Callable[[Any], object],
    *,
    save: str | Path | None = None,
    minutes: float | None = None,
) -> Recommendation:
    """Measure a PyTorch *loader* with a *step* in this notebook, and say what to change.

    It is `recommend`, which prints each number as it comes; what the step prints is kept apart,
    and shown if it fails. With *save* the job is stored in a file, which `databound job.json`
    shows again. It takes about so many *minutes*, if that is given. Raises what `recommend` raises.
    """
    durations = lasting(minutes)
    progress = Progress(sys.stdout)
    apart = io.StringIO()
    try:
        with redirect_stdout(apart):
            job = measured(
                loader,
                step,
                tell=progress.say,
                note=progress.note,
                command="databound.here(loader, step)",
                durations=durations,
            )
            page = recommended(job, progress.say, progress.note, durations=durations)
    except BaseException:
        progress.end_line()
        progress.write(apart.getvalue())
        raise
    progress.end_line()
    if save:
        save_job(job, save)
    return page
