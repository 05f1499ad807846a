"""Runs a script to its end, or for so many batches, and says what its training loops waited.

This is what the command does if it is asked to set, to watch or to check something; otherwise it
measures. Nothing else of the script changes: what it prints, saves and tells a shell is its own.
"""

import argparse
import os
import shlex
import signal
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from lessonkit.words import counted, milliseconds

from ..exit_codes import Exit
from ..origin import origin_now
from ..script.as_main import Program, ScriptExitError
from ..script.stopping import end_children, ends_noted, leave
from ..script.told_errors import NotMeasuredError, users_traceback
from ..script.trying import (
    THREADS,
    Forced,
    Settings,
    as_text,
    read_settings,
    threads_forced,
)
from ..script.when_imported import when_imported
from .epochs import percent
from .loops import Loop, TrainingLoops, waits_of
from .stored_runs import StoredRun, ran, save_run
from .watch import Teller, rank, say

WATCH = "DATABOUND"  # the variable that asks for --watch by the value "watch"


@dataclass(frozen=True)
class Asked:
    """What a command line asks of a script that is run.

    Its training loader gets *settings*, if *wanted* names its line or is empty. The script ends after
    so many *batches*. The run is stored in *save*, and each epoch in *log*. If the loop waits
    for a larger share than *most_waiting*, the exit code says so.
    """

    settings: Settings = field(default_factory=dict)
    wanted: str = ""
    batches: int | None = None
    save: Path | None = None
    log: Path | None = None
    most_waiting: float | None = None

    @property
    def is_trial(self) -> bool:
        """Whether somebody waits for its numbers: then a run without any has failed."""
        return bool(self.settings or self.batches or self.save)


# ---- what is asked ----


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that ask for a run of the script itself, not for measuring it."""
    group = parser.add_argument_group(
        "to run the script itself, and say for each epoch what it waited"
    )
    group.add_argument(
        "--set",
        metavar="NAME=VALUE,...",
        type=settings,
        help="with these arguments of its training loader, and with so many threads",
    )
    group.add_argument(
        "--watch",
        action="store_true",
        default=os.environ.get(WATCH) == "watch",
        help="as it is; DATABOUND=watch asks for the same",
    )
    group.add_argument(
        "--batches",
        metavar="N",
        type=batches,
        help="end it after so many batches of training",
    )
    group.add_argument(
        "--fail-if-waiting-above",
        metavar="SHARE%",
        type=share,
        help="exit with 1 if training waits for more than this share of its time",
    )
    group.add_argument(
        "--log",
        metavar="FILE.jsonl",
        type=Path,
        default=os.environ.get("DATABOUND_LOG"),
        help="add a line of JSON for each epoch; DATABOUND_LOG names one, too",
    )


def settings(text: str) -> Settings:
    """Return the settings that *text* names. Raises ArgumentTypeError for what is none."""
    try:
        return read_settings(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("--set ")) from error


def batches(text: str) -> int:
    """Return the number that *text* is. Raises ArgumentTypeError for what is none above 0."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number, 1 or more")
    return int(text)


def file_and_line(text: str) -> str:
    """Return *text* if it is as `train.py:40`. Raises ArgumentTypeError for what is not."""
    file, _, number = text.rpartition(":")
    if text and not (file and number.isdecimal()):  # a default is read, too
        raise argparse.ArgumentTypeError(f"{text}: must be FILE:LINE, as train.py:40")
    return text


def share(text: str) -> float:
    """Return the share of 1 that a text such as `10%` is. Raises ArgumentTypeError for what is none."""
    try:
        percents = float(text.removesuffix("%"))
    except ValueError:
        percents = -1.0
    if not text.endswith("%") or not 0 <= percents <= 100:
        raise argparse.ArgumentTypeError(f"{text}: must be between 0% and 100%, as 10%")
    return percents / 100


def refuse_variable(parser: argparse.ArgumentParser) -> None:
    """End the command of a *parser* if the environment asks for something that there is not."""
    if os.environ.get(WATCH, "watch") != "watch":
        parser.error(f"{WATCH}={os.environ[WATCH]}: must be watch, or not be set")


def asked(given: argparse.Namespace) -> Asked | None:
    """Return what options ask of a run of the script; None if they ask for measuring it."""
    wishes = (given.set, given.watch, given.batches, given.fail_if_waiting_above)
    if all(wish is None or wish is False for wish in wishes):
        return None
    return Asked(
        given.set or {},
        given.loader,
        given.batches,
        given.save and given.save.resolve(),
        given.log and Path(given.log).resolve(),
        given.fail_if_waiting_above,
    )


# ---- the run ----


def run(program: Program, asked: Asked, command: str) -> int:
    """Run a *program* and print what its training loops waited; return its exit code, or ours.

    With `most_waiting` the exit code is ours: 0, 1 if training waited more, 2 if the program
    failed or did not train. Without it is the program's own, and 2 if a trial saw no training.
    Where the program is ended after so many batches, this process ends with it.
    """
    return Run(program, asked, command).run()


