"""Building the site: what is fetched and held against its sum, and the sentence for all that can go wrong."""

import base64
import functools
import gzip
import hashlib
import html
import http.server
import importlib.util
import io
import json
import random
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from delivery.site import __main__ as command
from delivery.site import fetch, pages, python
from delivery.site.glyphs import COLUMNS, GLYPHS, ROWS
from delivery.site.opening import STORED, opening
from lessonkit.widgets.questions import Number
from tools import repository
from tools.lessons import FIELD_GUIDE, LESSONS, in_words


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pip answers, in its place."""
    answer: dict[str, Any] = {"returncode": 1}
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(**answer))
    # There may be none here, and one would be installed
    monkeypatch.setattr(fetch, "pip", lambda _: ["pip"])
    return answer


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What npm's registry sends, in its place: bytes, or an error to raise."""
    answer: dict[str, Any] = {"sends": b""}

    class Sent:
        def __enter__(self) -> "Sent":
            if isinstance(answer["sends"], Exception):
                raise answer["sends"]
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def read(self) -> Any:
            return answer["sends"]

    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://npm.example/all")
    monkeypatch.setattr(
        "urllib.request.urlopen",
        lambda address, **_: answer.update(asked=address) or Sent(),
    )
    return answer


def test_every_part_has_one_version_and_its_sum() -> None:
    lines = fetch.PARTS.read_text().splitlines()
    parts = [line for line in lines if not line.startswith("#")]
    assert all(
        len(line.partition("--hash=sha256:")[2]) == 64 and line.count("==") == 1
        for line in parts
    )
    assert len(parts) == len({line.split("==")[0] for line in parts}) == 18


def test_packages_that_pip_cannot_fetch_end_it_in_a_sentence(
    pip: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match="cannot be fetched; what pip says stands above"):
        fetch.wheels(tmp_path)


def test_half_a_wheel_is_fetched_again(tmp_path: Path, pip: dict[str, Any]) -> None:
    (tmp_path / "comm-0.2.3-py3-none-any.whl").write_bytes(b"half of it")
    with pytest.raises(SystemExit):
        fetch.wheels(tmp_path)
    assert "comm==0.2.3" in (tmp_path / "missing.txt").read_text()


@pytest.mark.parametrize(
    ("sends", "sentence"),
    [
        (b"half of it", "has another checksum than expected, and was not kept"),
        (urllib.error.URLError("no route"), "npm's registry cannot be reached"),
        (TimeoutError(), "npm's registry cannot be reached"),
        (urllib.error.HTTPError("", 503, "", None, None), "npm's registry answers 503"),  # type: ignore[arg-type]
    ],
)
def test_pyodide_fails_in_a_sentence(
    registry: dict[str, Any], tmp_path: Path, sends: Any, sentence: str
) -> None:
    registry["sends"] = sends
    with pytest.raises(SystemExit, match=sentence):
        fetch.pyodide(tmp_path)
    assert (
        registry["asked"]
        == f"https://npm.example/all/pyodide/-/pyodide-{fetch.PYODIDE}.tgz"
    )
    assert not list(tmp_path.iterdir())


