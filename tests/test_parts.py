"""The parts of `make test` that run side by side: nothing is left out, and nothing runs twice."""

import re

from tools import tests


def test_every_file_of_tests_belongs_to_one_part() -> None:
    named, pages = tests.NAMED, [*tests.with_pages()]
    assert len({*named}) == len(named), "a file is named in two parts"
    assert {*named} <= {f"tests/{path.name}" for path in tests.TESTS.glob("test_*.py")}
    without, _, only, *_ = tests.PARTS
    assert {word for word in without if "--ignore" in word} == {
        f"--ignore={file}" for file in named
    }
    assert {word for word in only if word.endswith(".py")} == {*pages} - {*tests.WALKS}


def test_what_opens_pages_is_found_by_what_it_imports() -> None:
    """Or it would run in no part: the rest leaves out whatever has a page."""
    opens = re.compile(r"^ *(async )?def \w+\([^)]*\b(visit|browser)\b[,:]", re.M)
    found = [
        f"tests/{path.name}"
        for path in tests.TESTS.glob("test_*.py")
        if opens.search(path.read_text(encoding="utf-8"))
    ]
    assert found
    assert {*found} <= {*tests.with_pages(), *tests.NAMED}
