"""A measured job in a file: to turn its forecasts on another machine, or in a browser."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

from lessonkit.engine.costs import Handling
from lessonkit.engine.machine import Sharing
from lessonkit.job.device import OnDevice
from lessonkit.job.job import Job
from lessonkit.job.numbers import JobNumbers, StepNumbers


def save_job(job: Job, path: str | Path) -> None:
    """Write what was measured of a *job* to a file at *path*: all but the loader and the step."""
    Path(path).write_text(json.dumps(asdict(replace(job, subject=None))), encoding="utf-8")


def load_job(path: str | Path | IO[Any]) -> Job:
    """Return the job that `save_job` wrote to the file at *path*: it forecasts, and nothing is run.

    *path* may be an open file as well. Raises ValueError if the file holds something else.
    """
    text = Path(path).read_bytes() if isinstance(path, (str, Path)) else path.read()
    try:
        told = json.loads(text)
        known = told["numbers"]
        for step in known["threads"].values():
            step["sharing"] = Sharing(**step["sharing"])
        known["threads"] = {
            int(many): StepNumbers(**step) for many, step in known["threads"].items()
        }
        known["shares"] = {
            int(workers): shares for workers, shares in known["shares"].items()
        }
        known["handling"] = Handling(**known["handling"])
        known["device"] = known["device"] and OnDevice(*known["device"])
        return Job(**told | {"numbers": JobNumbers(**known)})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"path={str(path)!r}: must be a file that save_job wrote"
        ) from error