def test_what_is_in_the_cache_is_not_fetched(
    registry: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / f"pyodide-{fetch.PYODIDE}.tgz"
    there.write_bytes(b"all of it")
    monkeypatch.setattr(fetch, "PYODIDE_SUM", fetch.sum_of(b"all of it"))
    assert fetch.pyodide(tmp_path) == there
    assert "asked" not in registry


def test_without_npm_its_file_names_the_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NPM_CONFIG_REGISTRY", "npm_config_registry"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert fetch.registry() == fetch.NPM
    (tmp_path / ".npmrc").write_text("fund=false\nregistry = https://npm.example\n")
    assert fetch.registry() == "https://npm.example/"


def test_a_site_that_fails_leaves_the_one_from_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("from before")
    monkeypatch.setattr(command, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(fetch, "wheels", lambda cache: {})
    monkeypatch.setattr(fetch, "pyodide", lambda cache: cache / "nothing.tgz")

    def pack(wheels: Any, pyodide: Any, wanted: Any, folder: Path, cache: Path) -> None:
        folder.mkdir(parents=True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(python, "pack", pack)
    monkeypatch.setattr(sys, "argv", ["site", "--to", str(site)])
    with pytest.raises(SystemExit, match="No space left on device"):
        command.main()
    assert (site / "index.html").read_text() == "from before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "site"]


def test_a_taken_port_says_so(tmp_path: Path) -> None:
    with http.server.HTTPServer(
        ("127.0.0.1", 0), http.server.BaseHTTPRequestHandler
    ) as taken:
        port = taken.server_port
        with pytest.raises(SystemExit, match=f"Port {port} is taken: choose another one"):
            command.serve(tmp_path, port)


def stored_in(text: str) -> dict[str, Any]:
    """What the widgets of an opening answer, by the names of their cells."""
    (content,) = re.findall(f'id="{STORED}">([^<]+)', text)
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(content)))
    return found


JUDGE = """import { judged } from "PATH";
const [rules, answers] = JSON.parse(await new Response(process.stdin).text());
console.log(JSON.stringify(answers.map((said) => judged(rules, said))));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node.js")
@pytest.mark.parametrize("unit", ["ms", "s", "%", "batches"])
def test_a_page_without_python_judges_a_number_as_the_kernel_does(unit: str) -> None:
    asked = Number(
        0.2105,
        [(0.105, "Half."), (0.21, "Alike."), (0.5, "More.")],
        unit,
        question="?",
        why="So.",
    )
    known = [asked.right, *(answer for answer, _ in asked.wrong), 0.0, 1e6]
    scales = [0.001, 0.5, 0.9801, 0.98, 0.99, 1.0, 1.0199, 1.0201, 1.021, 2, 1000]
    # With as many digits as somebody types
    answers = [round(value * scale, 4) for value in known for scale in scales]
    script = JUDGE.replace("PATH", (pages.HERE / "page" / "stored.js").as_uri())
    told = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=json.dumps([asked.rules(), answers]),
        capture_output=True,
        text=True,
        check=True,
    )
    wanted = [json.loads(json.dumps(asked.judge(said)._asdict())) for said in answers]
    assert json.loads(told.stdout) == wanted


@pytest.mark.parametrize(
    "path", [lesson.notebook for lesson in LESSONS], ids=lambda path: path.stem
)
def test_the_opening_of_a_lesson_ends_at_its_first_question(path: Path) -> None:
    notebook = json.loads(path.read_bytes())
    text = opening(pages.for_browser(notebook), pages.widgets_of(path.stem))
    begins = ["The situation", "Predict"]
    if path.stem == "00_start_here":
        begins = []  # it asks at once
    assert re.findall("<h2[^>]*>([^<]*)", text) == begins
    assert "predict(" not in text
    # The first picture and the first question live: no stored picture stands in for one
    assert "data:image/png" not in text
    stored = stored_in(text)
    kinds = [json.loads(one["state"]).get("kind") for one in stored.values()]
    assert [one["role"] for one in stored.values()][-1] == "question"
    assert "explore" in [one["role"] for one in stored.values()]
    assert list(stored) == [
        name for name in re.findall('data-cell="([^"]+)', text) if name in stored
    ]
    asked = list(stored.values())[-1]
    assert asked["revealed"]["text"]
    assert ("choices" in asked) == (kinds[-1] == "choice")
    assert ("number" in asked) == (kinds[-1] == "number")
    for number in re.findall(r"path=(\d\d_\w+.ipynb)", text):
        assert path.with_name(number).exists()


def test_the_field_guide_opens_with_its_questions() -> None:
    path = pages.ROOT / "notebooks" / f"{FIELD_GUIDE}.ipynb"
    notebook = pages.for_browser(json.loads(path.read_bytes()))
    text = opening(notebook, pages.widgets_of(FIELD_GUIDE))
    assert re.findall("<h2[^>]*>([^<]*)", text)[0] == "By question"
    assert text.count('href="#') >= 18


def test_a_stored_text_is_sent_whole() -> None:
    def shown(data: Any, printed: Any) -> Any:
        return {
            "cells": [
                {"source": ["a\n", "b"], "outputs": [{"data": data}, {"text": printed}]}
            ]
        }

    picture = {"image/png": "iVBO", "application/json": {"e": ["f"]}}
    stored = shown({"text/plain": ["1\n", "2"]} | picture, ["c\n", "d"])
    assert pages.with_whole_texts(stored) == shown({"text/plain": "1\n2"} | picture, "c\nd")


def test_a_lesson_of_the_site_shows_the_picture_of_a_report_once_and_beside_it() -> None:
    path = pages.ROOT / "notebooks" / "11_your_own_job.ipynb"
    notebook = pages.with_whole_texts(pages.for_browser(json.loads(path.read_bytes())))
    reports = {
        cell["id"]: output["data"]["text/html"]
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if "<img" in output.get("data", {}).get("text/html", "")
    }
    assert len(reports) == 4
    cells = pages.with_kept_pictures(notebook)["cells"]
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == len(ids)
    for name, report in reports.items():
        place = ids.index(name)
        words = re.search('alt="([^"]+)"', report)
        assert words
        written = cells[place]["outputs"][0]["data"]["text/html"]
        assert "<img" not in written
        assert "forecasts" in written
        kept = cells[place + 1]
        assert kept["cell_type"] == "markdown"
        assert words[0] in kept["source"]
        drawn = re.search('src="(data:image/png;base64,[^"]+)"', kept["source"])
        assert drawn
        assert drawn[0] in report


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A folder with a Pyodide whose lock file lists what is in it, and more."""
    folder = tmp_path / "pyodide"
    folder.mkdir()
    for name in (
        *python.RUNTIME,
        python.LIBRARY,
        "numpy-2.whl",
        "matplotlib-3.whl",
        "six-1.whl",
        "scipy-1.whl",
    ):
        (folder / name).write_bytes(f"{name} as it is".encode())
    depends = {
        "numpy": [],
        "matplotlib": ["numpy", "six"],
        "six": [],
        "scipy": ["numpy"],
    }
    packages = {
        name: {
            "depends": depends[name],
            "file_name": path.name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in folder.glob("*.whl")
        for name in [path.name.partition("-")[0]]
    }
    lock = {"info": {"python": "3.14.2"}, "packages": packages}
    (folder / python.LOCK).write_text(json.dumps(lock))
    return folder


def packed(full: Path, folder: Path) -> dict[str, Any]:
    """Return the packages that the site's lock file lists, of all that is taken from *full*."""
    folder.mkdir()
    python.take(full, python.OF_FULL, folder)
    listed: dict[str, Any] = json.loads((folder / python.LOCK).read_text())["packages"]
    wheels = [about["file_name"] for about in listed.values()]
    names = {path.name for path in folder.iterdir()}
    assert names == {*python.RUNTIME, python.LIBRARY, python.LOCK, *wheels}
    assert all(
        (folder / name).read_text() == f"{name} as it is" for name in names - {python.LOCK}
    )
    return listed


def test_numpy_and_matplotlib_come_from_a_full_pyodide(full: Path, tmp_path: Path) -> None:
    listed = packed(full, tmp_path / "from a folder")
    assert {*listed} == {"numpy", "matplotlib", "six"}
    archive = tmp_path / "pyodide.tar.bz2"
    with tarfile.open(archive, "w:bz2") as tar:
        tar.add(full, "pyodide")
    assert packed(archive, tmp_path / "from an archive") == listed


def test_of_a_pyodide_that_is_not_full_the_runtime_is_taken(
    full: Path, tmp_path: Path
) -> None:
    (tmp_path / "to").mkdir()
    assert python.take(full, (), tmp_path / "to") == {}
    assert json.loads((tmp_path / "to" / python.LOCK).read_text())["packages"] == {}


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (
            lambda full: (full / "numpy-2.whl").write_bytes(b"half"),
            "numpy-2.whl has another checksum than expected",
        ),
        (
            lambda full: (full / "six-1.whl").unlink(),
            "is not a full Pyodide, because it lacks six-1.whl",
        ),
        (lambda full: (full / python.LOCK).unlink(), f"because it lacks {python.LOCK}"),
        (
            lambda full: (full / python.LOCK).write_text('{"info": {"python": "3.12.7"}}'),
            "has Python 3.12.7, but the site is made for Python 3.14",
        ),
        (
            lambda full: (full / python.LOCK).write_text(
                '{"info": {"python": "3.14.2"}, "packages": {}}'
            ),
            "because it lacks matplotlib",
        ),
    ],
)
def test_a_full_pyodide_that_is_none_says_so(
    full: Path, tmp_path: Path, harm: Callable[[Path], None], sentence: str
) -> None:
    harm(full)
    with pytest.raises(SystemExit, match=sentence):
        packed(full, tmp_path / "to")


