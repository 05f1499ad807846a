"""The lessons as a site: how long until there is something to read and to turn, and how much is fetched."""

import gzip
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any
from urllib.parse import unquote, urlsplit

from benchmarks.measure import limited, line
from delivery.site.__main__ import Files
from lessonkit import DataLoader, Dataset
from lessonkit.widgets import explore, slider

ROOT = Path(__file__).resolve().parent.parent

SITE = ROOT / "build" / "site"
LESSON = "notebooks/index.html?path=00_start_here.ipynb"
SECONDS = 900  # for all
FRESH = 3  # browsers that have never been there
# Before the lesson itself is there, and after
HEADING = "#lessons-opening h1, .jp-RenderedMarkdown h1"
STEPS = 30
LATENCY = 50  # ms, of a slow line
SLOW = {
    "offline": False,
    "latency": LATENCY,
    "downloadThroughput": 3e6 / 8,
    "uploadThroughput": 3e6 / 8,
}
# Of a line that a page and Python share
RATE = 3e6 / 8  # bytes a second
PART = 8192  # bytes, sent at once
SERVERS = (
    ("compressed", True, 30),
    ("not compressed", False, 75),
)  # what a server does; s
# From a value that the slider gets until the picture has changed, as the page itself sees it.
STEP = """async ({steps, pause}) => {
    const knob = "input[type=range]:not([aria-label='Time in the run'])";
    const alive = (one) => one.querySelector(knob) && one.querySelector("rect.lk-bar");
    const view = [...document.querySelectorAll(".lk")].find(alive);
    const input = view.querySelector(knob), picture = view.querySelector("svg.lk-timeline"), took = [];
    for (let step = 0; step < steps; step++) {
        const up = step % 8 < 4 ? 1 : -1;
        const seen = new Promise((resolve) => {
            const watch = new MutationObserver(() => requestAnimationFrame(() => resolve(performance.now())));
            watch.observe(picture, {attributes: true, childList: true, subtree: true});
        });
        const began = performance.now();
        input.value = Number(input.value) + up * Number(input.step || 1);
        for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind, {bubbles: true}));
        took.push(await seen - began);
        await new Promise((resolve) => setTimeout(resolve, pause));
    }
    return took;
}"""


def rows(quick: bool) -> Iterator[str]:
    """The lines on the site; nothing where it cannot be built or there is no browser."""
    from tools.browser import missing
    from tools.servers import HOST, free_port, process

    if missing():
        yield line(f"site: {missing()}", "", "", "", "", "")
        return
    yield from building()
    with TemporaryDirectory() as folder:
        (Path(folder) / "lessons").symlink_to(SITE)
        port = free_port()
        command = [
            sys.executable,
            "-m",
            "http.server",
            str(port),
            "--bind",
            HOST,
            "--directory",
            folder,
        ]
        address = f"http://{HOST}:{port}/lessons/"
        with process(command, {}, Path(folder, "log")):
            yield from first_page(address, 1 if quick else FRESH)
            yield from answers(address, FRESH)
            yield from saved_picture(Path(folder, "picture.html"))
            yield from first_lesson(address, 1 if quick else FRESH)
    for what, compresses, limit in () if quick else SERVERS:
        yield limited(
            f"first live bar, 3 Mbit/s, {what}",
            over_a_slow_line(compresses),
            limit,
            "s",
        )


def first_lesson(address: str, times: int) -> Iterator[str]:
    """How long until a lesson can be read and moved, new and again, and what is fetched for it."""
    from tools.browser import Browser

    first: list[tuple[float, float]] = []
    again: list[tuple[float, float]] = []
    for _ in range(times):
        with closing(Browser()) as browser:
            for took in (first, again):
                with browser.visit(SECONDS) as visit:
                    began = perf_counter()
                    visit.page.goto(address + LESSON)
                    visit.page.locator(HEADING).first.wait_for()
                    read = perf_counter() - began
                    visit.page.locator("rect.lk-bar").first.wait_for(timeout=SECONDS * 1e3)
                    took.append((read, perf_counter() - began))
                    # The worker keeps what was fetched
                    visit.page.wait_for_timeout(25_000)
                    if took is first:
                        fetched = {*visit.requests}
                        elsewhere = visit.elsewhere()
                    else:
                        visit.page.get_by_text("Python is ready").wait_for()
                        steps = visit.page.evaluate(STEP, {"steps": STEPS, "pause": 400})
    reads, bars = zip(*first, strict=True)
    yield limited("text and stored pictures visible", median(reads), 3, "s")
    yield limited("first live bar", median(bars), 8, "s")
    yield limited("first live bar, second visit", median(bar for _, bar in again), 7, "s")
    yield limited(
        "first lesson over the wire, compressed",
        compressed(fetched) / 1e6,
        16,
        "MB",
    )
    yield limited("slider step until seen, median", median(steps), 20, "ms")
    yield limited(
        "slider step until seen, 95th percentile",
        quantiles(steps, n=20)[-1],
        40,
        "ms",
    )
    yield limited("requests to other hosts", len(elsewhere), 1, "")