class Run:
    """One run of a *program* as it is *asked*, by a *command*."""

    def __init__(self, program: Program, asked: Asked, command: str) -> None:
        self.program = program
        self.asked = asked
        self.command = command
        self.forced = Forced(asked.settings, asked.wanted)
        self.loops = TrainingLoops(
            Teller(asked.log),
            most=asked.batches,
            enough=self.end_early,
            changes=self.forced,
        )

    def run(self) -> int:
        """Run it to its end, and return the exit code."""
        threads = self.asked.settings.get(THREADS)
        with ExitStack() as then:

            def meet(torch: ModuleType) -> None:
                if isinstance(threads, int):
                    then.enter_context(threads_forced(torch, threads))
                then.enter_context(self.loops.watched(torch))

            # The script imports it: what it sets before, such as OMP_NUM_THREADS, counts for it
            then.enter_context(when_imported("torch", meet))
            then.enter_context(ends_noted(self.end))
            try:
                code = run_as_python_does(self.program)
            except NotMeasuredError as error:
                say(str(error))
                return Exit.FAILED
        return self.told(code)

    def end(self, code: int) -> None:
        """End this process with a *code* of the script, which ends itself in the middle."""
        self.loops.close()
        leave(self.told(code & 0xFF))

    def end_early(self) -> None:
        """End this process, in the middle of the script: it has trained as long as it was asked to."""
        self.loops.close()
        code = self.told(0)
        with suppress(ValueError):  # not in the main thread
            signal.signal(
                signal.SIGCHLD, signal.SIG_DFL
            )  # PyTorch's raises what a worker ends by
        end_children()
        leave(code)

    def told(self, code: int) -> int:
        """Print and store what was seen until the script ended with a *code*; return ours."""
        for caution in self.forced.cautions:
            say(caution)
        missing = self.what_is_missing()
        if missing:
            say(missing)
            is_ours = self.asked.is_trial or self.asked.most_waiting is not None
            return Exit.FAILED if is_ours else code
        for loop in self.loops.loops:
            say(in_all(loop))
        if self.asked.settings:
            lines = ", ".join(str(line or "a library") for line in self.forced.lines)
            where = f" in the loader of {lines}" if lines else ""
            say(f"that was with {as_text(self.asked.settings)}{where}")
        if self.asked.save and not rank():  # of several ranks the first one alone
            save_run(self.stored(), self.asked.save)
        return code if self.asked.most_waiting is None else self.judged(code)

    def what_is_missing(self) -> str:
        """Say why the run tells nothing; return "" if it tells something."""
        loops = self.loops.loops
        if not loops:
            return (
                "no loop over a DataLoader called backward(), so there is nothing to tell"
            )
        wanted = self.asked.wanted
        lines = [loop.loader for loop in loops]
        if wanted and not any(line is not None and line.is_named(wanted) for line in lines):
            seen = ", ".join(str(line or "a library") for line in lines)
            return (
                f"--loader {wanted}: no loader of that line trained; those that did: {seen}"
            )
        return ""

    def judged(self, code: int) -> Exit:
        """Return what the gate says of a run that ended with a *code*."""
        most = self.asked.most_waiting
        if code == Exit.STOPPED:
            return Exit.STOPPED
        if code:
            say(f"the script failed, with exit code {code}")
            return Exit.FAILED
        waited = waits_of(self.loops.loops).share
        allowed = f"{percent(most or 0)} are allowed"
        if waited <= (most or 0):
            say(f"training waited {percent(waited)} of its time; {allowed}")
            return Exit.NOTHING_TO_CHANGE
        target = shlex.join([self.program.target, *self.program.arguments])
        flag = "-m " if self.program.is_module else ""
        why = f"`databound {flag}{target}` says what helps"
        say(f"training waited {percent(waited)} of its time, and {allowed}: {why}")
        return Exit.CHANGE

    def stored(self) -> StoredRun:
        """Return the run as a file keeps it."""
        program = self.program
        name = f"-m {program.target}" if program.is_module else Path(program.target).name
        return StoredRun(
            name,
            shlex.join(program.arguments),
            self.asked.settings,
            origin_now(self.command),
            ran(self.loops.loops),
        )


def in_all(loop: Loop) -> str:
    """Say what all epochs of a *loop* came to."""
    batches = sum(epoch.batches for epoch in loop.epochs)
    rounds = batches - len(loop.epochs)
    seen = f"{counted(batches, 'batches')} in {counted(len(loop.epochs), 'epochs')}"
    where = loop.loader or "a library"
    if not rounds:
        return f"in all {seen} ({where})"
    seconds = sum(epoch.seconds for epoch in loop.epochs)
    waited = sum(epoch.waited for epoch in loop.epochs)
    pace = f"{milliseconds(seconds / rounds)} each, waited {percent(waited / seconds)}"
    return f"in all {seen}, {pace} ({where})"


def run_as_python_does(program: Program) -> int:
    """Run a *program*, print what it raises as Python does, and return the exit code it would have.

    Raises NotMeasuredError, which is ours.
    """
    try:
        program.run()
    except ScriptExitError as end:
        if isinstance(end.code, int):
            return end.code & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("stopped")
        return Exit.STOPPED
    except NotMeasuredError:
        raise
    except BaseException as error:
        told = users_traceback(error) or f"{type(error).__name__}: {error}\n"
        print(told, end="", file=sys.stderr)
        return 1
    return 0
