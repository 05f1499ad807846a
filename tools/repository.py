"""Say where the project is kept: in `pyproject.toml`, and in every document that names it.

python -m tools.repository NAME/PROJECT
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAME = re.compile(r"[\w.-]+/[\w.-]+")
NOWHERE = "OWNER/REPOSITORY"  # until somebody says it
# What nobody reads before that, because its links would be dead
WITH_AN_OWNER = re.compile(r"<!-- with an owner: (.*?) -->", re.S)


def kept_at(root: Path) -> str:
    """Return the owner and name of the repository that `pyproject.toml` under *root* names."""
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    (address,) = re.findall(r'^Repository = "(.+)"$', project, re.MULTILINE)
    return "/".join(address.split("/")[-2:])


def site_of(name: str) -> str:
    """Return the address at which GitHub publishes the site of the repository *name*.

    >>> site_of("ada/lessons"), site_of("ada/ada.github.io")
    ('https://ada.github.io/lessons/', 'https://ada.github.io/')
    """
    owner, _, project = name.partition("/")
    host = f"https://{owner}.github.io/"
    return host if project == f"{owner}.github.io" else f"{host}{project}/"


def move(root: Path, name: str) -> list[Path]:
    """Write the new *name* in the place of the old one under *root*; return the files that had it.

    Raises ValueError if *name* is not an owner and a project, with a slash between them.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r}: must be an owner and a project, as in ada/lessons")
    before = kept_at(root)
    changed = []
    for path in (
        root / "pyproject.toml",
        *sorted(root.glob("*.md")),
        *sorted((root / "docs").rglob("*.md")),
        *sorted((root / "notebooks").glob("*.ipynb")),
        *sorted((root / "docs").glob("*.html")),
    ):
        text = path.read_text(encoding="utf-8")
        shown = WITH_AN_OWNER.sub(r"\1", text)
        moved = shown.replace(site_of(before), site_of(name)).replace(before, name)
        if moved != text:
            path.write_text(moved, encoding="utf-8")
            changed.append(path)
    return changed


if __name__ == "__main__":
    try:
        print(*move(ROOT, *sys.argv[1:2] or [""]), sep="\n")
    except ValueError as error:
        sys.exit(str(error))
