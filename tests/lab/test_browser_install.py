"""The check of the installation where JupyterLab was installed apart from the kernel's packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.cells import INSTALL_CHECK

from tools.browser import Browser, open_notebook
from tools.servers import LAB, SOCKETS, serve

EXTENSIONS = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
MANAGER = "@jupyter-widgets"
OTHER = "anywidget==0.9.21"  # JupyterLab wants the minor version of the kernel's


@pytest.fixture(params=["another", "none"])
def extensions(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What a JupyterLab has beside it: the manager of widgets, and another anywidget or none."""
    folder = tmp_path / "labextensions"
    shutil.copytree(EXTENSIONS / MANAGER, folder / MANAGER)
    if request.param == "another":
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", str(tmp_path / "other"), OTHER], check=True)
        theirs = tmp_path / "other" / "share" / "jupyter" / "labextensions" / "anywidget"
        shutil.copytree(theirs, folder / "anywidget")
    return folder


@pytest.mark.long  # it installs a package, and starts a JupyterLab
def test_the_advice_stays_where_a_page_cannot_show_widgets(
    browser: Browser, extensions: Path
) -> None:
    paths = [f"--LabApp.labextensions_path={extensions}"]
    with serve(LAB, (*SOCKETS, *paths)) as server, browser.visit() as visit:
        page: Any = visit.page
        open_notebook(page, server.write("check", INSTALL_CHECK))
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.get_by_text("If this text stays").wait_for()
        page.locator(".jp-OutputArea-output").nth(1).wait_for()  # in place of the widget
        assert page.get_by_text("pip install --upgrade ipywidgets anywidget").is_visible()
        assert not page.locator(".lk").count()
