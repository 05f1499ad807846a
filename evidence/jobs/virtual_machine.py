"""A machine on a clock of its own: its processes sleep, share cores, and read from one storage.

It knows nothing of databound nor of the engine, so what it says of a job is another's word.
"""

from collections.abc import Generator, Sequence
from heapq import heappop, heappush
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
        self.promise = 0  # the number of the promise that still holds

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
        self.promise_next()

    def promise_next(self) -> None:
        """Note when the next user has had all that it asked for, if nothing changes."""
        self.promise += 1
        if self.users:
            left = max(0.0, self.users[0][0] - self.served) / self.rate()
            self.machine.at(self.machine.now + left, self, self.promise)

    def kept(self, promise: int) -> Process | None:
        """Return the process that has had all; None if something changed since the *promise*."""
        if promise != self.promise:
            return None
        self.catch_up()
        _, _, parts, process = heappop(self.users)
        self.wanted -= parts
        self.promise_next()
        return process

    def change_others(self, others: float) -> None:
        """Let programs that are not of the job want so many parts from now on."""
        self.catch_up()
        self.others = others
        self.promise_next()


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
        self.number = (
            0  # of all that was ever noted, so that of equal times the first comes first
        )
        self.queue: list[tuple[float, int, Process | Share, int]] = []
        self.cores = Share(self, cores)
        self.storage = Share(self, readers)
        self.wake(self.follow(load))

    def at(self, time: float, whom: Process | Share, promise: int = 0) -> None:
        """Note that *whom* is to go on at a *time*."""
        self.number += 1
        heappush(self.queue, (time, self.number, whom, promise))

    def wake(self, process: Process, after: float = 0.0) -> None:
        """Let a *process* go on, *after* so many seconds."""
        self.at(self.now + after, process)

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
            self.now, _, whom, promise = heappop(self.queue)
            if isinstance(whom, Share):
                found = whom.kept(promise)
                if found is None:
                    continue
                whom = found
            try:
                asked = next(whom)
            except StopIteration:
                if whom is main:
                    return
                continue
            if isinstance(asked, Sleep):
                self.at(self.now + asked.seconds, whom)
            elif isinstance(asked, Use):
                asked.share.use(asked.seconds, asked.parts, whom)
            else:
                asked.waiting = whom
