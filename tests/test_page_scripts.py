"""What the page's scripts look like to somebody who reads them."""

import pytest

from lessonkit.widgets.widget import HERE, SCRIPTS

WIDEST = 120  # characters


@pytest.mark.parametrize("name", [*SCRIPTS.split(), "by_itself"])
def test_no_line_of_a_script_is_too_long_to_be_read(name: str) -> None:
    lines = (HERE / f"{name}.js").read_text(encoding="utf-8").splitlines()
    assert [
        (number, line) for number, line in enumerate(lines, 1) if len(line) > WIDEST
    ] == []
    assert lines[0].startswith("// ")  # says what the file is for
