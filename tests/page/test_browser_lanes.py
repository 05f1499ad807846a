"""What is drawn of workers and of a baseline run can be read; what was placed stays beside the true bars."""

import re
from itertools import pairwise
from typing import Any

import pytest
from heat_map_07 import heat_map
from support.alone import Alone
from support.questions import PlacingCard

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    Storage,
    benchmark,
    plot,
)
from lessonkit.analysis import limits
from lessonkit.engine.trace import EMPTY
from lessonkit.pictures.layout import IDLE, NOT_WORK, layout
from lessonkit.pictures.timeline import plot_timelines
from lessonkit.widgets import challenge, explore, goals, predict, show
from lessonkit.words import milliseconds
from tools.browser import WIDE, Visit

LEGIBLE = 12  # pixels: of a bar with a label
PHONE = 360  # pixels: what a lesson leaves of a narrow screen
# Labels are above all bars, and in their order.
LABEL_OF = """((bar) => bar.closest("svg").querySelector(".lk-labels")
    .children[[...bar.parentElement.children].indexOf(bar)])"""
BARS = """(stage) => [...document.querySelectorAll("rect.lk-bar")]
    .filter((bar) => bar.dataset.stage === stage && !bar.classList.contains("lk-wait"))
    .map((bar) => [bar.getBoundingClientRect(), labelOf(bar).textContent])
    .map(([{ top, bottom, height }, label]) => [top, bottom, height, label])""".replace(
    "labelOf", LABEL_OF
)
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
    PlacingCard(page.locator(".lk-predict")).answer(alone.widget.right, "certain")
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


PLOTTED = """() => {
    const place = (node) => { const { top, bottom } = node.getBoundingClientRect();
        return { top, bottom }; };
    const texts = [...document.querySelectorAll(".lk-plot > text, .lk-true text")];
    return { limit: [...document.querySelectorAll(".lk-true .lk-limit")].map(place),
        truth: [...document.querySelectorAll(".lk-true circle")].map(place),
        texts: texts.map((text) => [text.textContent, place(text)]) };
}"""


def mapped(calls: int) -> Any:
    return ArtificialDataset(20).map(cost=0.030, num_parallel_calls=calls), {
        "num_epochs": 1
    }


@pytest.mark.parametrize("last", [4, 8])
def test_a_curve_names_its_first_point_and_its_limit_once_the_truth_is_shown(
    visit: Visit, last: int
) -> None:
    page = visit.page
    asked = predict("How many ms a sample?", mapped, draw={"calls": range(1, last + 1)})
    alone = Alone(visit, asked)
    before = page.evaluate(PLOTTED)
    assert [text for text, _ in before["texts"]] == ["47 ms"]
    assert before["limit"] == []
    page.get_by_role("group", name="against calls: calls=1 gives 47 ms").wait_for()
    page.get_by_role("button", name="Show the run").click()
    alone.answer()
    after = page.evaluate(PLOTTED)
    [limit] = after["limit"]
    texts = dict(after["texts"])
    assert {*texts} == {"47 ms", "knee: calls=3", "limit: 18.5 ms"}
    # From the knee on, the true curve lies on it
    for dot in after["truth"][2:]:
        assert (dot["top"] + dot["bottom"]) / 2 == pytest.approx(limit["top"], abs=1)
    under = texts["limit: 18.5 ms"]["top"] - limit["bottom"]
    assert 0 <= under < 10


def test_a_curve_of_another_figure_has_no_limit(visit: Visit) -> None:
    asked = predict(
        "How long is the run?",
        mapped,
        draw={"calls": range(1, 4)},
        answer=lambda trace: trace.duration,
    )
    alone = Alone(visit, asked)
    visit.page.get_by_role("button", name="Show the run").click()
    alone.answer()
    assert visit.page.locator(".lk-true circle").count()
    assert visit.page.evaluate(PLOTTED)["limit"] == []


WRITTEN = """() => [...document.querySelectorAll("rect.lk-bar:not(.lk-wait, .lk-count)")]
    .map((bar) => [Number(bar.dataset.start), labelOf(bar).textContent])""".replace(
    "labelOf", LABEL_OF
)


