"""`measure`: what the functions of a pipeline cost, or what a whole job takes, a loader with its step."""

from collections.abc import Callable
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.job.job import measure_job
from lessonkit.loops.measure import measure_functions


def measure(
    loader: Any,
    elements: int = 32,
    *,
    step: Callable[[Any], Any] | None = None,
    synchronise: Callable[[], Any] | None = None,
) -> Any:
    """Measure a job, a *loader* with its *step*; or what the functions of a pipeline cost, without a step.

    With a *step*, *loader* is PyTorch's `DataLoader` or ours. Both are run for about 14
    seconds in short runs, without and with workers, alone and beside each other. The result
    is a `Job`: its `forecast` says what other settings would take, its `loader`, `step` and
    `run` are a model of it for every picture and analysis here. The step is really called:
    give it a model that may be trained. Random states and the number of threads are
    restored. Of a step that only launches work on a device, *synchronise* waits for it, and
    the model has the device's queue; without it that is `torch.cuda.synchronize` if a GPU
    is in use.

    Without one, *loader* is one of our pipelines. Its functions are called on threads, one
    at a time, with nothing beside them, until each was called *elements* times or so many
    elements have come out. The result is the same pipeline with what its functions cost:
    see `measure_functions`.

    Raises TypeError for what is no loader, ValueError for one that gives nothing, and
    RuntimeError that says how many batches there were when the loader or the step raised.

    >>> import time
    >>> from lessonkit import Dataset, benchmark
    >>> naps = Dataset.range(9).map(lambda number: time.sleep(0.010))
    >>> found = measure(naps)
    >>> benchmark(found.dataset, 1, train=0).duration > 0.045  # without costs it would be 0
    True
    >>> print(found)  # doctest: +ELLIPSIS
    map: 9 calls of ... ms, wait
    """
    if step is not None:
        return measure_job(loader, step, synchronise)
    if not isinstance(loader, Dataset):
        allowed = "must be a Dataset, or come with the step that it feeds, as step="
        raise TypeError(f"loader={loader!r}: {allowed}")
    return measure_functions(loader, elements)
