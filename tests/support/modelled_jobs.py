"""Jobs of which all is known: their runs are those of a pipeline on the virtual clock."""

from collections.abc import Callable, Mapping
from functools import cache
from math import ceil
from typing import Any, NamedTuple

import lessonkit
from databound.measure.device import OnDevice
from databound.measure.setting import Setting
from databound.measure.subject import RunRequest
from databound.measure.uneven import spread
from databound.measure.watching import Watch, WatchedBatch
from databound.model.job import Job
from databound.model.measuring import measure_subject
from databound.thresholds import Durations
from lessonkit import Dataset, Handling, Machine, benchmark, work

BATCHES = 60  # of an epoch
SAMPLES = 4  # of a batch
# Times as long as a step on one batch is one on a batch of twice the size
STEP_OF_TWO = 1.5
CORES = 2

FREE = Handling(stop=0.01, stop_each=0.002, begin=0.003)
PAID = Handling(stop=0.01, stop_each=0.002, begin=0.003, take=0.003)


class Shared(NamedTuple):
    """The cores that a step holds; factors by which steps and batches lose beside 1 worker, or more."""

    step_cores: float = 1.0
    steps: tuple[float, float] = (1.0, 1.0)
    batches: tuple[float, float] = (1.0, 1.0)


NOTHING_LOST = Shared()
MUCH_LOST = Shared(2.0, (1.6, 1.8), (1.1, 1.2))


def alike(_: int) -> float:
    """Every batch, and every step, takes the same."""
    return 1.0


