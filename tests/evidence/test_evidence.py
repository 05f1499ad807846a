"""The evidence is complete, its programs are there, and two files are compared by fixed rules."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from evidence.__main__ import listed
from evidence.compare import compare, kind_of, label
from evidence.kinds import KINDS, Kind
from evidence.loaders.form import cost_of
from evidence.record import DATA, Case, Record, cases, read, write
from evidence.storages.draw import at_least
from evidence.storages.measure import measure as measure_storages

ROOT = DATA.parent.parent
ALL = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)


# ---- files and programs ----


def test_each_file_is_of_one_kind_and_in_the_readme() -> None:
    files = {path.stem for path in DATA.glob("*.json")}
    assert files == {kind.path.stem for kind in KINDS.values()}
    readme = (DATA.parent / "README.md").read_text(encoding="utf-8")
    for name in files:
        assert f"| `{name}` | {len(cases(name))} |" in readme, name


@ALL
def test_a_file_says_where_it_comes_from_and_answers_all_that_it_asks(kind: Kind) -> None:
    record = read(kind.path)
    about = record["about"]
    assert about["what"].endswith(".")
    assert "python" in about["versions"]
    assert {library.module for library in kind.libraries} <= {
        *about["versions"],
        "PIL",
        "torchvision",
    }
    assert about["machine"]["system"] == "Linux"
    for case in record["cases"]:
        assert kind.answers & case.keys(), f"{label(case)} has no answer"


@ALL
def test_a_file_has_no_question_twice(kind: Kind) -> None:
    record = read(kind.path)
    assert compare(kind, record, record).both == len(record["cases"])


@ALL
def test_the_programs_of_a_kind_are_there(kind: Kind) -> None:
    for address in filter(None, (kind.program, kind.draw)):
        module, function = address.split(":")
        path = ROOT / f"{module.replace('.', '/')}.py"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert function in {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef)
        }


@ALL
def test_a_program_can_be_imported_where_its_library_is(kind: Kind) -> None:
    for library in kind.libraries:
        pytest.importorskip(library.module)
    importlib.import_module(kind.program.split(":")[0])


def test_nothing_else_needs_a_library_that_is_measured() -> None:
    """In an interpreter that refuses to import them."""
    measured = sorted(
        {library.module for kind in KINDS.values() for library in kind.libraries}
    )
    program = (
        f"import sys; sys.modules |= dict.fromkeys({measured})\n"
        "import evidence.__main__, evidence.tfdata.draw, evidence.loaders.draw, evidence.ranks.draw\n"
        "import evidence.storages.measure, evidence.storages.draw, evidence.tfdata.guide, evidence.shards\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_a_missing_library_is_named_with_the_line_that_installs_it() -> None:
    kind = Kind("new", "evidence.new:measure", (KINDS["ranks"].libraries[0],), frozenset())
    if kind.libraries[0].is_here:
        pytest.skip("PyTorch is here")
    with pytest.raises(ImportError, match=r"new needs torch: pip install torch==[\d.]+"):
        kind.measure()


def test_the_list_names_each_kind_with_its_cases() -> None:
    lines = [line for line in listed() if not line.startswith(" ")]
    assert len(lines) == len(KINDS)
    assert lines[0].startswith("tfdata-elements (119 cases): The elements of pipelines")


# ---- records ----


def record(*found: Case) -> Record:
    about = {"what": "Ü.", "versions": {}, "machine": {}, "conditions": {}}
    return {"about": about, "cases": [*found]}  # type: ignore[typeddict-item]


def test_a_record_is_written_with_a_line_for_each_case_and_read_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new.json"
    written = record({"name": "ä", "ends": [1, None]}, {"name": "b"})
    write(path, written)
    assert read(path) == written
    assert '\n{"name": "ä", "ends": [1, null]},\n{"name": "b"}\n' in path.read_text("utf-8")


def test_cases_from_elsewhere_may_be_a_list_without_a_head(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.json"
    path.write_text(json.dumps([{"name": "a"}]), encoding="utf-8")
    assert cases(str(path)) == [{"name": "a"}]


# ---- comparing ----

TIMED = Kind(
    "timed",
    "",
    (),
    answers=frozenset({"saw", "late_ms", "said"}),
    times=frozenset({"late_ms"}),
    chance=frozenset({"said"}),
)


def test_times_are_compared_by_ratios_and_all_else_exactly() -> None:
    old = record({"name": "a", "saw": [1, 2], "late_ms": [10, 100]})
    new = record({"name": "a", "saw": [1, 2], "late_ms": [11, 90]})
    found = compare(TIMED, old, new)
    assert (found.both, found.different) == (1, [])
    assert found.ratios["late_ms"] == pytest.approx([1.1, 0.9])
    assert "off by 10.0% in the median" in str(found)


def test_what_is_no_time_makes_a_case_different_and_its_times_do_not_count() -> None:
    old = record({"name": "a", "saw": [1, 2], "late_ms": 10})
    new = record({"name": "a", "saw": [2, 1], "late_ms": 10})
    found = compare(TIMED, old, new)
    assert found.different == ["a"]
    assert found.ratios == {}
    assert "Different (1): a." in str(found)


def test_chance_and_times_that_are_too_short_are_not_compared() -> None:
    old = record({"name": "a", "saw": 1, "said": "port 1", "late_ms": [4.9, 5.0]})
    new = record({"name": "a", "saw": 1, "said": "port 2", "late_ms": [9.0, 5.0]})
    found = compare(TIMED, old, new)
    assert found.different == []
    assert found.ratios == {"late_ms": [1.0]}


def test_a_question_that_only_one_file_has_is_named() -> None:
    old = record({"name": "a"}, {"name": "b"})
    new = record({"name": "b"}, {"name": "c"})
    found = compare(TIMED, old, new)
    assert (found.both, found.only_old, found.only_new) == (1, ["a"], ["c"])


def test_the_kind_of_a_file_is_in_its_name() -> None:
    assert kind_of(Path("tfdata_timings_again.json"), KINDS).name == "tfdata-timings"
    assert kind_of(Path("torch_timings.json"), KINDS).name == "torch-timings"
    with pytest.raises(
        ValueError, match=r"new\.json: must begin with one of tfdata-elements, "
    ):
        kind_of(Path("new.json"), KINDS)


# ---- drawing ----

DRAWING = [kind for kind in KINDS.values() if kind.draw]


@pytest.mark.parametrize("kind", DRAWING, ids=lambda kind: kind.name)
def test_a_seed_draws_the_same_questions_again_and_no_answers(kind: Kind) -> None:
    def drawn() -> list[Case]:
        random = Random(7)
        draw = kind.drawing()
        return [draw(random, number) for number in range(20)]

    first = drawn()
    assert first == drawn()
    assert first[0] != first[1]
    for case in first:
        assert not kind.answers & case.keys()
        assert json.loads(json.dumps(case))  # it can be written


def test_a_kind_whose_questions_are_written_by_hand_says_so() -> None:
    with pytest.raises(ValueError, match="tfdata-elements: its questions cannot be drawn"):
        KINDS["tfdata-elements"].drawing()


def test_drawn_readers_take_at_least_what_the_link_and_the_slowest_of_them_need() -> None:
    store = {"bandwidth": 1e6, "cap": 5e5, "streams": None, "first_byte": 0.1}
    alone = [[100_000, 0.2]]
    assert at_least({"store": store, "readers": [alone]}) == pytest.approx(0.1 + 0.2 + 0.2)
    assert at_least({"store": store, "readers": [alone] * 20}) == pytest.approx(2.0)


def test_a_cost_of_a_loader_is_looked_up_by_file_then_by_number_then_by_straggler() -> None:
    straggler = {"every": 3, "offset": 1, "cost": 9}
    said = {"cost": 1, "straggler": straggler, "costs": [5, 6], "file_costs": [7, 8]}
    assert cost_of(said, 1, 3) == 8  # type: ignore[arg-type]
    del said["file_costs"]
    assert cost_of(said, 3) == 6  # type: ignore[arg-type]
    del said["costs"]
    assert [cost_of(said, number) for number in range(5)] == [1, 9, 1, 1, 9]  # type: ignore[arg-type]


# ---- a storage, which needs no library ----


def test_a_real_storage_gives_no_reader_more_than_its_limits_allow() -> None:
    case = {
        "store": {"bandwidth": 2e6, "cap": 1e6, "streams": 2, "first_byte": 0.02},
        "stagger": 0.001,
        "readers": [[[20_000, 0.01], [10_000, 0]], [[20_000, 0]], [[10_000, 0]]],
    }
    (measured,) = measure_storages([case], {})
    first = measured["ends"][0]
    assert [len(ends) for ends in measured["ends"]] == [2, 1, 1]
    one = 0.02 + 20_000 / 1e6
    assert first[0] >= one
    assert (
        first[1] >= one + 0.01 + 0.02 + 10_000 / 1e6
    )  # both from the beginning: both are late
    # Two streams for three readers: whoever comes last waits until another one has ended
    smallest = 0.02 + 10_000 / 1e6
    assert max(ends[0] for ends in measured["ends"]) >= 2 * smallest
    assert {"store", "stagger", "readers", "ends"} == measured.keys()
