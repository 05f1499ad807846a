"""Packs the Python that runs in the page: Pyodide's runtime, its library, and all packages in one archive.

A full Pyodide has NumPy and matplotlib too. They stay wheels beside the archive, which
Pyodide loads as soon as a cell imports them.

What a lesson imports before its first picture is compiled here, if there is a Node to run
Pyodide in: a browser would compile it anew on each visit, which takes longer than all else.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from delivery.site import fetch
from tools import targets

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
LIBRARY = "python_stdlib.zip"
LOCK = "pyodide-lock.json"
PACKAGES = "packages.zip"
# What no lesson imports, and its names: see stubs/left_out.py
MORE = "more.zip"
LEFT_OUT = "left_out.txt"
# What a page fetches at once, as in page/site.js
BIG = ("pyodide.asm.wasm", LIBRARY, PACKAGES)
# As gzip does it; by gzip's own name a server would say so, and a browser would unpack it as well.
PACKED = ".packed"
OF_FULL = ("numpy", "matplotlib")  # what a full Pyodide is asked for
PYTHON = "3.14"  # which parts.txt is made for
KERNEL = ("ipykernel-", "pyodide_kernel-")  # JupyterLite's own wheels for its kernel
OF_PAGES = ("jupyterlite-core", "jupyterlite-pyodide-kernel", "jupyterlab-widgets")
# Of Pygments: the others are most of it
LEXERS = ("__init__", "_mapping", "python", "special", "text")
TERMINAL = re.compile(
    r"IPython/terminal/(?!(pt_inputhooks/)?__init__.py)"
)  # of IPython: a quarter of all packages
DATE = (2026, 1, 1, 0, 0, 0)  # the same archive from the same files
PACKAGES_OF_OURS = ("lessonkit", "databound")
OURS = re.compile(
    r"(lessonkit|databound)/|\w+_\d\d\.py$"
)  # the packages, and what stands beside the lessons
NODE = (
    "There is no Node here that can run Pyodide. The site works without it, but starts some seconds later. "
    "If Node 20 or newer is on PATH, Python's modules are compiled beforehand."
)
LACKS = "{} is not a full Pyodide, because it lacks {}. Unpack the release {}, or name its archive."
NEITHER = "{} is neither a folder nor an archive. Name a Pyodide that exists."
OTHER = "{} has Python {}, but the site is made for Python {}. Take the release {}."


def pack(
    wheels: dict[str, Path],
    pyodide: Path,
    wanted: Sequence[str],
    folder: Path,
    cache: Path,
) -> None:
    """Put everything that Python needs in the page into *folder*, with the *wanted* packages of *pyodide*."""
    folder.mkdir(parents=True)
    packages = take(pyodide, wanted, folder)
    with zipfile.ZipFile(folder / PACKAGES, "w") as packed:
        for name, wheel in wheels.items():
            if name not in OF_PAGES:
                add_wheel(packed, zipfile.ZipFile(wheel))
        with zipfile.ZipFile(wheels["jupyterlite-pyodide-kernel"]) as kernel:
            for name in kernel.namelist():
                if Path(name).name.startswith(KERNEL) and "/data/share/" in name:
                    with kernel.open(name) as inner:
                        add_wheel(packed, zipfile.ZipFile(inner))
        for package in PACKAGES_OF_OURS:
            for path in sorted((ROOT / package).rglob("*")):
                if path.is_file() and is_shipped(path):
                    add(packed, path.relative_to(ROOT).as_posix(), path.read_bytes())
        # What lessons need is beside them; stubs are in the place of what is not here.
        for folder_of, pattern in (
            (HERE / "stubs", "**/*.py"),
            (ROOT / "notebooks", "*_[0-9][0-9].*"),
        ):
            for path in sorted(folder_of.glob(pattern)):
                if path.stem not in packages:
                    add(
                        packed,
                        path.relative_to(folder_of).as_posix(),
                        path.read_bytes(),
                    )
        add(packed, LEFT_OUT, b"")
    shutil.copy(HERE / "page" / "start.mjs", folder)
    compile_with_node(folder, cache)
    for name in BIG:
        squeeze(folder / name)


def is_shipped(path: Path) -> bool:
    """Whether a file of the package runs: of the page's modules only what is made of them does."""
    page = ROOT / "lessonkit" / "widgets" / "page"
    is_source = page in path.parents and path.parent != page / "built"
    return "__pycache__" not in path.parts and not is_source


def take(pyodide: Path, wanted: Sequence[str], folder: Path) -> dict[str, Any]:
    """Put the runtime of *pyodide* into *folder*, and the *wanted* packages; return what it says of these."""
    runtime = read(pyodide, (*RUNTIME, LIBRARY, LOCK))
    lock = json.loads(runtime[LOCK])
    if (version := lock["info"]["python"]).rpartition(".")[0] != PYTHON:
        targets.stop(OTHER.format(pyodide, version, PYTHON, fetch.PYODIDE))
    if unknown := {*wanted} - {*lock["packages"]}:
        targets.stop(LACKS.format(pyodide, min(unknown), fetch.PYODIDE))
    packages = needed(lock["packages"], wanted)
    files = read(pyodide, [about["file_name"] for about in packages.values()])
    for about in packages.values():
        name = about["file_name"]
        if hashlib.sha256(files[name]).hexdigest() != about["sha256"]:
            targets.stop(fetch.WRONG.format(name))
    # Any other package that it lists would be fetched from elsewhere.
    runtime[LOCK] = json.dumps(lock | {"packages": packages}).encode()
    for name, content in (runtime | files).items():
        (folder / name).write_bytes(content)
    return packages


