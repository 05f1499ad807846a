"""The parts of `make test` that run side by side: nothing is left out, and nothing runs twice."""

import re

from support.places import ROOT

from tools import tests


def folders(part: str) -> set[str]:
    return {word for word in tests.PARTS[part] if word.startswith("tests/")}


def test_every_folder_of_tests_belongs_to_one_part() -> None:
    named = [folder for part in tests.PARTS for folder in sorted(folders(part))]
    assert len({*named}) == len(named), "a folder is named in two parts"
    assert {*named} == {*tests.NAMED}
    assert all((ROOT / folder).is_dir() for folder in named)
    left_out = {
        word.removeprefix("--ignore=")
        for word in tests.PARTS["rest"]
        if word.startswith("--ignore=")
    }
    assert left_out == {*named}


def test_the_parts_that_open_pages_go_first() -> None:
    opens = re.compile(r"^ *(async )?def \w+\([^)]*\b(visit|browser|desk)\b[,:]", re.M)
    for part in tests.PARTS:
        files = [file for name in folders(part) for file in (ROOT / name).rglob("*.py")]
        has_pages = any(opens.search(file.read_text(encoding="utf-8")) for file in files)
        assert (part in tests.FIRST) == has_pages, part
        command = tests.command(part)
        assert (command == tests.PARTS[part]) == (part in tests.FIRST or not tests.NICE)


def test_a_line_says_what_each_part_took() -> None:
    told = tests.summary({"types": 8, "rest": 120})
    assert told.endswith("128 s of processor time: rest 120 s, types 8 s.")
