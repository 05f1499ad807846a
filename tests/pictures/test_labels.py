"""Which numbers stand on bars, and when an envelope is drawn in their place: as on a page."""

import json
from typing import Any

import pytest

from lessonkit.pictures.envelope import Work, envelope_of, is_dense
from lessonkit.pictures.labels import Labelled, written
from tools.page.__main__ import TESTS

# The page is tested with the same table.
ROWS = json.loads((TESTS / "rows.json").read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS["labels"], ids=lambda row: row["what"])
def test_a_row_has_all_its_labels_or_every_fifth_or_none(row: Any) -> None:
    bars = [Labelled(*bar) for bar in row["bars"]]
    shown = [bars[at].label for at in written(bars, lambda text: 7 * len(text))]
    assert sorted(shown) == row["shown"]


@pytest.mark.parametrize("row", ROWS["envelopes"], ids=lambda row: row["what"])
def test_bars_that_are_too_close_become_the_share_of_time_in_which_they_work(
    row: Any,
) -> None:
    bars = [Work(*bar) for bar in row["bars"]]
    assert is_dense(bars) == row["dense"]
    if row["dense"]:
        start, step, shares = envelope_of(bars, row["lanes"])
        assert (start, step) == (row["from"], row["step"])
        assert [round(share, 6) for share in shares] == row["shares"]
