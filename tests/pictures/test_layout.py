"""Where the bars of a timeline are, and what they are called."""

from itertools import combinations, pairwise
from math import dist
from operator import mul

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.random_pipelines import pipeline
from support.random_runs import COSTS, MS

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    Trace,
    benchmark,
    straggler,
)
from lessonkit.engine.trace import NO_CORE, NS, Identity
from lessonkit.explain.critical_path import ended, idle_stretches
from lessonkit.pictures.layout import (
    COLOURS,
    IDLE,
    Layout,
    batch_label,
    colours_of,
    layout,
    letter_of,
)
from lessonkit.pictures.strip import SHARES
from lessonkit.words import milliseconds


def shown(found: Layout, stage: str, lane: int = 0) -> list[tuple[float, float, str]]:
    """What is to be seen in a lane, in milliseconds: the label of work, the kind of a wait."""
    row = [row.stage for row in found.rows].index(stage)
    bars = [bar for bar in found.bars if (bar.row, bar.lane) == (row, lane)]
    return sorted(
        (
            bar.start / MS,
            bar.end / MS,
            bar.kind if bar.kind == IDLE else bar.label or bar.kind,
        )
        for bar in bars
    )


def test_one_file_and_a_prefetch() -> None:
    found = layout(benchmark(ArtificialDataset(2).prefetch(1), num_epochs=2))
    assert [(row.stage, row.lanes) for row in found.rows] == [
        ("Open", 1),
        ("Read", 1),
        ("Train", 1),
    ]
    assert shown(found, "Open") == [(0, 30, "work"), (70, 100, "work")]
    assert shown(found, "Read") == [
        (30, 45, "0"),
        (45, 60, "1"),
        (100, 115, "0"),
        (115, 130, "1"),
    ]
    assert shown(found, "Train")[:4] == [
        (0, 45, IDLE),
        (45, 55, "0"),
        (55, 60, IDLE),
        (60, 70, "1"),
    ]


def test_a_call_keeps_its_lane_and_waits_there() -> None:
    """Sample 1 is slow; its call then finds the other one reading, and waits for its turn."""
    cost = straggler(0.010, every=2, slow=0.050)
    dataset = ArtificialDataset(4, open=0, read=0.010).map(cost=cost, num_parallel_calls=2)
    found = layout(benchmark(dataset, 1, 0.010))
    assert shown(found, "Map", 0) == [(10, 20, "0"), (30, 40, "2"), (50, 100, "3")]
    assert shown(found, "Map", 1) == [(20, 70, "1"), (70, 80, "buffer full")]


def test_calls_wait_for_the_interpreter_lock_each_in_its_lane() -> None:
    dataset = ArtificialDataset(3, open=0, read=0).map(
        cost=0.010, kind="python", num_parallel_calls=3
    )
    found = layout(benchmark(dataset, 1, 0))
    assert shown(found, "Map", 0) == [(0, 10, "0")]
    assert shown(found, "Map", 1) == [(0, 10, "interpreter lock held"), (10, 20, "1")]
    assert shown(found, "Map", 2) == [(0, 20, "interpreter lock held"), (20, 30, "2")]


def test_a_full_prefetch_holds_up_the_reader() -> None:
    found = layout(
        benchmark(ArtificialDataset(4, open=0, read=0.002).prefetch(1), 1, 0.010)
    )
    assert shown(found, "Read") == [
        (0, 2, "0"),
        (2, 4, "1"),
        (4, 12, "buffer full"),
        (12, 14, "2"),
        (14, 22, "buffer full"),
        (22, 24, "3"),
    ]


def test_several_files_have_letters() -> None:
    files = Dataset.range(2).interleave(
        lambda _: ArtificialDataset(2, open=0.010, read=0.005),
        cycle_length=2,
        num_parallel_calls=2,
    )
    found = layout(benchmark(files, 1, 0.005))
    assert shown(found, "Open", 0) == [(0, 10, "A")]
    assert shown(found, "Open", 1) == [(0, 10, "B")]
    assert [label for _, _, label in shown(found, "Train")] == [
        IDLE,
        "A0",
        "B0",
        "A1",
        "B1",
    ]
    assert (letter_of(25), letter_of(26)) == ("Z", "26.")


