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
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple
from weakref import finalize

from lessonkit.engine.element import END, Element, Failure
from lessonkit.engine.threads import Threads, ThreadTask
from lessonkit.engine.trace import OuterSample, Position, Recorder

from .worker import BatchMaker, Indices, Worker, caught

# What a process is asked for beside the indices of a batch
REOPEN = "open"
STOP = "stop"
# Of a span in a child's record: it stands for the span of the parent that came before what the
# parent asked for, or before the start
ASKED = "asked"
CAN_FORK = sys.platform == "linux" and "fork" in multiprocessing.get_all_start_methods()


class Recorded(NamedTuple):
    """What a process has recorded since it told its parent before.

    *spans* have the fields that a recorder has of them, and *last* is the index of the one that
    ended last. An index or a key of an element counts in the process's own record.
    """

    spans: list[tuple[Any, ...]]
    sources: list[tuple[Position, OuterSample]]
    identities: list[tuple[int, int, int]]
    members: list[tuple[int, tuple[int, ...]]]
    last: int


class ChildProcess:
    """A process that answers one question after another, each before it is asked the next."""

    def __init__(self, worker: ForkedWorker, seed: str) -> None:
        context = multiprocessing.get_context("fork")
        self.lock = threading.Lock()
        recorder = worker.run.recorder or Recorder()
        # Our numbers of the process's sources, elements and spans
        self.sources = [*range(len(recorder.positions))]
        self.keys = [*range(len(recorder.identities))]
        self.spans: list[int] = []
        # Of each span of kind ASKED that is still to come: what it stands for
        self.causes: deque[int] = deque()
        self.ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, worker, seed), daemon=True)
        # Ctrl+C comes to all processes: not to this one before it has set it aside, nor to
        # us in between.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with warnings.catch_warnings():
                # Newer Pythons warn of threads; the child uses none of their locks.
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            theirs.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        # Once, and at the latest when nobody knows it any more
        self.close = finalize(self, end_process, process, self.ours, self.lock, os.getpid())

    def ask(self, what: Any) -> Any:
        """Ask for *what* is wanted and wait for the answer; None if the process has died."""
        with self.lock:
            try:
                self.ours.send(what)
                return pickle.loads(self.ours.recv_bytes())
            except (EOFError, OSError):
                return None


def end_process(
    process: BaseProcess, pipe: Connection, lock: threading.Lock, parent: int
) -> None:
    """End a *process*: after the batch that it has begun, or when it has had time enough.

    Only its *parent* can: in another process that was forked meanwhile nothing happens.
    """
    if parent != os.getpid():
        return
    with suppress(OSError):  # it has died
        pipe.send(STOP)
    process.join(5)  # s; it may work on the batch that it has begun
    process.kill()
    process.join()
    # A thread that starts a process was told just now that this one has ended
    with suppress(ValueError):
        process.close()
    with lock:
        pipe.close()


class ForkedWorker(Worker):
    """Stands for a child process: passes requests on to it, and records what it did."""

    run: Threads
    task: ThreadTask | None = None  # once it has begun
    child: ChildProcess  # once it is launched

    async def launch(self) -> int:
        began = self.run.time
        self.child = ChildProcess(self, f"{self.loader.seed}:{self.number}")
        self.run.record_span(
            self.loader.start_stage, "wait", began, self.run.time, Element(None)
        )
        self.child.causes.append(self.run.current.last)
        return 0

    async def prepare(self) -> None:
        """Leave that to the process."""

    def reopen(self) -> None:
        self.ask(REOPEN)

    def ask(self, what: Any) -> Any:
        """Ask the process for *what*, without the run's lock."""
        answer = self.run.call_without_lock(None, self.child.ask, what)
        self.run.current.due = self.run.real
        return answer

    async def make(self, indices: Indices) -> Element | None:
        if self.run.recorder is not None:
            self.child.causes.append(self.run.current.last)
        answer = self.ask(indices)
        if answer is None:
            return None
        element: Element = answer[0] or END
        if answer[1] is not None:
            self.record(answer[1])
            if element is not END:
                element.key = self.child.keys[element.key]
        return element

    def record(self, recorded: Recorded) -> None:
        """Add what the process *recorded* to the run's record, by our keys, indices and names."""
        run = self.run
        recorder = run.recorder
        assert recorder is not None
        keys = self.child.keys
        indices = self.child.spans
        known = self.child.sources
        for position, outer in recorded.sources:
            known.append(recorder.opened(position, outer))
        for source, epoch, sample in recorded.identities:
            keys.append(recorder.identify(known[source], epoch, sample))
        for key, parts in recorded.members:
            recorder.members[keys[key]] = tuple([keys[part] for part in parts])
        for stage, kind, began, ended, _, key, cause, place in recorded.spans:
            if kind == ASKED:
                indices.append(self.child.causes.popleft())
                continue
            name = run.name(stage.wanted, stage.position, stage.role)
            name.storage = stage.storage
            ours = indices[cause]
            added = recorder.add_span(
                name, kind, began, ended, self.number, keys[key], ours, place
            )
            indices.append(added)
        run.current.last = indices[recorded.last]

    def end(self) -> None:
        if self.task:
            self.run.cancel(self.task)
        if self.child:
            self.child.close()

    def close(self) -> None:
        self.run.call_without_lock(None, self.child.close)


