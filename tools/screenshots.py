"""Take the pictures of the README: the live view in JupyterLab, light and dark, and a slider that moves.

python -m tools.screenshots
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"

CELL = """
from lessonkit import ArtificialDataset
from lessonkit.widgets import explore, seconds

def pipeline(calls=2, buffer=1, decode=0.030):
    samples = ArtificialDataset(8, open=0.030, read=0.015)
    decoded = samples.map(cost=decode, num_parallel_calls=calls)
    return decoded.prefetch(buffer), {"num_epochs": 1, "train": 0.010}

explore(pipeline, calls=(1, 4), buffer=(0, 4), decode=seconds(0.010, 0.060, 0.010))
"""
# Pixels of the page
WIDTH = 1440
HEIGHT = 1200
STEPS = ["ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]
SHOWN = 900  # ms for which a step is seen
REST = 300  # ms that a picture may take
COLOURS = 64  # a third of the bytes


def main() -> None:
    """One page for each theme; the film is light."""
    from tools.browser import Browser, open_notebook, run_all
    from tools.servers import LAB, serve

    PICTURES.mkdir(exist_ok=True)
    browser = Browser()
    try:
        with serve(LAB) as server:
            address = server.write("live", CELL)
            for theme in ("Light", "Dark"):
                server.theme(theme)
                with browser.visit(width=WIDTH) as visit:
                    page = visit.page
                    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
                    open_notebook(page, address)
                    run_all(page)
                    slider = page.get_by_role("slider", name="calls", exact=True)
                    slider.focus()
                    page.keyboard.press("ArrowRight")
                    page.wait_for_timeout(REST)
                    taken(page).save(PICTURES / f"live-{theme.lower()}.png", optimize=True)
                    if theme == "Light":
                        film(page)
    finally:
        browser.close()


def taken(page: Any) -> Image.Image:
    """The live view as it is on the screen, in a few colours."""
    shown = Image.open(io.BytesIO(page.locator(".lk").first.screenshot()))
    return shown.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def film(page: Any) -> None:
    """A slider that goes to and fro."""
    frames = [taken(page)]
    for key in STEPS:
        page.keyboard.press(key)
        page.wait_for_timeout(REST)
        frames.append(taken(page))
    frames[0].save(
        PICTURES / "live.gif",
        save_all=True,
        append_images=frames[1:],
        duration=SHOWN,
        loop=0,
        optimize=True,
    )


if __name__ == "__main__":
    main()
