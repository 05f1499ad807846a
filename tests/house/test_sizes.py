"""`make sizes` counts what there is."""

from pathlib import Path

from tools import sizes


def test_a_room_is_counted_with_the_rooms_inside_it(tmp_path: Path) -> None:
    for room in sizes.ROOMS:
        (tmp_path / room).mkdir()
    inner = tmp_path / "lessonkit" / "engine"
    inner.mkdir()
    (tmp_path / "lessonkit" / "door.py").write_text("def one():\n    return 1\n")
    (inner / "run.py").write_text(
        "def two(): pass\n\n\nasync def three():\n    x = 1\n    return x\n"
    )
    (inner / "page.js").write_text("const a = 1;\n")
    (inner / "data.json").write_text("{}\n")
    whole, own, engine, *_ = sizes.rooms(tmp_path)
    assert [whole.name, own.name, engine.name] == [
        "lessonkit",
        "  its own files",
        "  engine",
    ]
    assert (own.files, own.lines, own.functions, own.script_lines) == (1, 2, [2], 0)
    assert (engine.files, engine.lines, engine.functions) == (1, 6, [1, 3])
    assert engine.script_lines == 1
    assert (whole.files, whole.lines, sorted(whole.functions)) == (2, 8, [1, 2, 3])
    assert whole.row().split() == ["lessonkit", "2", "8", "3", "2", "3", "3", "1"]
