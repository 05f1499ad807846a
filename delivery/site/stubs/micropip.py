"""In the place of micropip: the site installs nothing, and asks no other server for anything."""


async def install(*_: object, **__: object) -> None:
    """Refuse, in a sentence."""
    raise ImportError(
        "Nothing can be installed on this page: it asks no other server for anything."
    )
