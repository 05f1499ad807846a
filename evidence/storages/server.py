"""A real storage on 127.0.0.1 that limits its bytes per second, as a link that sends packets does.

It knows nothing of fluid models. A packet takes its bytes divided by the bandwidth on the link. The next
packet belongs to the stream that has had least since it came (start-time fair queueing), among those that
may send: with a cap, a stream may not send before the start of its last packet plus that packet's bytes
divided by the cap. A request that finds as many others in service as there are streams waits its turn,
first come, first served. Its first byte may go *first_byte* seconds after it has its turn, and it keeps
its turn until its last byte is sent.

A client sends `G<size>` and a newline, and gets so many bytes. `R<json>` and a newline sets the limits.

python -m evidence.storages.server FILE_FOR_THE_PORT
"""

import json
import os
import select
import socket
import sys
from collections import deque
from dataclasses import dataclass
from time import perf_counter

PACKET = 4096  # bytes, at most
SHORT = 0.003  # s: with a cap, a packet is at most so much of it, so that the cap is smooth
MADE_UP = 4  # packets by which a stream that waited for the link may be ahead of its cap
SOON = 0.0005  # s: whoever may send so soon is waited for, without looking for others
ZEROS = memoryview(bytes(PACKET))


@dataclass
class Limits:
    """What the storage allows: bytes per second, and of each stream; streams at a time; the delay."""

    bandwidth: float = 1e7
    cap: float | None = None
    streams: int | None = None
    first_byte: float = 0.0

    @property
    def packet(self) -> int:
        """The bytes of a whole packet."""
        return min(PACKET, int(SHORT * self.cap)) if self.cap else PACKET


@dataclass(eq=False)
class Stream:
    """A request in service."""

    sock: socket.socket
    left: int  # bytes
    may: float  # not before this time
    served: int  # where it stands in the round, in bytes


@dataclass(frozen=True)
class Packet:
    """What is on the link: bytes of a stream, or of none while nobody may send."""

    stream: Stream | None
    size: int
    at: float  # when its last bit has left


class Server:
    """The storage. Invariant: at most one packet is on the link, and *free* is when it has left."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.limits = Limits()
        self.unread: dict[
            socket.socket, bytes
        ] = {}  # of each client, what is not a line yet
        self.round: list[Stream] = []
        self.queue: deque[tuple[socket.socket, int]] = deque()
        self.served = 0  # where the stream of the packet on the link stands
        self.free = 0.0
        self.packet: Packet | None = None

    def serve(self) -> None:
        """Serve for ever."""
        while True:
            if self.packet is None:
                self.packet = self.choose()
            timeout = max(0.0, self.packet.at - perf_counter()) if self.packet else None
            ready, _, _ = select.select([self.listener, *self.unread], [], [], timeout)
            for sock in ready:
                if sock is self.listener:
                    self.welcome()
                else:
                    self.hear(sock)
            while self.packet and perf_counter() >= self.packet.at:
                self.send(self.packet)
                self.packet = self.choose()

    def welcome(self) -> None:
        """Take a new client."""
        client, _ = self.listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.unread[client] = b""

    def hear(self, sock: socket.socket) -> None:
        """Take what a client says: limits, or requests."""
        at = perf_counter()
        data = sock.recv(PACKET)
        if not data:
            del self.unread[sock]
            sock.close()
            return
        *lines, self.unread[sock] = (self.unread[sock] + data).split(b"\n")
        for line in lines:
            if line.startswith(b"R"):
                self.limits = Limits(**json.loads(line[1:]))
                self.free = 0.0
                self.packet = None
                sock.sendall(b"ok")
            else:
                self.queue.append((sock, int(line[1:])))
        self.admit(at)

    def admit(self, at: float) -> None:
        """Give a turn to whoever waits for one, while there are streams."""
        said = self.limits
        while self.queue and (not said.streams or len(self.round) < said.streams):
            sock, size = self.queue.popleft()
            may = at + said.first_byte
            if said.cap:  # the first packet has left when the cap would have let it
                first = min(said.packet, size)
                may += max(0.0, first / said.cap - first / said.bandwidth)
            self.round.append(Stream(sock, size, may, self.served))
            if self.packet and self.packet.stream is None:
                self.packet = None  # the link only waited: look again

    def choose(self) -> Packet | None:
        """Put on the link what the stream that had least may send, when the link is free."""
        if not self.round:
            return None
        said = self.limits
        start = max(self.free, min(stream.may for stream in self.round))
        if start > perf_counter() + SOON and start > self.free:
            return Packet(
                None, 0, start
            )  # nobody may send yet, and somebody may come before
        ready = [stream for stream in self.round if stream.may <= start]
        for (
            stream
        ) in ready:  # who comes, or could not send meanwhile, has nothing to make up for
            stream.served = max(stream.served, self.served)
        stream = min(ready, key=lambda one: one.served)
        self.served = stream.served
        size = min(said.packet, stream.left)
        self.free = start + size / said.bandwidth
        stream.served += size
        if said.cap:
            following = min(said.packet, stream.left - size)
            earliest = start - MADE_UP * said.packet / said.cap
            stream.may = max(stream.may, earliest) + following / said.cap
        return Packet(stream, size, self.free)

    def send(self, packet: Packet) -> None:
        """Hand the bytes of a packet over; after the last ones somebody else has a turn."""
        stream = packet.stream
        if stream is None:
            return
        stream.sock.setblocking(True)
        stream.sock.sendall(ZEROS[: packet.size])
        stream.left -= packet.size
        if not stream.left:
            self.round.remove(stream)
            self.admit(packet.at)


def main() -> None:
    """Serve, and write the port into the file that the command line names."""
    server = Server()
    path = sys.argv[1]
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(str(server.listener.getsockname()[1]))
    os.rename(f"{path}.new", path)  # whoever sees the file sees all of it
    server.serve()


if __name__ == "__main__":
    main()
