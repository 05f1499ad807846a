"""Lets Jupyter trust the lessons, and so each copy in which nobody has changed anything.

Otherwise it would hide some of what is stored in them, and say of each that it is not
trusted. What somebody has written into a copy is signed when it is saved in Jupyter.
"""

import nbformat
from nbformat.sign import NotebookNotary

from lessonkit.lessons import lessons


def main() -> None:
    """Sign them for this user's Jupyter."""
    notary = NotebookNotary()
    for lesson in lessons():
        notary.sign(nbformat.read(lesson, as_version=4))
    notary.store.close()


if __name__ == "__main__":
    main()
