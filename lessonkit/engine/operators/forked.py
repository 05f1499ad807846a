"""A worker of a `DataLoader` for real: a forked process, and what represents it in the main one."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from lessonkit.engine.element import END, Element, Failure
from lessonkit.engine.operators.base import Scope
from lessonkit.engine.operators.worker import Ticket, Worker, caught
from lessonkit.engine.recorder import Recorder, rows
from lessonkit.engine.threads import Threads

ANEW, STOP = "anew", "stop"  # what a process is told beside the indices of a batch
PATIENCE = 5.0  # s; how long a process may still work on the batch that it has begun, when it is told to end
LOOK = 1.0  # s; how often a process looks whether its parent is still there

FORKS = sys.platform == "linux" and "fork" in multiprocessing.get_all_start_methods()


class Handle:
    """A process: who asks it for something gets one answer, and nobody else can ask meanwhile."""

    def __init__(self, worker: Forked) -> None:
        context: Any = multiprocessing.get_context("fork")
        self.lock = threading.Lock()
        self.is_closed = False
        self.parent = os.getpid()
        self.people: list[int] = [0]  # our keys of the elements, by theirs
        self.ours, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, worker), daemon=True)
        # Ctrl+C comes to all processes: not to this one before it has set it aside, nor to us in between.
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
        """Ask for something and wait for it; None if the process has died."""
        with self.lock:
            try:
                self.ours.send(what)
                return pickle.loads(self.ours.recv_bytes())
            except (EOFError, OSError):
                return None

    def close(self) -> None:
        """End the process: after the batch in its hands, or when it has had time enough."""
        if self.is_closed:
            return
        self.is_closed = True
        with suppress(OSError):  # it has died
            self.ours.send(STOP)
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()
        self.process.close()
        with self.lock:
            self.ours.close()

    def __del__(self) -> None:
        if hasattr(self, "pid") and self.parent == os.getpid():
            self.close()


class Forked(Worker):
    """Stands for a process in the main one: gives it task after task, and takes down what it did."""

    handle: Any = None  # until it has begun

    async def begin(self) -> None:
        began = self.run.time
        self.handle = Handle(self)
        main = self.run.current
        main.lane = self.number
        self.run.took(self.loader.start_stage, "wait", began, self.run.time, Element(None))
        main.lane = 0
        self.set_out()

    def set_out(self) -> None:
        """Begin to work on what comes into the queue."""
        self.task = self.run.start(self.live(0), self.loader.stage, self.number)

    async def prepare(self) -> None:
        """The process does that."""

    def open(self) -> None:
        self.ended = False
        self.ask(ANEW)

    def ask(self, what: Any) -> Any:
        """Ask the process, without the run's lock."""
        answer = self.run.outside(None, self.handle.ask, what)
        self.run.current.due = self.run.real
        return answer

    async def result(self, ticket: Ticket) -> Element:
        before = self.run.current.last
        answer = self.ask(ticket.indices)
        if answer is None:
            ticket.is_last = True
            return Failure(RuntimeError(f"DataLoader worker (pid(s) {self.handle.pid}) exited unexpectedly"))
        element: Element | None = answer[0]
        records = answer[1]
        if element is None:
            return END
        if records is not None:
            self.take_down(element, before, *records)
        return element

    def take_down(
        self, element: Element, before: int, spans: list[Any], people: list[Any], members: dict[int, Any]
    ) -> None:
        """Add what a process recorded to the record of the run, with our keys and names."""
        recorder, keys, run = self.run.recorder, self.handle.people, self.run
        for (place, outer), epoch, sample in people:
            keys.append(recorder.identify(recorder.opened(place, outer), epoch, sample))
        for key, parts in members.items():
            recorder.members[keys[key]] = tuple(keys[part] for part in parts)
        first = recorder.count
        for stage, kind, began, ended, _, key, cause, at in rows(spans, 8):
            name = run.name(stage.wanted, stage.place, stage.role)
            since = first + cause if cause >= 0 else before
            recorder.spans += (name, kind, began, ended, self.number, keys[key], since, at)
        if spans:
            run.current.last = recorder.count - 1
        element.key = keys[element.key]

    def end(self) -> None:
        if self.task:
            self.run.cancel(self.task)
        if self.handle:
            self.handle.close()

    def depart(self) -> None:
        self.run.outside(None, self.handle.close)


# ---- in the process ----


def serve(pipe: Any, worker: Forked) -> None:
    """Make the batches that are asked for through *pipe*, until the parent says stop or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends its workers
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = worker.run
    run = Threads(parent.machine, worker.process.store, Recorder() if parent.recorder else None)
    run.origin, run.sites, run.process, run.sized = parent.origin, parent.sites, worker.process, parent.sized
    run.process.interpreter = run.new_process(run.process.store).interpreter
    loader = SimpleNamespace(**(vars(worker.loader) | {"run": run, "scope": Scope(run, worker.scope.place)}))
    run.complete(Serving(loader, worker.number, worker.process, pipe).live(0), worker.loader.stage)
    os._exit(0)  # what the parent has opened is the parent's to close


class Serving(Worker):
    """The worker in its own process."""

    def __init__(self, loader: Any, number: int, process: Any, pipe: Any) -> None:
        self.run = loader.run
        self.run.current = SimpleNamespace(process=process)
        super().__init__(loader, number)
        self.process = process
        self.pipe = pipe
        self.known = 1  # of the elements, those that the parent knows

    async def live(self, spent: int) -> None:
        await self.prepare()
        while (asked := self.run.outside(None, self.hear)) != STOP:
            if asked == ANEW:
                self.open()
                self.pipe.send_bytes(pickle.dumps(True))
                continue
            ticket = Ticket(self.loader, 0, asked, self.number)
            if not self.ended:
                await self.make(ticket)
            if ticket.is_last:
                os._exit(1)

    def hear(self) -> Any:
        """Wait to be asked; without a parent there is nothing more to do."""
        while not self.pipe.poll(LOOK):
            if os.getppid() != multiprocessing.parent_process().pid:  # type: ignore[union-attr]
                return STOP
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return STOP

    def deliver(self, ticket: Ticket) -> None:
        """Send a batch to the parent, or the error that it cannot travel."""
        element = None if ticket.result is END else ticket.result
        answer = (element, self.records())
        try:
            text = pickle.dumps(answer)
            pickle.loads(text) if type(element) is Failure else None
        except Exception as error:
            cannot = TypeError(f"what was made cannot be sent to the main process: {error}")
            if type(element) is Failure:
                cannot = RuntimeError(str(element.value))  # type: ignore[assignment]
            text = pickle.dumps((caught(cannot, self.number) if element is not None else None, answer[1]))
        self.pipe.send_bytes(text)

    def records(self) -> Any:
        """What was recorded since the last batch."""
        recorder = self.run.recorder
        if recorder is None:
            return None
        sources = [(recorder.places[number], outer) for (_, outer), number in recorder.instances.items()]
        people = [
            (sources[instance], epoch, sample)
            for instance, epoch, sample in rows(recorder.identities[3 * self.known :], 3)
        ]
        self.known += len(people)
        told = recorder.spans, people, recorder.members
        recorder.spans, recorder.members = [], {}
        self.run.current.last = -1
        return told