class Line(Files):
    """Serves files over one slow line, which all requests share."""

    turns = threading.Lock()

    def __init__(self, *arguments: Any, compresses: bool, **options: Any) -> None:
        self.compresses = compresses
        super().__init__(*arguments, **options)

    def send_head(self) -> Any:
        """Compress what is sent only if this server does."""
        if not self.compresses:
            del self.headers["Accept-Encoding"]
        return super().send_head()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file as fast as the line is."""
        while part := source.read(PART):
            with self.turns:
                sleep(len(part) / RATE)
            outputfile.write(part)


def over_a_slow_line(compresses: bool) -> float:
    """Return after how many seconds the first bar lives in a browser that has never been there."""
    from tools.browser import Browser
    from tools.servers import HOST

    handler = partial(Line, directory=str(SITE), compresses=compresses)
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with closing(Browser()) as browser, browser.visit(SECONDS) as visit:
            began = perf_counter()
            visit.page.goto(
                f"http://{HOST}:{server.server_port}/{LESSON}", wait_until="commit"
            )
            visit.page.locator("rect.lk-bar").first.wait_for(timeout=SECONDS * 1e3)
            took = perf_counter() - began
        server.shutdown()
    return took


def first_page(address: str, times: int) -> Iterator[str]:
    """How long until the picture of the first page is alive, and how much is fetched for all of it."""
    from tools.browser import Browser

    took = []
    fetched = 0.0
    for _ in range(times):
        with closing(Browser()) as browser, browser.visit() as visit:
            sizes: list[float] = []
            line_of = visit.page.context.new_cdp_session(visit.page)
            line_of.on(
                "Network.loadingFinished",
                lambda told, sizes=sizes: sizes.append(told["encodedDataLength"]),
            )
            line_of.send("Network.enable")
            line_of.send("Network.emulateNetworkConditions", SLOW)
            began = perf_counter()
            visit.page.goto(address, wait_until="commit")
            visit.page.frame_locator("iframe").locator("rect.lk-bar").first.wait_for()
            took.append(perf_counter() - began)
            visit.page.wait_for_load_state("networkidle")
            fetched = sum(sizes)
    yield limited("first page over 3 Mbit/s: picture alive", median(took), 1.5, "s")
    yield limited("all of the first page, not compressed", fetched / 1e3, 300, "kB")


def answers(address: str, times: int) -> Iterator[str]:
    """How long a click on a symptom takes until its answer can be read."""
    from tools.browser import Browser

    took = []
    with closing(Browser()) as browser, browser.visit() as visit:
        for number in range(times):
            visit.page.goto(address)
            began = perf_counter()
            visit.page.locator("#lessons-symptoms td a").nth(number).click()
            visit.page.locator(".lessons-answer").wait_for()
            took.append(perf_counter() - began)
    yield limited("a symptom, until its answer is readable", median(took), 0.5, "s")


def saved_picture(path: Path) -> Iterator[str]:
    """How large a picture of two sliders of ten is, and how long a step takes there."""
    from tools.browser import Browser

    def workers(workers: int = 4, prefetch_factor: int = 2) -> Any:
        images = Dataset.range(48).map(cost=0.020, stage="Decode")
        more: dict[str, Any] = (
            {"num_workers": workers, "prefetch_factor": prefetch_factor} if workers else {}
        )
        return DataLoader(images, batch_size=4, **more), {
            "num_epochs": 1,
            "train": 0.010,
        }

    explore(workers, workers=slider(0, 9), prefetch_factor=slider(1, 10)).save(path)
    with closing(Browser()) as browser, browser.visit() as visit:
        visit.page.goto(path.as_uri())
        visit.page.locator("rect.lk-bar").first.wait_for()
        steps = visit.page.evaluate(STEP, {"steps": STEPS, "pause": 100})
    yield limited("saved picture, two sliders of ten", path.stat().st_size / 1e3, 400, "kB")
    yield limited("its slider step until seen, median", median(steps), 20, "ms")


def building() -> Iterator[str]:
    """How long `make site` takes with an empty cache, and again after a change."""
    cache = ROOT / "build" / "cache"
    aside = cache.with_name("cache.aside")
    if cache.exists():
        cache.rename(aside)
    try:
        for what, limit in (("first time", 60), ("again", 15)):
            shutil.rmtree(SITE, ignore_errors=True)
            began = perf_counter()
            subprocess.run(
                [sys.executable, "-m", "delivery.site"],
                cwd=ROOT,
                check=True,
                capture_output=True,
            )
            yield limited(f"make site, {what}", perf_counter() - began, limit, "s")
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def compressed(addresses: set[str]) -> int:
    """Return how many bytes the files of the site among *addresses* are, as a server compresses them."""
    paths = {
        SITE / unquote(urlsplit(one).path).removeprefix("/lessons/") for one in addresses
    }
    paths |= {*SITE.glob("python-*/*")}  # what Python's own thread asks for
    # But this, which is for what no lesson imports
    paths -= {*SITE.glob("python-*/more.zip")}
    return sum(len(gzip.compress(path.read_bytes())) for path in paths if path.is_file())
