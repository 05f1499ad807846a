"""The command line of `databound`: what it is asked, and what it tells the program that started it."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .advise.advice import recommended
from .advise.page import Recommendation
from .advise.report import Found, diff_of, report
from .ends import StepFailedError
from .exit_codes import Exit
from .model.job import Job, load_job, save_job
from .progress import Progress
from .references import recommend_for_references
from .script.as_main import Program
from .script.kept_apart import apart
from .script.named import is_reference
from .script.rewriting import CannotRewriteError
from .script.told_errors import NotMeasuredError, users_traceback
from .thresholds import Durations, lasting
from .whole_runs import comparing_command
from .whole_runs.running import add_options as add_options_of_runs
from .whole_runs.running import asked, file_and_line, refuse_variable, run
from .whole_runs.stored_runs import load_run

DESCRIPTION = """\
Say of a training job whether it waits for its data, what to change, and what that saves.

  databound train.py --epochs 90            a script as it is, with its own arguments
  databound -m package.train --epochs 90    a module, as `python -m` runs it
  databound mine.py:loader mine.py:step     a loader and a step of yours, or package.mine:loader
  databound job.json                        a job that --save has stored, shown again
  databound --set num_workers=2 train.py    the script itself, with this argument of its loader
  databound compare ...                     two ways to run a script: see compare --help
"""
EXIT_CODES = """\
exit codes, for programs:
  0    nothing is worth changing
  1    something is
  2    it failed: the script raised, or nothing could be measured
  3    the runs cannot tell
  130  it was stopped by Ctrl+C
"""
CODES_OF_A_RUN = """
A script that is run itself ends with its own code. With --fail-if-waiting-above it ends
with 0, or 1 if training waited more, or 2 if it failed or never trained.
"""
PAGE = """<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>
<title>What to change</title>
<style>:root{{color-scheme:light dark;font-family:sans-serif}}
td,th{{padding:0 1em 0 0;text-align:left}}</style>
{}"""


# ---- what is asked ----


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all forms of the command have to a *parser*."""
    parser.add_argument("--save", metavar="JOB.json", type=Path, help="store the job there")
    parser.add_argument("--html", metavar="PAGE.html", type=Path, help="write a page there")
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument(
        "--json", action="store_true", help="print all numbers as JSON, and nothing else"
    )
    printed.add_argument(
        "--full",
        action="store_true",
        help="print the whole page, with a table of forecasts",
    )
    printed.add_argument(
        "--diff", action="store_true", help="print the first change as a diff of your file"
    )
    parser.add_argument(
        "--loader",
        metavar="FILE:LINE",
        type=file_and_line,
        default="",
        help="which loader of a script is meant, by the line that makes it",
    )
    parser.add_argument(
        "--minutes",
        metavar="M",
        type=minutes,
        help="how long measuring and trying may take, where a batch takes seconds or the machine is busy",
    )


def minutes(word: str) -> Durations | None:
    """Return how long runs last within as many minutes as a *word* says.

    Raises ArgumentTypeError if that is no number, or not above 0.
    """
    try:
        return lasting(float(word))
    except ValueError as error:
        why = f"{word}: must be minutes, as 10 or 0.5"
        raise argparse.ArgumentTypeError(why) from error


