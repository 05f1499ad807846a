"""Whether a worker that is not forked can be given a dataset: it imports the classes by their names."""

import multiprocessing
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

# `Any` in this module is a loader, a dataset or a function of somebody else.


def refuse_unsendable(loader: Any) -> None:
    """Raise RuntimeError, in a sentence, if workers of a *loader* could not even begin.

    A worker that is forked has everything already. Another one begins with an empty Python: it runs
    the main script again, and looks classes up in it, which a notebook does not have.
    """
    method = start_method(getattr(loader, "multiprocessing_context", None))
    if method == "fork":
        return
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    mine = [one for one in parts(loader) if one.__module__ == "__main__"]
    if mine and file is None:
        raise RuntimeError(
            f"{mine[0].__qualname__} is of this notebook, and a worker that begins by {method!r} "
            "cannot import it from there: put it into a .py file and import it from that"
        )
    if file is not None and not is_guarded(Path(file)):
        name = Path(file).name
        raise RuntimeError(
            f"a worker that begins by {method!r} runs {name} again, and would train: put what "
            f'{name} does below `if __name__ == "__main__":`'
        )


def start_method(context: Any) -> str:
    """Return how workers begin in a multiprocessing *context*: that of a loader, or the usual one."""
    if isinstance(context, str):
        return context
    found: str = (context or multiprocessing.get_context()).get_start_method()
    return found


def parts(loader: Any) -> Iterator[Any]:
    """Yield the classes and functions of somebody else that a worker needs."""
    dataset = loader.dataset
    for _ in range(10):  # a dataset around another, such as a Subset
        yield type(dataset)
        dataset = getattr(dataset, "dataset", None)
        if dataset is None:
            break
    for name in ("collate_fn", "worker_init_fn"):
        given = getattr(loader, name, None)
        if hasattr(given, "__module__") and hasattr(given, "__qualname__"):
            yield given


def is_guarded(file: Path) -> bool:
    """Whether a script asks for its `__name__`, as one does that may be imported."""
    with suppress(OSError):
        return b"__name__" in file.read_bytes()
    return True
