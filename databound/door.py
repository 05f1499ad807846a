"""The door: a training script as it is, whose loader is caught and measured with its own loop body."""

import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from time import perf_counter
from types import ModuleType

from .advise.advice import recommended
from .advise.report import Found
from .exit_codes import Exit
from .model.measuring import measured
from .origin import InScript
from .progress import Progress
from .script.as_main import Program, as_before
from .script.caught import Caught, Script, backwards_counted, refusing_ranks
from .script.compiling import compiling_noted
from .script.patching import described, patched
from .script.stopping import (
    children_of_this,
    end_children,
    ends_noted,
    interruptible,
    kill_children,
    leave,
)
from .script.told_errors import NotMeasuredError
from .script.unsaved import Unsaved, saving_nothing
from .script.when_imported import when_imported
from .thresholds import Durations


def recommend_for_script(
    program: Program,
    progress: Progress,
    command: str,
    wanted: str = "",
    durations: Durations | None = None,
) -> Found:
    """Run a *program* until it trains, and say what to change in its job.

    *wanted* is the line of the loader that is meant, as `FILE:LINE`. Runs last as *durations* say,
    or as usual. Raises NotMeasuredError if it does not train, or not alone; RuntimeError for what
    cannot be measured, and what the program itself raises.
    """
    refuse_ranks()
    script = Script(program.run, wanted)
    lived_before = children_of_this()

    def ended_by_a_thread(code: int) -> None:
        progress.fail(
            f"databound: a thread of the script ended this process by os._exit({code}), so nothing "
            "more can be measured\n"
        )
        kill_children(lived_before)
        leave(Exit.FAILED)

    script.when_ended = ended_by_a_thread
    compiles = Compiles(progress)
    with opened(script) as unsaved, compiling_noted(compiles):
        progress.begin(f"{program.target} runs until its first training step ...")
        began = perf_counter()
        caught = script.until_training()
        compiles.trains = True
        progress.end(f"{perf_counter() - began:.1f} s")
        place = in_script(caught, program)
        progress.say(str(place))
        job = measured(
            caught.loader,
            script.step,
            tell=progress.say,
            note=progress.note,
            command=command,
            script=place,
            put_back=False,  # nothing of the script goes on
            durations=durations,
        )
        page = recommended(
            job,
            progress.say,
            progress.note,
            put_back=False,
            durations=durations,
        )
        progress.end_line()
        if job.origin is not None:
            place = replace(place, beside=[str(line) for line in script.beside])
            job.origin = replace(job.origin, script=place)
        return Found(page, str(unsaved))


class Compiles:
    """Tells *progress* that the script compiles, so that nobody takes that for a command that hangs.

    It does so until the script *trains*, and once more: afterwards it is known.
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.trains = False
        self.told = set[bool]()

    def __call__(self) -> None:
        """Tell it, if it is new."""
        if self.trains in self.told:
            return
        self.told.add(self.trains)
        if self.trains:
            self.progress.say(
                "torch.compile is at work again, as for another number of threads or batches of another "
                "size; that time is not counted"
            )
        else:
            self.progress.begin("    torch.compile is at work, which may take minutes ...")


@contextmanager
def opened(script: Script) -> Iterator[Unsaved]:
    """Prepare this process for a *script*; everything is as before afterwards.

    The block gets what the script did not save.
    """
    with ExitStack() as then:
        then.callback(end_children, children_of_this())
        then.enter_context(as_before())
        unsaved = then.enter_context(
            saving_nothing(lambda: script.trains and script.is_at_work)
        )
        then.enter_context(ends_noted(script.exits))

        def meet(torch: ModuleType) -> None:
            script.torch = torch
            then.enter_context(patched(torch, script))
            then.enter_context(backwards_counted(script))
            then.enter_context(refusing_ranks(script))
            unsaved.withhold()

        # The script imports it: what it sets before, such as OMP_NUM_THREADS, counts for it
        then.enter_context(when_imported("torch", meet))
        ours_again = then.enter_context(interruptible(script.main))

        def when_fed() -> None:
            ours_again()  # the script may have handlers of its own
            unsaved.withhold()  # also of what it has imported by now

        script.when_fed = when_fed
        yield unsaved


def in_script(caught: Caught, program: Program) -> InScript:
    """Return where a job stands in the script that was run."""
    made = caught.place.made
    loop = caught.place.loop
    trainer = caught.trainer
    change_at = made
    if trainer is not None:
        change_at = trainer.line
    flag = ["-m"] if program.is_module else []
    return InScript(
        target=shlex.join([*flag, program.target, *program.arguments]),
        loader=described(caught.loader),
        made_at=str(made or ""),
        loop_at=str(loop or ""),
        file=os.path.abspath(change_at.file) if change_at else "",
        line=change_at.number if change_at else 0,
        arguments=trainer.name if trainer else "",
        arguments_at=str(trainer.line or "") if trainer else "",
    )


def refuse_ranks() -> None:
    """Raise NotMeasuredError if this process trains with others, which would wait for it for ever."""
    ranks = os.environ.get("WORLD_SIZE", "1")
    if ranks != "1":
        raise NotMeasuredError(
            f"WORLD_SIZE={ranks}: this is one of several processes that make all steps together, so "
            "one of them cannot be measured: start it alone, without torchrun"
        )
