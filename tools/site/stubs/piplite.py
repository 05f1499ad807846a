"""In the place of piplite, which the kernel asks for by name and tells where packages are."""

import sys

from micropip import install  # type: ignore[import-not-found] # it is beside this one

__all__ = ["install", "piplite"]
piplite = sys.modules["piplite.piplite"] = sys.modules[__name__]
