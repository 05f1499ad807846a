"""Says of a training job whether it waits for its data, what to change, and what that saves."""

from .advise.advice import recommend
from .advise.three_runs import probe
from .model.job import Job, load_job, save_job
from .model.measuring import measure_job
from .notebook import here
from .whole_runs.watch import watch

__all__ = [
    "Job",
    "here",
    "load_job",
    "measure_job",
    "probe",
    "recommend",
    "save_job",
    "watch",
]


def __dir__() -> list[str]:
    return __all__
