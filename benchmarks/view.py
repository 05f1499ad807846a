"""The live view in JupyterLab, beside `interact` with `plt.show`: how long until a picture is seen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from itertools import pairwise
from math import inf
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, sleep
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import compared, limited, line, number

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

WATCH = Path(__file__).with_name("view.js").read_text()

# The peer and ours are stepped by turns: so many turns, of so many steps
ROUNDS = 4
STEPS = 14
MOVES = 180  # of the pointer while it drags
MOVES_A_SECOND = 60
GRIP = 6  # pixels from the end of a slider, where its handle is
REST = 1.5  # s
DRAGS = 3
SECONDS = 600  # s, for everything in the page

# Times as good as the peer, at least
MEDIAN = 2.5
NINETY_FIFTH = 3.5
RATE = 2.5
# For a picture
KERNEL_MS = 10
MESSAGE_KB = 40
SLOWER = 4  # times, at most, with ten times as many bars
JUMP = 1  # pixels by which the height may change, less than

# Two sliders: stepped by turns they only come to values that the page has never seen, for what
# `explore` fetches ahead are the neighbours of the slider that was moved last.
PIPELINES = """
from lessonkit import ArtificialDataset, benchmark

def few(read=20, decode=50, samples=50):
    files = ArtificialDataset(samples, read=read / 1000)
    return files.map(cost=decode / 1000, num_parallel_calls=2).prefetch(2), {"num_epochs": 1}

def many(read=20, decode=50):
    return few(read, decode, samples=520)
"""

# What somebody writes who has a slider and matplotlib: the same bars, a call for each lane.
PEER = """
import matplotlib.pyplot as plt
from ipywidgets import IntSlider, Layout, interact
from lessonkit.pictures.layout import layout

def draw(read, decode):
    dataset, options = few(read, decode)
    drawn = layout(benchmark(dataset, **options))
    figure, axes = plt.subplots(figsize=(10, 3))
    lanes = {}
    for bar in drawn.bars:
        lanes.setdefault((bar.row, bar.lane, bar.kind), []).append(bar)
    for (row, lane, kind), bars in lanes.items():
        stage = drawn.rows[row]
        y, height = -row - lane / stage.lanes, 0.8 / stage.lanes
        spans = [(bar.start / 1e6, (bar.end - bar.start) / 1e6) for bar in bars]
        axes.broken_barh(spans, (y, height), facecolors=stage.colour if kind == "work" else "lightgrey")
        for bar, (start, length) in zip(bars, spans):
            if bar.label:
                axes.text(start + length / 2, y + height / 2, bar.label, ha="center", va="center")
    axes.set_yticks([0.4 - row for row in range(len(drawn.rows))], [row.stage for row in drawn.rows])
    axes.set_xlabel("ms")
    plt.show()

