"""What a reference names: `mine.py:loader`, `folder/mine.py:loader` or `package.mine:loader`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from .patching import Line
from .told_errors import NotMeasuredError


def is_reference(word: str) -> bool:
    """Whether a *word* names something in a module, and is no file itself."""
    return ":" in word and not Path(word).exists()


def module_of(reference: str) -> str:
    """Return the name of the module that a *reference* is to; its folder can be imported from then.

    A file in a package is that module of the package, for it may import its neighbours. Raises
    NotMeasuredError, whose message is a sentence, for what is no reference.
    """
    where, _, name = reference.rpartition(":")
    if not where or not name:
        raise NotMeasuredError(
            f"{reference}: must be as mine.py:loader or package.mine:loader"
        )
    if not where.endswith(".py"):
        import_from("")
        return where
    file = Path(where).resolve()
    if not file.is_file():
        raise NotMeasuredError(f"{where}: there is no such file")
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    import_from(str(folder))
    return ".".join(parts)


def import_from(folder: str) -> None:
    """Let modules be looked for in a *folder* first."""
    if folder not in sys.path:
        sys.path.insert(0, folder)


def named(reference: str) -> Any:
    """Return what a *reference* names. Raises what its module raises, and AttributeError if it has none."""
    _, _, name = reference.rpartition(":")
    return resolve_name(f"{module_of(reference)}:{name}")


class AsTheyAre:
    """Hooks that change nothing: loaders only know where they were made."""

    def iterate(self, loader: Any, begin: Any, line: Line | None) -> Iterator[Any]:
        """Return PyTorch's own iterator."""
        iterator: Iterator[Any] = begin()
        return iterator

    def length(self, loader: Any, known: int) -> int:
        """Return the true length."""
        return known
