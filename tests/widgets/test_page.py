"""The scripts of the pages: linted, typed, tested in Node, and bundled as they stand here."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessonkit.widgets.widget import BUILT
from tools.page import __main__ as page


@pytest.fixture(scope="module", autouse=True)
def _node() -> None:
    """Node, and what package.json names; where npm cannot reach its registry, nothing is tested."""
    try:
        page.install()
    except page.MissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize(
    "command", [*page.STEPS["check"], *page.STEPS["test"]], ids=" ".join
)
def test_the_scripts_pass(command: tuple[str, ...]) -> None:
    done = page.run(*command)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_widgets_send_what_the_scripts_are_now(tmp_path: Path) -> None:
    (build,) = page.STEPS["build"]
    done = page.run(*build, str(tmp_path))
    assert done.returncode == 0, done.stderr
    built = Path(str(BUILT))
    names = sorted(path.name for path in built.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        is_same = (built / name).read_bytes() == (tmp_path / name).read_bytes()
        assert is_same, (
            f"{name} is not what the scripts are now: python -m tools.page build"
        )
