"""Small real data to try things on: images, the same in record files, and text; on disk or over HTTP."""

import io
import random
import string
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from pathlib import Path
from typing import Any

import numpy
from PIL import Image

from lessonkit import check

# Pixels of a side: what it takes to decode an image varies as in real data
SMALLEST, LARGEST = 96, 320
# In the language of the text; the n-th of them is n times as rare as the first
WORDS = 2000
LENGTH = struct.Struct("<I")  # of a record, before it
CHUNK = 16_384  # bytes that are sent at once
# S; a shorter wait is left for the next chunk, since a sleep takes longer than it should
SHORT = 0.005


def write_small_data(
    folder: str | Path, images: int = 300, shards: int = 4, lines: int = 3000
) -> Path:
    """Write real data into *folder*, the same on every call, and return the folder as a path.

    There are so many *images* as JPEGs, `images/0000.jpg` and so on; the same bytes in
    *shards* record files, `records/0.rec` and so on, for `read_records`; and a text of so
    many *lines*, `text.txt`. Files that are there already are written again.

    Raises TypeError or ValueError for numbers that are no counts.

    >>> import tempfile
    >>> from lessonkit.small_data import read_records, write_small_data
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = write_small_data(place, images=6, shards=2, lines=3)
    ...     first = next(read_records(folder / "records" / "0.rec"))
    ...     first == (folder / "images" / "0000.jpg").read_bytes()
    True
    """
    for name, count in {"images": images, "shards": shards, "lines": lines}.items():
        check.integer(name, count, least=1)
    folder, drawn = Path(folder), random.Random(0)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / "records").mkdir(exist_ok=True)
    pictures = [jpeg(numpy.random.default_rng(number)) for number in range(images)]
    for number, picture in enumerate(pictures):
        (folder / "images" / f"{number:04}.jpg").write_bytes(picture)
    for shard in range(shards):
        records = (LENGTH.pack(len(one)) + one for one in pictures[shard::shards])
        (folder / "records" / f"{shard}.rec").write_bytes(b"".join(records))
    words = [
        "".join(drawn.choices(string.ascii_lowercase, k=drawn.randint(2, 9)))
        for _ in range(WORDS)
    ]
    rare = [1 / number for number in range(1, WORDS + 1)]
    text = (
        " ".join(drawn.choices(words, rare, k=drawn.randint(5, 60))) for _ in range(lines)
    )
    (folder / "text.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    return folder


def jpeg(draw: numpy.random.Generator) -> bytes:
    """Make an image of soft spots with a little noise, of a size that *draw* chooses, as a JPEG."""
    sides = draw.integers(SMALLEST, LARGEST, 2)
    spots = Image.fromarray(draw.integers(0, 256, (8, 8, 3), "uint8")).resize(
        sides, Image.Resampling.BICUBIC
    )
    pixels = numpy.asarray(spots) + draw.normal(0, 12, (*sides[::-1], 1))
    file = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype("uint8")).save(file, "JPEG", quality=85)
    return file.getvalue()


def read_records(path: str | Path) -> Iterator[bytes]:
    """Give the records of the file at *path* one after another; raise ValueError where it is cut off."""
    with Path(path).open("rb") as file:
        while head := file.read(LENGTH.size):
            size = LENGTH.unpack(head)[0] if len(head) == LENGTH.size else 0
            record = file.read(size)
            if not size or len(record) < size:
                raise ValueError(f"{path}: ends within a record")
            yield record


@contextmanager
def served(
    folder: str | Path, bandwidth: float = inf, first_byte: float = 0
) -> Iterator[str]:
    """Serve *folder* over HTTP on this machine, as slowly as a storage far away; the block gets its address.

    All answers together take at most *bandwidth* bytes a second; each begins after
    *first_byte* seconds. Raises TypeError or ValueError for a bandwidth that is not above
    0, a time that is none, a missing folder.
    """
    check.duration("first_byte", first_byte)
    if bandwidth != inf:
        check.amount("bandwidth", bandwidth, "bytes a second", "above 0")
    if not Path(folder).is_dir():
        raise ValueError(f"folder={str(folder)!r}: must be a folder")
    server = SlowServer(("127.0.0.1", 0), partial(SlowAnswer, directory=str(folder)))
    server.bandwidth, server.first_byte = bandwidth, first_byte
    threading.Thread(target=server.serve_forever, args=(SHORT,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class SlowServer(ThreadingHTTPServer):
    """Its answers share a line of *bandwidth* bytes a second; each waits for its *first_byte*."""

    bandwidth, first_byte = inf, 0.0
    free = 0.0  # when all that was asked of the line will have been carried
    lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that has gone away."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def carry(self, nbytes: int) -> None:
        """Wait until *nbytes* more have been carried."""
        with self.lock:
            self.free = max(self.free, time.perf_counter()) + nbytes / self.bandwidth
            left = self.free - time.perf_counter()
        if left > SHORT:
            time.sleep(left)


class SlowAnswer(SimpleHTTPRequestHandler):
    """Answers as slowly as its server says."""

    server: SlowServer
    # A connection serves many requests, as those of a real storage do
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        time.sleep(self.server.first_byte)
        super().do_GET()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send *source* piece by piece."""
        while piece := source.read(CHUNK):
            self.server.carry(len(piece))
            outputfile.write(piece)

    def log_message(self, *said: Any) -> None:
        """Say nothing."""
