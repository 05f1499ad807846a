"""Puts JupyterLite's pages together: its application, the extensions, the lessons, and what is ours."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import tarfile
import zipfile
from html import escape
from pathlib import Path
from typing import Any

from delivery.site import field_guide, symptoms
from delivery.site.glyphs import glyph
from delivery.site.opening import opening
from delivery.site.python import BIG, PACKED
from lessonkit import DataLoader, Dataset, benchmark
from lessonkit.widgets import explore, slider
from lessonkit.widgets.widget import BUILT, Page
from tools.comments import without_comments
from tools.lesson import main_path
from tools.lessons import LESSONS, WAYS, Lesson, in_words, minutes_of_a_lesson

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
LICENCE = ROOT / "LICENSE"
LICENCE_OF_TEXTS = ROOT / "LICENSE-TEXTS"
SHOWN = (".ipynb", ".json", ".py")
APPS = ("notebooks", "tree")  # the lessons one by one, and the list of files
UNUSED = re.compile(
    r"\.map$|^build/(lab|consoles|edit|repl)/|^(lab|consoles|edit|repl|doc)/|^rspack|^package.json$"
)
EXTENSIONS = re.compile(r".*\.data/data/share/jupyter/labextensions/(.*)")
UNUSED_EXTENSION = re.compile(r"\.(map|orig)$|/pypi/|licenses")
SETTINGS = {
    # A lesson that is opened again is drawn from what was saved, without a kernel.
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"},
}
# What no lesson needs of JupyterLab: each part costs time before the first question can be answered.
NOT_STARTED = [
    "@jupyterlab/application-extension:faviconbusy",
    "@jupyterlab/apputils-extension:licenses-client",
    "@jupyterlab/apputils-extension:licenses-plugin",
    "@jupyterlite/application-extension:licenses-client",
    "@jupyterlab/help-extension:licenses-commands",
    "@jupyterlab/help-extension:jupyter-forum",
    "@jupyterlab/audio-extension",
    "@jupyterlab/video-extension",
    "@jupyterlab/mermaid-extension",
    "@jupyterlab/vega5-extension",
    "@jupyterlab/javascript-extension",
    "@jupyterlab/json-lines-extension",
    "@jupyterlab/celltags-extension",
    "@jupyterlab/metadataform-extension",
    "@jupyterlab/notebook-extension:tools",
    "@jupyterlab/notebook-extension:metadata-editor",
    "@jupyterlab/notebook-extension:active-cell-tool",
    "@jupyter-notebook/notebook-extension:notebook-tools",
    "@jupyterlab/notebook-extension:cloned-outputs",
    "@jupyterlab/console-extension",
    "@jupyter-notebook/console-extension",
    "@jupyterlab/notebook-extension:code-console",
    "@jupyterlab/fileeditor-extension",
    "@jupyterlab/lsp-extension",
    "@jupyterlite/application-extension:lsp-connection-manager",
    "@jupyterlab/notebook-extension:language-server",
    "@jupyterlab/logconsole-extension",
    "@jupyterlab/notebook-extension:log-output",
    "@jupyterlab/tooltip-extension:consoles",
    "@jupyterlab/tooltip-extension:files",
    "@jupyterlab/services-extension:terminal-manager",
    "@jupyterlab/completer-extension:inline-history",
    "@jupyterlab/completer-extension:inline-completer-factory",
    "@jupyterlab/completer-extension:inline-completer",
    "@jupyterlab/theme-dark-high-contrast-extension",
    "@jupyterlite/application-extension:share-file",
    "@jupyterlite/application-extension:clear-browser-data",
    "@jupyterlab/codemirror-extension:line-col-status",
    # They want what is not started, and said so in the console
    "@jupyterlab/notebook-extension:cursor-position",
    "@jupyterlab/notebook-extension:update-raw-mimetype",
]
# Where the browser keeps nothing, a lesson runs all the same.
STORED = (
    "contentsStorageDrivers",
    "settingsStorageDrivers",
    "workspacesStorageDrivers",
)
STORES = ("asyncStorage", "memoryStorageDriver")
SMALL = 1000  # bytes; smaller files are not compressed
WORTH_IT = 0.9  # the share of its bytes that a compressed file may have
# In the first page's text, what its parts are put in the place of
PART = re.compile(
    r"\b(ROW|NOWHERE|WAY_TORCH|WAY_OWN|WAY_SHORT|"
    r"SYMPTOMS|LESSONS|HOURS|MINUTES|TEACHING|OWN_JOB|COUNT|MAKE|STEP|BEGIN|"
    r"GUESSES|BUSY|FIRST_LESSON|HOLDER|LICENCE|SOURCE)\b|ADDRESS"
)
# The modules that draw how a lesson begins: each that is known late comes late
AT_ONCE = ("reader", "work", "seen", "opening", "stored", "widgets")
ICONS = ("", "-notebook", "-file", "-terminal", "-busy-1", "-busy-2", "-busy-3")

MEASURED = "*Measured on a computer with two cores; a browser cannot run this cell.*"
KEYS = (
    "Here cells run by themselves. Commit to an answer before you look, because even a wrong guess "
    "helps you learn. If you change a cell, **Shift+Enter** runs it and moves on to the next. If it "
    "never ends, choose *Restart Kernel* in the menu *Kernel*."
)
STILL = re.compile(r"data:image/png;base64,[^\"]+")  # in a picture that was saved as a page
IN_REPORT = re.compile(r'<img (alt="[^"]*") src="data:image/png;base64,([^"]+)"[^>]*>')
# Of the first page's question: ms, and counts of workers
MAKE = 80
STEP = 10
BATCHES = 24
BEGIN = 2
MOST = 16
GUESSES = (2, 4, 8, 16)
# Of its picture, as a page of its own
WORKERS = "How many workers keep the GPU busy?"
UNDER_WORKERS = (
    "The row Worker shows batches that are being made, and the row Train shows the GPU, hatched while "
    "it waits. "
    f"The thin bands below the rows are the run with {BEGIN} workers."
)
DATE = "2026-01-01T00:00:00Z"  # a lesson's age is told by its text, not by its date


def assemble(
    wheels: dict[str, Path], folder: Path, name: str = "", address: str = ""
) -> None:
    """Put the pages into *folder*, which has Python in it already; the first has *name* and *address*."""
    unpack_application(wheels["jupyterlite-core"], folder)
    extensions = [
        unpack_extension(wheels[name], folder)
        for name in ("jupyterlite-pyodide-kernel", "jupyterlab-widgets", "anywidget")
    ]
    copy_lessons(folder, name)
    python = next(folder.glob("python-*")).name
    config = json.loads((folder / "jupyter-lite.json").read_text(encoding="utf-8"))
    config["jupyter-config-data"] |= {
        "appName": "Lessons",
        "appUrl": "./index.html",
        "contentsAllJsonFile": "all.json",
        "exposeAppInBrowser": True,
        "faviconUrl": "./notebooks/favicon.ico",
        "federated_extensions": extensions,
        "enableMemoryStorage": True,
        **dict.fromkeys(STORED, STORES),
        "settingsOverrides": SETTINGS,
        "disabledExtensions": NOT_STARTED,
        "litePluginSettings": {
            "@jupyterlite/pyodide-kernel-extension:kernel": kernel(python)
        },
    }
    write(folder / "jupyter-lite.json", config)
    write(folder / "build" / "schemas" / "all_federated.json", schemas(folder))
    translations = folder / "api" / "translations"
    english = {"displayName": "English", "nativeName": "English"}
    write(translations / "all.json", {"data": {"en": english}, "message": ""})
    write(translations / "en.json", {"data": {}, "message": ""})
    (folder / "index.html").write_text(first_page(name, address), encoding="utf-8")
    symptoms.write_pages(folder, name, address)
    field_guide.write_pages(folder)
    add_ours(folder, python, name, address)


def kernel(python: str) -> dict[str, Any]:
    """Tell the kernel where its Python is, and that all packages are there already."""
    there = [
        "micropip",
        "piplite",
        "ipykernel",
        "comm",
        "pyodide-kernel",
        "jedi",
        "ipython",
    ]
    return {
        "pyodideUrl": f"./{python}/start.mjs",
        "disablePyPIFallback": True,
        "pipliteUrls": [],
        "loadPyodideOptions": {"packages": there},
    }


def unpack_application(wheel: Path, folder: Path) -> None:
    """Unpack JupyterLite's application without its maps and the parts that nobody opens here."""
    with zipfile.ZipFile(wheel) as outer:
        (name,) = (name for name in outer.namelist() if name.endswith(".tgz"))
        content = outer.read(name)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        for member in tar:
            path = member.name.removeprefix("package/")
            taken = (
                tar.extractfile(member)
                if member.isfile() and not UNUSED.search(path)
                else None
            )
            if taken:
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(taken.read())