def test_batches_name_who_is_in_them() -> None:
    found = layout(benchmark(ArtificialDataset(5, open=0).batch(2), 1))
    assert [label for *_, label in shown(found, "Train") if label != IDLE] == [
        "0-1",
        "2-3",
        "4",
    ]


def test_a_batch_of_others_than_neighbours_names_each() -> None:
    members = [(Identity(0, 0, sample), f"A{sample}") for sample in (3, 1, 2, 0, 4)]
    assert batch_label(members[:3]) == "A3 A1 A2"
    assert batch_label(members) == "A3 A1 A2 A0 ..."
    assert batch_label(members[1:3]) == "A1-2"
    assert batch_label([(Identity(0, 0, 1), "A1"), (Identity(1, 0, 2), "B2")]) == "A1 B2"


def test_what_waits_in_a_buffer_is_called_as_where_it_is_worked_on() -> None:
    numbers = Dataset.range(3).prefetch(2)  # these are nobody's files, and have no letters
    files = numbers.interleave(
        lambda _: ArtificialDataset(2, open=0), cycle_length=3
    ).prefetch(1)
    trace = benchmark(files, 1)
    names = layout(trace).names
    called: dict[str, set[str]] = {name: set() for name in trace.buffers}
    for event in trace.events:
        called[event.buffer].add(names[event.element])
    assert called["prefetch(2)"] == {"0", "1", "2"}
    assert called["prefetch(1)"] == {"A0", "A1", "B0", "B1", "C0", "C1"}


def test_loading_stands_before_training() -> None:
    found = layout(benchmark(ArtificialDataset(1, open=0), 1, load=0.005))
    assert [row.stage for row in found.rows] == ["Read", "Load", "Train"]
    assert shown(found, "Train") == [(0, 15, IDLE), (20, 30, "0")]


def test_nothing_happened() -> None:
    found = layout(benchmark(Dataset.range(0), 1))
    assert (found.rows, found.bars) == ([], [])


def test_training_that_takes_no_time_has_no_row() -> None:
    found = layout(benchmark(ArtificialDataset(1), 1, 0))
    assert shown(found, "Read") == [(30, 45, "0")]
    assert [row.stage for row in found.rows] == ["Open", "Read"]


def test_a_run_that_was_not_recorded_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="run it again without record=False"):
        layout(benchmark(ArtificialDataset(), record=False))


def test_a_cancelled_run_has_what_was_done(cancelled: Trace) -> None:
    assert cancelled.cancelled
    assert shown(layout(cancelled), "Read")[0][2] == "0"


def test_stages_have_the_same_colours_everywhere() -> None:
    first = colours_of(["Read", "Crop", "Train"])
    second = colours_of(["Crop", "Open", "Read", "Train"])
    assert all(second[stage] == colour for stage, colour in first.items())
    many = colours_of([f"stage {number}" for number in range(8)])
    assert len(set(many.values())) == 8


def test_work_has_the_same_colour_with_and_without_workers() -> None:
    images = Dataset.range(8).map(cost=0.020, stage="Decode")

    def colour(workers: int, stage: str) -> str:
        rows = layout(benchmark(DataLoader(images, batch_size=4, num_workers=workers))).rows
        return next(row.colour for row in rows if row.stage == stage)

    assert colour(0, "Decode") == colour(2, "Worker")
    assert colour(2, "Train") == colour(0, "Train") != colour(2, "Worker")


def luminance(colour: str) -> float:
    """How bright a colour is, from 0 to 1, as the rules for readable pages define it."""
    parts = [part / 255 for part in bytes.fromhex(colour[1:])]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    ]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_bars_are_seen_on_any_page_and_text_is_read_on_bars() -> None:
    others = colours_of([f"stage {number}" for number in range(8)])
    for colour in {*COLOURS.values(), *SHARES.values(), *others.values()}:
        assert contrast(colour, "#ffffff") >= 3
        assert contrast(colour, "#212121") >= 3  # of a dark JupyterLab
        assert contrast(colour, "#000000") >= 4.5  # of the text


