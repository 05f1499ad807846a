"""`Doors`: a server that one device cannot close to all others."""

from __future__ import annotations

import socket
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerRequest
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream

from delivery.classroom.same_computer import stranger

# A browser has up to seven; and a school may come from one address.
PER_ADDRESS = 400
RESERVED = 100  # files for everything else, such as the lessons that are read
WITHOUT_LIMIT = 4096  # connections, where the system does not say how many it allows
AGAIN = 0.5  # s, from a pause to the next look whether somebody has gone
AT_A_TIME = 128  # connections are accepted before others have their turn
TIMEOUTS = {"idle_connection_timeout": 10, "body_timeout": 10, "max_body_size": 10_000}


def let_many_come() -> int:
    """Allow as many open files as the system lets us; return how many connections that is."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard == resource.RLIM_INFINITY:  # which macOS does not take
            hard = max(soft, 10_240)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return hard - RESERVED
    return WITHOUT_LIMIT


class Doors(HTTPServer):
    """An HTTP server that counts connections when they come.

    No address but that of the *proxy* has more than PER_ADDRESS, and all together no more than
    *most*: then nobody is let in until somebody goes. Another user's program on the proxy's
    computer is not the proxy. *warn* gets a sentence for the teacher.
    """

    def initialize(  # type: ignore[override]
        self,
        *given: Any,
        most: int,
        warn: Callable[[str], None],
        proxy: str = "",
        **more: Any,
    ) -> None:
        super().initialize(*given, **{**TIMEOUTS, **more})
        self.most = most
        self.warn = warn
        self.proxy = proxy
        self.listening: list[socket.socket] = []
        self.inside: dict[str, set[IOStream]] = defaultdict(set)
        self.is_paused = False

    def add_sockets(self, sockets: Iterable[socket.socket]) -> None:
        for one in sockets:
            self.listening.append(one)
            IOLoop.current().add_handler(one, self.come, IOLoop.READ)

    def come(self, listening: Any, _: int) -> None:
        """Let in who waits at a listening socket."""
        for _ in range(AT_A_TIME):
            if self.is_paused:
                return
            try:
                connection, (address, port, *_) = listening.accept()
            except BlockingIOError:
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                self.pause(error.strerror or str(error))
                return
            who = stranger(address, port) if address == self.proxy else ""
            self.let_in(connection, who or str(address))

    def let_in(self, connection: socket.socket, address: str) -> None:
        """Serve a connection, or end it at once if its address has too many."""
        mine = self.inside[address]
        mine.difference_update([one for one in mine if one.closed()])
        if len(mine) >= PER_ADDRESS and address != self.proxy:
            connection.close()
            self.warn(
                f"{address} has more than {PER_ADDRESS} connections; more are refused."
            )
            return
        stream = IOStream(
            connection, self.max_buffer_size, read_chunk_size=self.read_chunk_size
        )
        mine.add(stream)
        self.handle_stream(stream, (address, 0))
        if self.count() >= self.most:
            self.pause(f"{self.most} connections are open")

    def count(self) -> int:
        """Count the connections; only if they may be too many those that have gone since."""
        if sum(map(len, self.inside.values())) >= self.most:
            for address, streams in [*self.inside.items()]:
                streams.difference_update([one for one in streams if one.closed()])
                if not streams:
                    del self.inside[address]
        return sum(map(len, self.inside.values()))

    def pause(self, why: str) -> None:
        """Let nobody in for a moment; they wait in the system's queue."""
        self.is_paused = True
        self.warn(f"No more can come in for now: {why}.")
        for one in self.listening:
            IOLoop.current().remove_handler(one)
        IOLoop.current().call_later(AGAIN, self.go_on)

    def go_on(self) -> None:
        """Let others in again, if somebody has gone."""
        if not self.listening:  # it has ended meanwhile
            return
        if self.count() >= self.most:
            IOLoop.current().call_later(AGAIN, self.go_on)
            return
        self.is_paused = False
        for one in self.listening:
            IOLoop.current().add_handler(one, self.come, IOLoop.READ)

    def stop(self) -> None:
        """Close the doors; who is inside stays."""
        for one in self.listening:
            if not self.is_paused:
                IOLoop.current().remove_handler(one)
            with suppress(OSError):
                one.close()
        self.listening = []


def address_of(request: HTTPServerRequest, proxy: str = "") -> str:
    """Return from where a request comes: as the *proxy* says, if that is who brings it.

    A proxy adds an address to those that a client may have made up, so the last one counts.
    """
    address = str(request.remote_ip)
    if address != proxy:
        return address
    forwarded = ",".join(request.headers.get_list("X-Forwarded-For"))
    return forwarded.rpartition(",")[2].strip() or address