def unpack_extension(wheel: Path, folder: Path) -> dict[str, str]:
    """Unpack the extension of JupyterLab in a *wheel*; return how the page loads it."""
    name = ""
    with zipfile.ZipFile(wheel) as archive:
        for path in archive.namelist():
            found = EXTENSIONS.match(path)
            if not found or UNUSED_EXTENSION.search(path):
                continue
            target = folder / "extensions" / found[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(path))
            if target.name == "package.json":
                name = found[1].removesuffix("/package.json")
                about = json.loads(target.read_bytes())
    told = about["jupyterlab"]["_build"]
    return {"name": name, "load": told["load"], "extension": told["extension"]}


def schemas(folder: Path) -> list[dict[str, Any]]:
    """List the settings of the extensions, as the page asks for them."""
    found = []
    for path in sorted((folder / "extensions").rglob("schemas/*/*/*.json")):
        plugin = path.as_posix().partition("/schemas/")[2].removesuffix(".json")
        name = ":".join(plugin.rsplit("/", 1))
        schema = json.loads(path.read_bytes())
        found.append(
            {"id": name, "raw": "{}", "schema": schema, "settings": {}, "version": ""}
        )
    return found


def copy_lessons(folder: Path, name: str = "") -> None:
    """Copy the notebooks, and what is beside them, and list them; *name* is that of the repository."""
    (folder / "files").mkdir()
    (folder / "openings").mkdir()
    (folder / "api" / "contents").mkdir(parents=True)
    empty = dict.fromkeys(
        ("content", "format", "hash", "hash_algorithm", "mimetype", "size")
    )
    empty |= {"created": DATE, "last_modified": DATE, "writable": True}
    draws = any(folder.glob("python-*/matplotlib-*"))  # only a full Pyodide does
    listed = []
    for path in sorted(
        path for path in (ROOT / "notebooks").iterdir() if path.suffix in SHOWN
    ):
        copy = folder / "files" / path.name
        if path.suffix == ".ipynb":
            lesson = with_whole_texts(for_browser(json.loads(path.read_bytes()), name))
            if not draws:
                lesson = with_kept_pictures(lesson)
            write(copy, lesson)
            (folder / "openings" / f"{path.stem}.html").write_text(
                opening(lesson, widgets_of(path.stem)), encoding="utf-8"
            )
        else:
            shutil.copy(path, copy)
        kind = "notebook" if path.suffix == ".ipynb" else "file"
        about = {
            "name": path.name,
            "path": path.name,
            "type": kind,
            "size": copy.stat().st_size,
        }
        listed.append(empty | about)
    root = {
        "name": "",
        "path": "",
        "type": "directory",
        "format": "json",
        "content": listed,
    }
    write(folder / "api" / "contents" / "all.json", empty | root)


