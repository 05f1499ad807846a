"""The first page of the site can be used by all."""

import re
from typing import Any

import pytest
from browser import Visit, serious_violations

from tools.site import pages


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_start_page_of_the_site_can_be_used_by_all(visit: Visit, scheme: Any) -> None:
    style = (pages.HERE / "page" / "site.css").read_text(encoding="utf-8")
    text = pages.first_page(sorted((pages.ROOT / "notebooks").glob("*.ipynb")))
    text = re.sub("<(script|link|iframe).*?>(</iframe>|.*</script>)?", "", text)
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.set_content(text.replace("</head>", f"<style>{style}</style></head>"))
    assert not serious_violations(visit.page, "body")