def test_a_number_stands_on_its_bar_or_is_left_out_whole(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": WIDE, "height": 1000})

    def cost(sample: int) -> float:
        return 0.001 * (1 + sample if sample % 2 else 1)  # the later, the longer

    def growing(samples: int = 12) -> Any:
        return Dataset.range(samples).map(cost=cost), {"num_epochs": 1, "train": 0}

    alone = Alone(visit, explore(growing, samples=[12, 30, 120]))
    seen = set[tuple[int, bool]]()
    for samples in (12, 30, 120):
        alone.choose("samples", str(samples))
        bars = alone.widget.picture({"samples": samples})[1]["bars"]
        each = zip(bars["start"], bars["kind"], bars["label"], strict=True)
        wanted = {(start, label) for start, kind, label in each if not kind}
        for start, text in visit.page.evaluate(WRITTEN):
            labels = [label for begin, label in wanted if begin == start]
            assert text in ("", *labels)
            seen |= {(len(label), bool(text)) for label in labels}
    assert seen >= {(digits, shown) for digits in (1, 2, 3) for shown in (True, False)}


def waiting(why: str) -> Any:
    """Runs in which calls and batches wait for everything that is drawn."""
    images, options = Dataset.range(12), {"num_epochs": 1}
    if why == "turn":
        late = images.map(cost=lambda image: 0.060 if image == 0 else 0.010)
        return DataLoader(late, batch_size=1, num_workers=3, start=(0.005, 0.005)), options
    if why == "storage":
        disk = Storage(bandwidth=100e6)
        read = images.map(cost=disk.read(1e6), stage="Read", num_parallel_calls=3)
        return read.map(cost=0.020), options
    kind = "native" if why == "core" else "python"
    slow = images.map(cost=0.020, kind=kind, num_parallel_calls=3)
    return slow, {"machine": Machine(1 if why == "core" else 4), **options}


KEYS = """() => [...document.querySelectorAll(".lk-keys span")].map((key) => key.textContent)"""
LOOKS = """() => [...document.querySelectorAll("rect.lk-wait, .lk-keys rect")].map((rect) => {
    const [, id] = rect.getAttribute("fill").match(/^url\\(#(.+)\\)$/);
    return document.querySelector(`pattern#${id} path`).getAttribute("d");
})"""


def test_waits_differ_and_have_the_legend_of_the_stored_picture(visit: Visit) -> None:
    reasons = ["turn", "storage", "core", "lock"]
    alone = Alone(visit, explore(waiting, why=reasons))
    kinds, looks = set[str](), set[str]()
    for reason in reasons:
        alone.choose("why", reason)
        trace, scene = alone.widget.picture({"why": reason})
        figure = plot_timelines({"": trace}).figure
        legend = [text.get_text() for one in figure.legends for text in one.get_texts()]
        assert visit.page.evaluate(KEYS) == legend
        drawn = set(visit.page.evaluate(LOOKS))
        assert len(drawn) == len(legend)
        kinds |= scene["waits"].keys()
        looks |= drawn
    assert kinds == NOT_WORK.keys() - {EMPTY}  # which looks as idle time does
    assert len(looks) == len({wait.legend for wait in NOT_WORK.values()})


SIDES = """(selector) => [...document.querySelectorAll(selector)]
    .map((rect) => rect.getBoundingClientRect())
    .map(({ left, right, top }) => [left, right, top])"""


def test_a_batch_on_the_critical_path_is_outlined_whole(visit: Visit) -> None:
    alone = Alone(visit, explore(loader, workers=[1, 4]))
    visit.page.get_by_role("button", name="Show the critical path").click()
    alone.answer()
    outlined = visit.page.evaluate(SIDES, ".lk-path rect")
    bars = visit.page.evaluate(SIDES, "rect.lk-bar[data-stage=Worker]:not(.lk-wait)")
    assert len(bars) == 12  # of one worker: each of its batches decides
    for bar in bars:
        assert any(bar == pytest.approx(outline, abs=3) for outline in outlined)


STEPS = """(stage) => [...document.querySelectorAll(`rect.lk-count[data-stage=${stage}]`)]
    .map((rect) => [rect.dataset.start, rect.dataset.length, rect.getBoundingClientRect().height])
    .map((step) => step.map(Number))"""
ON_BARS = """(stage) => [...document.querySelectorAll(`rect.lk-bar[data-stage=${stage}]`)]
    .map((rect) => labelOf(rect).textContent)""".replace("labelOf", LABEL_OF)


def test_queue_and_ready_are_staircases_and_batches_are_called_by_their_numbers(
    visit: Visit,
) -> None:
    visit.page.set_viewport_size({"width": WIDE, "height": 1000})
    alone = Alone(visit, explore(loader, workers=[4]))
    laid = layout(alone.widget.picture({"workers": 4})[0])
    rows = [row.stage for row in laid.rows]
    for stage in ("Queue", "Ready"):
        wanted = [bar for bar in laid.bars if rows[bar.row] == stage]
        steps = visit.page.evaluate(STEPS, stage)
        assert [step[:2] for step in steps] == [
            [bar.start // 1000, (bar.end - bar.start) // 1000] for bar in wanted
        ]
        high = max(height for *_, height in steps)
        for (*_, height), bar in zip(steps, wanted, strict=True):
            assert height == pytest.approx(high * bar.level, abs=0.6)
    work = [label for label in visit.page.evaluate(ON_BARS, "Worker") if label]
    assert sorted(map(int, work)) == [*range(12)]
    train = visit.page.evaluate(ON_BARS, "Train")
    assert train[:12] == [str(batch) for batch in range(12)]
    waits = {label for label in train[12:] if label}
    assert waits <= {
        text
        for bar in laid.bars
        if bar.kind == IDLE
        for text in (
            bar.label,
            f"waits {bar.label}",
            f"waits {bar.label} for {bar.note.split(', ')[0]}",
        )
    }
    assert waits


def test_the_playhead_begins_where_something_happens(visit: Visit) -> None:
    alone = Alone(visit, explore(loader, workers=[1, 4]))
    playhead = visit.page.get_by_role("slider", name="Time in the run")
    for workers in (1, 4):
        alone.choose("workers", str(workers))
        arrival = alone.widget.picture({"workers": workers})[0].epochs[0].arrivals[0]
        assert playhead.get_attribute("aria-valuetext") == milliseconds(arrival)
    playhead.press("Home")
    alone.choose("workers", "1")
    assert playhead.get_attribute("aria-valuetext") == "0 ms"  # where a hand put it


def test_waits_are_seen_in_a_picture_of_several_runs(visit: Visit) -> None:
    runs = {"one": benchmark(*loader(1)[:1], 1), "four": benchmark(*loader(4)[:1], 1)}
    Alone(visit, plot.plot_timelines(runs))
    waits = visit.page.locator("rect.lk-bar.lk-wait")
    assert waits.count() > 2
    assert waits.first.is_visible()
    assert visit.page.evaluate(KEYS) == ["waits for input"] * 2


def test_the_kitchen_is_drawn_in_the_colours_of_its_page_and_says_what_it_shows(
    visit: Visit,
) -> None:
    Alone(visit, plot.kitchen("worker", "pass"))
    drawn = visit.page.get_by_role("img", name=re.compile("A kitchen: the cook"))
    drawn.wait_for()
    faded = visit.page.locator(".lk-kitchen .lk-faded")
    of = faded.evaluate_all("(nodes) => nodes.map((node) => node.dataset.of)")
    assert {"pantry", "cook", "pass diner"} <= {*of}
    assert not {"worker", "pass", "worker pass"} & {*of}
    text = visit.page.locator(".lk-kitchen text").first
    assert text.evaluate("(node) => getComputedStyle(node).fill") == visit.page.locator(
        ".lk"
    ).evaluate("(node) => getComputedStyle(node).color")


def alone_with(**more: Any) -> Any:
    return explore(loader, workers=[1, 4], **more)


@pytest.mark.parametrize(
    ("widget", "large"),
    [
        (alone_with(), "accelerator busy"),
        (alone_with(formula="total >= 0"), "for 48 samples"),
        (alone_with(formula="per_sample >= 0"), "per sample"),
        (
            challenge(
                "Faster.", goals=[goals.total(at_most=1)], pipeline=loader, workers=[1, 4]
            ),
            "for 48 samples",
        ),
    ],
)
def test_the_figure_that_is_looked_for_is_the_large_one(
    visit: Visit, widget: Any, large: str
) -> None:
    Alone(visit, widget)
    assert visit.page.locator(".lk-main span").all_text_contents() == [large]


TIMES = """() => [...document.querySelectorAll(".lk-axis text:not(.lk-limit)")]
    .map((text) => text.textContent)"""
LAST = """() => Math.max(...[...document.querySelectorAll("rect.lk-bar[data-stage=Train]")]
    .map((rect) => rect.getBoundingClientRect().right))"""


@pytest.mark.parametrize("pinned", [None, {"workers": 1}])
def test_a_faster_setting_has_shorter_bars_on_the_axis_of_the_run_it_is_compared_with(
    visit: Visit, pinned: Any
) -> None:
    alone = Alone(visit, explore(loader, pinned=pinned, workers=[1, 2, 4]))
    times, before = visit.page.evaluate(TIMES), visit.page.evaluate(LAST)
    slow = alone.widget.picture({"workers": 1})[1]["end"]
    start = visit.page.locator(".lk-timeline").bounding_box()
    assert start
    offset = start["x"] + 92  # where the axis begins
    for workers in (2, 4):
        alone.choose("workers", str(workers))
        assert visit.page.evaluate(TIMES) == times
        fast = alone.widget.picture({"workers": workers})[1]["end"]
        assert (visit.page.evaluate(LAST) - offset) / (before - offset) == pytest.approx(
            fast / slow, rel=0.02
        )


def test_of_many_workers_the_plumbing_says_how_many_are_not_drawn(visit: Visit) -> None:
    Alone(visit, explore(loader, workers=[9]))
    visit.page.get_by_role("button", name="Show the boxes").click()
    chips = visit.page.locator(".lk-box:has-text('9 workers') .lk-chips")
    assert chips.locator(".lk-chip").count() == 5
    assert "+4" in chips.inner_text()


def calls(read: int = 1, decode: int = 1) -> Any:
    once = Dataset.range(12).map(cost=0.020, num_parallel_calls=read)
    return once.map(cost=0.030, num_parallel_calls=decode), {"num_epochs": 1}


def test_a_heat_map_has_a_title_and_squares_that_stay_as_wide_as_they_are(
    visit: Visit,
) -> None:
    page = visit.page
    alone = Alone(visit, heat_map(calls, read=(1, 3), decode=(1, 3)))
    squares = (
        "() => [...document.querySelectorAll('.lk-square')].map((one) => one.offsetWidth)"
    )
    before = page.evaluate(squares)
    assert page.get_by_role("grid", name=re.compile("^Time per sample")).count() == 1
    page.locator(".lk-square").first.click()
    alone.answer()
    page.locator(".lk-square", has_text="ms").wait_for()
    assert page.evaluate(squares) == before
    assert len({*before}) == 1


SPANS = """() => [...document.querySelectorAll(".lk-head text, .lk-ghosts text")]
    .filter((text) => getComputedStyle(text).visibility === "visible")
    .map((text) => text.getBoundingClientRect())
    .map(({ left, right }) => [left, right])"""


def test_on_a_phone_no_time_at_a_timeline_lies_on_the_other(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": PHONE, "height": 900})
    six = ArtificialDataset(6)
    once: dict[str, Any] = {"num_epochs": 1}
    two, three = (six.map(cost=0.030, num_parallel_calls=calls) for calls in (2, 3))
    Alone(visit, show(two, pinned=three, **once))
    playhead = visit.page.get_by_role("slider", name="Time in the run")
    playhead.press("Home")
    shown = []
    while playhead.get_attribute("aria-valuetext") != "190 ms":
        shown.append(len(spans := sorted(visit.page.evaluate(SPANS))))
        for (_, right), (left, _) in pairwise(spans):
            assert right <= left
        playhead.press("ArrowRight")
    assert {*shown} == {1, 2}  # one gives way only where there is no room for both
    assert shown.count(2) > len(shown) / 2


# The ends of the run, where its limit is, and how often that is named.
LIMIT = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const leftOf = (node) => node.getBoundingClientRect().left;
    const rightOf = (node) => node.getBoundingClientRect().right;
    const begin = Math.min(...all(".lk-grid line").map(leftOf));
    const end = Math.max(...all("rect.lk-bar[data-stage=Train]").map(rightOf));
    const [limit] = all("line.lk-limit").map(leftOf);
    const names = all("text.lk-limit").map((text) => text.firstChild.textContent);
    return { begin, end, limit, names };
}"""


def six(calls: int = 1, buffer: int = 0, epochs: int = 1, cached: bool = False) -> Any:
    files = ArtificialDataset(6)
    cached_files = files.cache() if cached else files
    made = cached_files.map(cost=0.030, num_parallel_calls=calls)
    return made.prefetch(buffer) if buffer else made, {"num_epochs": epochs}


@pytest.mark.parametrize(
    ("shown", "pinned"),
    [
        ({}, {"calls": 3, "buffer": 1}),  # which ends at the limit
        ({"calls": 3, "buffer": 1}, None),
        ({"epochs": 3}, {}),
        ({"epochs": 3, "cached": True}, None),  # the limit falls into the second epoch
        ({"epochs": 2, "calls": 2}, {"epochs": 2}),
    ],
)
def test_the_limit_of_a_run_is_a_line_on_its_axis(
    visit: Visit, shown: Any, pinned: Any
) -> None:
    (dataset, options), before = six(**shown), pinned is not None and six(**pinned)[0]
    Alone(visit, show(dataset, **options, **({"pinned": before} if before else {})))
    trace = benchmark(dataset, **options)
    share = limits(trace).bound / trace.duration
    assert visit.page.evaluate(LIMIT)["names"] == []  # until somebody asks
    visit.page.get_by_role("button", name="what could it be at best").click()
    found = visit.page.evaluate(LIMIT)
    begin = found["begin"]
    assert found["names"] == ["limit"]
    assert found["limit"] - begin == pytest.approx(share * (found["end"] - begin), abs=2)


def test_a_run_without_samples_has_no_limit(visit: Visit) -> None:
    Alone(visit, show(Dataset.range(0).map(cost=0.010), num_epochs=1))
    assert visit.page.locator("svg.lk-timeline").is_visible()
    assert visit.page.locator("line.lk-limit").count() == 0
