"""A cell that is run before those that it needs says how to get what is missing."""

from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from lessonkit.widgets.too_early import explain_missing_names


def test_a_missing_name_says_what_to_run(capsys: Any) -> None:
    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    explain_missing_names(shell)
    shell.run_cell("naive")
    said = capsys.readouterr().out
    assert "name 'naive' is not defined" in said
    assert "If a cell above makes 'naive': menu Run, Run All Above Selected Cell." in said
    shell.run_cell("1 / 0")
    assert "cell above" not in capsys.readouterr().out


def test_outside_a_notebook_there_is_nothing_to_do() -> None:
    explain_missing_names(None)
