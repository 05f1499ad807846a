"""The install check: what this Python can tell, and what only the page can."""

import json
import re
import subprocess
import sys

import pytest
from support.pages import Said

from lessonkit.install_check import ADVICE, check, python
from lessonkit.widgets.widget import PROGRAM


def test_the_page_is_told_the_version_of_python() -> None:
    assert json.loads(check().state) == {"python": python()}
    assert python() == sys.version.split()[0]


@pytest.mark.usefixtures("no_threads")
def test_a_browser_is_told_what_its_python_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert (
        "in a browser, without threads: in real runs waits go on side by side" in python()
    )


def test_what_to_do_is_printed_where_no_page_may_show_a_widget(
    capsys: pytest.CaptureFixture[str],
) -> None:
    check()
    assert capsys.readouterr().out == ADVICE + "\n"


def test_the_page_knows_the_advice_that_it_takes_away() -> None:
    (begins,) = re.findall(r'"(The packages that show widgets [^"]+)"', PROGRAM)
    assert ADVICE.startswith(begins)


def test_the_page_is_answered() -> None:
    about, _ = Said(check()).ask({"do": "greet"})
    assert about == {"about": "greeting"}


def test_without_what_widgets_need_it_says_what_to_type() -> None:
    told = without(
        "anywidget", "import lessonkit.__main__ as program; program.check_installation()"
    )
    assert "anywidget is not installed" in told.stdout
    assert 'pip install "lessonkit[lessons]"' in told.stdout
    assert "make lab" in told.stdout


def without(module: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run *code* in a process in which a *module* is missing."""
    hidden = f"import sys; sys.modules[{module!r}] = None; {code}"
    command = [sys.executable, "-c", hidden]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("door", ["plot", "widgets"])
@pytest.mark.parametrize("module", ["IPython", "anywidget", "traitlets"])
def test_who_imports_what_draws_reads_what_to_install(door: str, module: str) -> None:
    told = without(module, f"import lessonkit.{door}")
    *_, last = told.stderr.splitlines()
    assert last.startswith(f"ImportError: {module}")
    assert last.endswith('pip install "lessonkit[lessons]"')
