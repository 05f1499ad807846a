"""The first page that a newcomer sees: the lesson, and nothing on top of it."""

import re
from typing import Any

import pytest
from browser import Visit, open_notebook, serious_violations
from servers import Server

from tools.site import pages

NOTIFICATIONS = "@jupyterlab/apputils-extension:notification"
ON_TOP = ".Toastify__toast, .jp-Dialog"


def test_jupyterlab_asks_nothing_and_looks_for_no_news(visit: Visit, lab: Server) -> None:
    open_notebook(visit.page, lab.write("first", "1 + 1"))
    told = visit.page.evaluate("(name) => jupyterapp.serviceManager.settings.fetch(name)", NOTIFICATIONS)
    chosen = {name: value["default"] for name, value in told["schema"]["properties"].items()}
    assert (chosen["fetchNews"], chosen["checkForUpdates"]) == ("false", False)
    assert not visit.page.locator(ON_TOP).all_inner_texts()
    assert not [url for url in visit.requests if re.search("/lab/api/(news|update|build)", url)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_start_page_of_the_site_can_be_used_by_all(visit: Visit, scheme: Any) -> None:
    style = (pages.HERE / "page" / "site.css").read_text(encoding="utf-8")
    text = pages.first_page(sorted((pages.ROOT / "notebooks").glob("*.ipynb")))
    text = re.sub("<(script|link|iframe).*?>(</iframe>|.*</script>)?", "", text)
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.set_content(text.replace("</head>", f"<style>{style}</style></head>"))
    assert not serious_violations(visit.page, "body")
