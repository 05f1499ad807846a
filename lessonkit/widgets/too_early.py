"""What to do about a cell that was run before those that it needs."""

from types import TracebackType
from typing import Any


def explain_missing_names(shell: Any) -> None:
    """Let *shell*, where cells run, say after each NameError how to get the name; there may be no shell."""

    def told(shell: Any, kind: type, error: NameError, trace: TracebackType, tb_offset: Any = None) -> None:
        error.add_note(f"If a cell above makes {error.name!r}: menu Run, Run All Above Selected Cell.")
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    if shell is not None:
        shell.set_custom_exc((NameError,), told)
