"""Stands before the package of this name, whose import takes 1.7 s at each start of Jupyter.

jsonschema asks for it, and goes on without: it is for addresses in other scripts than ours,
of which no schema of Jupyter's has one.
"""

raise ImportError("left out: see share/quick")
