"""Imports what no lesson does: most modules of Python's library. It comes when somebody asks for it.

`left_out.txt` beside this file names these modules, `more.zip` beside Python's runtime has them.
"""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from zipimport import zipimporter

HERE = Path(__file__).parent
ARCHIVE = Path("/lib/more.zip")


class Finder:
    """Finds what is left out."""

    names: frozenset[str] = frozenset()
    address = ""  # of the archive

    @classmethod
    def find_spec(
        cls, name: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Find a module, after those that have looked for it in what is here."""
        if name not in cls.names:
            return None
        if not ARCHIVE.exists():
            ARCHIVE.write_bytes(fetched(cls.address))
        package = "/".join(name.split(".")[:-1])
        return zipimporter(str(ARCHIVE / package)).find_spec(name)


def fetched(address: str) -> bytes:
    """Return a file, for which an import has to wait."""
    from js import XMLHttpRequest  # type: ignore[import-not-found]

    asked = XMLHttpRequest.new()
    asked.open("GET", address, False)
    asked.responseType = "arraybuffer"
    asked.send()
    return bytes(asked.response.to_bytes())


def look_for_more(address: str) -> None:
    """Find from now on also what is left out, at this *address*."""
    if names := __loader__.get_data(str(HERE / "left_out.txt")):  # type: ignore[name-defined]
        Finder.names = frozenset(names.decode().split())
        Finder.address = address
        sys.meta_path.append(Finder)
