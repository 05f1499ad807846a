"""`heat_map`: a map of two knobs. It starts unknown; each try lights a square, as does the tuner."""

from collections.abc import Callable
from typing import Any

from lessonkit.engine import check
from lessonkit.improve.autotune import Search, Setting
from lessonkit.improve.knobs import Tried, as_tried
from lessonkit.widgets.controls import controls_of
from lessonkit.widgets.sandbox import described
from lessonkit.widgets.widget import Page
from lessonkit.words import milliseconds

STUCK = "No change of one number helped, so the tuner tries numbers that are all alike."
MOST_SQUARES = 12  # numbers of a knob: as many squares as anybody looks at side by side


class HeatMap(Page):
    """Map the time per sample over two numbers of calls; nobody knows one until it is tried.

    *pipeline* is a function as in `explore`, and *knobs* are two of its arguments, each
    with a range of at most 12 numbers, such as `decode=(1, 4)`. Raise TypeError if they are
    not.
    """

    questions = ("light", "walk")

    def __init__(self, pipeline: Callable[..., Any], /, **knobs: Any) -> None:
        self.pipeline = check.function("pipeline", pipeline)
        self.knobs = list(controls_of(pipeline, knobs).values())
        sizes = [len(knob.values) for knob in self.knobs if knob.kind == "range"]
        if len(sizes) != 2 or len(knobs) != 2 or max(sizes) > MOST_SQUARES:
            raise TypeError(
                f"heat_map: takes two knobs, each with a range of at most {MOST_SQUARES} numbers"
            )
        super().__init__("heat map", {"knobs": [knob.spec() for knob in self.knobs]})

    def run(self, square: Any) -> Tried:
        """Simulate the pipeline of a *square*: of each knob the number of a step."""
        pairs = zip(self.knobs, square, strict=True)
        values = {knob.name: knob.value(step) for knob, step in pairs}
        tried = as_tried(described(self.pipeline, **values).simulate())
        if not tried.samples:
            raise ValueError("no element reached the training loop")
        return tried

    def light(self, square: Any) -> None:
        """Tell the time at a square."""
        self.tell("walk", {"steps": [square_at(square, self.run(square), "")]})

    def walk(self) -> None:
        """Tell each step of the search that `autotune` makes, from the first square on."""

        def run(setting: Setting) -> Tried:
            return self.run([number - 1 for number in setting])

        search = Search({knob.name: len(knob.values) for knob in self.knobs}, run)
        search.found()
        steps = list[dict[str, Any]]()
        for step in search.steps:
            why = f"{'Taken' if step.accepted else 'Not taken'}: {step.why}."
            if steps and ", " in step.change:  # which has more than one number
                why += f" {STUCK}"
            square = [number - 1 for number in step.setting.values()]
            steps.append(square_at(square, step.tried, why))
        self.tell("walk", {"steps": steps})

    def __repr__(self) -> str:
        across, down = (
            f"{knob.label} {knob.texts[0]} to {knob.texts[-1]}" for knob in self.knobs
        )
        what = "Click a square to see its time per sample."
        return f"A map of which nothing is known yet: {across}, {down}. {what}"


def square_at(square: list[int], tried: Tried, why: str) -> dict[str, Any]:
    """Return a *square* as the page gets it: its time, also in words, and *why* it was tried."""
    return {
        "square": square,
        "seconds": tried.per_sample,
        "text": milliseconds(tried.per_sample),
        "why": why,
    }


heat_map = HeatMap  # as users write it