# ---- in the child process ----


def serve(pipe: Connection, worker: ForkedWorker, seed: str) -> None:
    """Make the batches that are asked for through *pipe*, until the parent says stop or is gone."""
    # The parent hears it, and ends its workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    random.seed(seed)  # as PyTorch does: else all workers would draw the same numbers
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(random.Random(seed).getrandbits(32))
    parent: Threads = worker.run
    loader = worker.loader
    process = worker.process
    recorder = parent.recorder and parent.recorder.fork()
    run = Threads(parent.machine, process.states, recorder)
    run.shares_storages = False
    run.origin = parent.origin
    run.sites = parent.sites
    run.sized = parent.sized
    process.interpreter = run.process.interpreter
    run.process = process
    loader.scope = loader.scope._replace(run=run)  # our copy of it
    run.complete(answer(pipe, BatchMaker(loader, worker.number), run), loader.start_stage)


async def answer(pipe: Connection, maker: BatchMaker, run: Threads) -> None:
    """Make what *pipe* asks for, batch after batch, in this process's *run*."""
    journal = Journal(run) if run.recorder else None
    await maker.prepare()
    while True:
        asked = run.call_without_lock(None, hear, pipe)
        if type(asked) is str:  # and no indices, which may be an array
            if asked == STOP:
                return
            maker.open()
            pipe.send_bytes(pickle.dumps(True))
            continue
        if journal:
            journal.asked()
        made = await maker.make(asked)
        if made is None:
            sys.exit(1)
        recorded = journal.news() if journal else None
        element = None if made is END else made
        pipe.send_bytes(packed_answer(element, recorded, maker.number))


def hear(pipe: Connection) -> Any:
    """Return the next question from *pipe*; STOP if the parent is gone."""
    while not pipe.poll(1):  # s; the parent may be gone meanwhile
        if os.getppid() != multiprocessing.parent_process().pid:  # type: ignore[union-attr]
            return STOP
    try:
        return pipe.recv()
    except (EOFError, OSError):
        return STOP


def packed_answer(element: Element | None, recorded: Recorded | None, worker: int) -> bytes:
    """Pack a batch, or the error that it cannot travel, with what was *recorded* of it."""
    try:
        text = pickle.dumps((element, recorded))
        if type(element) is Failure:
            pickle.loads(text)
    except Exception as error:
        cannot = f"what was made cannot be sent to the main process: {error}"
        told: Exception = TypeError(cannot)
        if isinstance(element, Failure):
            told = RuntimeError(str(element.value))
        text = pickle.dumps((caught(told, worker), recorded))
    return text


class Told(NamedTuple):
    """How much of a process's record its parent has."""

    spans: int
    sources: int
    identities: int
    members: int


class Journal:
    """Tells a parent what this process's *run* records, each thing once.

    The first span, and another one for each batch that is asked for, is of kind ASKED. It is the
    cause of what the process does next, unless that still had to do something of its own.
    """

    def __init__(self, run: Threads) -> None:
        assert run.recorder is not None
        self.run = run
        self.recorder = run.recorder
        self.told = self.reached()  # what was there when the process was forked
        self.idle = (
            run.current.last
        )  # the last span, if nothing was done since the parent asked
        self.asked()

    def reached(self) -> Told:
        """Count what is in the record."""
        recorder = self.recorder
        return Told(
            spans=recorder.span_count,
            sources=len(recorder.positions),
            identities=len(recorder.identities),
            members=len(recorder.members),
        )

    def asked(self) -> None:
        """Note that the parent has asked for something."""
        task = self.run.current
        now = self.run.time
        index = self.recorder.add_span(task.stage, ASKED, now, now, 0, 0, cause=-1)
        if task.last == self.idle:
            self.idle = index
            task.last = index

    def news(self) -> Recorded:
        """Return what was recorded since the parent was told before."""
        recorder = self.recorder
        told = self.told
        self.told = self.reached()
        self.idle = self.run.current.last
        outer = [sample for _, sample in recorder.instances]
        sources = [*zip(recorder.positions, outer, strict=True)]
        members = [*recorder.members.items()]
        return Recorded(
            spans=[*recorder.spans_from(told.spans)],
            sources=sources[told.sources :],
            identities=recorder.identities[told.identities :],
            members=members[told.members :],
            last=self.run.current.last,
        )
