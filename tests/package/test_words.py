"""One format for numbers, in Python and on a page; and sentences that agree in number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from lessonkit import ArtificialDataset, DataLoader, Dataset, benchmark, words
from lessonkit.analysis import advise, critical_path
from lessonkit.engine.check import AUTOTUNE
from lessonkit.optimize import autotune
from lessonkit.pictures.strip import plot_ranks
from lessonkit.plot import plot_search, plot_timelines
from lessonkit.widgets import challenge, explore, goals, slider
from lessonkit.widgets.page_data import page_data
from tools.page import __main__ as page


def test_the_page_is_held_to_what_is_written_here() -> None:
    """It has the same rules: tests/page/numbers.test.js reads the same table."""
    table = json.loads((page.TESTS / "words.json").read_text("utf-8"))
    written = {
        "number": words.number,
        "time": lambda micros: words.milliseconds(micros / 1e6),
        "size": words.size,
    }
    for name, write in written.items():
        assert [[value, write(value)] for value, _ in table[name]] == table[name]


NAMES = json.loads((page.TESTS / "names.json").read_text("utf-8"))


@pytest.mark.parametrize(("text", "own", "said"), NAMES)
def test_a_page_has_words_of_its_own(text: str, own: dict[str, str], said: str) -> None:
    assert words.worded(text, own) == said


def test_all_that_a_view_says_is_in_the_words_of_its_page() -> None:
    own = {"accelerator": "GPU", "sample": "image"}
    task = challenge(
        "Be fast.",
        goals=[goals.per_sample(at_most=0.01)],
        pipeline=lambda slots=0: (ArtificialDataset(3).prefetch(slots), {"num_epochs": 1}),
        slots=(0, 2),
        words=own,
    )
    state = json.loads(task.state)
    # Identifiers of the page stay: how it counts, and the words themselves
    state["scene"] |= {"words": {}, "unit": "", "bars": [], "events": []}
    state["task"]["text"] = ""
    assert not re.search(
        r"\b(accelerator|samples?)\b", json.dumps(state).replace("perSample", "")
    )
    assert "GPU busy" in json.dumps(state)
    assert "time per image" in json.dumps(state)
    assert "images in" in repr(task)


def test_a_unit_is_no_plural() -> None:
    assert [words.counted(1, unit) for unit in ("ms", "s", "MB/s", "%", "")] == [
        "1 ms",
        "1 s",
        "1 MB/s",
        "1 %",
        "1 ",
    ]


def sentences(count: int) -> Iterator[str]:
    """Give all that is said of runs in which there are *count* of everything."""

    def file(_: Any = None) -> Dataset:
        return ArtificialDataset(count).map(cost=0.01, num_parallel_calls=count)

    def rank(number: int) -> Dataset:
        return ArtificialDataset(count, read=0.01 * (1 + number)).prefetch(count)

    files = Dataset.range(count).interleave(file, count, 1, count)
    mapped = ArtificialDataset(count).map(cost=0.01).batch(1, num_parallel_calls=count)
    flat = Dataset.range(count).flat_map(file)
    items = Dataset.range(4).map(cost=0.01)
    loader = DataLoader(items, batch_size=1, num_workers=count)
    for dataset in (files, mapped, flat, loader):
        trace = benchmark(dataset, count)
        scene: dict[str, Any] = {**page_data(trace)}
        shown = ("figures", "summary", "note", "waits", "parts", "buffers", "bars")
        yield from (json.dumps(scene[name]) for name in shown)
        yield from (
            repr(trace),
            repr(plot_timelines({"": trace})),
            critical_path(trace).sentence,
        )
        yield from map(repr, advise(dataset))
    plain = DataLoader(items, batch_size=1)
    yield from map(repr, advise(plain))
    ranks = benchmark(rank, 1, ranks=count)
    yield from (
        repr(ranks),
        repr(plot_ranks(ranks)),
        page_data(ranks.traces[-1])["summary"],
        page_data(benchmark(ArtificialDataset(count), 1))["summary"],
    )
    tuned = autotune(ArtificialDataset(count).prefetch(AUTOTUNE), most_slots=count)
    yield from (repr(tuned), str(tuned), tuned.reason, repr(plot_search(tuned.steps)))

    def view(calls: int = count, num_workers: int = count) -> Dataset:
        return ArtificialDataset(calls).batch(num_workers)

    turned: dict[str, Any] = {
        "calls": slider(1, 3, unit="calls"),
        "num_workers": slider(1, 3, unit="workers"),
    }
    yield repr(explore(view, **turned))
    asked = [
        goal(at_most=0)
        for goal in (
            goals.calls,
            goals.threads,
            goals.processes,
            goals.buffered,
            goals.open_files,
        )
    ]
    task = challenge("Do it.", goals=asked)
    yield from (
        repr(task),
        repr(task.check(lambda: files)),
        repr(task.check(lambda: loader)),
    )


@pytest.mark.parametrize("count", [1, 2])
def test_generated_sentences_agree_in_number(count: int) -> None:
    said = [*sentences(count)]
    assert len(said) > 90
    some = rf"\b{count} (?!is\b)"
    wrong = (
        r"[a-z]{3,}(?<!s)s\b"
        if count == 1
        else r"(?:call|element|epoch|rank|run|sample|step|worker)\b"
    )
    found = {text: re.findall(some + wrong, text) for text in said}
    assert {text: parts for text, parts in found.items() if parts} == {}
    several = ["calls", "elements", "epochs", "ranks", "samples", "steps", "workers"]
    expected = several if count > 1 else [one.removesuffix("s") for one in several]
    assert [
        one for one in expected if not re.search(rf"\b{count} {one}\b", " ".join(said))
    ] == []
