"""Pictures: what is on them, that they are the same each time, and what bad input says."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from hashlib import sha256

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import Collection, PolyCollection
from support.random_pipelines import pipeline
from support.random_runs import COSTS

from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    Trace,
    benchmark,
)
from lessonkit.analysis import curve, knobs
from lessonkit.improve.autotune import SearchStep
from lessonkit.improve.knobs import Curve, Point
from lessonkit.optimize import autotune
from lessonkit.pictures.charts import plot_curve, plot_search, plot_waterfall
from lessonkit.pictures.drawing import INK, PAPER, QUIET, Picture, png
from lessonkit.pictures.layout import NOT_WORK
from lessonkit.pictures.roofs import plot_roofs
from lessonkit.pictures.strip import plot_ranks
from lessonkit.pictures.timeline import plot_timelines

STEPS = [
    ("naive", 0.42),
    ("+ prefetch(1)", 0.36),
    ("+ shuffle", 0.40),
    ("+ cache", 0.08),
]


def run(count: int = 6, epochs: int = 1) -> Trace:
    return benchmark(ArtificialDataset(count, nbytes=1000).prefetch(1), epochs)


def timeline(trace: Trace, title: str = "") -> Picture:
    return plot_timelines({title: trace})


def texts(shown: Picture) -> list[str]:
    """All that is written in a picture and that is not the number of an axis."""
    picture = shown.figure
    written = []
    for axes in picture.axes:
        written += [axes.get_title("left"), axes.get_title("right")]
        written += [text.get_text() for text in (*axes.get_yticklabels(), *axes.texts)]
    keys = [text.get_text() for legend in picture.legends for text in legend.get_texts()]
    return [text.strip() for text in written + keys]


def searched() -> list[SearchStep]:
    dataset = (
        ArtificialDataset(20).map(cost=0.03, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)
    )
    return autotune(dataset, Machine(cores=2), most_slots=2).steps


@cache
def plots() -> dict[str, Callable[[], Picture]]:
    dataset = ArtificialDataset(4).map(cost=0.03, num_parallel_calls=1)
    found = curve(dataset, knobs(dataset)[0], [1, 2, 3, 4])
    return {
        "timeline": lambda: timeline(run(epochs=2)),
        "timelines": lambda: plot_timelines({"one": run(), "two": run(9)}),
        "curve": lambda: plot_curve(found),
        "waterfall": lambda: plot_waterfall(STEPS),
        "search": lambda: plot_search(searched()),
        "roofs": lambda: plot_roofs(run()),
    }


@cache
def drawn(name: str) -> bytes:
    """A picture as it is without further options, drawn once."""
    return png(plots()[name]())


def test_a_timeline_says_what_it_shows() -> None:
    picture = timeline(run(3), "prefetched")
    assert repr(picture) == ("timeline: prefetched: 3 samples in 85 ms, 28.3 ms per sample")
    shown = texts(picture)
    assert shown[:5] == ["prefetched", repr(picture)[22:], "Open", "Read", "Train"]
    assert shown.count("0") == shown.count("1") == shown.count("2") == 2
    assert shown[-1] == "waits for input"
    assert [tick.get_text() for tick in picture.figure.axes[0].get_xticklabels()][:2] == [
        "0 ms",
        "20",
    ]


def test_lanes_are_counted_and_epochs_are_marked() -> None:
    dataset = ArtificialDataset(4).map(cost=0.03, num_parallel_calls=2)
    shown = texts(timeline(benchmark(dataset, 2)))
    assert {"Map ×2", "epoch 1", "epoch 2"} <= set(shown)


def test_each_kind_of_waiting_has_its_key() -> None:
    dataset = ArtificialDataset(4, open=0, read=0).map(
        cost=0.01, kind="python", num_parallel_calls=2
    )
    shown = texts(timeline(benchmark(dataset.prefetch(1), 1, 0.05)))
    assert {
        "waits for input",
        "waits for a free slot",
        "waits for the interpreter lock",
    } <= set(shown)


def test_timelines_share_their_time() -> None:
    picture = plot_timelines({"naive": run(9), "short": run(3)})
    assert [axes.get_xlim() for axes in picture.figure.axes] == [(0, 0.175), (0, 0.175)]
    assert repr(picture) == (
        "timeline: naive: 9 samples in 175 ms, 19.4 ms per sample; "
        "short: 3 samples in 85 ms, 28.3 ms per sample, 0.69 times as fast as naive"
    )


def test_long_runs_are_shown_in_seconds() -> None:
    long, short = (timeline(run(count)).figure.axes[0] for count in (700, 200))
    assert long.get_xlim()[1] == pytest.approx(10.54)
    assert short.get_xlim()[1] == pytest.approx(3.04)
    assert [axes.get_xticklabels()[0].get_text() for axes in (long, short)] == [
        "0 s",
        "0 ms",
    ]
    assert "1,000" in [label.get_text() for label in short.get_xticklabels()]
    for axes, in_unit in ((long, 1), (short, 1000)):
        for label in axes.get_xticklabels()[1:]:
            time = float(label.get_text().replace(",", ""))
            assert time == pytest.approx(label.get_position()[0] * in_unit)


def test_a_timeline_has_few_artists_however_many_bars() -> None:
    few, many = (timeline(run(count)).figure.axes[0] for count in (5, 150))
    assert len(many.collections) == len(few.collections) == 1
    work = many.collections[0]
    assert isinstance(work, PolyCollection)
    # One opening, and each sample is read and trained on
    assert len(work.get_paths()) == 301


def test_what_is_ready_is_as_high_as_its_share_of_the_most_and_stands_on_a_line() -> None:
    loader = DataLoader(Dataset.range(8).map(cost=0.010), 1, num_workers=2)
    axes = timeline(benchmark(loader, 1, 0.020)).figure.axes[0]
    ready = [path.get_extents() for path in axes.collections[-1].get_paths()]
    heights = {box.height for box in ready}
    assert sorted(height / max(heights) for height in heights) == pytest.approx(
        [0.25, 0.5, 0.75, 1]
    )
    assert len({round(box.y1, 9) for box in ready}) == 2  # one for each worker


def test_bars_narrower_than_a_pixel_fade_and_none_is_drawn_wider_than_it_is() -> None:
    bars = (
        timeline(benchmark(ArtificialDataset(20).map(cost=0.0001), 1))
        .figure.axes[0]
        .collections[0]
    )
    assert bars.get_snap() is False


def test_all_that_is_no_work_has_a_pattern_and_two_of_them_never_share_one() -> None:
    legends = dict(wait[:2] for wait in NOT_WORK.values())
    assert len(legends) == len({legend for _, legend, *_ in NOT_WORK.values()})


def test_a_strip_of_ranks_has_each_stretch_of_a_rank_in_its_row() -> None:
    """The first rank loads for 10 ms, the second one for 30 ms; the step takes 20 ms."""

    def pipeline(rank: int) -> Dataset:
        return Dataset.range(1).map(cost=(0.010, 0.030)[rank])

    def stretches(boxes: Collection) -> list[tuple[float, float, int]]:
        """From and to, in milliseconds, and the row, at the lower end of which it stands."""
        extents = [path.get_extents() for path in boxes.get_paths()]
        return [
            (round(box.x0 * 1e3, 6), round(box.x1 * 1e3, 6), round(box.y1 / row) - 1)
            for box in extents
        ]

    def heights(boxes: Collection) -> list[float]:
        """How much of its row each has."""
        extents = [path.get_extents() for path in boxes.get_paths()]
        return [round((box.y1 - box.y0) / row, 6) for box in extents]

    axes = plot_ranks(benchmark(pipeline, 1, 0.020, ranks=2)).figure.axes[0]
    row = axes.get_ylim()[0] / 2
    assert axes.get_xlim() == (0, 0.050)
    works, own, others = map(stretches, axes.collections)
    assert works == [(10, 30, 0), (30, 50, 1)]
    assert own == [(0, 10, 0), (0, 30, 1)]
    assert others == [(30, 50, 0), (50, 50, 1)]
    # Colours are not all that tells them apart
    assert [*map(heights, axes.collections)] == [[1, 1], [0.75, 0.75], [0.5, 0.5]]
    keys = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert keys[-1] == "was waited for"
    (waited_for,) = axes.lines
    times, rows = np.asarray(waited_for.get_data()).tolist()
    assert times == [0.050, 0.050]
    assert rows == pytest.approx([row, 2 * row])


def test_a_curve_says_where_its_knee_is() -> None:
    dataset = ArtificialDataset(4).map(cost=0.03, num_parallel_calls=1)
    knob = knobs(dataset)[0]

    def words(*times: float) -> str:
        return repr(
            plot_curve(Curve(knob, tuple(map(Point, range(1, len(times) + 1), times))))
        )

    assert words(0.1, 0.05, 0.05) == (
        "curve: num_parallel_calls=2 is enough: 50 ms per sample, within 2 % of the best"
    )
    assert (
        words(0.1, 0.1)
        == "curve: a larger number does not help: 100 ms per sample with num_parallel_calls=1"
    )
    assert words(0.1, 0.05) == (
        "curve: a larger number may help: 50 ms per sample with num_parallel_calls=2, "
        "the largest that was tried"
    )
    with pytest.raises(ValueError, match="no values"):
        words()


def test_a_curve_stands_on_the_values_of_its_knob_and_not_on_times() -> None:
    dataset = ArtificialDataset(4).map(cost=0.03, num_parallel_calls=1)
    points = (Point(1, 0.1), Point(2, 0.05), Point(3, 0.05))
    shown = plot_curve(Curve(knobs(dataset)[0], points))
    labels = [label.get_text() for label in shown.figure.axes[0].get_xticklabels()]
    assert {"1", "2", "3"} <= {*labels}
    assert all(label.isdigit() for label in labels)


def test_a_waterfall_says_what_each_step_brought() -> None:
    shown = texts(plot_waterfall(STEPS))
    assert {
        "420 ms",
        "360 ms, 60 ms less",
        "400 ms, 40 ms more",
        "80 ms, 320 ms less",
    } <= set(shown)
    mixed = texts(plot_waterfall([("slow", 13.35), ("quick", 5.48)]))
    assert "5.48 s, 7.87 s less" in mixed  # one unit in a picture
    for steps in ([], [("nothing", 0.0)]):
        with pytest.raises(ValueError, match="there is no step, or a step takes no time"):
            plot_waterfall(steps)


def test_bars_of_steps_leave_a_fifth_of_the_width_to_their_texts() -> None:
    axes = plot_waterfall(STEPS).figure.axes[0]
    longest = max(seconds for _, seconds in STEPS)
    assert axes.get_xlim() == pytest.approx((0, longest / 0.8))


def test_a_search_says_what_it_took() -> None:
    picture = plot_search(searched())
    assert (
        repr(picture) == "search: 4 runs from left to right, 1,880 ms to 1,010 ms, 2 kept"
    )
    assert {"Map 1, prefetch 1: 1,880 ms", "Map 1 -> 2: 1,010 ms"} <= set(texts(picture))
    dots = [
        line.get_markerfacecolor()
        for line in picture.figure.axes[0].lines
        if line.get_marker() == "o"
    ]
    assert [dot == "#ffffff" for dot in dots] == [not step.accepted for step in searched()]
    with pytest.raises(ValueError, match="nothing was tried"):
        plot_search([])


# ---- what is stored ----


@pytest.mark.parametrize("name", plots())
def test_the_same_picture_has_the_same_bytes(name: str) -> None:
    first = drawn(name)
    assert png(plots()[name]()) == first
    assert first.startswith(b"\x89PNG")
    assert b"Software" not in first


def test_the_bytes_are_the_same_in_another_process_and_under_other_settings() -> None:
    code = "import matplotlib, hashlib, sys; sys.path[:0] = ['tests', 'tests/pictures'];"
    code += "import test_plot as t;"
    code += "matplotlib.rcParams['font.size'] = 20; matplotlib.rcParams['axes.facecolor'] = 'red';"
    code += (
        "print(*(hashlib.sha256(t.png(plot())).hexdigest() for plot in t.plots().values()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [sha256(drawn(name)).hexdigest() for name in plots()]


def test_a_notebook_gets_a_picture_with_its_size_and_words() -> None:
    picture = timeline(run())
    data, size = picture._repr_mimebundle_(include=None, exclude=None)
    assert data == {"image/png": png(picture), "text/plain": repr(picture)}
    assert size["image/png"]["width"] == 1000


def test_drawing_leaves_no_trace_in_matplotlib() -> None:
    with mpl.rc_context({"figure.max_open_warning": 1}), warnings.catch_warnings():
        before = dict(mpl.rcParams)
        warnings.simplefilter("error")
        for _ in range(3):  # pyplot would warn of so many open figures
            timeline(run(1))
        assert dict(mpl.rcParams) == before
    code = "import sys, lessonkit.plot; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_text_can_be_read_on_its_page() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)

    for text in (INK, QUIET):
        low, high = sorted((luminance(text), luminance(PAPER)))
        assert (high + 0.05) / (low + 0.05) > 4.5


# ---- bad input ----


def test_a_run_in_which_nothing_happened_says_so() -> None:
    picture = timeline(benchmark(Dataset.range(0).prefetch(1), 1))
    assert repr(picture) == "timeline: 0 samples in 0 ms: nothing took any time"
    assert png(picture)


def test_any_title_can_be_drawn() -> None:
    for title in (
        "costs $5 and $6",
        "a title that is longer than the page is wide " * 4,
    ):
        assert png(timeline(run(1), title))


def test_one_element() -> None:
    assert repr(timeline(run(1))) == "timeline: 1 sample in 55 ms, 55 ms per sample"


def test_a_cancelled_run_says_so(cancelled: Trace) -> None:
    picture = timeline(cancelled)
    assert ", cancelled" in repr(picture)
    assert png(picture)


def test_what_can_not_be_drawn_says_why() -> None:
    unrecorded = benchmark(ArtificialDataset(), record=False)
    with pytest.raises(ValueError, match="run it again without record=False"):
        timeline(unrecorded)
    with pytest.raises(ValueError, match="there is no run to draw"):
        plot_timelines({})


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 100_000))
def test_any_run_can_be_drawn(seed: int) -> None:
    trace = benchmark(pipeline(seed, COSTS), 2)
    assert png(timeline(trace))
