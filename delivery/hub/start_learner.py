#!/usr/bin/env -S python -P
"""Start a learner's JupyterLab, with the learner's own copies of the lessons: for a Hub, or in a container.

`start_learner.py --prepare`, once in each environment, lists the fonts, so that no kernel
has to. (-P: a file of a learner's own, such as json.py, must not keep the learner out.)
"""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

FONTS = Path(sys.prefix) / "share" / "lessonkit" / "fonts"
UNUSED = {
    "sqlalchemy": {},
    "sqlalchemy.exc": {"SQLAlchemyError": type("SQLAlchemyError", (Exception,), {})},
    "jupyterhub.orm": {},
    "jupyterhub.roles": {},
    "jupyterhub.handlers": {},
    "jupyterhub.handlers.pages": {"HealthCheckHandler": type("HealthCheckHandler", (), {})},
}
# For kernels: give what is free back to the system soon, for 30 learners may need it: 10 of 110 MB.
SPARING = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "65536"}
# Bytes of a learner's file: one that is written without an end shall not fill the disk
LARGEST = 2**30
# Characters; a socket's name may have 107, of which the file in the folder takes 50
LONGEST = 57


def prepare() -> int:
    """List the fonts, as matplotlib does when it is imported for the first time."""
    command = [sys.executable, "-P", "-c", "import matplotlib.font_manager"]
    return subprocess.run(command, env=os.environ | {"MPLCONFIGDIR": str(FONTS)}).returncode


def give(home: Path) -> None:
    """Give the learner the lessons and the list of fonts, below *home*; on a full disk, those of before."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "matplotlib"
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        for fonts in FONTS.glob("fontlist-*.json"):
            if not (cache / fonts.name).exists():
                shutil.copy(fonts, cache)
    copied = subprocess.run(
        [sys.executable, "-P", "-m", "lessonkit", "copy", str(home / "lessons")]
    )
    if copied.returncode and not [*home.glob("lessons/*.ipynb")]:
        sys.exit(copied.returncode)


def serve() -> None:
    """Become the server, without what takes half of the time to start, and a third of the memory."""
    # jsonschema imports these if it can, to check what Jupyter never asks: 2 s of a core,
    # and 18 MB.
    for name in "rfc3987_syntax", "isoduration":
        sys.modules[name] = None  # type: ignore[assignment]
    # JupyterLab asks yarn, if there is Node, where packages come from: half a second.
    path = os.environ["PATH"]
    os.environ["PATH"] = os.devnull
    from jupyterlab.labapp import main

    os.environ["PATH"] = path
    if "JUPYTERHUB_API_TOKEN" in os.environ:
        main = without_database()
    else:
        sys.argv[1:1] = ["--ip=0.0.0.0", "--no-browser"]
    main()


def without_database() -> Callable[[], None]:
    """Return a Hub's own server: it imports the Hub and its database, 32 MB, and uses nothing of them."""
    for name, has in UNUSED.items():
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(has)
    try:
        from jupyterhub.singleuser import main
    except (ImportError, AttributeError):  # another version, which uses some of it
        for name in [
            name
            for name in sys.modules
            if name.split(".")[0] in ("jupyterhub", "sqlalchemy")
        ]:
            del sys.modules[name]
        from jupyterhub.singleuser import main
    return main


def bound() -> None:
    """Let the system end this server and its kernels first if memory runs out, and start so many at most."""
    with suppress(OSError):  # not every system has this
        Path("/proc/self/oom_score_adj").write_text("500")
    if most := os.environ.get("LESSONS_PROCESSES"):  # where each learner is another user
        resource.setrlimit(resource.RLIMIT_NPROC, (int(most), int(most)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))


if __name__ == "__main__":
    if sys.argv[1:] == ["--prepare"]:
        sys.exit(prepare())
    bound()
    os.chdir(Path.home())
    give(Path.home())
    # For sockets: below a home their names might be too long, and not every network drive
    # can hold them. The server leaves them there when the Hub stops it.
    with TemporaryDirectory(prefix="jupyter-", ignore_cleanup_errors=True) as runtime:
        if len(runtime) > LONGEST:
            sys.exit(
                f"lessonkit: {runtime}: must have at most {LONGEST} characters; set TMPDIR"
            )
        os.environ.update(SPARING, JUPYTER_RUNTIME_DIR=runtime)
        serve()
