"""docs/api.txt has the public names as they are: a change of them is seen in a diff."""

import ast

import pytest

from tools import api


def test_the_file_has_the_public_names_as_they_are() -> None:
    """Any name may come, go or change. Write the file anew with `python -m tools.api`, and commit it."""
    assert api.FILE.read_text(encoding="utf-8") == api.text(), "run: python -m tools.api"


@pytest.mark.parametrize(
    "written",
    [
        "f()",
        "f(a, b=1, /, c: int = 2, *args: str, d, e: float = 0.5, **more: object) -> None",
        "f(a, *, b) -> list[int]",
    ],
)
def test_a_signature_is_written_as_in_the_source(written: str) -> None:
    (function,) = ast.parse(f"def {written}: pass").body
    assert isinstance(function, ast.FunctionDef)
    assert api.signature("f", function, bound=False) == written


def test_a_long_signature_has_a_line_for_each_parameter() -> None:
    names = ["first", *(f"parameter_{number:02}" for number in range(9))]
    (function,) = ast.parse(f"def f({', '.join(names)}): pass").body
    assert isinstance(function, ast.FunctionDef)
    assert api.signature("f", function, bound=True).splitlines() == [
        "f(",
        *(f"    {name}," for name in names[1:]),
        ")",
    ]


def test_a_member_of_a_class_is_written_if_users_may_use_it() -> None:
    (made,) = ast.parse(
        "class A:\n"
        "    field: int = 1\n"
        "    CONSTANT = 2\n"
        "    _ours = 3\n"
        "    def __init__(self, given):\n"
        "        self.kept = self._hidden = given\n"
        "    @property\n"
        "    def seen(self) -> str: ...\n"
        "    @classmethod\n"
        "    def made(cls, one: int) -> 'A': ...\n"
        "    @staticmethod\n"
        "    def apart(one): ...\n"
        "    def _helper(self): ...\n"
    ).body
    assert isinstance(made, ast.ClassDef)
    assert [*api.members(made)] == [
        "field: int = 1",
        "CONSTANT = 2",
        "kept",
        "seen: str",
        "made(one: int) -> 'A'",
        "apart(one)",
    ]