def needed(listed: dict[str, Any], wanted: Sequence[str]) -> dict[str, Any]:
    """Return the *wanted* ones of the packages *listed* in a lock file, and all that they depend on."""
    found: dict[str, Any] = {}
    asked = [*wanted]
    while asked:
        name = asked.pop()
        if name not in found:
            found[name] = listed[name]
            asked += listed[name]["depends"]
    return found


def read(pyodide: Path, names: Collection[str]) -> dict[str, bytes]:
    """Read the files with these *names* from a folder or an archive."""
    found = {}
    if pyodide.is_dir():
        found = {
            name: (pyodide / name).read_bytes()
            for name in names
            if (pyodide / name).exists()
        }
    elif not (pyodide.is_file() and tarfile.is_tarfile(pyodide)):
        targets.stop(NEITHER.format(pyodide))
    else:
        # From its beginning to its end, because seeking back is slow
        with tarfile.open(pyodide) as tar:
            for member in tar:
                name = member.name.rpartition("/")[2]
                if name in names and (taken := tar.extractfile(member)):
                    found[name] = taken.read()
    if missing := {*names} - {*found}:
        targets.stop(LACKS.format(pyodide, min(missing), fetch.PYODIDE))
    return found


def add_wheel(packed: zipfile.ZipFile, wheel: zipfile.ZipFile) -> None:
    """Add what can be imported from a *wheel*; no tests, no pages, no papers but its name and version."""
    for name in wheel.namelist():
        parts = name.split("/")
        first = parts[0]
        last = parts[-1]
        unused = first.endswith(".data") or {"tests", "labextension", "nbextension"} & {
            *parts
        }
        paper = first.endswith(".dist-info") and last != "METADATA"
        lexer = (
            name.startswith("pygments/lexers/") and last.removesuffix(".py") not in LEXERS
        )
        if last and not (unused or paper or lexer or TERMINAL.match(name)):
            content = wheel.read(name)
            add(
                packed,
                name,
                content.partition(b"\n\n")[0] if last == "METADATA" else content,
            )


def add(
    packed: zipfile.ZipFile, name: str, content: bytes, how: int = zipfile.ZIP_STORED
) -> None:
    """Add a file, with the same date always; as it is, for `squeeze` packs all together in the end."""
    packed.writestr(zipfile.ZipInfo(name, DATE), content, how, 9)


def squeeze(path: Path) -> None:
    """Pack a file for the way: start.mjs unpacks it, so it is small from servers that do not compress, too.

    What is in an archive is packed together, which makes it a tenth smaller than one by one.
    """
    content = path.read_bytes()
    if path.suffix == ".zip":
        whole = io.BytesIO()
        files = contents(path)
        with zipfile.ZipFile(whole, "w") as after:
            for name in sorted(files, key=lambda name: (Path(name).suffix, name)):
                after.writestr(zipfile.ZipInfo(name, DATE), files[name])
        content = whole.getvalue()
    path.with_name(path.name + PACKED).write_bytes(gzip.compress(content, mtime=0))
    path.unlink()


def compile_with_node(folder: Path, cache: Path) -> None:
    """Put what is imported first into the two archives compiled, in the place of its source."""
    parts = [HERE / "compile.mjs", folder / LIBRARY, folder / PACKAGES]
    digest = hashlib.sha256(b"".join(map(Path.read_bytes, parts))).hexdigest()
    compiled = cache / f"compiled-{digest[:12]}.zip"
    if not compiled.exists():
        node = shutil.which("node")
        targets.say(
            "Compiling Python's modules with Node; the next time this is done already."
        )
        half = compiled.with_suffix(".part")
        command = [
            str(node),
            str(HERE / "compile.mjs"),
            str(folder.resolve()),
            str(half.resolve()),
        ]
        if not node or subprocess.run(command, capture_output=True).returncode:
            targets.say(NODE)
            return
        for old in cache.glob("compiled-*.zip"):
            old.unlink()
        half.replace(compiled)
    with (
        zipfile.ZipFile(compiled) as source,
        zipfile.ZipFile(folder / MORE, "w") as more,
    ):
        named = []
        for archive in (LIBRARY, PACKAGES):
            kept = contents(folder / archive)
            for path in source.namelist():
                if path.startswith(f"{archive}/"):
                    module = path.partition("/")[2]
                    kept[module] = source.read(path)
                    # Of the others nobody reads the source, which is a sixth of what is fetched.
                    if not is_ours(module.removesuffix("c"), archive):
                        del kept[module.removesuffix("c")]
            for path in [path for path in kept if is_left_out(path, archive)]:
                named.append(
                    path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                )
                add(more, path, kept.pop(path), zipfile.ZIP_DEFLATED)
            if archive == PACKAGES:
                kept[LEFT_OUT] = "\n".join(named).encode()
            with zipfile.ZipFile(folder / archive, "w") as packed:
                for path, content in kept.items():
                    add(packed, path, content)


def contents(archive: Path) -> dict[str, bytes]:
    """Return what is in an *archive*, by its paths."""
    with zipfile.ZipFile(archive) as opened:
        return {
            path: opened.read(path) for path in opened.namelist() if not path.endswith("/")
        }


def is_left_out(path: str, archive: str) -> bool:
    """Tell whether no lesson imports the module at this *path* of an *archive*: the others are compiled."""
    return path.endswith(".py") and not is_ours(path, archive)


def is_ours(path: str, archive: str) -> bool:
    """Tell whether the module at this *path* of an *archive* is one of ours: its source stays there."""
    is_stub = (HERE / "stubs" / path).exists()
    return archive == PACKAGES and bool(OURS.match(path) or is_stub)
