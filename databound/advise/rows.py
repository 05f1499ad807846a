"""A row of the table of settings: what it changes, its forecast, and what real runs of it came to."""

from typing import NamedTuple

from ..measure.setting import Changes
from ..model.job import Job
from ..thresholds import EPOCHS


class TableRow(NamedTuple):
    """A setting, by what it *changes*: its forecast, and what real runs of it came to.

    The forecast of the *first* and of a *later* epoch may be off by the share *within*, of which *by_runs*
    is there because runs differ; what else there is holds for other rows as well. By real
    runs a mean epoch takes *tried* seconds, if there were any; in these each worker had *private*
    bytes for itself.
    """

    changes: Changes
    first: float
    later: float
    within: float
    tried: float | None = None
    private: int | None = None
    by_runs: float | None = None

    @property
    def mean(self) -> float:
        """The mean seconds of an epoch in a training of several, by the forecast."""
        return (self.first + (EPOCHS - 1) * self.later) / EPOCHS


def forecast_row(job: Job, changes: Changes) -> TableRow:
    """Return the forecast of a *job* with *changes*, and how far it may be off."""
    epochs = job.forecast(**changes)
    within = job.uncertainty(**changes)
    by_runs = job.uncertainty_by_runs(job.setting(**changes))
    return TableRow(changes, epochs.first, epochs.later, within, by_runs=by_runs)
