"""`benchmark`: a training loop over a pipeline, on one machine or on many ranks."""

import math
import threading
from collections.abc import Callable
from typing import Any, overload

from lessonkit import check
from lessonkit.engine.costs import Cost
from lessonkit.engine.loop import Loop, LoopStep, Progress
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import Description, cardinality, sites
from lessonkit.engine.process import Store
from lessonkit.engine.ranks import (
    ALL_ALIKE,
    ONE_LIST,
    Ranks,
    are_alike,
    lengths_of_shared,
    refuse_what_is_shared,
    together,
    without_collector,
)
from lessonkit.engine.recorder import COPY, LOAD, TRAIN, Recorder
from lessonkit.engine.resume import State, fingerprint
from lessonkit.engine.run import Run, Stopped
from lessonkit.engine.threads import Threads
from lessonkit.engine.trace import Trace
from lessonkit.engine.virtual import Virtual

# Elements of a source whose end nobody knows, on the virtual clock
MOST_ELEMENTS = 1_000_000
USUAL = 0.010  # s; what a step takes if nothing is said


@overload
def benchmark(
    dataset: Description, *given: Any, ranks: None = None, **options: Any
) -> Trace: ...
@overload
def benchmark(
    dataset: Callable[[int], Description], *given: Any, ranks: int, **options: Any
) -> Ranks: ...
def benchmark(  # type: ignore[misc]  # of the two above: they leave to this one what else it takes
    dataset: Any,
    num_epochs: int = 2,
    train: Cost | None = None,
    load: Cost = 0,
    clock: str = "virtual",
    machine: Machine | None = None,
    max_elements: int | None = None,
    *,
    step: Callable[[Any], Any] | None = None,
    ahead: bool = False,
    queue: int = 0,
    record: bool | int = True,
    keep: bool = False,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    resume: State | None = None,
    ranks: int | None = None,
    allreduce: float = 0,
) -> Any:
    """Run the training loop over *dataset*, from empty caches, and say what happened.

    *train* and *load* are seconds, or a function of the element that gives seconds; *train*
    is 10 ms if it is not given. In place of it *step* may be a function to call with each
    element: its own time counts, and the work that it says by `work`; what it returns does
    not. With *ahead*, the next element is copied while this one trains, on a second stream.
    What comes from a `DataLoader` has to be in pinned memory for that: without, copies take
    turns with training. With *queue* the loop only launches a step, and goes on while at
    most so many of them wait or are at work on the accelerator; *train* is what that takes,
    *step* what launching does. An epoch ends when all are done. *max_elements* ends the run
    after so many elements in all. *progress* is called after each element with how many
    there were and how long it took; the run ends early when *cancel* is set. With *keep*
    the trace holds on to the elements themselves.

    With *resume*, a state that `trace.state(after=...)` gave, the run goes on there: the
    elements before are made again and let go, so all that follows is what would have
    followed. Raises ValueError for a state of another pipeline.

    With *ranks*, so many machines train together, each with a clock of its own: *dataset*
    is a function that makes the pipeline of a rank, by its number. A step ends for all when
    the slowest has trained, and *allreduce* seconds later. That is a model, on the virtual
    clock alone; the result is `Ranks`. Without *record* a trace has no spans; of ranks it
    may be the number of the only one that is recorded.

    >>> from lessonkit import ArtificialDataset
    >>> benchmark(ArtificialDataset())
    <Trace: 2 epochs, 6 elements, 210.000 ms>
    >>> f"{benchmark(ArtificialDataset().prefetch(1)).busy('Train'):.1%}"
    '35.3%'
    """
    num_epochs = check.integer("num_epochs", num_epochs, least=0)
    check.one_of("clock", clock, ("virtual", "real"))
    most = (
        math.inf
        if max_elements is None
        else check.integer("max_elements", max_elements, least=0)
    )
    machine = check.instance("machine", machine or Machine(), Machine)
    queue = check.integer("queue", queue, least=0)
    if None not in (train, step) and not queue:
        raise TypeError(
            f"train={train!r}, step={step!r}: must be a cost or a function to call, not both"
        )
    may_be_called = check.unsaid(check.function)
    may_be_called("step", step), may_be_called("progress", progress)
    if cancel is not None and not hasattr(cancel, "is_set"):
        raise TypeError(f"cancel={cancel!r}: must be a threading.Event")
    if train is None and (queue or step is None):
        train = USUAL
    check.flag("keep", keep), check.flag("ahead", ahead)
    if ranks is None or type(record) is not int:
        check.flag("record", record)
    if resume is not None:
        check.integer(
            "resume: after", check.instance("resume", resume, State).after, least=0
        )
    options: dict[str, Any] = {
        "num_epochs": num_epochs,
        "step": step,
        "train": train,
        "load": load,
    }
    options |= {
        "max_elements": max_elements,
        "ahead": ahead,
        "queue": queue,
        "resume": resume,
    }

    def loop_over(pipeline: Any, recorded: bool) -> Loop:
        """Make a run of *pipeline*, and its training loop."""
        node = pipeline.node
        if most == cardinality(node) == math.inf:
            raise ValueError(
                "the pipeline never ends: say max_elements, or repeat it a number of times"
            )
        if resume is not None and resume.pipeline != fingerprint(node):
            raise ValueError(
                "resume: this state is of another pipeline, or of one that was changed since"
            )
        shared = (machine, Store(fixed_seed=True), Recorder() if recorded else None)
        run: Run = Threads(*shared, cancel) if clock == "real" else Virtual(*shared)
        run.sites = {site: operator for operator, site in enumerate(sites(node))}
        copies = ahead and node.arguments.get("pin_memory", True)
        training = LoopStep(run, "Train", TRAIN, train or 0, None if queue else step)
        launching = LoopStep(run, "Launch", COPY, 0, step) if queue else training
        loading = LoopStep(run, "Load", COPY if copies or queue else LOAD, load)
        skip = resume.after if resume is not None else 0
        steps = loading, training, launching
        return Loop(run, node, *steps, queue, keep, progress, cancel, copies, skip)

    def trace(pipeline: Any, loop: Loop, *, cancelled: bool = False) -> Trace:
        recorder, time = loop.run.recorder, loop.run.time / 1e9
        return Trace(
            recorder, loop.epochs, time, clock, cancelled, pipeline, machine, options
        )

    if ranks is not None:
        check.duration("allreduce", allreduce)
        for name, given in (("resume", resume), ("queue", queue)):
            if given:
                raise ValueError(f"{name}={given!r}: must not be given with ranks")
        if clock == "real":
            raise ValueError(
                "clock='real': must be virtual with ranks=, which are a model of other machines"
            )
        numbers = range(check.integer("ranks", ranks, least=1))
        if type(record) is int and record not in numbers:
            raise ValueError(
                f"record={record!r}: must be True, False or one of the {ranks} ranks"
            )
        function = check.function_of_rank("dataset", dataset)
        pipelines = [checked_pipeline(function(number)) for number in numbers]
        refuse_what_is_shared(pipelines)
        before = lengths_of_shared(pipelines)
        recorded = [
            record == number if type(record) is int else bool(record) for number in numbers
        ]
        with without_collector():
            loops = [*map(loop_over, pipelines, recorded)]
            found = together(loops, num_epochs, most, allreduce)
        remarks = [ALL_ALIKE] * are_alike(pipelines)
        remarks += [
            ONE_LIST.format(name)
            for name, (value, length) in before.items()
            if len(value) != length
        ]
        result = Ranks(
            [*map(trace, pipelines, loops)], *found, allreduce, " ".join(remarks)
        )
        for one in result.traces:
            one.ranks = result
        return result
    if allreduce:
        raise ValueError(f"allreduce={allreduce!r}: must not be given without ranks")
    loop = loop_over(checked_pipeline(dataset), bool(record))
    unknown = most == math.inf and cardinality(dataset.node) is None and clock == "virtual"
    epochs = loop.run_epochs(num_epochs, MOST_ELEMENTS + 1 if unknown else most)
    cancelled = False
    try:
        loop.run.complete(epochs, loop.launch.stage)
    except Stopped:
        if loop.run.crash:
            raise loop.run.crash from None
        cancelled = True
    if unknown and sum(epoch.count for epoch in loop.epochs) > MOST_ELEMENTS:
        raise ValueError(
            f"the pipeline gave {MOST_ELEMENTS} elements and did not end: say max_elements"
        )
    return trace(dataset, loop, cancelled=cancelled)


def checked_pipeline(given: Any) -> Description:
    """Return the pipeline that was *given*."""
    if not isinstance(given, Description):
        raise TypeError(f"dataset={given!r}: must be a Dataset")
    return given
