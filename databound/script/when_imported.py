"""Does something when a module has been imported, by whoever imports it."""

import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class Finder(MetaPathFinder):
    """Finds a module of a *name* as Python does, and calls *then* when it has been run."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self.name = name
        self.then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what the other finders find."""
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = Following(spec.loader, self.then)
        return spec


class Following(Loader):
    """Loads a module as *loader* does, and then calls *then* with it."""

    def __init__(self, loader: Loader, then: Callable[[ModuleType], None]) -> None:
        self.loader = loader
        self.then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create it as the other loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run it as the other loader does, whose module it is from then on.

        A module may put another one in its place.
        """
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.then(sys.modules[module.__name__])


@contextmanager
def when_imported(name: str, then: Callable[[ModuleType], None]) -> Iterator[None]:
    """Call *then* with the module of a *name*: at once, or when it is imported in the block."""
    finder = Finder(name, then)
    if name in sys.modules:
        then(sys.modules[name])
    else:
        sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
