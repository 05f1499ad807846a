"""The lessons and a learner's copies of them. Nothing that a learner has written is overwritten."""

import json
import os
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

CLONE = Path(__file__).parent.parent / "notebooks"
# A file beside the copies: the version of the lesson that each file was copied from
RECORD = ".lessonkit.json"


def lessons() -> list[Path]:
    """Return the notebooks that ship with this package, installed or in its clone."""
    files: Iterable[metadata.PackagePath] = ()
    with suppress(metadata.PackageNotFoundError):
        files = metadata.files("lessonkit") or ()
    folder = "share/lessonkit/notebooks/*.ipynb"  # as in pyproject.toml
    ours = (path.locate() for path in files if path.match(folder))
    installed = [Path(str(path)).resolve() for path in ours]
    return sorted(installed or CLONE.glob("*.ipynb"))


def find_answers() -> None:
    """Let Python find what lies beside the lessons, if a notebook was opened without it.

    In a browser there are no lessons, and what lies beside them is in Python's path.
    """
    folders = {str(lesson.parent) for lesson in lessons()}
    sys.path += folders.difference(sys.path)


def copy_lessons(folder: Path) -> list[str]:
    """Copy the lessons into *folder*, and update the copies that a learner has not changed.

    Return the names of the lessons that have a newer version, but whose copies were changed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    record = read_object(folder / RECORD)
    outdated: list[str] = []
    for lesson in lessons():
        copy = folder / lesson.name
        copied = record.get(lesson.name)  # the version that it was copied from
        # Asked before anything is read: another process may be copying.
        is_missing = not copy.exists()
        names = {file.name for file in files_of(lesson)}
        shipped = digest(lesson, names)
        present = digest(copy, names)
        # The files of an older version, which the record knows, may have been others.
        is_unchanged = copied in (present, digest(copy, record))
        is_renewed = is_missing or (is_unchanged and copied != shipped)
        for name in names:
            if is_renewed or not (folder / name).exists():
                write(folder / name, lesson.with_name(name).read_bytes())
        if is_renewed:
            write(copy, lesson.read_bytes())
        elif present != shipped:
            if copied != shipped:
                outdated.append(lesson.name)
            continue
        record |= dict.fromkeys([lesson.name, *names], shipped)
    write(folder / RECORD, json.dumps(record, indent=1).encode())
    return outdated


def write(path: Path, content: bytes) -> None:
    """Replace *path* in one step, so that a process that copies meanwhile never reads half of it.

    The permissions are those of a new file: an installation may be read-only.
    """
    half = path.with_name(f".{path.name}.{os.getpid()}")
    half.write_bytes(content)
    half.replace(path)


def files_of(notebook: Path) -> list[Path]:
    """List the files beside a *notebook* that have its number: its answers, what it measured."""
    # `write` begins its unfinished files with a dot.
    found = sorted(notebook.parent.glob(f"[!.]*_{notebook.name[:2]}.*"))
    return [path for path in found if path.is_file()]


def digest(notebook: Path, names: Collection[str]) -> str:
    """Return a digest of the text in the cells of *notebook* and in its files of these *names*.

    It is "" if *notebook* is missing or is no notebook. JupyterLab saves outputs, counts and
    widgets even if nothing was written, and an empty cell after the last one that was run.
    """
    try:
        cells = read_object(notebook)["cells"]
        written = [
            (cell.get("cell_type"), "".join(cell.get("source", ""))) for cell in cells
        ]
    except (AttributeError, KeyError, TypeError):
        return ""
    written = [(kind, source) for kind, source in written if source.strip()]
    for file in files_of(notebook):
        if file.name in names:
            written.append((file.name, file.read_text(encoding="utf-8", errors="replace")))
    return sha256(repr(written).encode()).hexdigest() if cells else ""


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, and {} if the file is missing or holds anything else."""
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    return {}
