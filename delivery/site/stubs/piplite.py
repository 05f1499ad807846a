"""In the place of piplite, which the kernel asks for by name and tells where packages are."""

import sys
import warnings

from micropip import install  # type: ignore[import-not-found] # it is beside this one

__all__ = ["install", "piplite"]
piplite = sys.modules["piplite.piplite"] = sys.modules[__name__]
# What a lesson is warned of, such as workers that are no processes here, is a sentence for
# its reader.
warnings.showwarning = lambda message, *_, **__: print(message)