@pytest.mark.parametrize("name", ["nothing", "no archive"])
def test_a_path_that_is_no_pyodide_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "no archive").write_text("no archive")
    monkeypatch.setattr(command, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(fetch, "wheels", lambda cache: {})
    monkeypatch.setattr(
        sys,
        "argv",
        ["site", "--to", str(tmp_path / "site"), "--pyodide", str(tmp_path / name)],
    )
    with pytest.raises(SystemExit, match=f"{name} is neither a folder nor an archive"):
        command.main()
    assert not (tmp_path / "site").exists()


def test_what_a_browser_cannot_do_shows_what_was_measured_and_is_not_run() -> None:
    """No lesson looks for an installation there, and none measures what a browser has not."""
    for path in sorted((pages.ROOT / "notebooks").glob("*.ipynb")):
        kept, shown = (
            json.loads(path.read_bytes()),
            pages.for_browser(json.loads(path.read_bytes())),
        )
        text = json.dumps(shown)
        assert "install_check" not in text
        real = [
            cell
            for cell in kept["cells"]
            if "not-in-browser" in cell["metadata"].get("tags", ())
        ]
        real = [cell for cell in real if "real-clock" in cell["metadata"]["tags"]]
        by_id = {cell["id"]: cell for cell in shown["cells"]}
        for cell in real:
            told = by_id[cell["id"]]
            assert told["cell_type"] == "markdown"
            assert pages.MEASURED in told["source"]
            assert "".join(cell["outputs"][0]["text"]).rstrip() in told["source"]
        for cell in shown["cells"]:
            is_real = cell["cell_type"] == "code" and "real-clock" in cell["metadata"].get(
                "tags", ()
            )
            assert not (is_real and "import numpy" in "".join(cell["source"])), cell["id"]


def test_an_archive_is_packed_for_the_way_and_holds_the_same(tmp_path: Path) -> None:
    path, files = (
        tmp_path / "python.zip",
        {"b.pyc": b"compiled", "a.py": b"text", "b/c.pyc": b"compiled"},
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            python.add(archive, name, content)
    python.squeeze(path)
    assert [one.name for one in tmp_path.iterdir()] == ["python.zip.packed"]
    unpacked = gzip.decompress((tmp_path / "python.zip.packed").read_bytes())
    with zipfile.ZipFile(io.BytesIO(unpacked)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files


def test_what_no_lesson_imports_is_left_out_but_what_is_ours() -> None:
    for path in "pydoc_data/topics.py", "mailbox.py":
        assert python.is_left_out(path, python.LIBRARY)
    assert python.is_left_out("IPython/sphinxext/custom_doctests.py", python.PACKAGES)
    for path in (
        "mailbox.pyc",
        "answers_00.py",
        "lessonkit/plot.py",
        "IPython/terminal/embed.py",
        "a/b.js",
    ):
        assert not python.is_left_out(path, python.PACKAGES)


def test_what_is_left_out_comes_once_when_somebody_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more, asked = tmp_path / "more.zip", list[str]()
    with zipfile.ZipFile(tmp_path / "there.zip", "w") as archive:
        python.add(archive, "left/over.py", b"VALUE = 1")
        python.add(archive, "left/on/__init__.py", b"VALUE = 2")
    left_out: Any = runpy.run_path(str(python.HERE / "stubs" / "left_out.py"))
    names = left_out["look_for_more"].__globals__

    def fetched(address: str) -> bytes:
        asked.append(address)
        return (tmp_path / "there.zip").read_bytes()

    monkeypatch.setitem(names, "ARCHIVE", more)
    monkeypatch.setitem(names, "fetched", fetched)
    finder = left_out["Finder"]
    finder.names, finder.address = frozenset({"left.over", "left.on"}), "more.zip"
    assert finder.find_spec("left.behind") is None
    assert not asked
    for name, value in ("left.over", 1), ("left.on", 2):
        spec = finder.find_spec(name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert value == module.VALUE
    assert asked == ["more.zip"]


def test_a_server_sends_what_is_compressed_to_those_who_take_it(tmp_path: Path) -> None:
    large, small = b"text " * 1000, b"text"
    (tmp_path / "large.js").write_bytes(large)
    (tmp_path / "small.js").write_bytes(small)
    (tmp_path / "noise.wasm").write_bytes(random.Random(0).randbytes(5000))
    pages.compress(tmp_path)
    assert [path.name for path in tmp_path.glob("*.gz")] == ["large.js.gz"]

    handler = functools.partial(command.Files, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            for name, takes, comes in [
                ("large.js", "gzip", True),
                ("large.js", "", False),
                ("small.js", "gzip", False),
            ]:
                asked = urllib.request.Request(
                    f"{address}/{name}", headers={"Accept-Encoding": takes}
                )
                with urllib.request.urlopen(asked) as answer:
                    content, told = answer.read(), answer.headers
                assert (told["Content-Encoding"] == "gzip") == comes
                assert told["Content-Type"] == "text/javascript"
                assert (gzip.decompress(content) if comes else content) == (
                    tmp_path / name
                ).read_bytes()
                asked.add_header("If-Modified-Since", told["Last-Modified"])
                # What it has is not sent again
                with pytest.raises(urllib.error.HTTPError, match="304"):
                    urllib.request.urlopen(asked)
        finally:
            server.shutdown()


def test_the_first_page_has_a_way_in_and_says_of_each_lesson_what_it_is() -> None:
    page = pages.first_page()
    for lesson in LESSONS:
        assert f'path={lesson.name}.ipynb">{lesson.numbered}</a>' in page
        assert f"<p>{html.escape(lesson.question)}</p>" in page
        assert f"{lesson.minutes} minutes" in page
    assert f"{sum(lesson.minutes for lesson in LESSONS) / 60:.0f} hours" in page
    assert f"<p>{in_words(len(LESSONS)).capitalize()} interactive lessons" in page
    assert not re.search(
        r"\b(WAY_|SYMPTOMS|LESSONS|HOURS|MINUTES|TEACHING|ADDRESS|OWN_JOB|COUNT|MAKE|STEP|BEGIN|GUESSES|BUSY|"
        r"HOLDER|LICENCE|SOURCE)",
        page,
    )


def test_each_lesson_has_a_glyph_of_three_bars_within_its_frame() -> None:
    assert list(GLYPHS) == [lesson.number for lesson in LESSONS]
    assert len(set(GLYPHS.values())) == len(GLYPHS)
    for bars in GLYPHS.values():
        assert len(bars) == 3
        for bar in bars:
            assert 0 <= bar.row < ROWS
            assert 0 <= bar.begins < bar.ends <= COLUMNS
        in_rows = sorted(bars)
        pairs = pairwise(in_rows)
        assert all(one.row < other.row or one.ends <= other.begins for one, other in pairs)


def test_a_preview_has_a_whole_address_where_one_setting_tells_where_the_project_is() -> (
    None
):
    assert 'content="preview.png"' in pages.first_page()
    known = pages.first_page("ada/lessons", repository.site_of("ada/lessons"))
    assert (
        'property="og:image" content="https://ada.github.io/lessons/preview.png"' in known
    )
    assert 'href="https://github.com/ada/lessons/blob/HEAD/docs/teaching.md"' in known


def test_the_first_page_says_whose_it_is_its_licence_and_where_its_source_is() -> None:
    said = (
        'By the lessonkit developers. The code is under the <a href="LICENSE.txt">BSD 3-Clause License</a>, '
        'the texts and pictures are under <a href="LICENSE-TEXTS.txt">CC BY 4.0</a>.'
    )
    unknown, known = pages.first_page(), pages.first_page("ada/lessons")
    source = '<a href="https://github.com/ada/lessons">The source is on GitHub.</a>'
    assert f"{said}\n" in unknown
    assert f"{said} {source}\n" in known


def test_the_picture_on_the_first_page_is_small_enough_for_a_slow_line(
    tmp_path: Path,
) -> None:
    pages.picture_of_workers(tmp_path)
    first = pages.first_page().encode()
    assert (tmp_path / "workers.html").stat().st_size + len(first) < 230_000
    assert (tmp_path / "preview.png").read_bytes().startswith(b"\x89PNG")


# Two sites of one origin, whose workers keep a file each, in two versions.
TWO_SITES = """
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
const text = readFileSync(process.argv[1], "utf-8");
const stores = new Map(), open = async (name) => {
    if (!stores.has(name)) stores.set(name, new Map());
    const files = stores.get(name);
    return { match: async ({ url }) => files.get(url), put: async ({ url }, file) => files.set(url, file) };
};
const caches = { open, keys: async () => [...stores.keys()], delete: async (name) => stores.delete(name) };
const soon = () => new Promise(setImmediate), root = "https://owner.example";
async function visit(site, version) {
    const hears = {}, location = { href: `${root}${site}service-worker.js`, origin: root };
    const self = { addEventListener: (event, act) => (hears[event] = act) };
    const fetch = async () => ({ status: 200, clone: () => `${site} ${version}` });
    const around = { self, location, caches, URL, importScripts() {}, fetch };
    runInNewContext(text.replace("VERSION", version), around);
    hears.activate({ waitUntil() {} });
    await soon();
    const request = { method: "GET", url: `${root}${site}build/a.js` };
    hears.fetch({ request, stopImmediatePropagation() {}, respondWith() {} });
    await soon();
}
for (const [site, version] of [["/a/", 1], ["/a/b/", 1], ["/b/", 1], ["/a/", 2], ["/b/", 2]])
    await visit(site, version);
console.log(JSON.stringify([...stores].map(([name, files]) => [name, ...files.values()])));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node.js")
def test_a_site_keeps_only_its_own_newest_version_and_touches_no_other_site() -> None:
    script = pages.HERE / "page" / "service-worker.js"
    command = ["node", "--input-type=module", "--eval", TWO_SITES, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    kept = [["lessons /a/b/ 1", "/a/b/ 1"], ["lessons /a/ 2", "/a/ 2"]]
    assert json.loads(done.stdout) == [*kept, ["lessons /b/ 2", "/b/ 2"]]


def test_the_page_finds_the_caches_of_its_site_by_the_name_that_the_worker_gives() -> None:
    worker, page = (
        (pages.HERE / "page" / name).read_text()
        for name in ("service-worker.js", "site.js")
    )
    assert 'const OURS = `lessons ${new URL(".", location.href).pathname} `' in worker
    assert "name.startsWith(`lessons ${here.pathname} `)" in page
    assert page.count("caches.delete") == 1
