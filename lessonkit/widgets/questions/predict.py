"""`predict`: a question before the run. This chooses the type of question by how it is answered."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.widgets.questions.drawing import Drawing
from lessonkit.widgets.questions.placing import Placing
from lessonkit.widgets.questions.prediction import Predict, Question, Wrong
from lessonkit.widgets.sandbox import described, recipe_of


def predict(
    question: str,
    *pipelines: Any,
    answer: Callable[..., Any] | None = None,
    unit: str = "ms",
    choices: Sequence[str] = (),
    place: Sequence[str] = (),
    draw: Mapping[str, Sequence[Any]] | None = None,
    wrong: Wrong = (),
    why: str = "",
) -> Question:
    """Ask *question* before the run is shown.

    *pipelines* are what a pipeline function may return: a `Dataset`, or one and keywords of
    `benchmark`. *why* explains the right answer, and *wrong* has a pair for each known
    misconception: what it leads to, and the sentence that explains it.

    Without more, *answer* is a function that gets the traces of the runs and returns the
    right answer: one of the *choices*, or a number; without it, the right answer is how
    long the first run takes. *unit* is that of numbers: they are in seconds for "ms" and
    "s" and a share for "%", and count within 2 %; in any other unit they must be exact. In
    *wrong* are answers, or functions of the traces.

    With *place*, the learner places the bars of these stages on the axis of the one run. In *wrong*
    are pipelines: the runs that the misconceptions would be.

    With *draw*, such as `draw={"calls": range(1, 9)}`, the one pipeline is a function with such an
    argument, and the learner draws what *answer* gives for each value; without it, the time per
    sample. In *wrong* are curves, or functions of the traces that give one.

    Raise ValueError if there is no pipeline, or more than one to place or draw; if an
    answer is none of the *choices*; or if there are no such stages, values or steps.
    TypeError tells what is no pipeline.
    """
    if not pipelines:
        raise ValueError("predict: there must be a pipeline to run")
    if (place or draw) and len(pipelines) > 1:
        raise ValueError(
            "predict: there must be one pipeline, to place its bars or to draw its curve"
        )
    about: dict[str, Any] = {"question": question, "why": why}
    if draw:
        [(knob, values), *more] = draw.items()
        if more or len(values) < 2:
            raise ValueError("draw: must be one name with two or more values")
        traces = [described(pipelines[0], **{knob: value}).simulate() for value in values]
        curve = [answer(trace) if answer else trace.per_sample for trace in traces]
        return Drawing(traces, curve, meant(wrong, traces), unit, (knob, values), **about)
    traces = [recipe_of(made).simulate() for made in pipelines]
    if place:
        others = [(recipe_of(made).simulate(), text) for made, text in wrong]
        return Placing(traces[0], others, place, **about)
    right = answer(*traces) if answer else traces[0].duration
    return Predict(right, meant(wrong, traces), unit, choices, traces=traces, **about)


def meant(wrong: Wrong, traces: Sequence[Trace]) -> Wrong:
    """Work out what the misconceptions lead to that are functions of the *traces*."""
    return [(given(*traces) if callable(given) else given, text) for given, text in wrong]
