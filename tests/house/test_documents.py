"""What the documents say can be done, can be done."""

import doctest
import html
import json
import re
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from support.places import ROOT

from delivery.site import pages
from lessonkit.pictures.layout import COLOURS
from lessonkit.plot import kitchen
from lessonkit.widgets.widget import BUILT
from tools import lessons, repository, targets
from tools.comments import without_comments
from tools.lessons import FIELD_GUIDE, NOTEBOOKS

DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benchmarks" / "README.md",
]
README = ROOT / "README.md"
BLOCKS = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What is said of other programs and of places that are not here.
OTHERS = (
    "conda",
    "databound",
    "jupyter",
    "jupyterhub",
    "npm",
    "docker",
    "helm",
    "getent",
    "pip",
    "git",
    "cd",
)
# Commands that take long: each has a test, or a job of its own among those that are run elsewhere.
MODULES = {
    "http.server",
    "pip",
    "venv",
    "benchmarks",
    "benchmarks.classroom",
    "benchmarks.hub",
    "benchmarks.idle",
    "benchmarks.neighbours",
    "benchmarks.voila",
    "evidence",
    "evidence.facts",
    "evidence.jobs.forecasts",
    "build",
    "databound",
    "lessonkit",
    "delivery.classroom.answers",
    "delivery.classroom.exam",
    "pytest",
    "tools.api",
    "tools.lessons",
    "tools.mutants",
    "tools.new_user",
    "tools.notebooks",
    "tools.numbers",
    "tools.page",
    "tools.repository",
    "tools.screenshots",
    "tools.start",
}

each = pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)


def commands(text: str) -> list[list[str]]:
    """Every command: the lines of `sh` blocks, and what looks like one in backticks."""
    blocks = [block for language, block in BLOCKS.findall(text) if language == "sh"]
    lines = [line for block in blocks for line in block.splitlines()]
    prose = BLOCKS.sub("", text)
    lines += re.findall(r"`((?:make|python3?|\.venv/bin/python)(?: [^`]*)?)`", prose)
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


@each
def test_every_command_is_one_that_there_is(path: Path) -> None:
    for command in commands(path.read_text(encoding="utf-8")):
        program, *arguments = command
        if program == "make":
            told = subprocess.run(
                ["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True
            )
            assert told.returncode == 0, command
        elif program.endswith(("python", "python3")):
            assert arguments[0] == "-m", command
            assert arguments[1] in MODULES, command
            assert arguments[1] != "tools.start" or arguments[2] in targets.TARGETS, command
            assert arguments[1] != "lessonkit" or arguments[2] in (
                "check",
                "copy",
                "export",
            ), command
        else:
            assert Path(program).name in OTHERS, command


@pytest.mark.parametrize("module", sorted(MODULES - {"build"}))
def test_every_module_that_is_run_is_there(module: str) -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import importlib.util as u; assert u.find_spec({module!r})",
        ],
        cwd=ROOT,
    )
    assert told.returncode == 0


def test_the_python_of_pipelines_gives_what_stands_there() -> None:
    path = ROOT / "docs" / "pipelines.md"
    text = path.read_text(encoding="utf-8")
    examples = "\n".join(
        block for language, block in BLOCKS.findall(text) if language == "python"
    )
    test = doctest.DocTestParser().get_doctest(examples, {}, path.name, str(path), 0)
    assert len(test.examples) > 8
    assert not doctest.DocTestRunner().run(test).failed


@each
def test_links_lead_somewhere(path: Path) -> None:
    text = BLOCKS.sub("", path.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)#\s]+)", text) + re.findall(
        r"(?:src|srcset)=\"([^\"]+)\"", text
    )
    for link in links:
        assert link.startswith("https://") or (path.parent / link).exists(), link