def command_line() -> argparse.ArgumentParser:
    """Return what parses a whole command line."""
    parser = argparse.ArgumentParser(
        prog="databound",
        usage="databound [options] TARGET ...",
        description=DESCRIPTION,
        epilog=EXIT_CODES + CODES_OF_A_RUN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_options(parser)
    add_options_of_runs(parser)
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        help="the module to run, and its own arguments",
    )
    parser.add_argument("target", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def add_options_behind(given: argparse.Namespace, words: Sequence[str]) -> None:
    """Take options that stand behind a target that has no arguments of its own."""
    parser = argparse.ArgumentParser(prog="databound", allow_abbrev=False)
    add_options(parser)
    parser.parse_args(words, given)


def refuse_combinations(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """End the command of a *parser* if an option that is *given* would do nothing beside the others."""
    if asked(given) is None:
        if given.log is not None and os.fspath(given.log) != os.environ.get(
            "DATABOUND_LOG"
        ):
            parser.error(
                "--log: has a line for each epoch of a script that is run itself: say --watch, too"
            )
        return
    for name in ("json", "full", "diff", "html", "minutes"):
        if getattr(given, name):
            parser.error(
                f"--{name}: is about measuring, and the script is to be run itself: leave out one"
            )
    for file in (given.save, given.log):
        if file and (why := cannot_be_written(Path(file))):
            parser.error(f"{file}: {why}")


def cannot_be_written(file: Path) -> str:
    """Say why a *file* cannot be written, before anything is run for it; return "" if it can."""
    if file.is_dir():
        return "it is a folder"
    return "" if file.absolute().parent.is_dir() else "there is no such folder"


# Sub-commands by their first word: each gets the words behind it, and returns an exit code
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"compare": comparing_command.main}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of a command line, and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words and words[0] in COMMANDS:
        return COMMANDS[words[0]](words[1:])
    parser = command_line()
    refuse_variable(parser)
    given = parser.parse_args(words)
    refuse_combinations(parser, given)
    command = shlex.join(["databound", *words])
    if given.module:
        module, *its_own = given.module
        return of_program(Program(module, its_own, is_module=True), given, command)
    if not given.target:
        parser.error("say what to measure: a script, -m MODULE, or a loader and a step")
    if asked(given) is not None and (
        is_reference(given.target) or given.target.endswith(".json")
    ):
        parser.error(
            f"{given.target}: only a script can be run itself, with --set or --watch"
        )
    if is_reference(given.target):
        return of_references(given, command)
    if not Path(given.target).is_file():
        parser.error(f"{given.target}: there is no such file")
    if given.target.endswith(".json"):
        add_options_behind(given, given.rest)
        return told(given, lambda _: Found(recommended(stored(given.target))))
    return of_program(Program(given.target, given.rest), given, command)


# ---- each form ----


def stored(file: str) -> Job:
    """Return the job in a *file*. Raises NotMeasuredError if there is none in it."""
    try:
        return load_job(file)
    except (ValueError, OSError) as error:
        why = "must be a job that databound --save has stored"
        try:
            load_run(Path(file))
        except (ValueError, OSError):
            raise NotMeasuredError(f"{file}: {why}") from error
        raise NotMeasuredError(
            f"{file}: {why}; this is a run, for databound compare"
        ) from error


def of_references(given: argparse.Namespace, command: str) -> Exit:
    """Measure a loader and a step of the user's."""
    loader = given.target
    step, *more = given.rest or [""]
    add_options_behind(given, more)

    def measure(progress: Progress) -> Found:
        if not is_reference(step):
            raise NotMeasuredError(
                f"{loader} is a loader: behind it comes a step, as mine.py:step"
            )
        return recommend_for_references(loader, step, progress, command, given.minutes)

    return told(given, measure)


def of_program(program: Program, given: argparse.Namespace, command: str) -> int:
    """Measure a script as it is, and end this process: the script must not go on.

    If options ask to run the script itself, do that.
    """
    if (wishes := asked(given)) is not None:
        return run(program, wishes, command)
    try:
        from .door import recommend_for_script
        from .script.stopping import leave
    except ModuleNotFoundError as error:
        if error.name != "greenlet":
            raise
        why = "a script is run as it is by greenlet, which is not installed"
        print(f"databound: {why}: pip install greenlet", file=sys.stderr)
        return Exit.FAILED

    def measure(progress: Progress) -> Found:
        return recommend_for_script(program, progress, command, given.loader, given.minutes)

    return leave(told(given, measure))


# ---- what is told ----


def told(given: argparse.Namespace, measure: Callable[[Progress], Found]) -> Exit:
    """Print what *measure* found, in all forms that are asked for, or why it failed.

    Whatever the user's code prints meanwhile is kept apart, and shown where it failed.
    """
    save = given.save.resolve() if given.save else None  # a script may go to another folder
    html = given.html.resolve() if given.html else None
    for file in (save, html):
        if file and (why := cannot_be_written(file)):
            print(f"databound: {file}: {why}", file=sys.stderr)
            return Exit.FAILED
    with apart() as where:
        progress = Progress(where.console, where.last_lines)
        try:
            found = measure(progress)
        except KeyboardInterrupt:
            progress.say("databound: stopped")
            return Exit.STOPPED
        except BaseException as error:  # of the user's modules: SystemExit, too
            progress.fail(in_words(error))
            return Exit.FAILED
        if save:
            save_job(found.page.job, save)
        if html:
            html.write_text(PAGE.format(found.page._repr_html_()), encoding="utf-8")
        if given.diff:
            where.console.write(report(found))
    try:
        print_all(printed(given, found))
    except CannotRewriteError as error:
        print(f"databound: no diff: {error}", file=sys.stderr)
    return what_to_tell(found.page)


def printed(given: argparse.Namespace, found: Found) -> str:
    """Return what goes to stdout. Raises CannotRewriteError for a diff that nobody can write."""
    if given.json:
        return json.dumps(found.page.numbers(), indent=1) + "\n"
    if given.diff:
        return diff_of(found.page)
    return f"{found.page}\n" if given.full else report(found)


def what_to_tell(page: Recommendation) -> Exit:
    """Return the exit code of a page."""
    if page.verdict == "cannot tell":
        return Exit.CANNOT_TELL
    return Exit.CHANGE if page.changes else Exit.NOTHING_TO_CHANGE


def in_words(error: BaseException) -> str:
    """Write an *error*: with its traceback if the user's own code raised it, else in a sentence."""
    why = str(error) or "without a message"
    if isinstance(error, NotMeasuredError):
        return f"databound: {why}\n"
    raised = error.__cause__ or error
    if not isinstance(error, StepFailedError):
        why = f"{type(error).__name__}: {why}"
    return f"{users_traceback(raised)}databound: {why}\n"


def print_all(text: str) -> None:
    """Print a *text*; whoever reads it may go away before its end, as `head` does."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        # What is left in the buffer has nowhere to go when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
