"""The operators, one family per file, each written once for both clocks."""

# ruff: noqa: F401, A004 - each module says by itself which methods of `Dataset` it implements
from . import (
    batch,
    cache,
    combine,
    interleave,
    map,
    map_and_batch,
    map_and_filter,
    prefetch,
    select,
    shuffle,
    source,
)