def widgets_of(lesson: str) -> dict[str, Page]:
    """Return the widgets of a *lesson* up to *Further*, by the names of their cells."""
    return dict(main_path(lesson).widgets(Page))


def for_browser(notebook: dict[str, Any], name: str = "") -> dict[str, Any]:
    """Return a *notebook* in which what a browser cannot do shows what was measured, and is not run.

    Cells with the tag `not-in-browser` need cores, processes or NumPy; what they have not
    measured goes, and so do the comments that compute the numbers of a text. A cell with the
    tag `own-job` says instead how one measures a job of one's own, with the package from the
    repository *name*.
    """
    cells = []
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", ())
        if cell["cell_type"] == "markdown":
            cell = cell | {"source": without_comments("".join(cell["source"]))}
        if "keys" in tags:
            cells.append(cell | {"source": KEYS})
        elif "own-job" in tags:
            cells.append(cell | {"source": symptoms.own_job(name)})
        elif "not-in-browser" not in tags:
            cells.append(cell)
        elif "real-clock" in tags:
            cells.append(as_measured(cell))
    return notebook | {"cells": cells}


def as_measured(cell: dict[str, Any]) -> dict[str, Any]:
    """Return the text of a *cell* that was run elsewhere, with what it printed there."""
    printed = "".join(line for output in cell["outputs"] for line in output.get("text", ()))
    source = "".join(cell["source"])
    text = f"```python\n{source}\n```\n\n{MEASURED}\n\n```\n{printed.rstrip()}\n```"
    about = {name: value for name, value in cell["metadata"].items() if name == "tags"}
    return {
        "cell_type": "markdown",
        "id": cell["id"],
        "metadata": about,
        "source": text,
    }


