"""Builds the lessons as a site of static files into build/site, and serves it on this computer if asked.

    python -m delivery.site [--serve [PORT]] [--to FOLDER] [--address URL] [--pyodide PATH]

What is fetched is kept in build/cache, so a second time needs no network. A site that could not be
completed is never left: the one from before stays.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import shutil
from pathlib import Path
from time import perf_counter
from typing import Any

from delivery.site import fetch, pages, python, symptoms
from tools import repository, targets

ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = ROOT / "build" / "cache"
SITE = ROOT / "build" / "site"
PORT = 8000
MADE_OF = ("lessonkit", "databound", "notebooks", "delivery/site")


def build(to: Path = SITE, full: Path | None = None, address: str = "") -> None:
    """Build the site in *to*, with a *full* Pyodide if one is given; not if it is there, made of the same.

    Where it will be found, *address* says, or else what `pyproject.toml` says of the repository.
    """
    name = repository.kept_at(ROOT).replace(repository.NOWHERE, "")
    address = address or (name and repository.site_of(name))
    address = address and f"{address.rstrip('/')}/"
    CACHE.mkdir(parents=True, exist_ok=True)
    inputs: dict[str, Any] = {
        "inputs": pages.sum_of(*(ROOT / name for name in MADE_OF)),
        "node": shutil.which("node"),
    }
    inputs |= {"repository": name, "address": address}
    inputs |= {
        "licences": [
            path.read_text(encoding="utf-8")
            for path in (pages.LICENCE, pages.LICENCE_OF_TEXTS)
        ]
    }
    inputs |= {"answers": symptoms.answers(), "own job": symptoms.own_job(name)}
    if full:
        inputs["pyodide"] = f"{full} {full.stat().st_mtime_ns if full.exists() else ''}"
    if (to / "built.json").exists() and json.loads(
        (to / "built.json").read_text()
    ) == inputs:
        targets.say(f"The site in {shown(to)} is up to date.")
        return
    began = perf_counter()
    wheels = fetch.wheels(CACHE)
    pyodide = full or fetch.pyodide(CACHE)
    wanted = python.OF_FULL if full else ()
    new = to.with_name(to.name + ".new")
    old = to.with_name(to.name + ".old")
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    try:
        targets.say("Packing Python.")
        python.pack(wheels, pyodide, wanted, new / "python", CACHE)
        (new / "python").rename(new / f"python-{pages.sum_of(new / 'python')}")
        targets.say("Putting the pages together.")
        pages.assemble(wheels, new, name, address)
        pages.compress(new)
        (new / "built.json").write_text(json.dumps(inputs), encoding="utf-8")
        if to.exists():
            to.rename(old)
        new.rename(to)
    finally:
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)
    files = [path for path in to.rglob("*") if path.is_file() and path.suffix != ".gz"]
    size = sum(path.stat().st_size for path in files)
    targets.say(
        f"The site is in {shown(to)}: {size / 1e6:.0f} MB, after {perf_counter() - began:.0f} s."
    )


def shown(path: Path) -> str:
    """Return a path as one would type it here."""
    return os.path.relpath(path)


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves files, compressed where the browser takes that, and says nothing of each."""

    packed = False

    def send_head(self) -> Any:
        """Send the headers of a file; return what is to follow them, and nothing if nothing is."""
        path = self.translate_path(self.path)
        self.packed = (
            "gzip" in self.headers.get("Accept-Encoding", "")
            and Path(f"{path}.gz").is_file()
        )
        if self.packed:
            self.path = self.path.partition("?")[0] + ".gz"
        return super().send_head()

    def guess_type(self, path: Any) -> str:
        """Return the kind of a file, also of one that is sent compressed."""
        return super().guess_type(str(path).removesuffix(".gz") if self.packed else path)

    def end_headers(self) -> None:
        """Tell a browser that a file is compressed."""
        if self.packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Vary", "Accept-Encoding")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


def serve(folder: Path, port: int) -> None:
    """Serve *folder* on this computer alone, until Ctrl+C."""
    try:
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", port), functools.partial(Files, directory=str(folder))
        )
    except OSError:
        targets.stop(
            f"Port {port} is taken: choose another one, as in: make site ARGS='--serve {port + 1}'"
        )
    targets.say(
        f"The lessons are at http://127.0.0.1:{server.server_port}/ ; Ctrl+C ends it."
    )
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def main() -> None:
    """Build, and serve if asked."""
    parser = argparse.ArgumentParser(
        prog="make site", description="Build the lessons as a site."
    )
    parser.add_argument(
        "--serve", nargs="?", type=int, const=PORT, metavar="PORT", help="serve it here"
    )
    parser.add_argument(
        "--to", type=Path, default=SITE, metavar="FOLDER", help="build it into FOLDER"
    )
    parser.add_argument(
        "--address",
        default="",
        metavar="URL",
        help="where it will be published, for previews",
    )
    parser.add_argument(
        "--pyodide",
        type=Path,
        metavar="PATH",
        help="take Python from a full Pyodide, with NumPy and matplotlib: a folder, or its archive",
    )
    asked = parser.parse_args()
    try:
        build(asked.to.resolve(), asked.pyodide and asked.pyodide.resolve(), asked.address)
    except OSError as error:
        targets.stop(str(error))
    except KeyboardInterrupt:
        targets.stop("Stopped.")
    if asked.serve is not None:
        serve(asked.to.resolve(), asked.serve)


if __name__ == "__main__":
    main()
