"""What each operator does, one family a file, written once for both clocks."""

# ruff: noqa: F401 - each module says by itself which methods of `Dataset` it is the operator of
from lessonkit.engine.operators import (
    batch,
    cache,
    combine,
    interleave,
    prefetch,
    select,
    shuffle,
    sources,
)
from lessonkit.engine.operators import map as map_
from lessonkit.engine.operators.base import EndlessError, Scope, Stream, open_whole

__all__ = ["EndlessError", "Scope", "Stream", "open_whole"]