def test_the_handout_has_the_page_to_keep() -> None:
    cells = json.loads(
        (NOTEBOOKS / "08_put_it_together.ipynb").read_text(encoding="utf-8")
    )["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    kept = texts[texts.index("### One page to keep") + 1]
    handout = html.unescape((ROOT / "docs" / "handout.html").read_text(encoding="utf-8"))
    rows = [row for row in kept.splitlines() if row.startswith("|") and "---" not in row]
    assert len(rows) > 10
    for row in rows:
        cells = [re.sub("[`*]", "", cell).strip() for cell in row.strip("|").split("|")]
        assert any(
            all(f">{cell}<" in line for cell in cells) for line in handout.splitlines()
        ), row
    for sentence in re.findall(r"\*\*.+?\*\* (.+)", kept):
        assert sentence.startswith("$") or sentence in handout


def test_the_handout_says_how_to_install_what_it_names() -> None:
    handout = (ROOT / "docs" / "handout.html").read_text(encoding="utf-8")
    (address,) = re.findall(r"pip install (git\+[^<]+)</code>", handout)
    assert address == f"git+https://github.com/{repository.kept_at(ROOT)}"
    assert pages.installed_from(handout, "ada/lessons") == handout
    assert "<code>pip install .</code>, in a clone" in pages.installed_from(handout, "")


def test_what_is_written_from_the_table_of_lessons_is_what_it_says() -> None:
    for path, text in lessons.written().items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path}: say python -m tools.lessons"
        )
    for path in (README, lessons.GUIDE, *(ROOT / "docs" / "teaching").glob("*.md")):
        assert lessons.PART.search(path.read_text(encoding="utf-8")), path


def test_every_notebook_is_in_the_table_of_lessons_and_ends_with_a_link() -> None:
    for lesson in lessons.LESSONS:
        text = lesson.notebook.read_text(encoding="utf-8")
        assert json.dumps(lessons.next_link(lesson), ensure_ascii=False) in text
    others = [path.stem for path in NOTEBOOKS.glob("*.ipynb")]
    assert sorted([*(lesson.name for lesson in lessons.LESSONS), FIELD_GUIDE]) == sorted(
        others
    )


def test_the_license_and_the_version_are_the_same_everywhere() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (version,) = re.findall(r'^version = "(.+)"$', project, re.MULTILINE)
    assert f"\nversion: {version}\n" in citation
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (licences,) = re.findall(r'^license = "(.+)"', project, re.MULTILINE)
    assert f"\nlicense: [{licences.replace(' AND ', ', ')}]\n" in citation


def test_the_kitchen_is_drawn_once_and_each_lesson_points_at_a_part_of_it() -> None:
    drawn = (
        Path(str(files("lessonkit.pictures") / "kitchen.svg"))
        .read_text(encoding="utf-8")
        .strip()
    )
    assert drawn in (ROOT / "docs" / "handout.html").read_text(encoding="utf-8")
    whole = kitchen()
    fridge = kitchen("fridge")
    assert whole.picture.scene["kitchen"] == [
        "pantry",
        "cook",
        "pass",
        "diner",
        "fridge",
        "tray",
        "worker",
    ]
    stored = [shown._repr_mimebundle_()[0]["image/svg+xml"] for shown in (whole, fridge)]
    assert stored[0].strip() == drawn
    assert "opacity" not in drawn
    # Of whatever is drawn the fridge alone keeps its colour: an arrow fades with what it joins
    parts = re.findall(r'data-of="([\w ]+)"', drawn)
    faded = re.findall(r'data-of="([\w ]+)" opacity="([\d.]+)"', stored[1])
    assert [part for part, _ in faded] == [part for part in parts if part != "fridge"]
    # As far as in the live drawing, of which a test holds that its texts can still be read
    style = (BUILT / "style.css").read_text("utf-8")
    (live,) = re.findall(r"\.lk-faded\{opacity:([\d.]+)\}", style)
    assert {float(opacity) for _, opacity in faded} == {float(live)}
    assert repr(fridge) == "The kitchen: fridge."
    with pytest.raises(ValueError, match="part='oven': must be one of pantry"):
        kitchen("oven")


