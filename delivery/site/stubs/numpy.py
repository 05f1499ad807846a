"""In the place of NumPy, of which only Pyodide's own archive has a build for browsers."""

from typing import Any

from IPython import get_ipython

SAID = (
    "This cell computes with NumPy, which this page does not have. "
    "In JupyterLab, on a computer of your own, it runs: the lesson's other cells do not need it."
)


class MissingHereError(ImportError):
    """Ends a cell, with a sentence in the place of a traceback."""


class ndarray:  # noqa: N801 - its name there
    """Nothing is one."""


class generic:  # noqa: N801
    """Nothing is one."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise MissingHereError(SAID)


def say(
    shell: Any, kind: type, error: Exception, where: Any, tb_offset: Any = None
) -> None:
    """Print the sentence alone."""
    print(error)


if shell := get_ipython():
    shell.set_custom_exc((MissingHereError,), say)
