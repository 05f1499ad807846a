"""A machine on a clock of its own: its processes sleep, share cores, and read from one storage.

It knows nothing of databound nor of the engine, so what it says of a job is another's word.
"""

from collections.abc import Generator, Sequence
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple


class Sleep(NamedTuple):
    """A process asks to wait for so many *seconds*."""

    seconds: float


class Use(NamedTuple):
    """A process asks for *seconds* of a *share*, of which it wants *parts* at one time."""

    share: "Share"
    seconds: float
    parts: float = 1.0


class Bell:
    """Something that a process waits for; who *rings* lets it go on."""

    def __init__(self, machine: "VirtualMachine") -> None:
        self.machine = machine
        self.waiting: Process | None = None

    def ring(self) -> None:
        """Let the process go on that waits, if there is one."""
        if self.waiting is not None:
            self.machine.wake(self.waiting)
            self.waiting = None


Process = Generator[Sleep | Use | Bell, None, None]


class Share:
    """Something that all who use it share in equal slices: cores, or a storage.

    It has *parts*, and *others* of these are wanted by programs that are not of the job. If more are
    wanted than there are, all go on more slowly by the same factor.
    """

    def __init__(self, machine: "VirtualMachine", parts: float) -> None:
        self.machine = machine
        self.parts = parts
        self.others = 0.0
        self.wanted = 0.0
        self.served = 0.0  # seconds that a user of it had until *at*
        self.at = machine.now
        self.users: list[tuple[float, int, float, Process]] = []
        # When the next user has had all that it asked for, if nothing changes
        self.ends = inf

    def rate(self) -> float:
        """Return how many seconds of work a user gets done in a second."""
        wanted = self.wanted + self.others
        return 1.0 if wanted <= self.parts else self.parts / wanted

    def catch_up(self) -> None:
        """Serve all users up to now."""
        now = self.machine.now
        if self.users:
            self.served += (now - self.at) * self.rate()
        self.at = now

    def use(self, seconds: float, parts: float, process: Process) -> None:
        """Serve a *process* from now on, until it has had so many *seconds*."""
        self.catch_up()
        machine = self.machine
        machine.number += 1
        heappush(self.users, (self.served + seconds, machine.number, parts, process))
        self.wanted += parts
        self.look_ahead()

    def look_ahead(self) -> None:
        """Note when the next user has had all that it asked for, if nothing changes."""
        self.ends = inf
        if self.users:
            self.ends = self.at + max(0.0, self.users[0][0] - self.served) / self.rate()

    def finished(self) -> Process:
        """Return the process that has had all now."""
        self.catch_up()
        _, _, parts, process = heappop(self.users)
        self.wanted -= parts
        self.look_ahead()
        return process

    def change_others(self, others: float) -> None:
        """Let programs that are not of the job want so many parts from now on."""
        self.catch_up()
        self.others = others
        self.look_ahead()


class VirtualMachine:
    """A machine with *cores* and a storage that serves so many *readers* at their full pace.

    Its clock begins at *now*. *load* has the times from which on other programs want so many cores.
    """

    def __init__(
        self,
        cores: float,
        readers: float,
        now: float = 0.0,
        load: Sequence[tuple[float, float]] = (),
    ) -> None:
        self.now = now
        # Of all that was ever noted, so that of equal times the first comes first
        self.number = 0
        self.queue: list[tuple[float, int, Process]] = []
        self.cores = Share(self, cores)
        self.storage = Share(self, readers)
        self.wake(self.follow(load))

    def wake(self, process: Process, after: float = 0.0) -> None:
        """Let a *process* go on, *after* so many seconds."""
        self.number += 1
        heappush(self.queue, (self.now + after, self.number, process))

    def follow(self, load: Sequence[tuple[float, float]]) -> Process:
        """Let other programs want as many cores as the *load* says, from now on."""
        for time, others in load:
            if time > self.now:
                yield Sleep(time - self.now)
            self.cores.change_others(others)

    def run(self, main: Process) -> None:
        """Let all processes go on until *main* has ended."""
        self.wake(main)
        while True:
            process = self.next()
            try:
                asked = next(process)
            except StopIteration:
                if process is main:
                    return
                continue
            if isinstance(asked, Sleep):
                self.wake(process, asked.seconds)
            elif isinstance(asked, Use):
                asked.share.use(asked.seconds, asked.parts, process)
            else:
                asked.waiting = process

    def next(self) -> Process:
        """Return the process that goes on next, at its time."""
        share = self.cores if self.cores.ends <= self.storage.ends else self.storage
        if self.queue and self.queue[0][0] <= share.ends:
            self.now, _, process = heappop(self.queue)
            return process
        self.now = share.ends
        return share.finished()
