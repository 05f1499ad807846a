"""Many ranks on the virtual clock: what 512 take, what one of them takes over one of 8, and their strip."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from inspect import getsource
from random import Random
from statistics import median
from time import sleep
from tracemalloc import get_traced_memory, start, stop
from typing import Any

from benchmarks.measure import compared, limited, pairs, seconds
from lessonkit import Dataset, benchmark
from lessonkit.widgets import explore

MANY = 512
FEW = 8
STEPS = 100
RECORDED = 1.2  # s
MEMORY = 120  # MB
RATIO = 1.3  # times
STRIP = 250  # ms


def machine(rank: int, places: int = 4) -> Dataset:
    """Make a pipeline of three stages, slow in one load of a hundred by chance."""
    draw = Random(rank)
    loads = [0.050 if draw.random() < 0.01 else 0.005 for _ in range(STEPS)]
    read = Dataset.range(STEPS).map(cost=loads.__getitem__, stage="Read")
    return read.map(cost=0.002, stage="Decode").prefetch(places)


def run(ranks: int) -> Any:
    """Let so many train together, all of them recorded."""
    return benchmark(machine, ranks=ranks, num_epochs=1, train=0.010)


def strip(places: int = 4) -> Any:
    """Return what the page shows of many ranks."""
    return lambda rank: machine(rank, places), {
        "ranks": MANY,
        "num_epochs": 1,
        "train": 0.010,
    }


# How long it takes from a key until the words below the strip are those of its picture, in ms.
STEP = """() => new Promise((seen) => {
    const shown = () => document.querySelector(".lk").innerText;
    const words = () => shown().match(/ranks, \\d+ steps in .*/)[0];
    const before = words();
    addEventListener("keydown", ({ timeStamp }) => {
        const look = () =>
            words() !== before ? seen(performance.now() - timeStamp) : requestAnimationFrame(look);
        look();
    }, { once: true, capture: true });
})"""
PAGE = f"""
from random import Random
from typing import Any
from lessonkit import Dataset
from lessonkit.widgets import explore
MANY, STEPS = {MANY}, {STEPS}

{getsource(machine)}

{getsource(strip)}

explore(strip, places=(1, 16))
"""


def steps_in_page(pause: float) -> list[float]:
    """Step the slider of the strip in JupyterLab, with a *pause* of seconds before each; return ms."""
    from tools.browser import Browser, open_notebook, run_all
    from tools.servers import LAB, serve

    with closing(Browser()) as browser, serve(LAB) as lab, browser.visit() as visit:
        page = visit.page
        took = []
        open_notebook(page, lab.write("ranks", PAGE))
        run_all(page)
        page.get_by_role("slider").first.focus()
        for _ in range(8):
            sleep(pause)
            page.evaluate(f"() => {{ window.step = ({STEP})(); }}")
            page.keyboard.press("ArrowRight")
            took.append(float(page.evaluate("() => window.step")))
    return took


def memory(ranks: int) -> float:
    """Return how many MB the traces of so many ranks take."""
    start()
    kept = run(ranks)
    taken, _ = get_traced_memory()
    stop()
    del kept
    return taken / 1e6


def rows(quick: bool) -> Iterator[str]:
    """Measure a run, its memory, a step of a rank among many and among few, and the page's picture."""
    took = pairs(partial(run, MANY), partial(run, FEW), 3 if quick else 9, peer_calls=5)
    yield limited(f"{MANY} ranks, {STEPS} steps, recorded", took.ours, RECORDED, "s")
    yield limited("their memory", memory(MANY), MEMORY, "MB")
    ratio = took.ratio * FEW / MANY
    each = 1e6 / STEPS
    mine, theirs = (f"{time * each:.1f} us" for time in (took.ours / MANY, took.peer / FEW))
    what = f"a rank and step of {MANY} / of {FEW}"
    yield compared(what, mine, theirs, ratio, f"< {RATIO}", ratio < RATIO)
    page = explore(strip, places=(0, 16))
    times = [seconds(partial(page.picture, {"places": places})) for places in range(1, 4)]
    yield limited(
        f"strip of {MANY} ranks, the kernel's part", 1e3 * sorted(times)[1], STRIP, "ms"
    )
    from tools.browser import missing

    for pause in () if missing() else (2, 0.1):
        what = f"  in the page, a step each {pause} s"
        yield limited(what, median(steps_in_page(pause)), STRIP, "ms")