def test_the_kitchen_has_the_colours_of_the_stages_that_its_parts_stand_for() -> None:
    """Who changes one finds here which drawings have it, too."""
    drawn = (files("lessonkit.pictures") / "kitchen.svg").read_text(encoding="utf-8")
    ink = {"#57606a", "#1b1f24"}  # of lines and letters
    assert {*re.findall(r"#[0-9a-f]{6}", drawn)} - ink <= {*COLOURS.values()}


def test_text_of_the_kitchen_has_11_pixels_on_a_phone_too() -> None:
    drawn = (files("lessonkit.pictures") / "kitchen.svg").read_text(encoding="utf-8")
    wide = int(re.findall(r'viewBox="0 0 (\d+)', drawn)[0])
    sizes = [int(size) for size in re.findall(r'font-size="(\d+)"', drawn)]
    assert min(sizes) * 350 / wide >= 11  # of 390 pixels 350 are left for a picture


def test_one_setting_says_where_the_project_is(tmp_path: Path) -> None:
    for path in (ROOT / "pyproject.toml", *DOCUMENTS):
        copied = tmp_path / path.relative_to(ROOT)
        copied.parent.mkdir(exist_ok=True)
        copied.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    before = repository.kept_at(tmp_path)
    hidden = without_comments((tmp_path / "README.md").read_text())
    assert "OWNER" not in hidden, (
        "a link that is dead until somebody says where the project is"
    )
    with pytest.raises(ValueError, match="must be an owner and a project"):
        repository.move(tmp_path, "ada")
    changed = repository.move(tmp_path, "ada/lessons")
    assert {path.name for path in changed} == {
        "pyproject.toml",
        "hosting.md",
        "hub.md",
        "own_job.md",
        "pipelines.md",
        "README.md",
    }
    assert (
        "](https://ada.github.io/lessons/workers.html#workers=4)"
        in (tmp_path / "README.md").read_text()
    )
    assert repository.kept_at(tmp_path) == "ada/lessons"
    for path in tmp_path.rglob("*.*"):
        assert not re.search(before.replace("/", "|"), path.read_text(encoding="utf-8")), (
            path
        )


SHEETS = (ROOT / "docs" / "run_sheets.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("heading", "way", "minutes"),
    [
        ("Forty-five minutes", "forty-five minutes", 45),
        ("Ninety minutes", "ninety minutes", 90),
        ("One hour", "an hour with PyTorch", 60),
    ],
)
def test_a_run_sheet_goes_its_way_forward_and_ends_in_time(
    heading: str, way: str, minutes: int
) -> None:
    (part,) = (part for part in SHEETS.split("\n## ") if part.startswith(heading))
    rows = re.findall(r"^\| (\d+) \| (?:\[?(\d\d))?", part, re.MULTILINE)
    times = [int(time) for time, _ in rows]
    assert times == sorted({*times})
    assert (times[0], times[-1]) == (0, minutes)
    visited = dict.fromkeys(number for _, number in rows if number)
    assert [*visited] == [lesson.number for lesson in lessons.WAYS[way]]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_link_to_a_section_of_a_lesson_leads_to_its_heading(path: Path) -> None:
    links = re.findall(
        r"\]\([./]*notebooks/(\w+)\.ipynb#([^)\s]+)\)", path.read_text(encoding="utf-8")
    )
    for name, anchor in links:
        cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_bytes())["cells"]
        texts = [
            "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
        ]
        headings = [
            text.lstrip("# ").split("\n")[0] for text in texts if text.startswith("#")
        ]
        assert anchor in [heading.replace(" ", "-") for heading in headings], (name, anchor)


