"""Measures a loader and a step that a module of the user's has."""

import os
import sys
from contextlib import ExitStack
from types import ModuleType
from typing import Any

from .advise.advice import recommended
from .advise.report import Found
from .model.measuring import measured
from .origin import InScript
from .progress import Progress
from .script.named import AsTheyAre, module_of, named
from .script.patching import described, made_at, patched
from .script.when_imported import when_imported
from .thresholds import Durations


def recommend_for_references(
    loader: str,
    step: str,
    progress: Progress,
    command: str,
    durations: Durations | None = None,
) -> Found:
    """Say what to change in the job of a *loader* and a *step*, each named as `mine.py:loader`.

    Runs last as *durations* say, or as usual. Raises what their modules raise, and TypeError,
    ValueError or RuntimeError for what cannot be measured.
    """
    sys.argv = [module_of(loader)]  # a module that parses arguments has none of ours
    with ExitStack() as then:

        def meet(torch: ModuleType) -> None:  # a loader of ours needs none
            then.enter_context(patched(torch, AsTheyAre()))

        then.enter_context(when_imported("torch", meet))
        found = named(loader)
        job = measured(
            found,
            named(step),
            tell=progress.say,
            note=progress.note,
            command=command,
            script=in_module(found),
            durations=durations,
        )
        page = recommended(job, progress.say, progress.note, durations=durations)
        progress.end_line()
        return Found(page)


def in_module(loader: Any) -> InScript | None:
    """Return where a *loader* was made, if that is known."""
    line = made_at(getattr(loader, "base_dataloader", loader))
    if line is None:
        return None
    return InScript(
        target="",
        loader=described(loader),
        made_at=str(line),
        file=os.path.abspath(line.file),
        line=line.number,
    )
