"""The parts of `make test` that run side by side: nothing is left out, and nothing runs twice."""

import re

import pytest

from tools import tests


def test_every_file_of_tests_belongs_to_one_part() -> None:
    named, pages = tests.NAMED, [*tests.with_pages()]
    assert len({*named}) == len(named), "a file is named in two parts"
    assert {*named} <= {f"tests/{path.name}" for path in tests.TESTS.glob("test_*.py")}
    rest, others = (tests.PARTS[name] for name in ("rest", "other pages"))
    assert {word for word in rest if "--ignore" in word} == {
        f"--ignore={file}" for file in named
    }
    assert {word for word in others if word.endswith(".py")} == {*pages} - {*named}


def test_the_parts_that_open_pages_go_first() -> None:
    for name, part in tests.PARTS.items():
        opens = {word for word in part if word.endswith(".py")} & {*tests.with_pages()}
        assert (name in tests.FIRST) == bool(opens)
        assert (tests.command(name) == part) == (name in tests.FIRST or not tests.NICE)


def test_what_opens_pages_is_found_by_what_it_imports() -> None:
    """Or it would run in no part: the rest leaves out whatever has a page."""
    opens = re.compile(r"^ *(async )?def \w+\([^)]*\b(visit|browser|desk)\b[,:]", re.M)
    found = [
        f"tests/{path.name}"
        for path in tests.TESTS.glob("test_*.py")
        if opens.search(path.read_text(encoding="utf-8"))
    ]
    assert found
    assert {*found} <= {*tests.with_pages(), *tests.NAMED}


@pytest.mark.parametrize(("seconds", "told"), [(tests.MOST - 20, 1), (tests.MOST, 2)])
def test_a_line_says_what_each_part_took_and_one_that_they_take_too_much(
    seconds: int, told: int
) -> None:
    lines = tests.summary({"types": 8, "rest": seconds}).splitlines()
    assert len(lines) == told
    assert lines[0].endswith(
        f"{seconds + 8} s of processor time: rest {seconds} s, types 8 s."
    )
