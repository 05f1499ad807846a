"""When batches arrive in the model of a job, on a clock that keeps no trace of what else happens.

A table of forecasts runs the model a hundred times. The engine records each span for pictures and analyses,
which a table does not need; what both say is the same, and a test holds them together.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple


class Piece(NamedTuple):
    """A part of what a process does: *seconds* in which it holds so many *cores*, or only waits."""

    seconds: float
    cores: float = 0.0
    stage: str | None = None


class Arrivals(NamedTuple):
    """An epoch: the seconds from its beginning at which each batch *came*, and its *duration*."""

    came: list[float]
    duration: float


Process = Generator[Piece | None, None, None]
"""Yields what it spends, or None to sleep until somebody wakes it."""


class Clock:
    """Lets processes go on in the order of their times; who computes shares the *cores* in slices.

    All who compute are served at one rate, so one heap tells who ends first, whatever begins or
    ends meanwhile.
    """

    def __init__(self, cores: float) -> None:
        self.cores = cores
        self.now = 0.0
        self.served = 0.0  # seconds of work that who was there always has got
        self.wanted = 0.0  # cores, by all who compute
        self.rate = 1.0
        self.count = 0  # of what was ever begun: of equal times the first comes first
        self.ready = deque[Process]()
        self.asleep: list[tuple[float, int, Process]] = []
        self.computing: list[tuple[float, int, float, Process]] = []

    def want(self, cores: float) -> None:
        """Let so many more cores be wanted from now on."""
        self.wanted += cores
        self.rate = min(1.0, self.cores / max(1.0, self.wanted))

    def next(self) -> Process:
        """Return the process that goes on next, at its time."""
        if self.ready:
            return self.ready.popleft()
        ends = inf
        if self.computing:
            ends = self.now + max(0.0, self.computing[0][0] - self.served) / self.rate
        if self.asleep and self.asleep[0][0] <= ends:
            due, _, process = heappop(self.asleep)
            self.served += (due - self.now) * self.rate
            self.now = due
            return process
        self.served, _, cores, process = heappop(self.computing)
        self.now = ends
        self.want(-cores)
        return process

    def run(self, main: Process) -> None:
        """Let all processes go on until *main* has ended."""
        self.ready.append(main)
        while True:
            process = self.next()
            try:
                piece = next(process)
            except StopIteration:
                if process is main:
                    return
                continue
            if piece is None:
                continue
            self.count += 1
            if piece.cores and piece.seconds:
                ends = self.served + piece.seconds
                heappush(self.computing, (ends, self.count, piece.cores, process))
                self.want(piece.cores)
            else:
                heappush(self.asleep, (self.now + piece.seconds, self.count, process))


@dataclass(frozen=True)
class Workers:
    """How many workers there are, and how the loop handles them, in seconds.

    The loop needs *start* for each, which is ready after *until_ready*; its *first* batch is later on its
    way. So many batches are made *ahead*. The loop computes for *take* to take one. Workers
    that *stay* do so until the last epoch; others are ended in *stop*.
    """

    count: int
    ahead: int
    stay: bool
    start: float
    until_ready: float
    first: float
    take: float
    stop: float


class Loop:
    """A training loop over *batches*, on a machine with so many *cores*.

    *make* says the pieces of making a batch and *step* the one of a step, both by the number of the batch
    in an epoch. Without *workers* the loop makes batches itself. If a device *trains* for so many
    seconds on each, at most *queue* of them wait or are at work there. Batches are taken in order.
    Where the loop *goes on* from one epoch to the next, steps are counted through all of them, and
    nobody waits for the device between two.
    """

    def __init__(
        self,
        batches: int,
        cores: float,
        make: Callable[[int], Sequence[Piece]],
        step: Callable[[int], Piece],
        workers: Workers | None,
        train: float = 0.0,
        queue: int = 0,
        *,
        goes_on: bool = False,
    ) -> None:
        self.goes_on = goes_on
        self.batches = batches
        self.clock = Clock(cores)
        self.make = make
        self.step = step
        self.workers = workers
        self.train = train
        self.queue = queue
        count = workers.count if workers else 0
        self.tasks = [deque[int]() for _ in range(count)]
        self.at_work: list[Process] = []
        self.idle = set[int]()  # workers that sleep
        self.made = set[int]()  # batches that the loop can take
        self.wanted = -1  # the batch for which the loop sleeps
        self.sent = 0
        self.all_ready = 0.0  # when the last worker has started
        self.on_device = deque[float]()  # when each step is done there

    def epochs(self, number: int) -> list[Arrivals]:
        """Return so many epochs, one after the other."""
        found = list[Arrivals]()
        self.main = self.train_for(number, found)
        self.clock.run(self.main)
        return found

    def train_for(self, number: int, found: list[Arrivals]) -> Process:
        """Train for a *number* of epochs, and add each to what is *found*."""
        clock = self.clock
        for epoch in range(number):
            began = clock.now
            came = list[float]()
            if self.workers:
                yield from self.begin(self.workers, is_first=epoch == 0)
            for batch in range(self.batches):
                if self.workers:
                    yield from self.take(batch, self.workers.take)
                else:
                    yield from self.make(batch)
                came.append(clock.now - began)
                yield self.step(batch + (epoch * self.batches if self.goes_on else 0))
                if self.queue:
                    yield from self.launch()
            if self.workers and not self.workers.stay:
                wait = max(0.0, self.all_ready - clock.now)
                yield Piece(wait + self.workers.stop)
            if self.on_device and not self.goes_on:
                yield Piece(max(0.0, self.on_device[-1] - clock.now))
            found.append(Arrivals(came, clock.now - began))

    def begin(self, workers: Workers, *, is_first: bool) -> Process:
        """Start the *workers*, or wait for those that stayed; send the first batches to them."""
        clock = self.clock
        if is_first or not workers.stay:
            self.idle.clear()
            self.at_work = [self.work(number, workers) for number in range(workers.count)]
            for process in self.at_work:
                yield Piece(workers.start)
                clock.ready.append(process)
            self.all_ready = clock.now + workers.until_ready
        elif self.all_ready > clock.now:
            yield Piece(self.all_ready - clock.now)
        self.sent = 0
        for _ in range(workers.ahead):
            self.send()

    def send(self) -> None:
        """Send the next batch to its worker, if there is one."""
        if self.sent == self.batches:
            return
        number = self.sent % len(self.tasks)
        self.tasks[number].append(self.sent)
        self.sent += 1
        if number in self.idle:
            self.idle.remove(number)
            self.clock.ready.append(self.at_work[number])

    def work(self, number: int, workers: Workers) -> Process:
        """Make all batches that a worker is sent, one after the other."""
        clock = self.clock
        tasks = self.tasks[number]
        yield Piece(workers.until_ready)
        late = workers.first
        comes = 0.0  # when the last one reaches the loop: they keep their order
        while True:
            while not tasks:
                self.idle.add(number)
                yield None
            batch = tasks.popleft()
            yield from self.make(batch)
            comes = max(comes, clock.now + late)
            late = 0.0
            if comes > clock.now:
                clock.ready.append(self.carry(batch, comes - clock.now))
            else:
                self.arrive(batch)

    def carry(self, batch: int, seconds: float) -> Process:
        """Let a *batch* arrive in so many *seconds*."""
        yield Piece(seconds)
        self.arrive(batch)

    def arrive(self, batch: int) -> None:
        """Let the loop have a *batch*, and wake it if it sleeps for that."""
        self.made.add(batch)
        if batch == self.wanted:
            self.wanted = -1
            self.clock.ready.append(self.main)

    def take(self, batch: int, seconds: float) -> Process:
        """Wait for a *batch*, compute for so many *seconds* to take it, and send for another one."""
        if batch not in self.made:
            self.wanted = batch
            yield None
        self.made.remove(batch)
        if seconds:
            yield Piece(seconds, cores=1.0)
        self.send()

    def launch(self) -> Process:
        """Let the device train on a batch as soon as its queue has room."""
        clock = self.clock
        queue = self.on_device
        while queue and (len(queue) >= self.queue or queue[0] <= clock.now):
            done = queue.popleft()
            if done > clock.now:
                yield Piece(done - clock.now)
        queue.append(max(clock.now, queue[-1] if queue else 0.0) + self.train)
