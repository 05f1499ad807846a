"""Training jobs on a virtual machine: a `DataLoader` with a step, of which all is known.

`VirtualJob` is a `Subject` of databound: it is measured and advised as a real job is. What each of its
settings really takes is `truth`.
"""

import random
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from math import exp, inf
from typing import ClassVar

from databound.measure.device import OnDevice
from databound.measure.runs import passes_for
from databound.measure.setting import Setting
from databound.measure.subject import RunRequest
from databound.measure.uneven import spread
from databound.measure.watching import Watch, WatchedBatch
from databound.thresholds import EPOCHS, KEPT
from evidence.jobs.virtual_machine import Bell, Process, Sleep, Use, VirtualMachine

SAMPLES = 8  # of a batch
NOISES = 997  # how often the noise of single batches is drawn; then it comes again


@dataclass(frozen=True)
class Costs:
    """What a job costs, in seconds unless it says otherwise.

    To make a batch, a worker sleeps for *waits*, reads for *reads* from a storage that serves so many
    *readers* at full pace, and computes for *works*; the loop, making it itself, *in_loop* times as
    long. The *first* batch of a worker takes longer, and the first of an epoch (of a stream, of each
    worker) *opens* something. A batch is on its *way* to the loop, which computes for *take* to take it.
    A step takes *step* with one thread: on cores if it *computes*, of which a share *parallel* is
    divided among threads; else it waits for a device. If it leaves work to a device, *device* says so.
    Beside workers, a step takes *lost* times as long. A worker is started in *start*, then
    gets *ready*; *stop* ends all.
    """

    works: float
    waits: float = 0.0
    reads: float = 0.0
    readers: float = 1e9
    in_loop: float = 1.0
    first: float = 0.0
    opens: float = 0.0
    way: float = 0.0002
    take: float = 0.0003
    step: float = 0.01
    computes: bool = False
    parallel: float = 0.0
    device: OnDevice | None = None
    lost: float = 1.0
    start: float = 0.005
    ready: float = 0.02
    stop: float = 0.01

    @property
    def makes(self) -> float:
        """The seconds of a worker for a batch, if nothing else goes on."""
        return self.waits + self.reads + self.works

    def step_with(self, threads: int) -> float:
        """Return the seconds of a step with so many *threads*."""
        return self.step * (1 - self.parallel + self.parallel / threads)


@dataclass
class Load:
    """Other programs: they want *cores* in turns with nothing, for about *on* and *off* seconds."""

    cores: float = 0.0
    on: float = 1.0
    off: float = 1.0
    seed: int = 0

    def times(self, until: float) -> list[tuple[float, float]]:
        """Return from when on they want how many cores."""
        if not self.cores:
            return []
        draw = random.Random(self.seed)
        is_on = draw.random() < self.on / (self.on + self.off)
        found = []
        now = 0.0
        while now < until:
            found.append((now, self.cores if is_on else 0.0))
            now += draw.expovariate(1 / (self.on if is_on else self.off))
            is_on = not is_on
        return found