def with_whole_texts(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a *notebook* as a server would send it: a stored text is one, and not a list of its lines."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            # What was printed, and what is shown
            for texts in (output, output.get("data", {})):
                texts |= {
                    kind: "".join(lines)
                    for kind, lines in texts.items()
                    if isinstance(lines, list)
                }
    return notebook


def with_kept_pictures(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a *notebook* in which the picture of a report stands below it, in a cell of its own.

    A report that is written without matplotlib has none: where it took the place of the stored
    one, the picture would go away, and all below it would move up.
    """
    cells = []
    for cell in notebook["cells"]:
        pictures = []
        for output in cell.get("outputs", ()):
            if found := IN_REPORT.search(output.get("data", {}).get("text/html", "")):
                output["data"]["text/html"] = IN_REPORT.sub("", found.string)
                pictures.append(kept_picture(f"{cell['id']}-picture", *found.groups()))
        cells += [cell, *pictures]
    return notebook | {"cells": cells}


def kept_picture(name: str, told: str, content: str) -> dict[str, Any]:
    """Return the cell *name* that shows a picture of this *content*; *told* is its attribute for words."""
    picture = {"data": {"image/png": content}, "metadata": {}}
    # A browser would ask a server for an attachment, before JupyterLab puts it in
    address = f"data:image/png;base64,{content}"
    return {
        "cell_type": "markdown",
        "id": name,
        "metadata": {},
        # Its size is known before it is drawn, so nothing moves
        "source": f'<img {told} {symptoms.size(picture)} src="{address}">',
    }


def write_look(folder: Path) -> None:
    """Write the look that the site shares with the widgets."""
    look = (BUILT / "look.css").read_text("utf-8")
    (folder / "look.css").write_text(look, encoding="utf-8")


def write_widgets(folder: Path) -> None:
    """Write the program of the widgets as a module: the beginning of a lesson has it before Python."""
    text = (BUILT / "host.js").read_text("utf-8")
    (folder / "widgets.js").write_text(text, encoding="utf-8")


def write_report(folder: Path) -> None:
    """Write the learner's report as a module: the first page and the archive of all work have it."""
    text = (BUILT / "report.js").read_text("utf-8")
    (folder / "report.js").write_text(text, encoding="utf-8")


def add_ours(folder: Path, python: str, name: str, address: str) -> None:
    """Add our scripts and style, and the worker that keeps files for the next visit."""
    (folder / "service-worker.js").rename(folder / "jupyterlite-worker.js")
    for path in (HERE / "page").iterdir():
        if path.suffix in (".js", ".css"):
            shutil.copy(path, folder)
    icons = folder / "static" / "favicons"
    icons.mkdir(parents=True)
    for icon in ICONS:
        shutil.copy(folder / "notebooks" / "favicon.ico", icons / f"favicon{icon}.ico")
    handout = (ROOT / "docs" / "handout.html").read_text(encoding="utf-8")
    (folder / "handout.html").write_text(installed_from(handout, name), encoding="utf-8")
    for licence_of in (LICENCE, LICENCE_OF_TEXTS):
        shutil.copy(licence_of, folder / f"{licence_of.name}.txt")
    write_report(folder)
    write_widgets(folder)
    write_look(folder)
    (worker,) = (folder / "extensions").rglob("comlink.worker.*.js")
    early = (folder / "early.js").read_text(encoding="utf-8").replace("PYTHON", python)
    early = early.replace("WORKER", f"./{worker.relative_to(folder).as_posix()}")
    (folder / "early.js").write_text(early, encoding="utf-8")
    picture_of_workers(folder, address)
    page = folder / "notebooks" / "index.html"
    text = page.read_text(encoding="utf-8")
    style = "".join(
        f'<link rel="stylesheet" href="../{name}.css">' for name in ("look", "site")
    )
    begins = "".join(f'<link rel="modulepreload" href="../{name}.js">' for name in AT_ONCE)
    big = sum((folder / python / (name + PACKED)).stat().st_size for name in BIG)
    data = f'data-python="{python}" data-bytes="{big}"'
    script = f'<script type="module" id="lessons-script" {data} src="../site.js"></script>'
    for old, new in {
        "</title>": f"</title>{style}{begins}{script}",
        "<title>Jupyter Notebook - Notebooks": "<title>Lesson",
        "await import(": "await (await import('../site.js')).ready; await import(",
    }.items():
        assert text.count(old) == 1, old  # another version of JupyterLite has another page
        text = text.replace(old, new)
    page.write_text(text, encoding="utf-8")
    worker = folder / "service-worker.js"
    worker.write_text(
        worker.read_text(encoding="utf-8").replace("VERSION", sum_of(folder)),
        encoding="utf-8",
    )


def installed_from(handout: str, name: str) -> str:
    """Return a *handout* that tells to install a clone where the repository has no *name* yet."""
    clone = r"\1 .</code>, in a clone of the repository,"
    return handout if name else re.sub(r"(pip install) git\+\S+?</code>", clone, handout)


def compress(folder: Path) -> None:
    """Write a compressed file beside each that is large and then much smaller, for servers that send it."""
    for path in [
        path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > SMALL
    ]:
        content = path.read_bytes()
        packed = gzip.compress(content, mtime=0)
        if len(packed) < WORTH_IT * len(content):
            path.with_name(f"{path.name}.gz").write_bytes(packed)


def first_page(name: str = "", address: str = "") -> str:
    """Return the first page: ways in, what people see and where it is explained, and all lessons.

    *name* is that of the repository, and *address* that of the site, as far as they are known.
    """
    entries = [
        f"<li>{glyph(lesson.number)}<b>{link(lesson)}</b>"
        f"<p>{escape(lesson.question)}</p><small>{lesson.minutes} minutes</small></li>"
        for lesson in LESSONS
    ]
    *hour, job = WAYS["an hour with PyTorch"]
    ways = {"WAY_TORCH": hour, "WAY_OWN": [job], "WAY_SHORT": WAYS["ninety minutes"]}
    parts = {name: ", ".join(map(link, way)) for name, way in ways.items()}
    parts |= {"SYMPTOMS": symptoms.table(), "LESSONS": "\n".join(entries)}
    parts["ROW"] = "\n".join(map(tile, LESSONS))
    parts["OWN_JOB"] = symptoms.html(symptoms.own_job(name)).replace('href="../', 'href="')
    parts["HOURS"] = f"{sum(lesson.minutes for lesson in LESSONS) / 60:.0f} hours"
    parts |= question()
    parts["COUNT"] = in_words(len(LESSONS)).capitalize()
    parts["MINUTES"] = minutes_of_a_lesson()
    parts["FIRST_LESSON"] = symptoms.place(LESSONS[0].name, "")
    guide = "docs/teaching.md"
    linked = (
        f'<a href="https://github.com/{name}/blob/HEAD/{guide}">The guide for teachers</a>'
    )
    parts["TEACHING"] = linked if name else f"<code>{guide}</code> in the repository"
    parts["LICENCE"], parts["HOLDER"] = map(escape, licence())
    source = f' <a href="https://github.com/{name}">The source is on GitHub.</a>'
    parts["SOURCE"] = source if name else ""
    issue = f', or <a href="https://github.com/{name}/issues/new/choose">tell us what you see</a>'
    parts["NOWHERE"] = issue if name else ""
    parts["ADDRESS"] = address  # a preview is found only by a whole one
    text = (HERE / "page" / "index.html").read_text(encoding="utf-8")
    return PART.sub(lambda part: parts[part[0]], text)


def question() -> dict[str, str]:
    """Return the parts of the first page's question, and how busy each answer keeps the accelerator."""
    busy = [busy_while_batches_come(workers) for workers in range(MOST + 1)]
    buttons = [
        f'<button type="button" value="{count}" aria-pressed="false">{count}</button>'
        for count in GUESSES
    ]
    return {
        "MAKE": str(MAKE),
        "STEP": str(STEP),
        "BEGIN": str(BEGIN),
        "GUESSES": "\n".join(buttons),
        "BUSY": json.dumps({"make": MAKE, "step": STEP, "busy": busy}),
    }


def licence() -> tuple[str, str]:
    """Return the name of the licence, and who holds the copyright."""
    text = LICENCE.read_text(encoding="utf-8")
    (holder,) = re.findall(r"^Copyright \(c\) \d+, (.+)$", text, re.M)
    return text.partition("\n")[0], str(holder)


def link(lesson: Lesson) -> str:
    """Return a link to a *lesson*."""
    return f'<a href="{symptoms.place(lesson.name, "")}">{lesson.numbered}</a>'


def tile(lesson: Lesson) -> str:
    """Return the entry of a *lesson* in the row of all, which has room for how far a learner is."""
    name = f"{lesson.number} <span>{escape(lesson.title)}</span>"
    address = symptoms.place(lesson.name, "")
    return f'<li><a href="{address}">{glyph(lesson.number)}{name}</a></li>'


def loader_with(workers: int = BEGIN) -> tuple[DataLoader, dict[str, Any]]:
    """Return the loader of the first page, which makes whole batches, and how it is run."""
    batches = Dataset.range(BATCHES).map(cost=MAKE / 1000, stage="Batch")
    more: dict[str, Any] = {"num_workers": workers} if workers else {}
    loader = DataLoader(batches, batch_size=None, **more)
    return loader, {"num_epochs": 1, "train": STEP / 1000}


def busy_while_batches_come(workers: int) -> float:
    """Return the share of the time in which the accelerator works, from the first batch on.

    It ends with a whole round of the workers. So two of them give 25 %, which is what the
    sentence beside it says: a step of 10 ms every 40 ms.
    """
    loader, options = loader_with(workers)
    trace = benchmark(loader, **options)
    arrivals = trace.epochs[0].arrivals
    each = max(1, workers)
    rounds = (BATCHES - 1) // each
    first = arrivals[0] * 1e9
    last = arrivals[rounds * each] * 1e9
    trained = sum(
        max(0.0, min(span.end_ns, last) - max(span.start_ns, first))
        for span in trace.work
        if str(span.stage) == "Train"
    )
    return round(trained / (last - first), 6)


def picture_of_workers(folder: Path, address: str = "") -> None:
    """Write the picture that lives on the first page, before any Python, and one of it for links.

    It is a page of its own as well, which is passed on and opened alone: then it asks its question, and
    leads to the lessons at their *address*.
    """
    one = explore(
        loader_with,
        pinned={"workers": BEGIN},
        words={"accelerator": "GPU", "step": "batch", "element": "batch"},
        workers=slider(0, MOST, unit="workers"),
    )
    path = one.save(folder / "workers.html", title=WORKERS, caption=UNDER_WORKERS)
    (folder / "preview.png").write_bytes(one._repr_mimebundle_()[0]["image/png"])
    # It is the still picture too, which only a page without scripts shows: half of the file
    text = STILL.sub("preview.png", path.read_text(encoding="utf-8"))
    parts = question() | {"ADDRESS": address or "./", "COUNT": in_words(len(LESSONS))}
    parts["SCRIPT"] = (HERE / "page" / "guess.js").read_text(encoding="utf-8")
    around = (HERE / "page" / "workers.html").read_text(encoding="utf-8")
    head, above, below = re.sub(
        PART.pattern + r"|\bSCRIPT\b", lambda part: parts[part[0]], around
    ).split("<!-- -->\n")
    for mark, more in {"</head>": head, '<div id="picture">': above}.items():
        text = text.replace(mark, more + mark, 1)
    path.write_text(text.replace("</body>", f"{below}</body>", 1), encoding="utf-8")


def write(path: Path, content: Any) -> None:
    """Write JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def sum_of(*folders: Path) -> str:
    """Return a short name for what is in *folders*."""
    summed = hashlib.sha256()
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            if "__pycache__" not in path.parts and path.suffix not in (".md", ".swp"):
                summed.update(
                    path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes()
                )
    return summed.hexdigest()[:12]
