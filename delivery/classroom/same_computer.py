"""Whose program is at the other end of a connection that comes from this computer.

A Hub's proxy and the learners' own programs run on one computer, and so come from one address. What
tells them apart is whose they are: the proxy's is the user's who runs this server, or root's.
"""

from __future__ import annotations

import os
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

TABLES = Path("/proc/net/tcp"), Path("/proc/net/tcp6")  # Linux has them
ESTABLISHED = "01"  # of one that was closed the tables say that it is root's
ROOT = 0


def as_listed(address: str, port: int) -> str:
    """Write one end of a connection as the tables do: each word of four bytes backwards."""
    packed = ip_address(address).packed
    words = (packed[start : start + 4] for start in range(0, len(packed), 4))
    return f"{''.join(word[::-1].hex() for word in words).upper()}:{port:04X}"


def owner(address: str, port: int) -> int | None:
    """Return whose connection begins there, as a number; None if it has ended."""
    begins = f": {as_listed(address, port)} "  # after the number of a line
    for table in TABLES:
        with suppress(OSError):
            _, found, rest = table.read_text().partition(begins)
            if found:
                _, state, _, _, _, user, *_ = rest.split(maxsplit=6)
                return int(user) if state == ESTABLISHED else None
    return None


def stranger(address: str, port: int) -> str:
    """Return who comes from a port of this computer, in words; "" if it is one of ours.

    A system without such tables, and an address of another computer, say nothing: "".
    """
    if not (TABLES[0].exists() and ip_address(address).is_loopback):
        return ""
    user = owner(address, port)
    if user in (ROOT, os.geteuid()):
        return ""
    return "somebody on this computer" if user is None else f"user {user} of this computer"