class Modelled:
    """A subject whose runs are those of a model, on a clock that goes on by what they take.

    A batch *fetches* and *waits*, and a *step* follows. *of_batch* and *of_step* say by which
    factor one takes longer, by its number in an epoch; the first batch of an epoch takes *opens*
    seconds more.
    """

    stream = False
    in_order = True
    nbytes = 1000
    batch_size: int | None = SAMPLES
    now = Setting(batch_size=SAMPLES)
    may_change: Mapping[str, object] = {"in_order": True}

    def __init__(
        self,
        fetch: float,
        step: float,
        handling: Handling = FREE,
        shared: Shared = NOTHING_LOST,
        *,
        wait: float = 0.0,
        computes: bool = True,
        start: tuple[float, float] = (0.004, 0.006),
        device: OnDevice | None = None,
        of_batch: Callable[[int], float] = alike,
        of_step: Callable[[int], float] = alike,
        opens: float = 0.0,
        batches: int = BATCHES,
        cores: int = CORES,
    ) -> None:
        self.fetch = fetch
        self.step = step
        self.handling = handling
        self.shared = shared
        self.wait = wait
        self.computes = computes
        self.start = start
        self.device = device
        self.of_batch = of_batch
        self.of_step = of_step
        self.opens = opens
        self.count: int | None = batches
        self.cores = cores
        self.order = spread(batches)
        self.sizes = [SAMPLES] * batches
        self.places = [place / batches for place in self.order]
        self.time = 0.0
        self.ran: list[int] = []  # the numbers of workers of all runs

        self.others = 0.0
        self.private: int | None = None  # bytes that a worker has for itself
        self.may_launch = device is not None

    def clock(self) -> float:
        return self.time

    def other_programs(self) -> float:
        return self.others

    def threads(self) -> list[int]:
        return [1]

    def use_threads(self, threads: int) -> None:
        assert threads == 1

    def time_device(self) -> OnDevice | None:
        return self.device

    # ---- the truth ----

    def trace(self, workers: int, **more: Any) -> Any:
        return self.made(workers, **more)

    @cache  # noqa: B019 - many tests ask for the same run, and it is the same each time
    def made(
        self,
        workers: int,
        *,
        step: bool,
        factor: int = 2,
        stay: bool = False,
        epochs: int = 1,
        size: int = 1,
        watched: bool = False,
        in_order: bool = True,
        passes: int = 1,
    ) -> Any:
        """Return a trace of the thing itself; *watched*, with its batches in the order of the runs.

        A run goes so many times over them.
        """
        kind = "native" if self.computes else "wait"
        lost = self.shared if workers and step else Shared()
        slower_step = lost.steps[workers > 1]
        slower_batch = lost.batches[workers > 1]
        count = passes * len(self.order) // size
        numbers = self.order if watched and size == 1 else [*range(count // passes)]
        numbers = numbers * passes

        def longer(number: int) -> float:
            return size * slower_batch * self.of_batch(numbers[number])

        def wait(number: int) -> int:
            work(self.opens if number == 0 else 0.0, stage="Wait")
            work(size * self.wait * self.of_batch(numbers[number]), stage="Wait")
            return number

        def fetch(number: int) -> int:
            work(self.fetch * longer(number), kind="native", stage="Fetch")
            return number

        batches = Dataset.range(count).map(wait, stage="Wait").map(fetch, stage="Fetch")
        grown = 1 + (STEP_OF_TWO - 1) * (size - 1)
        more: dict[str, Any] = {"handling": Handling()}
        if workers:
            more = {
                "handling": self.handling,
                "prefetch_factor": factor,
                "persistent_workers": stay,
                "start": self.start,
                "in_order": in_order and self.in_order,
            }
        loader = lessonkit.DataLoader(batches, batch_size=None, num_workers=workers, **more)
        seconds = self.step * (1 if self.device else grown) * slower_step

        def steps(number: int) -> None:
            if step:
                work(seconds * self.of_step(number), kind=kind)

        options: dict[str, Any] = {
            "machine": Machine(self.cores, self.shared.step_cores),
            "step": steps,
        }
        if self.device and step:
            options |= {"train": self.device.train * grown, "queue": self.device.queue}
        return benchmark(loader, epochs, **options)

    def seconds(self, workers: int, **more: Any) -> list[float]:
        """Return what the first and a later epoch really take."""
        found = self.trace(workers, step=True, epochs=2, **more)
        return [epoch.duration for epoch in found.epochs]

    # ---- a run ----

    def go(self, request: RunRequest) -> Watch:
        workers = request.workers
        self.ran.append(workers)
        passes = max(1, ceil(request.least * request.size / len(self.order)))
        trace = self.trace(
            workers,
            step=request.step,
            factor=request.factor,
            size=request.size,
            watched=True,
            passes=passes,
            in_order=request.also.get("in_order", True),
        )
        arrivals = trace.epochs[0].arrivals
        stepped = self.ends_of_steps(trace, request.step)
        seen = Watch(workers, began=0.0)
        if workers:
            seen.opened = self.handling.begin + workers * self.start[0]
        for number, got in enumerate(arrivals):
            asked = seen.ended or seen.opened
            is_long_enough = number and asked - seen.batches[0].got >= request.seconds
            if is_long_enough and number >= request.least:
                break
            seen.ended = stepped.get(number, got)
            seconds_of_step = self.step * self.of_step(number)
            on_core = seconds_of_step * self.shared.step_cores
            seen.batches.append(
                self.made_batch(trace, number, request.size)._replace(
                    asked=asked,
                    got=got,
                    stepped=seen.ended,
                    step_core=on_core if request.step and self.computes else 0.0,
                )
            )
        else:
            seen.whole = True
        self.time += seen.ended
        seen.private = self.private if workers else None
        return seen

    def ends_of_steps(self, trace: Any, step: bool) -> dict[int, float]:
        """Return when each step returned: a step goes on until there is room in the queue."""
        stage = "Launch" if self.device and step else "Train"
        ends = {span.sample: span.end for span in trace.work if span.stage == stage}
        for span in trace.spans:
            if span.kind == "buffer full" and span.place == "the accelerator's queue":
                ends |= {
                    number: span.end for number, end in ends.items() if end == span.start
                }
        return ends

    def made_batch(self, trace: Any, number: int, size: int) -> WatchedBatch:
        """Return how a batch of a trace was made."""
        spans = [
            span
            for span in trace.spans
            if span.sample == number and span.stage in ("Wait", "Fetch")
        ]
        began = min(span.start for span in spans)
        done = max(span.end for span in spans)
        core = sum(span.end - span.start for span in spans if span.kind == "native")
        return WatchedBatch(spans[0].lane, SAMPLES * size, began, done, done - began - core)

    def job(self, durations: Durations | None = None) -> Job:
        """Return what is measured of it."""
        return measure_subject(self, self.cores, durations)
