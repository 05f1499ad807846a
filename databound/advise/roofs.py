"""The roofs of a job: how many samples per second each part allows, by what was measured of it."""

from lessonkit.explain.roofs import Roofs
from lessonkit.words import number

from ..measure.inside import Inside
from ..model.job import Job
from .choosing import work_of
from .rows import TableRow

GIL_OF_WORKERS = "each worker has its own, and nobody measured how long it is held"
GIL_OF_LOOP = "nobody measured how long the loader holds it"
NO_SECOND_PASS = "no second pass over the same samples could tell it from the rest"


def roofs_of(job: Job, now: TableRow, inside: Inside | None) -> Roofs | None:
    """Return the roofs of a *job*, and as its run what a later epoch takes *now*, by the forecast.

    The bounds of the page are the same numbers as shares of an epoch. *inside* has a second pass,
    which says what one reader got from storage; several may get more, so that is no roof. Return
    None of a job in which nothing takes time.
    """
    known = job.numbers
    batches = job.count(job.now)
    samples = job.total(job.now.num_workers)
    # Seconds of an epoch that a part needs at least
    needs = {
        "cores": work_of(job) / known.cores,
        "copy": batches * known.take if job.now.num_workers else 0.0,
        "step": batches * job.fastest_step,
    }
    rates = {name: samples / seconds for name, seconds in needs.items() if seconds > 0}
    if not rates:
        return None
    unknown = {
        "storage": of_storage(inside, samples / batches),
        "GIL": GIL_OF_WORKERS if job.now.num_workers else GIL_OF_LOOP,
    }
    return Roofs(rates, samples / now.later, unknown)


def of_storage(inside: Inside | None, samples: float) -> str:
    """Say what is known of the storage from batches of so many *samples*."""
    storage = inside.storage if inside else None
    if storage is None or not storage.share:
        return NO_SECOND_PASS
    rate = samples / (storage.share * storage.first.seconds)
    return f"one reader got {number(rate)} samples/s from it, and several may get more"
