"""Lets a script write, while it only measures, without a file of anybody's becoming another one.

A checkpoint of a real training may lie where this one writes its own, and be opened by the script itself:
`open("last.pt", "wb")` empties it before a single byte is saved.
"""

import os
import shutil
import tempfile
from pathlib import Path

# Folders of files that are made again when they are missing: of the home, and by what names them
OF_HOME = (".cache", ".nv", ".triton")
NAMED_BY = (
    "HF_HOME",
    "NUMBA_CACHE_DIR",
    "TORCH_HOME",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "XDG_CACHE_HOME",
)


class Shadows:
    """The files that a script wrote to in place of those that it named.

    A file that was there before the script is never written over, and a file of bytes, such as a model,
    is not made: what the script writes goes into a temporary file, its shadow, and what it reads
    from there comes from the shadow. Text that it writes to a new file, such as a log, stays.
    *own* are the paths of the files that the script has made.
    """

    def __init__(self) -> None:
        self.own = set[str]()
        self.paths = dict[str, str]()  # of shadows, by the paths that the script names
        self.folder = ""

    def instead_of(self, path: str, mode: str) -> str:
        """Return the path at which a file is opened that the script, which trains, opens at *path*.

        *mode* is that of `open`.
        """
        whole = os.path.abspath(path)
        if whole in self.paths:
            return self.paths[whole]
        truncates = "w" in mode
        if is_temporary(whole) or not (truncates or "x" in mode):
            return path
        if "b" in mode or (truncates and self.is_of_others(whole)):
            return self.made_for(whole)
        self.own.add(whole)
        return path

    def note_own(self, path: str, mode: str) -> None:
        """Note that a file is made at *path* before the script trains, if *mode* says so."""
        whole = os.path.abspath(path)
        if "w" in mode or ("a" in mode and not os.path.isfile(whole)):
            self.own.add(whole)

    def takes(self, source: str, target: str, *, is_copy: bool) -> bool:
        """Move or copy a file that has a shadow, or one to where a file of others is; False for any other.

        A file of others is copied in any case: shadows are deleted in the end.
        """
        whole = os.path.abspath(source)
        over = os.path.abspath(target)
        has_shadow = whole in self.paths or over in self.paths
        is_kept = self.is_of_others(over) and not is_temporary(over)
        if not has_shadow and not is_kept:
            return False
        stays = is_copy or self.is_of_others(whole)
        put = shutil.copyfile if stays else shutil.move
        put(self.paths.get(whole, source), self.made_for(over))
        return True

    def is_of_others(self, path: str) -> bool:
        """Whether a file lies at a whole *path* that the script has not made."""
        return path not in self.own and os.path.isfile(path)

    def made_for(self, path: str) -> str:
        """Return the path of the shadow of a file at a whole *path*."""
        if not self.folder:
            self.folder = tempfile.mkdtemp(prefix="databound-")
        name = f"{len(self.paths)}-{os.path.basename(path)}"
        return self.paths.setdefault(path, os.path.join(self.folder, name))

    def end(self) -> None:
        """Delete all shadows."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def goes_to(source: str, target: str) -> str:
    """Return the path that a file from *source* gets at a *target*, which may be a folder."""
    if os.path.isdir(target):
        return os.path.join(target, os.path.basename(source))
    return target


def is_temporary(path: str) -> bool:
    """Whether a *path* is of no file that anybody keeps: libraries write their caches, too."""
    whole = Path(os.path.abspath(path))
    home = Path(os.path.expanduser("~"))
    named = [os.environ[name] for name in NAMED_BY if os.environ.get(name)]
    folders = ["/dev", "/proc", tempfile.gettempdir(), *named]
    folders += [str(home / name) for name in OF_HOME]
    return any(whole.is_relative_to(folder) for folder in folders)
