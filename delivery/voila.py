"""`Kernels`: one for each page that Voilà serves, as long as the page is there and memory is."""

from __future__ import annotations

from time import monotonic
from typing import Any

import psutil
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado.web import HTTPError

# s without a page: a network that is gone for a moment takes nobody's kernel away
LEFT = 60
# s for a page to come: over 1 Mbit/s, as when thirty share a line, it takes a minute
OPENING = 300
# Bytes that stay free, for the server and whatever else runs here
SPARE = 500e6
# Bytes of a kernel, as `python -m benchmarks.voila` counts them
EACH = 110e6
FULL = (
    "This computer has no memory left for another page. Close pages that nobody reads, "
    "and load this one again in a minute."
)


class Kernels(AsyncMappingKernelManager):  # type: ignore[misc] # it has no types
    """Ends a kernel when its page has gone, and starts none for which there is no memory.

    Jupyter's own rule looks at when a kernel was used last. A page that somebody has read for ten
    minutes would lose its kernel with the first moment without a network, and nobody would tell it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.alone: dict[str, float] = {}  # since when a kernel has no page
        self.had_page: set[str] = set()

    async def start_kernel(self, **options: Any) -> str:
        """Start a kernel for a page that is about to come."""
        if psutil.virtual_memory().available < SPARE + EACH:
            raise HTTPError(503, FULL)
        kernel: str = await super().start_kernel(**options)
        self.alone.setdefault(kernel, monotonic())
        return kernel

    def notify_connect(self, kernel_id: str) -> None:
        super().notify_connect(kernel_id)
        self.had_page.add(kernel_id)
        self.alone.pop(kernel_id, None)

    def notify_disconnect(self, kernel_id: str) -> None:
        super().notify_disconnect(kernel_id)
        if kernel_id in self and not self._kernel_connections.get(kernel_id):
            self.alone[kernel_id] = monotonic()

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        """End a kernel that has been alone for too long."""
        patience = LEFT if kernel_id in self.had_page else OPENING
        if monotonic() - self.alone.get(kernel_id, monotonic()) > patience:
            await self.shutdown_kernel(kernel_id)

    async def shutdown_kernel(self, kernel_id: str, *given: Any, **options: Any) -> None:
        await super().shutdown_kernel(kernel_id, *given, **options)
        self.alone.pop(kernel_id, None)
        self.had_page.discard(kernel_id)
