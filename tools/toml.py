"""Reads TOML with every Python that the project runs on: 3.10 has no tomllib."""

import sys

if sys.version_info >= (3, 11):
    from tomllib import loads
else:
    from tomli import loads  # JupyterLab brings it there

__all__ = ["loads"]
