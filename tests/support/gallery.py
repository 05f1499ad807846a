"""One page with every kind of widget in each of its states, as a hand has brought it there.

A new type of question or of control, a new role of a widget, or a new picture is one exhibit more
here; `tests/page/test_browser_gallery.py` says which is missing, and looks at all of them in every
width and theme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from heat_map_07 import heat_map
from mystery_08 import mystery
from nbformat.v4 import new_code_cell, new_markdown_cell

from lessonkit import AUTOTUNE, ArtificialDataset, DataLoader, Dataset, benchmark, plot
from lessonkit.analysis import Roofs, curve, knobs
from lessonkit.optimize import autotune
from lessonkit.widgets import (
    cards,
    challenge,
    explore,
    goals,
    predict,
    seconds,
    show,
    slider,
)
from lessonkit.widgets.widget import Installation
from support.alone import give_address, show_cells
from support.questions import RIGHT, card_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from lessonkit.widgets.questions import Question
    from lessonkit.widgets.widget import Page
    from tools.browser import Visit

ONCE: dict[str, Any] = {"num_epochs": 1}
Hand = Callable[["Locator"], None]  # brings a widget into its state


def rest(_: Locator) -> None:
    """Leave it as it came."""


class Exhibit(NamedTuple):
    """A widget, and what a hand does to it."""

    widget: Page
    turn: Hand = rest


def press(*names: str) -> Hand:
    """Press the buttons with these names, or with a word and then the name, one after another."""

    def turn(shown: Locator) -> None:
        for name in names:
            shown.get_by_role("button", name=name).first.click()

    return turn


# ---- pipelines ----


def mapped(calls: int = 1, buffer: int = 0, epochs: int = 1) -> Any:
    images = ArtificialDataset(6).map(cost=0.030, num_parallel_calls=calls)
    return images.prefetch(buffer) if buffer else images, {"num_epochs": epochs}


def two_maps(decode: int = 1, augment: int = 1) -> Any:
    decoded = ArtificialDataset(20).prefetch(1).map(cost=0.030, num_parallel_calls=decode)
    return decoded.map(cost=0.030, num_parallel_calls=augment).prefetch(1), ONCE


def in_turn(
    samples: int = 3, open: float = 0.030, read: float = 0.015, train: float = 0.010
) -> Any:
    return ArtificialDataset(samples, open=open, read=read), {**ONCE, "train": train}


def loader(workers: int = 4, kind: str = "process", persistent: bool = False) -> Any:
    images = Dataset.range(160).map(cost=0.020)
    again: dict[str, Any] = {"persistent_workers": persistent} if workers else {}
    return DataLoader(images, batch_size=4, num_workers=workers, **again), ONCE


def growing(samples: int) -> Any:
    """Bars of which some have room for their numbers, and others have none."""
    later = Dataset.range(samples).map(
        cost=lambda sample: 0.001 * (1 + sample if sample % 2 else 1)
    )
    return later, {**ONCE, "train": 0}


def crowd() -> Dataset:
    return Dataset.range(400).map(cost=0.010, num_parallel_calls=2)


def puzzle(order: list[Any]) -> Dataset:
    made = Dataset.range(8)
    for step in order:
        made = step(made)
    return made


def failing(parts: int = 0) -> Dataset:
    return Dataset.range(8 // parts)


def of_rank(rank: int) -> Dataset:
    return Dataset.range(20).map(cost=0.005 + 0.002 * rank)


def many_stages() -> Dataset:
    made: Dataset = ArtificialDataset(2)
    for step in range(30):
        made = made.map(cost=0.01, stage=f"Step {step}")
    return made


# ---- exhibits ----


def exhibits() -> dict[str, Exhibit]:
    """Return all that the gallery shows, by the titles that stand above."""
    return dict((*runs(), *asked(), *tasks(), *pictures(), *labs(), *report()))


def runs() -> Iterator[tuple[str, Exhibit]]:
    """Yield `show` and `explore` in each form, and what their buttons show."""
    everything = press(
        "Show the critical path",
        "Show the memory",
        "Show the waits",
        "Show the boxes",
        "what could it be at best",
        "Keep this run as the baseline run",
    )

    def far_on(shown: Locator) -> None:
        for _ in range(40):
            shown.get_by_role("button", name="One step on").click()

    def compare(shown: Locator) -> None:
        everything(shown)
        shown.locator("[data-name=calls]").press("ArrowRight")
        shown.get_by_text("as the baseline run").wait_for()
        shown.get_by_role("slider", name="Time in the run").press("End")

    def measure(shown: Locator) -> None:
        shown.get_by_role("button", name="Run this pipeline").click()
        shown.get_by_role("row", name="total").wait_for()

    costs: dict[str, Any] = dict.fromkeys(
        ("open", "read", "train"), seconds(0.005, 0.040, 0.001)
    )
    formula = "open + samples * (read + train)"
    steps = cards(
        repeat=lambda data: data.repeat(2),
        shuffle=lambda data: data.shuffle(8),
        batch=lambda data: data.batch(2),
    )
    many: dict[str, Any] = {
        "workers": slider(0, 9, unit="workers"),
        "kind": ["process", "a kind with a name that is longer than a narrow page is wide"],
        "persistent": False,
    }
    yield "A run", Exhibit(show(mapped(3)[0], **ONCE))
    yield "A run in eight epochs", Exhibit(show(mapped()[0].cache(), num_epochs=8))
    yield (
        "A run of three epochs that reaches its limit",
        Exhibit(show(mapped(3, 1)[0], num_epochs=3), press("what could it be at best")),
    )
    yield "A run without samples", Exhibit(show(Dataset.range(0).map(cost=0.010), **ONCE))
    yield (
        "A short run over its baseline",
        Exhibit(show(ArtificialDataset(1), pinned=ArtificialDataset(2), **ONCE)),
    )
    yield (
        "A run over its baseline, at its begin",
        Exhibit(show(mapped(2)[0], pinned=mapped(3)[0], **ONCE), press("To the start")),
    )
    yield "Thirty stages", Exhibit(show(many_stages(), **ONCE))
    yield "Nine workers", Exhibit(show(loader(9)[0], **ONCE))
    yield "Nine workers, far on", Exhibit(show(loader(9)[0], **ONCE), far_on)
    yield "More bars than can be told apart", Exhibit(show(crowd(), **ONCE))
    for samples in (12, 30, 120):
        dataset, options = growing(samples)
        yield f"{samples} bars that get longer", Exhibit(show(dataset, **options))
    yield "Sliders", Exhibit(explore(mapped, calls=(1, 4), buffer=(0, 5)))
    yield (
        "All that can be shown of a run, beside another one",
        Exhibit(explore(mapped, calls=(1, 4), buffer=(0, 5)), compare),
    )
    yield "Every control of a loader", Exhibit(explore(loader, **many))
    yield (
        "Cards, and data that a model should not see",
        Exhibit(explore(puzzle, order=steps)),
    )
    yield "Roofs", Exhibit(explore(mapped, roofs=True, pinned={"calls": 1}, calls=(1, 4)))
    yield "A formula", Exhibit(explore(in_turn, formula=formula, **costs))
    yield (
        "A formula with a term that has no effect",
        Exhibit(explore(in_turn, formula="open + samples * max(read, train)", **costs)),
    )
    yield "A pipeline that fails", Exhibit(explore(failing, parts=(0, 2)))
    yield (
        "A pipeline as a program",
        Exhibit(explore(mapped, calls=(1, 4)), press("Show this pipeline as a program")),
    )
    yield "A real run", Exhibit(explore(mapped, calls=(1, 4)), measure)
    yield "Ranks", Exhibit(show(of_rank, ranks=4, **ONCE))
    yield (
        "Ranks, and the timeline of one",
        Exhibit(
            show(of_rank, ranks=4, **ONCE),
            lambda shown: shown.get_by_text("timeline of one rank").click(),
        ),
    )


def asked() -> Iterator[tuple[str, Exhibit]]:
    """Yield each type of question as it comes, after a wrong answer, and after a right one."""

    def wrong(question: Question) -> Hand:
        def turn(shown: Locator) -> None:
            card = card_of(question, shown)
            card.answer(card.mistake(question), "certain", question.wrong[0][1])

        return turn

    def right(question: Question) -> Hand:
        def turn(shown: Locator) -> None:
            wrong(question)(shown)
            card_of(question, shown).answer(question.right, "certain", RIGHT)

        return turn

    def none(_: Question) -> Hand:
        return rest

    states = {"not answered": none, "answered wrongly": wrong, "answered": right}
    for state, turned in states.items():
        for what, ask in QUESTIONS.items():
            title = f"{what}, {state}"
            question = ask(title)
            yield title, Exhibit(question, turned(question))


def curved(text: str, knee: int) -> Question:
    """Ask for the time per sample with up to seven calls, of which those after the *knee* rest."""

    def calling(calls: int) -> Any:
        images = ArtificialDataset(20).map(cost=0.110, num_parallel_calls=min(calls, knee))
        return images, ONCE

    return predict(
        text,
        calling,
        draw={"calls": range(1, 8)},
        wrong=[(lambda *of: [of[0].per_sample] * 7, "More calls do help.")],
        why="Training decides.",
    )


# By what is asked for; a text makes a question another one, whose record is its own.
QUESTIONS: dict[str, Callable[[str], Question]] = {
    "A number": lambda text: predict(
        text, ArtificialDataset(), wrong=[(0.105, "That is one epoch.")], why="It adds up."
    ),
    "A choice": lambda text: predict(
        text,
        ArtificialDataset(),
        choices=["the disk", "the step"],
        answer=lambda _: "the step",
        wrong=[("the disk", "Look at its bars.")],
        why="The step is the longest.",
    ),
    "A vote": lambda text: predict(
        text,
        choices=["A: the disk, because it is read once for each sample", "B: the step"],
        answer=lambda: "B: the step",
        wrong=[("A: the disk, because it is read once for each sample", "It is not.")],
        why="So it is.",
    ),
    "Bars": lambda text: predict(
        text,
        (ArtificialDataset().prefetch(1), ONCE),
        place=["Open", "Read", "Train"],
        wrong=[((ArtificialDataset(), ONCE), "You let them take turns.")],
        why="Reading goes on.",
    ),
    "A curve": lambda text: curved(text, knee=3),
    "A curve whose knee is at its right end": lambda text: curved(text, knee=6),
}


def tasks() -> Iterator[tuple[str, Exhibit]]:
    """Yield challenges that are open, failed and passed, with a control and with code."""

    def task(state: str, **more: Any) -> Any:
        return challenge(
            f"Hide the reading; {state}.",
            goals=[goals.busy(at_least=0.9), goals.per_sample(at_most=0.02)],
            hints=["Turn the slider, and look at what waits.", "More."],
            **more,
        )

    def turned(to: str) -> Hand:
        def turn(shown: Locator) -> None:
            press("Show the next hint")(shown)
            control = shown.locator("[data-name=buffer]")
            control.press("End")
            shown.get_by_text("Passed: every goal is met.").wait_for()
            control.press(to)
            if to == "Home":
                shown.get_by_text("Not yet.").first.wait_for()

        return turn

    def pipeline(buffer: int = 0) -> Any:
        files = ArtificialDataset(20, open=0.01, read=0.005)
        return files.prefetch(buffer) if buffer else files, ONCE

    def broken() -> Dataset:
        raise ValueError("this pipeline has no end that anybody would wait for")

    for state, hand in (
        ("open", rest),
        ("failed", turned("Home")),
        ("passed", turned("End")),
    ):
        yield (
            f"A challenge, {state}",
            Exhibit(task(state, pipeline=pipeline, buffer=slider(0, 4)), hand),
        )
    code = task("in code")
    yield "A challenge in code", Exhibit(code, press("Show the next hint"))
    yield "Its outcome, failed", Exhibit(code.check(pipeline))
    yield "Its outcome, passed", Exhibit(code.check(lambda: pipeline(2)))
    yield "Its outcome, broken", Exhibit(code.check(broken))


def labs() -> Iterator[tuple[str, Exhibit]]:
    """Yield the heat map, the mystery loaders and the check of the installation."""

    def walk(shown: Locator) -> None:
        shown.locator(".lk-square").last.click()
        shown.page.evaluate("() => (window.setTimeout = (act) => queueMicrotask(act))")
        press("Let the tuner walk")(shown)
        shown.get_by_text("the number of the tuner's step").wait_for()

    def name_one(shown: Locator) -> None:
        first = shown.get_by_role("group", name="Loader 1 of number 7")
        press("Buy the time of each stage")(first)
        first.get_by_label("what holds it back").select_option("2")
        first.get_by_label("one change").select_option("1")
        press("Commit")(first)
        first.get_by_text("You bought 1 of").wait_for()

    yield "A heat map", Exhibit(heat_map(two_maps, decode=(1, 4), augment=(1, 4)))
    yield "Mystery loaders", Exhibit(mystery(3))
    yield "Mystery loaders, one named", Exhibit(mystery(7), name_one)
    yield "The check of an installation", Exhibit(Installation("3.12"))
    # It leaves the page without pauses.
    yield (
        "A heat map, with the path of the tuner",
        Exhibit(heat_map(two_maps, decode=(1, 4), augment=(1, 4)), walk),
    )


def pictures() -> Iterator[tuple[str, Exhibit]]:
    """Yield what `lessonkit.plot` draws, by the names of its functions."""
    files = ArtificialDataset(6, nbytes=1000)
    one = files.map(cost=0.030, num_parallel_calls=1)
    steps = [
        ("naive", 13.35),
        ("+ prefetch", 10.85),
        ("+ cache", 6.19),
        ("+ batch before the maps", 6.242),
    ]
    found = curve(one, knobs(one)[0], values=[*range(1, 13)])
    search = autotune(one.prefetch(AUTOTUNE), most_slots=4).steps
    rates = {
        "storage": 4545.0,
        "cores": 1600.0,
        "GIL": 2100.0,
        "copy": 79719.0,
        "step": 3000.0,
    }
    roofs = Roofs(rates, run=1073)
    both = {"plain": benchmark(files, 1), "mapped": benchmark(one, 1)}
    yield "plot_curve", Exhibit(plot.plot_curve(found))
    yield "plot_roofs", Exhibit(plot.plot_roofs(roofs))
    yield "plot_search", Exhibit(plot.plot_search(search))
    yield "plot_timelines", Exhibit(plot.plot_timelines(both))
    yield "plot_waterfall", Exhibit(plot.plot_waterfall(steps, title="a waterfall"))
    yield "kitchen", Exhibit(plot.kitchen())
    yield "kitchen of a part", Exhibit(plot.kitchen("worker", "pass"))


def report() -> Iterator[tuple[str, Exhibit]]:
    """Yield *my report*, which lists what was done above; so it comes last."""

    def read(shown: Locator) -> None:
        press("Show my report on all lessons")(shown)
        shown.get_by_label("Your name, if you want").fill("AnnaOf" + "TheManyNames" * 5)

    yield "My report", Exhibit(QUESTIONS["A vote"]("Is it so?"), read)


# ---- the page ----

# As far as JupyterLab leaves of a narrow screen
MARGINS = "body { margin: 0; } .jp-Cell { margin: 0 15px; }"


def hang(visit: Visit, shown: dict[str, Exhibit]) -> None:
    """Draw all that is *shown* in one page, and bring each into its state."""
    page = visit.page
    give_address(visit)
    page.emulate_media(reduced_motion="reduce")
    cells = []
    for title in shown:
        cells += [new_markdown_cell(f"## {title}"), new_code_cell("shown")]
    # An editor folds what is below; elsewhere our button does.
    cells += [new_markdown_cell("## Further"), new_markdown_cell("### A folded section")]
    cells += [new_markdown_cell("Its words")]
    widgets = {
        2 * place + 1: exhibit.widget for place, exhibit in enumerate(shown.values())
    }
    show_cells(visit, cells, widgets)
    page.add_style_tag(content=f":root {{ color-scheme: light dark; }} {MARGINS}")
    # What a teacher switches, which a phone does not show
    page.locator(".lk-class").evaluate("(switches) => { switches.open = true; }")
    for place, exhibit in zip(widgets, shown.values(), strict=True):
        exhibit.turn(page.locator(".jp-Cell").nth(place).locator(".lk").first)
