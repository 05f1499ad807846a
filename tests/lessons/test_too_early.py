"""A cell that is run before those that it needs says how to get what is missing."""

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from lessonkit.widgets.sandbox import explain_missing_names


def test_a_missing_name_says_what_to_run(capsys: Any) -> None:
    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    explain_missing_names(shell)
    shell.run_cell("naive")
    said = capsys.readouterr()
    assert "name 'naive' is not defined" in said.out
    assert (
        "If a cell above makes 'naive', choose Run, Run All Above Selected Cell."
        in said.err
    )
    shell.run_cell("1 / 0")
    assert "cell above" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "cell",
    ["def late():\n    return early\n    early = 1\nlate()", "raise NameError('mine')"],
)
def test_a_name_that_no_cell_above_can_make_gets_no_note(capsys: Any, cell: str) -> None:
    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    explain_missing_names(shell)
    shell.run_cell(cell)
    said = capsys.readouterr()
    assert "Error" in said.out
    assert "cell above" not in said.err


def test_outside_a_notebook_there_is_nothing_to_do() -> None:
    explain_missing_names(None)
