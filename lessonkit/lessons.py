"""The lessons, and a learner's copies of them: what a learner has written is never overwritten."""

import json
import os
from contextlib import suppress
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

CLONE = Path(__file__).parent.parent / "notebooks"
INSTALLED_LESSONS = "share/lessonkit/notebooks/*.ipynb"  # as in pyproject.toml
# Beside the copies: for each, which version of its lesson it is a copy of
RECORD = ".lessonkit.json"


def lessons() -> list[Path]:
    """Return the notebooks that ship with this package: in its installation, or else in its clone."""
    files: list[metadata.PackagePath] = []
    with suppress(metadata.PackageNotFoundError):
        files = metadata.files("lessonkit") or []
    installed = [
        Path(str(path.locate())).resolve()
        for path in files
        if path.match(INSTALLED_LESSONS)
    ]
    return sorted(installed or CLONE.glob("*.ipynb"))


def copy_lessons(folder: Path) -> list[str]:
    """Copy the lessons into *folder*, and bring copies up to date that a learner has not changed.

    Return the names of those that were left as they are although their lesson has a newer version.
    """
    folder.mkdir(parents=True, exist_ok=True)
    record, newer = read(folder / RECORD), []
    for lesson in lessons():
        copy, known = folder / lesson.name, record.get(lesson.name)
        missing = not copy.exists()  # asked first: somebody else may be copying
        there, ours = version(copy), version(lesson)
        renewed = missing or there == known != ours
        for file in beside(lesson):
            if renewed or not (folder / file.name).exists():
                put(folder / file.name, file.read_bytes())
        if renewed:
            # Without its mode: an installation may be read-only
            put(copy, lesson.read_bytes())
        elif there != ours:
            newer += [lesson.name] if known != ours else []
            continue
        record[lesson.name] = ours
    put(folder / RECORD, json.dumps(record, indent=1).encode())
    return newer


def put(path: Path, content: bytes) -> None:
    """Write *content* to *path* in one step: nobody who copies at the same time finds half of it."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    half.write_bytes(content)
    half.replace(path)


def beside(notebook: Path) -> list[Path]:
    """List what belongs to a *notebook*: the answers to its questions, what it measured."""
    # Not the halves that `put` writes
    return sorted(notebook.parent.glob(f"[!.]*_{notebook.name[:2]}.*"))


def version(notebook: Path) -> str:
    """Return a digest of what is written in the cells of a *notebook*; of a file that is none, nothing.

    What is beside it belongs to it. JupyterLab saves outputs, counts and widgets even if
    nobody wrote anything, and an empty cell after the last one that was run.
    """
    cells = read(notebook).get("cells", [])
    written = [(cell.get("cell_type"), "".join(cell.get("source", ""))) for cell in cells]
    written = [(kind, source) for kind, source in written if source.strip()]
    written += [(file.name, file.read_text(encoding="utf-8")) for file in beside(notebook)]
    return sha256(repr(written).encode()).hexdigest() if cells else ""


def read(path: Path) -> dict[str, Any]:
    """Return what a JSON file holds; nothing if it is missing or broken."""
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}
