"""What the page's scripts look like to somebody who reads them."""

from pathlib import Path

import pytest

from delivery.classroom import server
from delivery.site import pages
from lessonkit.widgets.widget import HERE, SCRIPTS

WIDEST = 100  # characters
PAGES = [Path(str(HERE)), pages.HERE / "page", server.HERE]
SCRIPTED = [
    path for folder in PAGES for path in folder.glob("*.*s")
]  # JavaScript and styles


@pytest.mark.parametrize("path", SCRIPTED, ids=lambda path: path.name)
def test_no_line_of_a_script_is_too_long_to_be_read(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > WIDEST] == []
    assert lines[0].startswith(("// ", "/* "))  # says what the file is for


def test_every_script_of_the_page_is_in_it() -> None:
    names = {path.stem for path in PAGES[0].glob("*.js")}
    assert names == {*SCRIPTS.split(), "by_itself"}
