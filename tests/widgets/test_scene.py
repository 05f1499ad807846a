"""What the kernel sends is described twice, for Python and for the page: field by field the same."""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import jsonschema
import pytest
from support.places import ROOT
from typing_extensions import NotRequired  # of which Python 3.10 has none; mypy brings it

from lessonkit.pictures import scene
from lessonkit.widgets import questions

PAGE = Path(scene.__file__).parents[1] / "widgets" / "page"
PLAIN = {
    int: "number",
    float: "number",
    str: "string",
    bool: "boolean",
    types.NoneType: "null",
}


def on_page(path: Path) -> dict[str, dict[str, str]]:
    """The fields of each @typedef of an object in a script, with their types; optional in brackets."""
    text = path.read_text("utf-8")
    found: dict[str, dict[str, str]] = {}
    for block in re.findall(r"/\*\*.*?\*/", text, re.S):
        if named := re.search(r"@typedef \{object\} (\w+)", block):
            fields = re.findall(r"@property \{(.+?)\} (\[?\w+\]?)(?=\s)", block)
            found[named[1]] = {name: kind for kind, name in fields}
    return found


def described(module: Any) -> Iterator[type]:
    """The descriptions of what is sent that a module makes."""
    for value in vars(module).values():
        if is_typeddict(value) and value.__module__ == module.__name__:
            yield value


def in_python(about: type) -> dict[str, str]:
    """Its fields as the page would write them."""
    hints = get_type_hints(about, localns={"NotRequired": NotRequired}, include_extras=True)
    fields = {}
    for name, kind in hints.items():
        is_optional = get_origin(kind) is NotRequired
        plain = get_args(kind)[0] if is_optional else kind
        fields[f"[{name}]" if is_optional else name] = as_page(plain)
    return fields


def as_page(kind: Any) -> str:
    """A type of Python as TypeScript writes it."""
    inside = [as_page(one) for one in get_args(kind) if one is not Ellipsis]
    match get_origin(kind):
        case typing.Union | types.UnionType:
            return " | ".join(inside)
        case origin if origin in (list, Sequence):
            return f"({inside[0]})[]" if "|" in inside[0] else f"{inside[0]}[]"
        case origin if origin is tuple:
            return f"[{', '.join(inside)}]"
        case origin if origin is dict:
            return f"Record<{', '.join(inside)}>"
    if kind is Any:
        return "unknown"
    return PLAIN.get(kind) or kind.__name__


OF_QUESTIONS = [one.kind for one in questions.QUESTIONS]


@pytest.mark.parametrize(
    ("module", "script"),
    [
        ("lessonkit.pictures.scene", "scene.js"),
        *(
            (f"lessonkit.widgets.questions.{kind}", f"questions/{kind}.js")
            for kind in OF_QUESTIONS
        ),
    ],
)
def test_both_sides_describe_the_same_fields(module: str, script: str) -> None:
    page = on_page(PAGE / script)
    for about in described(import_module(module)):
        assert about.__name__ in page, f"{script} does not describe {about.__name__}"
        assert page[about.__name__] == in_python(about), about.__name__


def test_the_page_describes_nothing_that_is_not_sent() -> None:
    assert set(on_page(PAGE / "scene.js")) == {one.__name__ for one in described(scene)}


def test_a_run_has_the_fields_of_its_description() -> None:
    from lessonkit import ArtificialDataset, benchmark
    from lessonkit.widgets.page_data import page_data

    drawn: Any = page_data(benchmark(ArtificialDataset(4).map(cost=0.01).prefetch(1)))
    assert set(drawn) == {name for name in in_python(scene.Scene) if name[0] != "["}
    for about, made in [
        (scene.RowScene, drawn["rows"][0]),
        (scene.PartScene, drawn["parts"][0]),
        (scene.BufferScene, drawn["buffers"][0]),
        (scene.WaitScene, next(iter(drawn["waits"].values()))),
        (scene.BarColumns, drawn["bars"]),
        (scene.EventColumns, drawn["events"]),
    ]:
        assert set(made) == set(about.__annotations__), about.__name__
    assert len({len(column) for column in drawn["bars"].values()}) == 1


RECORD_SCHEMA = json.loads((ROOT / "docs" / "record.json").read_text("utf-8"))
KINDS_OF_RECORD = RECORD_SCHEMA["$defs"]["record"]["properties"]["kind"]["enum"]
# What may be said, by the kind of a record: each for itself, and nothing that another one has.
SAID: dict[str, list[Any]] = {
    "number": [1.5, 2],
    "choice": [2, -1],
    "placing": [[0, 5, -1]],
    "curve": [[80, -1]],
    "challenge": [{"read": "15"}, None],
    "view": [{"samples": "3", "order": ["repeat", "shuffle"]}],
    "mystery": [[{"bought": [0], "answer": None}]],
    "heat map": [[[0, 0], [1, 0]], [0]],
}
NEVER_SAID: dict[str, list[Any]] = {
    "number": ["2", None, [2], {}],
    "choice": [1.5, "the disk", [1]],
    "placing": [[0.5], ["Open"], 3, {}],
    "curve": [[0.5], [None], 3, {}],
    "challenge": [1, "code", []],
    "view": [None, 1, []],
    "mystery": [None, {}, 1],
    "heat map": [None, {}, 1],
}


def is_record(kind: str, said: Any, tried: Any) -> bool:
    """Return whether the schema takes a record of this *kind*, and of questions what was *tried*."""
    when = "2026-03-01T09:00:00.000Z"
    record = {"schema": 1, "lesson": "a", "kind": kind, "question": "?", "when": when}
    record |= {"said": said, "right": False}
    if kind in OF_QUESTIONS:
        tries = [{"said": tried, "sure": "certain", "when": when}]
        record |= {"sure": "certain", "tries": tries}
    one = {"$ref": "#/$defs/record", "$defs": RECORD_SCHEMA["$defs"]}
    return bool(jsonschema.Draft202012Validator(one).is_valid(record))


def test_a_record_may_be_of_each_kind_of_question() -> None:
    asked = RECORD_SCHEMA["$defs"]["record"]["allOf"][0]["if"]["properties"]["kind"]["enum"]
    assert asked == OF_QUESTIONS
    assert KINDS_OF_RECORD[: len(asked)] == asked


@pytest.mark.parametrize("kind", KINDS_OF_RECORD)
def test_a_record_of_each_kind_says_what_that_kind_can_say_and_nothing_else(
    kind: str,
) -> None:
    for said in SAID[kind]:
        assert is_record(kind, said, said)
        for never in NEVER_SAID[kind]:
            assert not is_record(kind, never, said), never
            assert is_record(kind, said, never) == (kind not in OF_QUESTIONS), never


def test_the_page_lists_the_kinds_of_question_that_the_kernel_has() -> None:
    folder = PAGE / "questions"
    index = (folder / "index.js").read_text("utf-8")
    (listed,) = re.findall(r"^const QUESTIONS = \[(.+?)\];", index, re.M | re.S)
    kinds = []
    for name in re.findall(r"\w+", listed):
        (file,) = re.findall(rf"import {{ {name} }} from \"\./(\w+\.js)\"", index)
        kinds += re.findall(r'static kind = "(\w+)"', (folder / file).read_text("utf-8"))
    assert kinds == OF_QUESTIONS
