"""Says of a training job whether it waits for its data, what to change, and what that saves."""

from .advice import recommend
from .epochs import watch
from .job import Job, load_job, save_job
from .measuring import measure_job
from .notebook import here
from .three_runs import probe

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
