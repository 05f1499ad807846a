"""The first page that a newcomer sees: the lesson, and nothing on top of it."""

import re

from browser import Visit, open_notebook
from servers import Server

NOTIFICATIONS = "@jupyterlab/apputils-extension:notification"
ON_TOP = ".Toastify__toast, .jp-Dialog"


def test_jupyterlab_asks_nothing_and_looks_for_no_news(visit: Visit, lab: Server) -> None:
    open_notebook(visit.page, lab.write("first", "1 + 1"))
    told = visit.page.evaluate("(name) => jupyterapp.serviceManager.settings.fetch(name)", NOTIFICATIONS)
    chosen = {name: value["default"] for name, value in told["schema"]["properties"].items()}
    assert (chosen["fetchNews"], chosen["checkForUpdates"]) == ("false", False)
    assert not visit.page.locator(ON_TOP).all_inner_texts()
    assert not [url for url in visit.requests if re.search("/lab/api/(news|update|build)", url)]