@dataclass
class VirtualJob:
    """A job of *batches* an epoch (of a stream, without workers) on a machine with *cores*.

    The batches of an epoch take *of_batch* times what *costs* says, and its steps *of_step* times,
    over and over. Beside *load*, each batch differs by *noise* and each run by *run_noise* from what
    it takes, as standard deviations of logarithms. Workers of a *stream* share it out, unless each
    *repeats* all of it. The loader is set to *now*, and its step can have *most_threads*.
    """

    costs: Costs
    now: Setting
    batches: int
    cores: int
    of_batch: Sequence[float] = (1.0,)
    of_step: Sequence[float] = (1.0,)
    load: Load = field(default_factory=Load)
    noise: float = 0.0
    run_noise: float = 0.0
    stream: bool = False
    repeats: bool = False
    most_threads: int = 1
    seed: int = 0
    kinds: tuple[str, ...] = ()

    in_order = True
    nbytes = 1_000_000
    batch_size: int | None = None
    may_change: ClassVar[Mapping[str, object]] = {}

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.time = 0.0
        self.used = self.most_threads  # threads of the step
        self.may_launch = self.costs.device is not None
        self.device: OnDevice | None = None
        # Steps that were made; a step that adds up gradients counts them itself
        self.stepped = 0
        every = max(1, self.batches // KEPT)
        drawn = range(0, self.batches, every)
        order = [] if self.stream else spread(len(drawn))
        self.order = [drawn[place] for place in order]
        self.sizes = [SAMPLES] * len(order)
        self.places = [place / len(drawn) for place in order]
        self.count: int | None = None if self.stream else self.batches
        self.noises = [exp(self.draw.gauss(0, self.noise)) for _ in range(NOISES)]

    # ---- as a subject ----

    def clock(self) -> float:
        return self.time

    @cached_property
    def times_of_load(self) -> list[tuple[float, float]]:
        """From when on other programs want how many cores, for as long as anybody measures."""
        return self.load.times(until=4_000)

    def others_until(self, time: float) -> float:
        """Return the share of the time before *time* in which other programs wanted cores."""
        spent = 0.0
        times = [*self.times_of_load, (time, 0.0)]
        for (begin, cores), (end, _) in pairwise(times):
            if cores and begin < time:
                spent += min(end, time) - begin
        return spent / time if time else 0.0

    def other_programs(self) -> float:
        # They get less than they want where the job wants cores, too; a half is near enough
        return self.others_until(self.time) * min(self.load.cores, self.cores / 2)

    def threads(self) -> list[int]:
        return sorted({1, self.most_threads})

    def use_threads(self, threads: int) -> None:
        self.used = threads

    def time_device(self) -> OnDevice | None:
        return self.costs.device

    def go(self, request: RunRequest) -> Watch:
        assert not request.also, "no argument of its loader may change"
        setting = Setting(request.workers, request.factor, threads=self.used)
        load = [(0.0, 0.0)]
        for time, cores in self.times_of_load:
            if time <= self.time:
                load = [(time, cores)]
            else:
                load.append((time, cores))
        machine = VirtualMachine(self.cores, self.costs.readers, self.time, load)
        numbers: Sequence[int] = self.order or range(self.batches)
        least = request.least
        passes = passes_for(least, len(self.order))
        if passes > 1:
            least = passes * len(self.order)
        run = Run(
            self,
            setting,
            machine,
            numbers,
            step=request.step,
            slower=exp(self.draw.gauss(0, self.run_noise)),
            noise_from=self.draw.randrange(NOISES),
            most_seconds=request.seconds,
            least=least,
            steps_before=self.stepped,
            passes=passes,
        )
        machine.run(run.main())
        self.time = machine.now + self.costs.stop
        run.seen.closed = run.seen.ended + self.costs.stop
        self.stepped += len(run.seen.batches) if request.step else 0
        return run.seen

    # ---- the truth ----

    def seconds(self, setting: Setting, others: float) -> tuple[float, float]:
        """Return the first and a later epoch with a *setting*, if others want so many cores."""
        stay = setting.num_workers > 0 and setting.persistent_workers
        epochs = []
        for resumed in (False, True) if stay else (False,):
            machine = VirtualMachine(self.cores, self.costs.readers, 0.0, [(0.0, others)])
            # With noise: without any, two workers that begin together would stay together for ever
            run = Run(
                self,
                setting,
                machine,
                range(self.batches),
                step=True,
                resumed=resumed,
                noise_from=0,
            )
            machine.run(run.main())
            stop = self.costs.stop if setting.num_workers and not stay else 0.0
            epochs.append(machine.now + stop)
        return epochs[0], epochs[-1]

    def least(self, setting: Setting) -> float:
        """Return the seconds that no epoch with a *setting* takes less than, beside any load."""
        costs = self.costs
        made = self.batches * (max(1, setting.num_workers) if self.repeats else 1)
        seen = [
            self.of_batch[number % len(self.of_batch)] for number in range(self.batches)
        ]
        factor = sum(seen) / len(seen)
        step = costs.step_with(setting.threads) if costs.computes else costs.step
        turns = [self.of_step[number % len(self.of_step)] for number in range(made)]
        steps = step * sum(turns)
        works = costs.works * factor * made
        makes = costs.makes * factor * made
        if not setting.num_workers:
            makes -= works * (1 - costs.in_loop)
            return max(steps, makes) if costs.device else steps + makes
        computed = works + (steps * setting.threads if costs.computes else 0.0)
        read = costs.reads * factor * made / costs.readers
        return max(steps, makes / setting.num_workers, computed / self.cores, read)

    def truth(self, setting: Setting) -> float:
        """Return the mean seconds of an epoch of a training, beside the load that there was.

        A load changes slowly beside a batch, so as much is done in a second with it as if it stayed.
        """
        share = self.others_until(self.time)
        done = 0.0
        for others, part in ((0.0, 1 - share), (self.load.cores, share)):
            if part > 0:
                first, later = self.seconds(setting, others)
                done += part / ((first + (EPOCHS - 1) * later) / EPOCHS)
        return 1 / done


class Run:
    """A run of a *job* with a *setting* on a *machine*, over the batches with these *numbers*.

    It takes *slower* times as long as it costs, and calls the *step* or not. It ends after
    *most_seconds* from the first batch on and when *least* batches have come, or with the loader.
    Workers that are *resumed* have been there before. What single batches take differs as the
    noise of the job says, *noise_from* one of them on, or not at all; so many *steps_before* it were made.
    It goes over the batches in so many *passes*, each of which is an epoch.
    """

    def __init__(
        self,
        job: VirtualJob,
        setting: Setting,
        machine: VirtualMachine,
        numbers: Sequence[int],
        *,
        step: bool,
        slower: float = 1.0,
        noise_from: int | None = None,
        resumed: bool = False,
        most_seconds: float = inf,
        least: int = 0,
        steps_before: int = 0,
        passes: int = 1,
    ) -> None:
        self.numbers = numbers
        self.passes = passes
        self.job = job
        self.setting = setting
        self.machine = machine
        self.step = step
        self.slower = slower
        self.noise_from = noise_from
        self.resumed = resumed
        self.most_seconds = most_seconds
        self.least = least
        self.steps_before = steps_before
        workers = setting.num_workers
        self.seen = Watch(workers, began=machine.now)
        self.tasks = [deque[tuple[int, int]]() for _ in range(workers)]
        self.bells = [Bell(machine) for _ in range(workers)]
        self.arrived = Bell(machine)
        self.made: dict[int, WatchedBatch] = {}
        self.order = enumerate(self.all_tasks(numbers))
        self.begins = {0}  # places at which an epoch begins
        self.sent = 0  # batches, to workers
        self.on_device = deque[float]()  # when each step that was launched is done there

    def all_tasks(self, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield which worker makes a batch, and the batch's number in the epoch."""
        workers = max(1, self.setting.num_workers)
        if self.job.repeats:
            yield from ((worker, number) for number in numbers for worker in range(workers))
        else:
            yield from ((place % workers, number) for place, number in enumerate(numbers))

    def send(self) -> None:
        """Send the next batch to its worker, if there is one."""
        for place, (worker, number) in islice(self.order, 1):
            self.tasks[worker].append((place, number))
            self.bells[worker].ring()
            self.sent += 1

    # ---- processes ----

    def make(self, place: int, number: int, worker: int, *, first: bool) -> Process:
        """Make the batch with a *number*, the one at this *place* of the run, the *first* or not."""
        job = self.job
        costs = job.costs
        machine = self.machine
        began = machine.now
        factor = self.slower * job.of_batch[number % len(job.of_batch)]
        if self.noise_from is not None:
            factor *= job.noises[(self.noise_from + place) % NOISES]
        opens = (first and job.stream) or place in self.begins
        waits = costs.waits * factor + (costs.opens if opens else 0.0)
        if waits:
            yield Sleep(waits)
        if costs.reads:
            yield Use(machine.storage, costs.reads * factor)
        waited = machine.now - began
        works = costs.works * factor
        if not self.setting.num_workers:
            works *= costs.in_loop
        elif first and not self.resumed:
            works += costs.first
        if works:
            yield Use(machine.cores, works)
        self.made[place] = WatchedBatch(worker, SAMPLES, began, machine.now, waited)

    def worker(self, number: int) -> Process:
        """Make all batches that a worker is sent, one after the other."""
        tasks = self.tasks[number]
        first = True
        while True:
            while not tasks:
                yield self.bells[number]
            place, batch = tasks.popleft()
            yield from self.make(place, batch, number, first=first)
            first = False
            if place == len(self.seen.batches):
                self.arrived.ring()

    def main(self) -> Process:
        """Start the workers, and go over the epoch."""
        machine = self.machine
        seen = self.seen
        workers = self.setting.num_workers
        for number in range(workers):
            if not self.resumed:
                yield Sleep(self.job.costs.start)
            machine.wake(self.worker(number), 0.0 if self.resumed else self.job.costs.ready)
        seen.opened = machine.now
        seen.ended = machine.now
        for _ in range(self.setting.ahead):
            self.send()
        left = self.passes - 1  # epochs
        while True:
            asked = machine.now
            place = len(seen.batches)
            if workers and place < self.sent:
                yield from self.take(place)
            elif not workers and (task := next(self.order, None)):
                _, (_, number) = task
                yield from self.make(place, number, 0, first=place == 0)
            elif left:
                left -= 1
                self.begin_again(place)
                continue
            else:
                seen.whole = True
                break
            got = machine.now
            core = 0.0
            if self.step:
                core = yield from self.call_step(place)
            made = self.made.pop(place)
            seen.batches.append(
                made._replace(asked=asked, got=got, stepped=machine.now, step_core=core)
            )
            seen.ended = machine.now
            long_enough = machine.now - seen.batches[0].got >= self.most_seconds
            if long_enough and place + 1 >= self.least:
                break
        if self.on_device:
            yield Sleep(max(0.0, self.on_device[-1] - machine.now))

    def begin_again(self, place: int) -> None:
        """Begin another epoch at this *place* of the run, with the workers that are there."""
        self.seen.epochs.append(place)
        self.begins.add(place)
        self.order = enumerate(self.all_tasks(self.numbers), place)
        for _ in range(self.setting.ahead):
            self.send()

    def take(self, place: int) -> Process:
        """Wait for a batch that a worker makes, take it, and send for another one."""
        costs = self.job.costs
        machine = self.machine
        if place not in self.made:
            yield self.arrived
        lies = machine.now - self.made[place].done
        if lies < costs.way:
            yield Sleep(costs.way - lies)
        yield Use(machine.cores, costs.take)
        self.send()

    def call_step(self, place: int) -> Generator[Sleep | Use | Bell, None, float]:
        """Step on the batch at a *place*; return for how many seconds that was on cores."""
        job = self.job
        costs = job.costs
        machine = self.machine
        number = self.steps_before + place
        seconds = self.slower * job.of_step[number % len(job.of_step)]
        if self.noise_from is not None:
            seconds *= job.noises[(3 * self.noise_from + place) % NOISES]
        if costs.device:
            launch = costs.device.launch
            yield Use(machine.cores, launch)
            queue = self.on_device
            while len(queue) >= costs.device.queue:
                done = queue.popleft()
                if done > machine.now:
                    yield Sleep(done - machine.now)
            free = max(machine.now, queue[-1] if queue else 0.0)
            queue.append(free + seconds * costs.device.train)
            return launch
        if not costs.computes:
            yield Sleep(seconds * costs.step)
            return 0.0
        threads = self.setting.threads
        if self.setting.num_workers:
            seconds *= costs.lost
        seconds *= costs.step_with(threads)
        yield Use(machine.cores, seconds, threads)
        return seconds * threads
