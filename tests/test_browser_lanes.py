"""What is drawn of workers and of a pinned run can be read; what was placed stays beside the true bars."""

from typing import Any

import pytest
from alone import Alone
from browser import WIDE, Visit

from lessonkit import ArtificialDataset, DataLoader, Dataset
from lessonkit.widgets import explore, predict

LEGIBLE = 12  # pixels: of a bar with a label
BARS = """(stage) => [...document.querySelectorAll("rect.lk-bar")]
    .filter((bar) => bar.dataset.stage === stage && !bar.classList.contains("lk-wait"))
    .map((bar) => [bar.getBoundingClientRect(), bar.nextElementSibling.textContent])
    .map(([{ top, bottom, height }, label]) => [top, bottom, height, label])"""
PINNED = """() => [...document.querySelectorAll(".lk-ghosts path")]
    .map((path) => path.getBoundingClientRect())
    .filter(({ width }) => width)
    .map(({ top, bottom }) => [top, bottom])"""
OUTLINES = """() => [...document.querySelectorAll(".lk-theirs rect")]
    .map((rect) => Number(rect.getAttribute("x")))"""
TRUE = """() => [...document.querySelectorAll(".lk-placing .lk-bars g")]
    .map((bar) => new DOMMatrix(getComputedStyle(bar).transform).m41)"""


def loader(workers: int) -> tuple[DataLoader, dict[str, int]]:
    images = Dataset.range(48).map(cost=0.020)
    return DataLoader(images, batch_size=4, num_workers=workers), {"num_epochs": 1}


@pytest.mark.parametrize("workers", [1, 4, 12])
def test_each_batch_of_a_worker_has_its_label_and_no_pinned_run_lies_on_it(
    visit: Visit, workers: int
) -> None:
    visit.page.set_viewport_size({"width": WIDE, "height": 1000})

    def several(count: int = workers) -> Any:
        return loader(count)

    Alone(visit, explore(several, pinned={"count": 2}, count=[1, 2, 4, 12])).answer()
    bars, pinned = visit.page.evaluate(BARS, "Worker"), visit.page.evaluate(PINNED)
    assert len(bars) == 12
    assert all(height >= LEGIBLE and label for *_, height, label in bars)
    assert pinned
    for above, below in pinned:
        assert all(below <= top + 1 or above >= bottom - 1 for top, bottom, *_ in bars)
    names = visit.page.locator(".lk-names text").all_text_contents()
    numbers = [str(worker) for worker in range(workers)] if workers > 1 else []
    assert [name for name in names if name.isdigit()] == numbers


def test_outlines_of_placed_bars_follow_a_page_that_gets_narrower(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": WIDE, "height": 1000})
    run = ArtificialDataset(2), {"num_epochs": 1}
    alone = Alone(
        visit, predict("When does each begin?", run, place=["Open", "Read", "Train"])
    )
    for bar, place in enumerate(alone.widget.right):
        named = alone.widget.names[bar]
        node = page.locator(f'.lk-placing g[role=button][aria-label^="{named},"]')
        for key in ["Enter", *["ArrowRight"] * round(place), "Enter"]:
            node.press(key)
    page.get_by_label("certain").check()
    page.get_by_role("button", name="Commit").click()
    alone.answer()
    before = page.evaluate(OUTLINES)
    assert len(before) == len(alone.widget.right)
    page.set_viewport_size({"width": 600, "height": 1000})
    page.wait_for_function(
        f"(before) => ({OUTLINES})().at(-1) < before.at(-1) - 100", arg=before
    )
    # The true bars slide to where they belong.
    page.wait_for_function(f"""() => {{
        const sorted = (all) => all.sort((a, b) => a - b), mine = sorted(({OUTLINES})());
        return sorted(({TRUE})()).every((x, bar) => Math.abs(x - mine[bar]) < 1);
    }}""")
