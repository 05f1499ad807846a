"""The look of all pages: its names stand in one file, and no page types a size or a colour that has one."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.places import ROOT

PAGE = ROOT / "lessonkit" / "widgets" / "page"
LOOK = (PAGE / "look.css").read_text(encoding="utf-8")
STYLES = [PAGE / "style.css", ROOT / "delivery" / "site" / "page" / "site.css"]
# On bars, whose colours the kernel gives, and on squares of the heat map text is black on any page
OF_WORK = re.compile(r"\.lk-labels\) text|lk-square")


def rules(text: str) -> Iterator[tuple[str, str]]:
    """Each declaration of a style, after the selectors that it is nested in; without comments."""
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    selectors: list[str] = []
    for before, mark in re.findall(r"([^{};]*)([{};])", plain):
        if mark == "{":
            selectors.append(before.strip())
        elif before.strip():
            yield " ".join(selectors), before.strip()
        if mark == "}":
            selectors.pop()


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_a_style_uses_only_names_that_there_are(path: Path) -> None:
    defined = set(re.findall(r"(--lk-[\w-]+):", LOOK + path.read_text(encoding="utf-8")))
    used = set(re.findall(r"var\((--lk-[\w-]+)", path.read_text(encoding="utf-8")))
    assert used <= defined, used - defined
    assert used


def test_each_name_is_used() -> None:
    defined = set(re.findall(r"(--lk-[\w-]+):", LOOK))
    scripts = [path for path in PAGE.rglob("*.js") if "built" not in path.parts]
    texts = [path.read_text(encoding="utf-8") for path in (*STYLES, *scripts)]
    used = set(re.findall(r"var\((--lk-[\w-]+)", "".join([LOOK, *texts])))
    assert defined <= used, defined - used


def test_widgets_have_no_colour_of_their_own() -> None:
    for selector, declared in rules(STYLES[0].read_text(encoding="utf-8")):
        if not OF_WORK.search(selector):
            plain = re.findall(
                r"#[0-9a-fA-F]{3,8}\b", re.sub(r"var\([^)]*\)", "", declared)
            )
            assert not plain, (selector, plain)
