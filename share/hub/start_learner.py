#!/usr/bin/env -S python -P
"""Start a learner's JupyterLab, with the learner's own copies of the lessons: for a Hub, or in a container.

`start_learner.py --prepare`, once in each environment, lists the fonts, so that no kernel has to. (-P: a file
of a learner's own, such as json.py, must not keep the learner out.)
"""

import os
import resource
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

FONTS = Path(sys.prefix) / "share" / "lessonkit" / "fonts"
LONGEST = 57  # characters; a socket's name may have 107, of which the file in the folder takes 50


def prepare() -> int:
    """List the fonts, as matplotlib does when it is imported for the first time."""
    command = [sys.executable, "-P", "-c", "import matplotlib.font_manager"]
    return subprocess.run(command, env=os.environ | {"MPLCONFIGDIR": str(FONTS)}).returncode


def give(home: Path) -> None:
    """Give the learner the lessons and the list of fonts, below *home*."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "matplotlib"
    cache.mkdir(parents=True, exist_ok=True)
    for fonts in FONTS.glob("fontlist-*.json"):
        shutil.copy(fonts, cache)
    subprocess.run([sys.executable, "-P", "-m", "lessonkit", "copy", str(home / "lessons")], check=True)


def serve() -> None:
    """Become the server, without two things which take half of what it costs to start."""
    # jsonschema imports this if it can, to check what Jupyter never asks: 2 s of a core, and 16 MB.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    # JupyterLab asks yarn, if there is Node, where packages come from: half a second.
    path = os.environ["PATH"]
    os.environ["PATH"] = os.devnull
    from jupyterlab.labapp import main

    os.environ["PATH"] = path
    if "JUPYTERHUB_API_TOKEN" in os.environ:
        from jupyterhub.singleuser import main
    else:
        sys.argv[1:1] = ["--ip=0.0.0.0", "--no-browser"]
    main()


def bound() -> None:
    """Let the system end this server and its kernels first if memory runs out, and start so many at most."""
    with suppress(OSError):  # not every system has this
        Path("/proc/self/oom_score_adj").write_text("500")
    if most := os.environ.get("LESSONS_PROCESSES"):  # where each learner is another user
        resource.setrlimit(resource.RLIMIT_NPROC, (int(most), int(most)))


if __name__ == "__main__":
    if sys.argv[1:] == ["--prepare"]:
        sys.exit(prepare())
    bound()
    os.chdir(Path.home())
    give(Path.home())
    # For sockets: below a home their names might be too long, and not every network drive can hold them. The
    # server leaves them there when the Hub stops it.
    with TemporaryDirectory(prefix="jupyter-", ignore_cleanup_errors=True) as runtime:
        if len(runtime) > LONGEST:
            sys.exit(f"lessonkit: {runtime}: must have at most {LONGEST} characters; set TMPDIR")
        os.environ["JUPYTER_RUNTIME_DIR"] = runtime
        serve()
