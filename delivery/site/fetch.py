"""Fetches what the site is made of into a cache, and holds every file against its sum."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import venv
from contextlib import suppress
from pathlib import Path

from tools import targets

HERE = Path(__file__).parent
PARTS = HERE / "parts.txt"
PYODIDE = "314.0.6"  # Python 3.14
PYODIDE_SUM = "BKDTJyIqFxC4BExLqeRS3f5xvXZIjOt8C3zGLN/Cc7tFxSwvKVhVkchQQ2AGLOtR4YrVOIFxbV8poyDOOmWwxQ=="
FOR_BROWSER = (
    "--platform=any",
    "--python-version=3.14",
    "--implementation=py",
    "--abi=none",
)
NPM = "https://registry.npmjs.org/"  # where nobody has said anything else
OFFLINE = "{} cannot be reached, and the cache does not have everything. Try again when there is a network."
NO_PACKAGES = "The packages of the site cannot be fetched; what pip says stands above."
NO_PIP = "This Python has neither pip nor the module that brings it, ensurepip: install one of them."
WRONG = "{} has another checksum than expected, and was not kept. Is there a proxy that changes it?"


def wheels(cache: Path) -> dict[str, Path]:
    """Return the wheels of parts.txt by name, from *cache*; what is missing or damaged there is fetched."""
    parts = PARTS.read_text(encoding="utf-8")
    wanted = dict(re.findall(r"^(\S+)==\S+ --hash=sha256:(\w+)$", parts, re.M))
    found = held(cache)
    if missing := [name for name, digest in wanted.items() if digest not in found]:
        targets.say(f"Fetching {len(missing)} packages with pip.")
        command = [
            *pip(cache),
            "download",
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "--only-binary=:all:",
        ]
        asked = "\n".join(
            line for line in parts.splitlines() if line.split("==")[0] in missing
        )
        (cache / "missing.txt").write_text(asked, encoding="utf-8")
        command += [
            *FOR_BROWSER,
            "--dest",
            str(cache),
            "--requirement",
            str(cache / "missing.txt"),
        ]
        if subprocess.run(command).returncode:
            targets.stop(NO_PACKAGES)
        found = held(cache)
    return {name: found[digest] for name, digest in wanted.items()}


def held(cache: Path) -> dict[str, Path]:
    """Return the wheels in *cache* by their sums; half a file has a sum that nobody asks for."""
    return {
        hashlib.sha256(path.read_bytes()).hexdigest(): path for path in cache.glob("*.whl")
    }


def pip(cache: Path) -> list[str]:
    """Return a command for pip: of this Python, or of an environment made for it in *cache*."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    if not importlib.util.find_spec("ensurepip"):
        targets.stop(NO_PIP)
    home = cache / "pip"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        (home / "ready").touch()
    program = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return [str(program), "-m", "pip", "--disable-pip-version-check"]


def pyodide(cache: Path) -> Path:
    """Return Pyodide's archive from npm's registry, in *cache*; npm itself is not needed."""
    path = cache / f"pyodide-{PYODIDE}.tgz"
    if path.exists() and sum_of(path.read_bytes()) == PYODIDE_SUM:
        return path
    targets.say(f"Fetching Pyodide {PYODIDE}, which is Python for browsers (6 MB).")
    address = f"{registry()}pyodide/-/{path.name}"
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            content = answer.read()
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        if isinstance(error, urllib.error.HTTPError):
            targets.stop(
                f"npm's registry answers {error.code} for Pyodide {PYODIDE}. Try again later."
            )
        targets.stop(OFFLINE.format("npm's registry"))
    if sum_of(content) != PYODIDE_SUM:
        targets.stop(WRONG.format(path.name))
    half = path.with_suffix(".part")
    half.write_bytes(content)
    half.replace(path)
    return path


def sum_of(content: bytes) -> str:
    """Return npm's kind of sum."""
    return base64.b64encode(hashlib.sha512(content).digest()).decode()


def registry() -> str:
    """Return the address of npm's registry, as npm would find it: its own word, the environment, a file."""
    named = next(
        (os.environ[name] for name in os.environ if name.lower() == "npm_config_registry"),
        None,
    )
    if not named and (npm := shutil.which("npm")):
        with suppress(OSError, subprocess.SubprocessError):
            asked = subprocess.run(
                [npm, "config", "get", "registry"], capture_output=True, timeout=20
            )
            named = next(
                (line for line in asked.stdout.decode().split() if line.startswith("http")),
                None,
            )
    if not named:
        with suppress(OSError):
            told = (Path.home() / ".npmrc").read_text(encoding="utf-8")
            named = next(iter(re.findall(r"^\s*registry\s*=\s*(\S+)", told, re.M)), None)
    return (named or NPM).rstrip("/") + "/"
