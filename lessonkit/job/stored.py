"""A measured job in a file: to turn its forecasts on another machine, or in a browser."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from lessonkit.engine.machine import Sharing
from lessonkit.job.device import OnDevice
from lessonkit.job.job import Job
from lessonkit.job.numbers import JobNumbers, StepNumbers

MICROSECONDS = 6  # digits of a second that are written


def save_job(job: Job, path: str | Path) -> None:
    """Write what was measured of a *job* to a file at *path*: all but the loader and the step."""
    told = {name: value for name, value in vars(job).items() if name not in ("numbers", "subject")}
    text = json.dumps(told | {"numbers": asdict(job.numbers)})
    rounded = json.loads(text, parse_float=lambda number: round(float(number), MICROSECONDS))
    Path(path).write_text(json.dumps(rounded, indent=None), encoding="utf-8")


def load_job(path: str | Path | IO[Any]) -> Job:
    """Return the job that `save_job` wrote to the file at *path*: it forecasts, and nothing is run.

    *path* may be an open file as well. Raises ValueError if the file holds something else.
    """
    text = Path(path).read_bytes() if isinstance(path, (str, Path)) else path.read()
    try:
        told = json.loads(text)
        known = told.pop("numbers")
        known["threads"] = {int(count): step_of(**step) for count, step in known["threads"].items()}
        known["shares"] = {int(workers): shares for workers, shares in known["shares"].items()}
        known["device"] = known["device"] and OnDevice(*known["device"])
        return Job(JobNumbers(**known), **told)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"path={str(path)!r}: must be a file that save_job wrote") from error


def step_of(steps: list[float], cores: float, sharing: dict[str, object], rest: list[float]) -> StepNumbers:
    """Return the numbers of a step as they were before they were written."""
    factors = {name: tuple(value) if isinstance(value, list) else value for name, value in sharing.items()}
    return StepNumbers(steps, cores, Sharing(**factors), (rest[0], rest[1]))  # type: ignore[arg-type]
