"""Questions before a run: `predict`, which a lesson calls, and a class for each type of question.

A type of question is one file here and one on the page. Here it is a class with a `kind`, the
name by which the page, the records, the report, the board of a class and the tests know it. The
class goes on from `Question` in `question.py`, or from `Marks` in `marks.py` if the answer is a
step of an axis for each of several marks. It says what the page has to know (*answer*), judges
(`judge`), tells what the page shows with the run (`revealed`) and what a teacher's board knows
(`for_board`). It is added to `QUESTIONS`, and `predict` gets the argument by which a lesson asks
for it. On the page it is a class of the same name in `page/questions/`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lessonkit.widgets.sandbox import described, pipeline_run
from lessonkit.words import OUR_WORDS

from .choice import Choice
from .curve import Curve
from .number import Number
from .placing import Placing
from .question import Question, Wrong

__all__ = ["QUESTIONS", "Choice", "Curve", "Number", "Placing", "Question", "predict"]

QUESTIONS: tuple[type[Question], ...] = (Number, Choice, Placing, Curve)


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
    words: Mapping[str, str] = OUR_WORDS,
) -> Question:
    """Ask *question* before the run is shown.

    *pipelines* are what a pipeline function may return: a `Dataset`, or one and keywords of
    `benchmark`. *why* explains the right answer, and *wrong* has a pair for each known
    misconception: the answer that it leads to, and the sentence that explains it.

    *answer* is a function that gets the traces of the runs and returns the right answer: one
    of the *choices*, or a number; without it, the right answer is the time that the first run
    takes. *unit* is that of numbers: they are in seconds for "ms" and "s" and a share for "%",
    and count within 2 %; in any other unit they must be exact. In *wrong* are answers, or
    functions of the traces.

    Without pipelines this is a vote, in which *answer* gets nothing, and no run is shown.

    With *place*, the learner places the bars of these stages on the axis of the one run. In
    *wrong* are pipelines: the runs that the misconceptions would be.

    With *draw*, such as `draw={"calls": range(1, 9)}`, the one pipeline is a function with such
    an argument, and the learner draws what *answer* gives for each value; without it, the time
    per sample. In *wrong* are curves, or functions of the traces that give one.

    The run is told in the *words* of the page, as in `explore`.

    Raises ValueError if there is no pipeline and this is no vote; if there is not one to
    place or draw; if an answer is none of the *choices*; or if there are no such stages, values
    or steps. Raises TypeError if something is no pipeline.
    """
    if not (pipelines or (choices and answer)):
        raise ValueError(
            "predict: there must be a pipeline to run, or choices and an answer"
        )
    if (place or draw) and len(pipelines) != 1:
        raise ValueError(
            "predict: there must be one pipeline, to place its bars or to draw its curve"
        )
    about: dict[str, Any] = {"question": question, "why": why, "words": words}
    if draw:
        [(knob, values), *more] = draw.items()
        if more or len(values) < 2:
            raise ValueError("draw: must be one name with two or more values")
        traces = [described(pipelines[0], **{knob: value}).simulate() for value in values]
    else:
        traces = [pipeline_run(made).simulate() for made in pipelines]
    if place:
        others = [(pipeline_run(made).simulate(), text) for made, text in wrong]
        return Placing(traces[0], others, place, **about)
    known = [(given(*traces) if callable(given) else given, text) for given, text in wrong]
    if draw:
        curve = [answer(trace) if answer else trace.per_sample for trace in traces]
        return Curve(traces, curve, known, unit, knob, values, **about)
    right = answer(*traces) if answer else traces[0].duration
    if choices:
        return Choice(right, known, choices, traces=traces, **about)
    return Number(right, known, unit, traces=traces, **about)
