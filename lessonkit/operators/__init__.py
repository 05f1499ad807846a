"""What each operator does, one family a file, written once for both clocks."""

from lessonkit.operators import batch, cache, combine, interleave, map, prefetch, select, shuffle, sources

__all__ = ["batch", "cache", "combine", "interleave", "map", "prefetch", "select", "shuffle", "sources"]
