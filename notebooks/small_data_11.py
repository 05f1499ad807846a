"""Small real data for lesson 11: images and text, on disk or over HTTP."""

import io
import random
import string
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

from lessonkit.engine import check

# Pixels of a side: what it takes to decode an image varies as in real data
SMALLEST, LARGEST = 96, 320
# In the language of the text; the n-th of them is n times as rare as the first
WORDS = 2000
CHUNK = 16_384  # bytes that are sent at once
# s; a shorter wait is left for the next chunk, since a sleep takes longer than it should
SHORT = 0.005


def write_small_data(folder: str | Path, images: int = 300, lines: int = 3000) -> Path:
    """Write real data into *folder*, the same on every call, and return the folder as a path.

    It gets as many *images* as asked for, JPEGs called `images/0000.jpg` and so on, and
    `text.txt` of as many *lines*. Files that are there already are written again.

    Raises TypeError or ValueError for numbers that are no counts.
    """
    for name, count in {"images": images, "lines": lines}.items():
        check.integer(name, count, least=1)
    folder, drawn = Path(folder), random.Random(0)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for number in range(images):
        picture = jpeg(numpy.random.default_rng(number))
        (folder / "images" / f"{number:04}.jpg").write_bytes(picture)
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
    """Return a JPEG of soft spots with a little noise, of a size that *draw* chooses."""
    sides = draw.integers(SMALLEST, LARGEST, 2)
    spots = Image.fromarray(draw.integers(0, 256, (8, 8, 3), "uint8")).resize(
        sides, Image.Resampling.BICUBIC
    )
    pixels = numpy.asarray(spots) + draw.normal(0, 12, (*sides[::-1], 1))
    file = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype("uint8")).save(file, "JPEG", quality=85)
    return file.getvalue()


@contextmanager
def served(
    folder: str | Path, bandwidth: float = inf, first_byte: float = 0
) -> Iterator[str]:
    """Serve *folder* over HTTP, as slowly as storage far away; the block gets its address.

    All answers together take at most *bandwidth* bytes per second; each begins after
    *first_byte* seconds. Raises TypeError or ValueError for a bandwidth that is not above
    0, for *first_byte* that is no time, and for a missing folder.
    """
    check.amount("first_byte", first_byte)
    if bandwidth != inf:
        check.amount("bandwidth", bandwidth, "bytes per second", "above 0")
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
    """A server whose answers share *bandwidth*, and begin after *first_byte* seconds."""

    bandwidth, first_byte = inf, 0.0
    free = 0.0  # when all bytes that were to be sent will have been sent
    lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that has gone away."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def delay(self, nbytes: int) -> None:
        """Wait until *nbytes* more would have been sent."""
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
            self.server.delay(len(piece))
            outputfile.write(piece)

    def log_message(self, *said: Any) -> None:
        """Say nothing."""
