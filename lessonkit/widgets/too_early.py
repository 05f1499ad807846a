"""What to do about a cell that was run before those that it needs."""

from typing import Any


def explain_missing_names(shell: Any) -> None:
    """Let *shell*, where cells run, say after a NameError how to get the name; there may be no shell.

    A name that a function of the cell would have to make, as in an UnboundLocalError, gets
    no such note.
    """

    def explained(
        shell: Any, kind: type, error: NameError, trace: Any, tb_offset: Any = None
    ) -> None:
        if type(error) is NameError and error.name:
            error.add_note(
                f"If a cell above makes {error.name!r}: menu Run, Run All Above Selected Cell."
            )
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    if shell is not None:
        shell.set_custom_exc((NameError,), explained)
