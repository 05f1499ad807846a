"""In the place of IPython's terminal, which a page has not, and which would bring two packages along."""

from typing import NoReturn


def embed(**_: object) -> NoReturn:
    """Refuse, in a sentence."""
    raise RuntimeError("A page has no terminal for another IPython.")
