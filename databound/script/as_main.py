"""Runs a script, or a module, as `python` does: as the module `__main__`, with arguments of its own."""

import builtins
import importlib.machinery
import importlib.util
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType

from .told_errors import NotMeasuredError


class ScriptExitError(NotMeasuredError):
    """The script, *target*, ended by itself with an exit *code* that says that it failed."""

    def __init__(self, target: str, code: int | str) -> None:
        how = f" with exit code {code}" if isinstance(code, int) else f": {code}"
        super().__init__(f"{target} ended by itself{how}")
        self.code = code


@dataclass
class Program:
    """A script, or a module if it *is_module*, with its *arguments*.

    *folder* is the one from which it was started, as it may go to another. *has_run* says whether
    it has been begun before.
    """

    target: str
    arguments: list[str]
    is_module: bool = False
    folder: Path = field(default_factory=Path.cwd)
    has_run: bool = False

    def run(self) -> None:
        """Run it to its end. Raises what it raises, and ScriptExitError for an exit that failed.

        The first time its module becomes `__main__`, and stays it: what is sent to a worker that is
        spawned is looked up there. Another time it has names of its own, but is not looked up.
        """
        os.chdir(self.folder)  # an earlier run may have gone to another
        main, code = self.loaded()
        first = str(main.__file__) if self.is_module else self.target
        sys.argv = [first, *self.arguments]
        if not self.has_run:
            sys.modules["__main__"] = main
            self.has_run = True
        try:
            exec(code, vars(main))
        except SystemExit as end:
            if end.code not in (None, 0):
                raise ScriptExitError(self.target, end.code) from None

    def loaded(self) -> tuple[ModuleType, CodeType]:
        """Return a module `__main__` that is empty yet, and the code that fills it.

        Raises OSError or ImportError if there is none, and SyntaxError for what is none.
        """
        return self.loaded_module() if self.is_module else self.loaded_script()

    def loaded_script(self) -> tuple[ModuleType, CodeType]:
        """Load the file that is named; its folder comes first where modules are looked for."""
        folder = str((self.folder / self.target).resolve().parent)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        path = str(self.folder / self.target)
        with io.open_code(path) as file:
            text = file.read()
        code = compile(text, path, "exec", dont_inherit=True)
        return empty_main(path), code

    def loaded_module(self) -> tuple[ModuleType, CodeType]:
        """Find the module that is named, or the `__main__` of a package."""
        if str(self.folder) not in sys.path:
            sys.path.insert(0, str(self.folder))
        spec = importlib.util.find_spec(self.target)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{self.target}.__main__")
        code = None
        if spec is not None and isinstance(
            spec.loader, importlib.machinery.SourceFileLoader
        ):
            code = spec.loader.get_code(spec.name)
        if spec is None or code is None:
            raise ImportError(
                f"-m {self.target}: there is no module of that name to be run"
            )
        main = empty_main(spec.origin)
        main.__spec__ = spec
        main.__package__ = spec.parent
        return main, code


@contextmanager
def as_before() -> Iterator[None]:
    """Put back after the block what a program changes of this process by being `__main__`."""
    main = sys.modules["__main__"]
    arguments = sys.argv
    path = list(sys.path)
    folder = Path.cwd()
    try:
        yield
    finally:
        os.chdir(folder)
        sys.modules["__main__"] = main
        sys.argv = arguments
        sys.path[:] = path


def empty_main(file: str | None) -> ModuleType:
    """Return a module `__main__` of a *file*, with nothing in it."""
    main = ModuleType("__main__")
    main.__file__ = file
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    return main
