"""A worker of a `DataLoader` for real: a forked process, and what represents it in the main one."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any, NoReturn

from lessonkit.engine.element import END, Element, Failure
from lessonkit.engine.recorder import rows
from lessonkit.engine.threads import Threads
from lessonkit.engine.workers.fetch import Indices
from lessonkit.engine.workers.worker import Maker, Worker, caught

ANEW, STOP = "anew", "stop"  # what a process is told beside the indices of a batch
# S; how long a process that is told to end may work on the batch that it has begun
LAST_BATCH = 5.0
LOOK = 1.0  # s; how often a process looks whether its parent is still there

# New spans, who new elements are, who is in batches, and which span was last before the answer
Recorded = tuple[list[Any], list[Any], dict[int, Any], int]
FORKS = sys.platform == "linux" and "fork" in multiprocessing.get_all_start_methods()


class Handle:
    """A process: who asks it for something gets one answer, and nobody else can ask meanwhile."""

    def __init__(self, worker: Forked, seed: str) -> None:
        context: Any = multiprocessing.get_context("fork")
        self.lock = threading.Lock()
        self.is_closed = False
        self.parent = os.getpid()
        recorder = worker.run.recorder
        # Our keys of the elements, and our indices of the spans, by those of the process
        self.people = [*range(recorder.people if recorder else 1)]
        self.spans: list[int] = []
        self.causes: list[
            int
        ] = []  # of its start and of each request: the span it waited for
        self.ours, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(theirs, worker, seed), daemon=True
        )
        # Ctrl+C comes to all processes: not to this one before it has set it aside, nor to
        # us in between.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with warnings.catch_warnings():
                # Newer Pythons warn of threads; the child uses none of their locks.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.process.start()
            self.pid = self.process.pid
            theirs.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def ask(self, what: Any) -> Any:
        """Ask for *what* is wanted and wait for it; None if the process has died."""
        with self.lock:
            try:
                self.ours.send(what)
                return pickle.loads(self.ours.recv_bytes())
            except (EOFError, OSError):
                return None

    def close(self) -> None:
        """End the process: after the batch in its hands, or when it has had time enough.

        In another process that was forked meanwhile nothing happens: this one is not its child.
        """
        if self.is_closed or self.parent != os.getpid():
            return
        self.is_closed = True
        with suppress(OSError):  # it has died
            self.ours.send(STOP)
        self.process.join(LAST_BATCH)
        self.process.kill()
        self.process.join()
        # A thread that starts a process was told just now that this one has ended
        with suppress(ValueError):
            self.process.close()
        with self.lock:
            self.ours.close()

    def __del__(self) -> None:
        if hasattr(self, "pid"):
            self.close()


class Forked(Worker):
    """Stands for a process in the main one: gives it task after task, and takes down what it did."""

    async def launch(self) -> int:
        began = self.run.time
        self.handle = Handle(self, f"{self.loader.seed}:{self.number}")
        self.run.took(self.loader.start_stage, "wait", began, self.run.time, Element(None))
        self.handle.causes.append(self.run.current.last)
        return 0

    async def prepare(self) -> None:
        """Leave that to the process."""

    def open(self) -> None:
        self.ask(ANEW)

    def ask(self, what: Any) -> Any:
        """Ask the process for *what*, without the run's lock."""
        answer = self.run.outside(None, self.handle.ask, what)
        self.run.current.due = self.run.real
        return answer

    async def make(self, indices: Indices) -> Element | None:
        self.handle.causes.append(self.run.current.last)
        answer = self.ask(indices)
        if answer is None:
            self.called = f"(pid(s) {self.handle.pid})"
            return None
        element: Element = answer[0] or END
        if answer[1] is not None:
            self.take_down(answer[1])
            if element is not END:
                element.key = self.handle.people[element.key]
        return element

    def take_down(self, recorded: Recorded) -> None:
        """Add what the process *recorded* to the run's record, by our keys, indices and names.

        A cause below zero is none of its spans, but a request: -1 is its start, -2 the first.
        """
        spans, people, members, last = recorded
        recorder, keys, run = self.run.recorder, self.handle.people, self.run
        for (place, outer), epoch, sample in people:
            keys.append(recorder.identify(recorder.opened(place, outer), epoch, sample))
        for key, parts in members.items():
            recorder.members[keys[key]] = tuple(keys[part] for part in parts)
        indices, causes = self.handle.spans, self.handle.causes
        for stage, kind, began, ended, _, key, cause, at in rows(spans, 8):
            name = run.name(stage.wanted, stage.place, stage.role)
            name.storage = stage.storage
            since = indices[cause] if cause >= 0 else causes[-1 - cause]
            indices.append(recorder.count)
            recorder.spans += (name, kind, began, ended, self.number, keys[key], since, at)
        run.current.last = indices[last] if last >= 0 else causes[-1 - last]

    def end(self) -> None:
        if self.task:
            self.run.cancel(self.task)
        if self.handle:
            self.handle.close()

    def depart(self) -> None:
        self.run.outside(None, self.handle.close)


