"""Build the wheel, install it alone into an empty environment, and try there what the package is for.

python -m tools.wheel
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
TRY = """
from pathlib import Path
import lessonkit
from lessonkit import ArtificialDataset, benchmark
from lessonkit.plot import plot_timelines
from lessonkit.widgets import explore

assert "site-packages" in lessonkit.__file__, lessonkit.__file__
trace = benchmark(ArtificialDataset().prefetch(1))
assert plot_timelines({"a run": trace})._repr_mimebundle_()[0]["image/png"]
shown = explore(lambda buffer=1: ArtificialDataset().prefetch(buffer), buffer=(0, 4))
assert "210 ms" in repr(explore(lambda: ArtificialDataset())), shown
print(trace)
"""

# A notebook that was opened without what lies beside it
ALONE = """
from lessonkit.lessons import find_answers

find_answers()
import answers_00, answers_11
assert answers_11.measured()
"""


def main() -> None:
    """Build, look into it, install, try."""
    with TemporaryDirectory(prefix="lessonkit-wheel-") as temporary:
        folder = Path(temporary)
        run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
        (wheel,) = folder.glob("*.whl")
        brought = {Path(name).name for name in ZipFile(wheel).namelist()}
        pages = [
            *(ROOT / "lessonkit" / "widgets" / "page" / "built").iterdir(),
            *(ROOT / "notebooks").iterdir(),
        ]
        missing = {path.name for path in pages if path.is_file()} - brought
        assert not missing, f"not in the wheel: {missing}"

        home = folder / "empty"
        venv.create(home, with_pip=True)
        python = str(home / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
        run(
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            str(wheel),
        )
        run(python, "-c", TRY, cwd=folder)
        run(python, "-c", ALONE, cwd=folder)
        run(python, "-m", "lessonkit", "check", cwd=folder)
        run(python, "-m", "lessonkit", "copy", "lessons", cwd=folder)
        copied = {path.name for path in (folder / "lessons").glob("[!.]*")}
        assert copied == {
            path.name for path in (ROOT / "notebooks").iterdir() if path.is_file()
        }, copied
    print("The wheel alone draws, explores, checks and brings the lessons.")


def run(*command: str, cwd: Path | None = None) -> None:
    """Run a program; stop here if it fails."""
    returned = subprocess.run(command, cwd=cwd).returncode
    if returned:
        sys.exit(f"{' '.join(command[:4])} failed with {returned}")


if __name__ == "__main__":
    main()
