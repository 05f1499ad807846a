"""In the place of piplite, which the kernel asks for by name and tells where packages are."""

import sys

from micropip import install

__all__ = ["install", "piplite"]
piplite = sys.modules["piplite.piplite"] = sys.modules[__name__]
