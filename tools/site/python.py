"""Packs the Python that runs in the page: Pyodide's runtime, its library, and all packages in one archive.

What a lesson imports before its first picture is compiled here, if there is a Node to run Pyodide in: a
browser would compile it anew on each visit, which takes longer than all else.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

from tools import targets

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
LIBRARY, LOCK, PACKAGES = "python_stdlib.zip", "pyodide-lock.json", "packages.zip"
KERNEL = ("ipykernel-", "pyodide_kernel-")  # JupyterLite's own wheels for its kernel
OF_PAGES = ("jupyterlite-core", "jupyterlite-pyodide-kernel", "jupyterlab-widgets")
LEXERS = ("__init__", "_mapping", "python", "special", "text")  # of Pygments: the others are most of it
DATE = (2026, 1, 1, 0, 0, 0)  # the same archive from the same files
NODE = (
    "There is no Node here that can run Pyodide: the site works without, and starts some seconds later. "
    "With Node 20 or newer on PATH, Python's modules are compiled beforehand."
)


def pack(wheels: dict[str, Path], archive: Path, folder: Path, cache: Path) -> None:
    """Put everything that Python needs in the page into *folder*."""
    folder.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        for name in (*RUNTIME, LIBRARY, LOCK):
            taken = tar.extractfile(f"package/{name}")
            assert taken
            (folder / name).write_bytes(taken.read())
    # The packages that it lists would be fetched from elsewhere.
    (folder / LOCK).write_text(json.dumps(json.loads((folder / LOCK).read_bytes()) | {"packages": {}}))
    with zipfile.ZipFile(folder / PACKAGES, "w") as packed:
        for name, wheel in wheels.items():
            if name not in OF_PAGES:
                add_wheel(packed, zipfile.ZipFile(wheel))
        with zipfile.ZipFile(wheels["jupyterlite-pyodide-kernel"]) as kernel:
            for name in kernel.namelist():
                if Path(name).name.startswith(KERNEL) and "/data/share/" in name:
                    with kernel.open(name) as inner:
                        add_wheel(packed, zipfile.ZipFile(inner))
        for path in sorted((ROOT / "lessonkit").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                add(packed, path.relative_to(ROOT).as_posix(), path.read_bytes())
        # Answers are beside the lessons; stubs are in the place of what is not here.
        for path in sorted([*(HERE / "stubs").glob("*.py"), *(ROOT / "notebooks").glob("*.py")]):
            add(packed, path.name, path.read_bytes())
    shutil.copy(HERE / "page" / "start.mjs", folder)
    compile_with_node(folder, cache)


def add_wheel(packed: zipfile.ZipFile, wheel: zipfile.ZipFile) -> None:
    """Add what can be imported from a *wheel*; no tests, no pages, no papers but its name and version."""
    for name in wheel.namelist():
        parts = name.split("/")
        first, last = parts[0], parts[-1]
        unused = first.endswith(".data") or {"tests", "labextension", "nbextension"} & {*parts}
        paper = first.endswith(".dist-info") and last != "METADATA"
        lexer = name.startswith("pygments/lexers/") and last.removesuffix(".py") not in LEXERS
        if last and not (unused or paper or lexer):
            add(packed, name, wheel.read(name))


def add(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file, with the same date always."""
    packed.writestr(zipfile.ZipInfo(name, DATE), content, zipfile.ZIP_DEFLATED, 9)


def compile_with_node(folder: Path, cache: Path) -> None:
    """Put what is imported first into the two archives compiled, in the place of its source."""
    parts = [HERE / "parts.txt", HERE / "compile.mjs", folder / LIBRARY]
    compiled = (
        cache / f"compiled-{hashlib.sha256(b''.join(map(Path.read_bytes, parts))).hexdigest()[:12]}.zip"
    )
    if not compiled.exists():
        node = shutil.which("node")
        targets.say("Compiling Python's modules with Node; the next time this is done already.")
        half = compiled.with_suffix(".part")
        command = [str(node), str(HERE / "compile.mjs"), str(folder.resolve()), str(half.resolve())]
        if not node or subprocess.run(command, capture_output=True).returncode:
            targets.say(NODE)
            return
        half.replace(compiled)
    with zipfile.ZipFile(compiled) as source:
        for name in (LIBRARY, PACKAGES):
            with zipfile.ZipFile(folder / name) as before:
                kept = {path: before.read(path) for path in before.namelist() if not path.endswith("/")}
            for path in source.namelist():
                archive, _, module = path.partition("/")
                if archive == name:
                    del kept[
                        module.removesuffix("c")
                    ]  # nobody reads it, and it is a sixth of what is fetched
                    kept[module] = source.read(path)
            with zipfile.ZipFile(folder / name, "w") as packed:
                for path, content in kept.items():
                    add(packed, path, content)