def test_the_votes_of_the_run_sheets_are_those_of_the_lessons() -> None:
    right = {lesson.number: lessons.right_choice(lesson)[0] for lesson in lessons.LESSONS}
    votes = re.findall(r"\| (\d\d), \[Vote\].*Vote\. ([A-D]) is right", SHEETS)
    assert len(votes) == 10
    assert all(right[lesson] == letter for lesson, letter in votes)


def test_the_course_of_two_days_names_sections_that_its_lessons_have() -> None:
    told = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| (\d\d)\b[^|]*\| ([^|]+) \|$", told, re.MULTILINE)
    named = [name for name, _ in rows]
    assert sorted({*named}) == sorted(named)
    assert {*named} <= {lesson.number for lesson in lessons.LESSONS}
    assert len(named) > 10
    for name, sections in rows:
        text = "\n".join(
            "".join(cell["source"])
            for notebook in NOTEBOOKS.glob(f"{name}_*.ipynb")  # 09 has its field guide
            for cell in json.loads(notebook.read_bytes())["cells"]
        )
        headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
        for section in sections.split("; "):
            found = [title for title in headings if section.lower() in title.lower()]
            assert found or name == "08", (name, section)  # 08 names a group of sections


def test_controls_and_figures_are_called_what_the_page_calls_them() -> None:
    package = ROOT / "lessonkit"
    board = (ROOT / "delivery" / "classroom").rglob("*.js")
    shown = "".join(
        path.read_text(encoding="utf-8")
        for path in [*package.rglob("*.py"), *package.rglob("*.js"), *board]
    )
    told = "".join(
        path.read_text(encoding="utf-8")
        for path in [*NOTEBOOKS.glob("*.ipynb"), *(ROOT / "docs").rglob("*.md")]
    )
    named = re.findall(r"\b(?:[Pp]ress|the figure) \*([\w ]+)\*", told)
    assert {"in buffers at most", "reset", "show me anyway"} < {*named}
    others = {"cells hidden"}  # JupyterLab's
    without_number = {re.sub(r" \d$", "", name) for name in named}  # "Open round 1"
    assert not {name for name in without_number if name not in shown} - others


def anchors(path: Path) -> set[str]:
    """The names by which GitHub links to the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@each
def test_a_link_to_a_section_of_a_document_leads_to_its_heading(path: Path) -> None:
    links = re.findall(r"\]\(([\w./]*?)#([^)\s]+)\)", path.read_text(encoding="utf-8"))
    for name, anchor in links:
        if not name or name.endswith(".md"):
            assert anchor in anchors(path.parent / name if name else path), (name, anchor)


def test_a_lesson_has_one_name_everywhere() -> None:
    numbered = {lesson.notebook.name: lesson.numbered for lesson in lessons.LESSONS}
    for path in [*DOCUMENTS, *NOTEBOOKS.glob("*.ipynb")]:
        links = re.findall(
            r"\[(?:Next: )?(\d\d [^]]*)\]\([^)]*?(\w+\.ipynb)\)",
            path.read_text(encoding="utf-8"),
        )
        for said, notebook in links:
            assert said == numbered[notebook], path


def test_a_file_that_a_text_names_is_there() -> None:
    """In documents and docstrings: by its path from the top, or by the end of it."""
    there = [
        path.as_posix() for path in ROOT.rglob("*") if "node_modules" not in path.parts
    ]
    texts = [
        *DOCUMENTS,
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "evidence").rglob("*.md"),
        *(ROOT / "lessonkit").rglob("*.md"),
        *(
            path
            for room in ("lessonkit", "databound", "delivery", "evidence", "tools", "tests")
            for path in (ROOT / room).rglob("*.py")
        ),
    ]
    gone = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in texts
        for name in re.findall(
            r"`([\w./-]+/[\w.-]+\.(?:py|js|md|json|toml))`", path.read_text("utf-8")
        )
        if not any(f"/{one}".endswith(f"/{name}") for one in there)
    }
    examples = re.compile(r"NN|NAME|/sorting\.")  # of what somebody may add
    assert not {name for name in gone if not examples.search(name)}
