"""Writes the arguments of a loader in the words of whoever makes it."""

from collections.abc import Mapping

from ..origin import InScript
from ..script.trainers import OF_TRANSFORMERS


def in_their_words(
    arguments: Mapping[str, object], script: InScript | None
) -> dict[str, object]:
    """Return *arguments* of a loader by the names that they have where a *script* sets them."""
    if script is None or not script.arguments:
        return dict(arguments)
    return {
        OF_TRANSFORMERS[name]: value
        for name, value in arguments.items()
        if name in OF_TRANSFORMERS  # it takes no others
    }


def as_call(arguments: Mapping[str, object], script: InScript | None) -> str:
    """Write *arguments* of a loader as a reader pastes them: at the line of the loader, or in a call."""
    told = ", ".join(
        f"{name}={value}" for name, value in in_their_words(arguments, script).items()
    )
    if script is None:
        return f"DataLoader(..., {told})"
    return f"{script.arguments}({told})" if script.arguments else told