wide = Layout(width="800px")
interact(draw, read=IntSlider(20, 1, 400, layout=wide), decode=IntSlider(50, 1, 400, layout=wide));
"""
OURS = """
from IPython.display import HTML
from lessonkit.widgets import explore
display(HTML("<style>.lk-control input[type=range] {width: 600px !important}</style>"))
explore(few, read=(1, 400), decode=(1, 400))
"""
MANY = "explore(many, read=(1, 400), decode=(1, 400))"


class Film(NamedTuple):
    """What was seen while the pointer dragged a slider."""

    rate: float  # new pictures a second
    blank: int  # frames without a picture
    heights: list[float]  # of the output at each picture, in pixels


class Output:
    """One of the outputs in the page, with its two sliders."""

    def __init__(self, page: Page, cell: int, look: str, handles: str, tracks: str) -> None:
        self.page = page
        self.watch = f"window.lkWatch{cell}"
        root = page.locator(".jp-CodeCell").nth(cell).locator(".jp-Cell-outputArea")
        self.handles = root.locator(handles)
        self.tracks = root.locator(tracks)
        self.handles.nth(1).wait_for()
        place = f"([root, look]) => {{ {self.watch} = lkWatch(root, look); }}"
        page.evaluate(place, [root.element_handle(), look])
        self.root: Locator = root

    def step(self, slider: int, key: str) -> float:
        """Press *key* on a slider; how long it took until the picture was on the screen, in ms."""
        self.handles.nth(slider).focus()
        self.page.evaluate(f"{self.watch}.expect()")
        self.page.keyboard.press(key)
        took: float = self.page.evaluate(f"{self.watch}.step()")
        return took

    def new(self, steps: int) -> list[float]:
        """Steps to values that were never seen."""
        self.step(0, "ArrowRight")  # wakes everything up, and does not count
        return [self.step(step % 2, "ArrowRight") for step in range(1, steps + 1)]

    def seen(self, steps: int) -> list[float]:
        """Steps to and fro between the last two values."""
        self.step(0, "ArrowLeft")
        return [
            self.step(0, ("ArrowRight", "ArrowLeft")[step % 2]) for step in range(steps)
        ]

    def drag(self, back: bool = False) -> Film:
        """Drag the first slider once over its whole length, or *back* again."""
        self.handles.first.focus()
        self.page.keyboard.press("End" if back else "Home")
        sleep(REST)
        mouse = self.page.mouse
        track = self.tracks.first.bounding_box()
        assert track
        left = track["x"] + GRIP
        width = track["width"] - 2 * GRIP
        stops = [left + width * stop / MOVES for stop in range(MOVES + 1)]
        y = track["y"] + track["height"] / 2
        if back:
            stops.reverse()
        mouse.move(stops[0], y)
        mouse.down()
        sleep(REST)  # what the touch itself brings is over
        self.page.evaluate(f"() => {{ {self.watch}.film(); }}")
        began = perf_counter()
        for place, stop in enumerate(stops):
            sleep(max(0, began + place / MOVES_A_SECOND - perf_counter()))
            mouse.move(stop, y)
        film = self.page.evaluate(f"{self.watch}.cut()")
        mouse.up()
        sleep(REST)
        return Film(film["pictures"] / film["seconds"], film["blank"], film["heights"])


class Wire:
    """What the kernel sends to a page."""

    def __init__(self, page: Page) -> None:
        self.frames: list[bytes | str] = []
        page.on("websocket", lambda socket: socket.on("framereceived", self.take))

    def take(self, frame: bytes | str) -> None:
        """Keep what comes."""
        self.frames.append(frame)

    def answers(self) -> list[tuple[float, float]]:
        """Milliseconds in the kernel and kilobytes for each question of the page since the last call."""
        busy: dict[str, datetime] = {}
        took: dict[str, float] = {}
        size: Counter[str] = Counter()
        for frame in self.frames:
            if isinstance(frame, str):
                continue
            # A number that says how many offsets follow, the offsets, then the parts.
            places = [
                int.from_bytes(frame[at : at + 8], "little") for at in range(8, 64, 8)
            ]
            header, parent, _, content = (
                frame[start:end] for start, end in pairwise(places[1:6])
            )
            told = json.loads(header)
            asked = json.loads(parent)
            if asked.get("msg_type") != "comm_msg":
                continue
            question = asked["msg_id"]
            at = datetime.fromisoformat(told["date"])
            state = json.loads(content).get("execution_state")
            if state == "busy":
                busy[question] = at
            elif state == "idle" and question in busy:
                took[question] = (at - busy[question]).total_seconds() * 1e3
            else:
                size[question] += len(frame)
        self.frames.clear()
        # What answers less than a picture is only an acknowledgement.
        return [
            (took[question], size[question] / 1e3)
            for question in took
            if size[question] > 1_000
        ]


def ninety_fifth(times: list[float]) -> float:
    """The time that only one in twenty is longer than."""
    return quantiles(times, n=20)[-1]


class Figures(NamedTuple):
    """What was measured of one output."""

    new: list[float]  # ms, of steps
    seen: list[float]
    films: list[Film]
    again: list[Film]  # dragged back over values that were seen
    kernel: float  # ms, for a picture
    message: float  # kB

    @property
    def rate(self) -> float:
        """New pictures a second while dragging."""
        return median(film.rate for film in self.films)

    @property
    def rate_again(self) -> float:
        """The same over values that were seen before."""
        return median(film.rate for film in self.again)


def measured(outputs: list[Output], wire: Wire, rounds: int) -> list[Figures]:
    """Take the outputs by turns."""
    found = [Figures([], [], [], [], 0, 0) for _ in outputs]
    answers: list[list[tuple[float, float]]] = [[] for _ in outputs]
    for turn in range(rounds):
        for place, (output, figures) in enumerate(zip(outputs, found, strict=True)):
            wire.frames.clear()
            figures.new.extend(output.new(STEPS))
            answers[place] += wire.answers()
            figures.seen.extend(output.seen(STEPS))
            if turn < DRAGS:
                figures.films.append(output.drag())
                figures.again.append(output.drag(back=True))
    medians = [[median(column) for column in zip(*told, strict=True)] for told in answers]
    return [
        figures._replace(kernel=kernel, message=message)
        for figures, (kernel, message) in zip(found, medians, strict=True)
    ]


def in_browser(rounds: int) -> tuple[list[Figures], list[int]]:
    """Everything that is measured, in one notebook; and how many bars there are."""
    from tools.browser import Browser, open_notebook, run_all
    from tools.servers import LAB, serve

    with (
        closing(Browser()) as browser,
        serve(LAB) as lab,
        browser.visit(SECONDS) as visit,
    ):
        page = visit.page
        wire = Wire(page)
        open_notebook(page, lab.write("view", PIPELINES, PEER, OURS, MANY))
        run_all(page)
        page.add_script_tag(content=WATCH)
        outputs = [
            Output(page, 1, "image", ".noUi-handle", ".noUi-base"),
            Output(
                page,
                2,
                "bars",
                ".lk-controls input[type=range]",
                ".lk-controls input[type=range]",
            ),
            Output(
                page,
                3,
                "bars",
                ".lk-controls input[type=range]",
                ".lk-controls input[type=range]",
            ),
        ]
        bars = [
            output.root.locator("rect.lk-bar:visible").count() for output in outputs[1:]
        ]
        return measured(outputs, wire, rounds), bars


def times(one: float, other: float) -> float:
    """How many times *other* goes into *one*; there may have been no picture at all."""
    return one / other if other else inf


def faster(
    what: str, ours: float, peer: float, goal: float | None = None, unit: str = "ms"
) -> str:
    """A line that compares times, or pictures a second."""
    ratio = times(ours, peer) if unit == "/s" else times(peer, ours)
    if goal is None:
        return line(what, number(ours, unit), number(peer, unit), f"{ratio:.2f}", "-", "-")
    return compared(
        what, number(ours, unit), number(peer, unit), ratio, f">= {goal}", ratio >= goal
    )


def slower(what: str, many: float, few: float, unit: str) -> str:
    """A line on what more bars cost."""
    ratio = times(few, many) if unit == "/s" else times(many, few)
    return compared(
        what,
        number(many, unit),
        number(few, unit),
        ratio,
        f"<= {SLOWER}",
        ratio <= SLOWER,
    )


def rows(quick: bool) -> Iterator[str]:
    """All lines on the view."""
    from tools.browser import missing

    if missing():
        yield f"NOT MEASURED: the live view. {missing()}"
        return
    (peer, ours, many), (few_bars, many_bars) = in_browser(1 if quick else ROUNDS)
    what = f"{few_bars} bars, a step until seen"
    yield faster(f"{what} / interact: median", median(ours.new), median(peer.new), MEDIAN)
    yield faster(
        "  95th percentile",
        ninety_fifth(ours.new),
        ninety_fifth(peer.new),
        NINETY_FIFTH,
    )
    yield faster("  to values seen before: median", median(ours.seen), median(peer.seen))
    p95 = "  to values seen before: 95th percentile"
    yield faster(p95, ninety_fifth(ours.seen), ninety_fifth(peer.seen))
    yield faster("pictures while dragging / interact", ours.rate, peer.rate, RATE, "/s")
    yield faster("  over values seen before", ours.rate_again, peer.rate_again, None, "/s")
    yield limited("time in the kernel for a picture", ours.kernel, KERNEL_MS, "ms")
    yield limited("message with a picture", ours.message, MESSAGE_KB, "kB")
    films = ours.films + ours.again
    heights = [height for film in films for height in film.heights]
    yield limited(
        "while dragging, the height changes by", max(heights) - min(heights), JUMP, "px"
    )
    yield limited(
        "while dragging, frames without a picture",
        sum(film.blank for film in films),
        1,
        "",
    )
    yield slower(
        f"{many_bars:,} bars / {few_bars}: a step",
        median(many.new),
        median(ours.new),
        "ms",
    )
    yield slower("  pictures while dragging", many.rate, ours.rate, "/s")
