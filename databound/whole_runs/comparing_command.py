"""`databound compare`: two ways to run a script, from files or from runs that are made by turns."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from lessonkit.words import counted, milliseconds, number

from ..exit_codes import Exit
from ..machine import Others, allowed_cores
from ..script.trying import Settings, as_text
from ..thresholds import OTHERS, ROUNDS, TRIAL_BATCHES
from .comparing_runs import Comparison, NotComparableError, compare, main_loop, of_run
from .epochs import percent
from .running import WATCH, batches, file_and_line, settings
from .stored_runs import StoredRun, load_run
from .watch import say

DESCRIPTION = """\
Compare two ways to run a training script.

  databound compare before.json after.json               runs that --save has stored
  databound compare a.json,c.json b.json,d.json          several of each
  databound compare --set num_workers=2 train.py ARGS    as it is, and with these arguments:
                                                         by turns, each in a process of its own
"""
EXIT_CODES = """\
exit codes, for programs:
  0    it is faster afterwards
  1    it is slower
  2    it failed, or the runs cannot be compared
  3    the runs cannot tell which is faster
  130  it was stopped by Ctrl+C
"""


class RunFailedError(Exception):
    """A run that was to be compared ended without numbers; the message is what it printed."""


def command_line() -> argparse.ArgumentParser:
    """Return what parses the words behind `databound compare`."""
    parser = argparse.ArgumentParser(
        prog="databound compare",
        usage="databound compare [options] BEFORE.json AFTER.json, or --set ... SCRIPT ...",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE,...",
        type=settings,
        help="run a script as it is and so",
    )
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=batches,
        default=ROUNDS,
        help=f"how often both are run, by turns; {ROUNDS} if you do not say",
    )
    parser.add_argument(
        "--batches",
        metavar="N",
        type=batches,
        default=TRIAL_BATCHES,
        help=f"batches of training of each run; {TRIAL_BATCHES} if you do not say",
    )
    parser.add_argument(
        "--loader",
        metavar="FILE:LINE",
        type=file_and_line,
        default="",
        help="which loader is meant",
    )
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", nargs=argparse.REMAINDER, help="run a module"
    )
    parser.add_argument("targets", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def main(words: Sequence[str]) -> int:
    """Compare what the *words* behind `databound compare` name, and return the exit code."""
    parser = command_line()
    given = parser.parse_args(words)
    program = ["-m", *given.module] if given.module else given.targets
    try:
        if given.set:
            if not program:
                parser.error("--set needs a script, or -m MODULE")
            turns = Turns(program, given.set, given.loader, given.batches, given.rounds)
            found = by_turns(turns)
        else:
            if len(given.targets) != 2:
                parser.error(
                    "give two files, BEFORE.json AFTER.json, or --set and a script"
                )
            before, after = (of_files(names) for names in given.targets)
            found = compare(before, after)
    except KeyboardInterrupt:
        say("stopped")
        return Exit.STOPPED
    except RunFailedError as error:
        print(f"{error}databound: a run failed, so nothing is compared", file=sys.stderr)
        return Exit.FAILED
    except OSError as error:
        say(f"{error.filename}: {error.strerror}")
        return Exit.FAILED
    except (NotComparableError, ValueError) as error:
        say(str(error))
        return Exit.FAILED
    print(found)
    return what_to_tell(found)


def what_to_tell(found: Comparison) -> Exit:
    """Return the exit code of a comparison."""
    if not found.is_clear:
        return Exit.CANNOT_TELL
    return Exit.NOTHING_TO_CHANGE if found.change < 0 else Exit.CHANGE


def of_files(names: str) -> list[StoredRun]:
    """Return the runs of the files that *names* has, with commas between them."""
    return [load_run(Path(name)) for name in names.split(",")]


# ---- by turns ----


class Turns(NamedTuple):
    """A *program* with its arguments that is run as it is and with *settings*, in so many *rounds*.

    Each run has so many *batches*. *loader* is the line of the loader that is meant, or empty.
    """

    program: Sequence[str]
    settings: Settings
    loader: str
    batches: int
    rounds: int

    def command(self, changed: Settings, save: Path) -> list[str]:
        """Return the command of one run, which is stored in *save*."""
        words = ["--batches", str(self.batches), "--save", os.fspath(save)]
        if changed:
            words += ["--set", as_text(changed)]
        if self.loader:
            words += ["--loader", self.loader]
        return [sys.executable, "-m", "databound", *words, *self.program]


def by_turns(turns: Turns) -> Comparison:
    """Run a script as it is and with other settings, one after the other in each round, and compare.

    So a machine that is slower for a while slows both down. Raises RunFailedError for a run that fails, and
    NotComparableError for one without training.
    """
    ways: tuple[Settings, Settings] = ({}, turns.settings)
    runs: tuple[list[StoredRun], list[StoredRun]] = ([], [])
    count = counted(len(ways) * turns.rounds, "runs")
    say(
        f"{count} of {' '.join(turns.program)}, each until {turns.batches} batches of training"
    )
    others = Others()
    for round_ in range(turns.rounds):
        for changed, seen in zip(ways, runs, strict=True):
            began = perf_counter()
            seen.append(ran(turns, changed))
            side = of_run(main_loop(seen[-1]))
            pace = f"{milliseconds(side.each)} a batch, waited {percent(side.share)}"
            took = number(perf_counter() - began, 0)
            how = as_text(changed) or "as it is"
            say(f"round {round_ + 1}, {how}: {pace} ({took} s with its start)")
    found = compare(*runs)
    taken = others.cores()
    cores = allowed_cores()
    if taken <= OTHERS * cores:
        return found
    busy = f"Other programs used {number(taken, 1)} of {counted(cores, 'cores')} meanwhile."
    return replace(found, doubts=(*found.doubts, busy))


def ran(turns: Turns, changed: Settings) -> StoredRun:
    """Run a script once, in a process of its own. Raises RunFailedError if that fails."""
    environment = {name: value for name, value in os.environ.items() if name != WATCH}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+b") as printed:
        save = Path(folder) / "run.json"
        ended = subprocess.run(
            turns.command(changed, save),
            stdout=printed,
            stderr=subprocess.STDOUT,
            env=environment,
            check=False,
        )
        if ended.returncode == Exit.STOPPED:
            raise KeyboardInterrupt
        if ended.returncode or not save.exists():
            printed.seek(0)
            raise RunFailedError(printed.read().decode("utf-8", "replace"))
        return load_run(save)