# What somebody without the cones for green sees, of red, green and blue (Machado, 2009)
DEUTERANOPIA = (
    (0.367, 0.861, -0.228),
    (0.280, 0.673, 0.047),
    (-0.012, 0.043, 0.969),
)


def seen(colour: str) -> list[float]:
    """A colour as somebody who does not tell red from green sees it, from 0 to 255."""
    parts = [(part / 255) ** 2.2 for part in bytes.fromhex(colour[1:])]
    mixed = [sum(map(mul, weights, parts)) for weights in DEUTERANOPIA]
    return [255 * max(0.0, part) ** (1 / 2.2) for part in mixed]


def test_shares_of_a_strip_differ_for_those_who_do_not_tell_red_from_green() -> None:
    for one, other in combinations(SHARES.values(), 2):
        assert dist(seen(one), seen(other)) > 60
    assert dist(seen("#238a35"), seen("#d1622b")) < 60  # a green and an orange do not


def test_waiting_for_others_is_no_brighter_than_work_on_a_dark_page() -> None:
    trains, _, others = SHARES.values()
    assert luminance(others) <= 1.15 * luminance(trains)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    dataset = pipeline(draw(st.integers(0, 100_000)), COSTS)
    train = draw(st.sampled_from([0.010, 0, 0.050]))
    load = draw(st.sampled_from([0, 0.003]))
    machine = Machine(draw(st.sampled_from([1, 2, 4])))
    return benchmark(dataset, draw(st.integers(1, 3)), train, load, machine=machine)


@settings(deadline=None)
@given(traces())
def test_bars_of_a_lane_never_overlap(trace: Trace) -> None:
    found = layout(trace)
    lanes: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for bar in found.bars:
        assert 0 <= bar.start < bar.end <= ended(trace)
        assert 0 <= bar.lane < found.rows[bar.row].lanes
        lanes.setdefault((bar.row, bar.lane), []).append((bar.start, bar.end))
    for bars in lanes.values():
        for (_, end), (start, _) in pairwise(sorted(bars)):
            assert end <= start


@settings(deadline=None)
@given(traces())
def test_all_work_that_takes_time_is_a_bar_and_waits_are_no_longer_than_they_were(
    trace: Trace,
) -> None:
    found = layout(trace)
    spans = trace.spans
    work = [
        index
        for index, span in enumerate(spans)
        if not span.is_wait and span.end_ns > span.start_ns
    ]
    assert (
        sorted(span for bar in found.bars if bar.kind == "work" for span in bar.spans)
        == work
    )
    for bar in found.bars:
        if bar.kind == "work":
            assert (bar.start, bar.end) == (
                spans[bar.spans[-1]].start_ns,
                spans[bar.spans[-1]].end_ns,
            )
            assert found.rows[bar.row].stage == spans[bar.spans[-1]].stage
        elif bar.kind != IDLE:
            assert (
                spans[bar.spans[-1]].start_ns
                <= bar.start
                < bar.end
                == spans[bar.spans[-1]].end_ns
            )
            assert (bar.kind, bar.note) == (
                spans[bar.spans[-1]].kind,
                spans[bar.spans[-1]].place,
            )


@settings(deadline=None)
# Steps wait for the one core
@example(benchmark(pipeline(545, COSTS), 1, 0.010, machine=Machine(1)))
@given(traces())
def test_idle_bars_fill_the_gaps_of_the_accelerator(trace: Trace) -> None:
    found = layout(trace)
    idle = sum(bar.end - bar.start for bar in found.bars if bar.kind == IDLE)
    for bar in found.bars:
        assert bar.kind != IDLE or bar.label == milliseconds((bar.end - bar.start) / NS)
    steps = [bar for bar in found.bars if found.rows[bar.row].stage in ("Load", "Train")]
    # A step that others slow down waits for a core: drawn as such, it is neither idle nor at work.
    busy = sum(bar.end - bar.start for bar in steps if bar.kind in ("work", NO_CORE))
    if "Train" in trace.stages:
        assert idle + busy == ended(trace)
        assert idle == sum(gap.end_ns - gap.start_ns for gap in idle_stretches(trace))
    else:
        assert idle == 0