# ---- in the process ----


def serve(pipe: Any, worker: Forked, seed: str) -> None:
    """Make the batches that are asked for through *pipe*, until the parent says stop or is gone."""
    # The parent hears it, and ends its workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    seed_randomness(seed)
    parent, loader = worker.run, worker.loader
    run = Threads(
        parent.machine, worker.process.store, parent.recorder and parent.recorder.heir()
    )
    run.origin, run.sites, run.process, run.sized = (
        parent.origin,
        parent.sites,
        worker.process,
        parent.sized,
    )
    run.process.interpreter = run.new_process(run.process.store).interpreter
    loader.scope = loader.scope._replace(run=run)  # our copy of it
    run.complete(answer(pipe, Maker(loader, worker.number)), loader.start_stage)
    leave(0)


def seed_randomness(seed: str) -> None:
    """Begin Python's random numbers and NumPy's anew, as PyTorch does: else all workers draw the same."""
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(random.Random(seed).getrandbits(32))


def leave(code: int) -> NoReturn:
    """End this process; what the parent has opened is the parent's to close, but what was printed is ours."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # there may be none, or one that is closed
            stream.flush()
    os._exit(code)


async def answer(pipe: Any, maker: Maker) -> None:
    """Make what *pipe* asks for, batch after batch."""
    run = maker.run
    # Elements and spans that the parent knows
    known = run.recorder.people if run.recorder else 1, 0
    requests = 0
    await maker.prepare()
    while True:
        asked = run.outside(None, hear, pipe)
        if type(asked) is str:  # and no indices, which may be an array
            if asked == STOP:
                return
            maker.open()
            pipe.send_bytes(pickle.dumps(True))
            continue
        requests += 1
        if run.current.last < 0:  # else it still had to do something of its own
            run.current.last = -1 - requests
        made = await maker.make(asked)
        if made is None:
            leave(1)
        told = told_since(*known, run) if run.recorder else None
        if told:
            known = run.recorder.people, run.recorder.count
        run.current.last = -1
        pipe.send_bytes(pickled_batch(None if made is END else made, told, maker.number))


def hear(pipe: Any) -> Any:
    """Wait to be asked through *pipe*; without a parent there is nothing more to do."""
    while not pipe.poll(LOOK):
        if os.getppid() != multiprocessing.parent_process().pid:  # type: ignore[union-attr]
            return STOP
    try:
        return pipe.recv()
    except (EOFError, OSError):
        return STOP


def pickled_batch(element: Element | None, told: Any, worker: int) -> bytes:
    """Pack a batch, or the error that it cannot travel, with what was recorded of it."""
    try:
        text = pickle.dumps((element, told))
        pickle.loads(text) if type(element) is Failure else None
    except Exception as error:
        cannot: Exception = TypeError(
            f"what was made cannot be sent to the main process: {error}"
        )
        if type(element) is Failure:
            cannot = RuntimeError(str(element.value))
        text = pickle.dumps((element and caught(cannot, worker), told))
    return text


def told_since(people: int, spans: int, run: Any) -> Recorded:
    """Take what *run* has recorded since its last batch, after the first *people* and *spans*."""
    recorder = run.recorder
    sources = [
        (recorder.places[number], outer)
        for (_, outer), number in recorder.instances.items()
    ]
    new = [
        (sources[instance], epoch, sample)
        for instance, epoch, sample in rows(recorder.identities[3 * people :], 3)
    ]
    members = {
        key: recorder.members[key]
        for key in range(people, recorder.people)
        if key in recorder.members
    }
    return recorder.spans[8 * spans :], new, members, run.current.last
