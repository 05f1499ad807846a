"""`explore`: a pipeline function with controls, and the run that it makes, right away."""

import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine import check
from lessonkit.engine.node import loaders_in
from lessonkit.engine.threads import start_thread
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.explain.compare import compare
from lessonkit.pictures.drawing import Drawing
from lessonkit.pictures.roofs import plot_roofs
from lessonkit.pictures.scene import ExploreState, Failed, Scene
from lessonkit.pictures.timeline import plot_timelines
from lessonkit.words import OUR_WORDS, milliseconds, size, worded

from .alone import by_itself
from .controls import Values, controls_of
from .formula import Formula
from .goals import Attempt, ChallengeTask
from .page_data import Json, page_data
from .sandbox import described, in_time, sentence_of
from .widget import Page

PROGRESS = 0.1  # s from one word about a real run to the next
DRAWING = 60  # s in which a real run has to be drawn: it may have many spans


class Explore(Page):
    """Show the run of the pipeline that *pipeline* makes, with a control for each of its arguments.

    *pipeline* is a function that returns a `Dataset`, or one and a dictionary of keywords
    of `benchmark`. It is also called for values near the one in use, so it should do
    nothing but describe. *task* is that of a `challenge`.

    *pinned* are the values of the baseline run, by the names of arguments; it is shown below.
    An argument that it does not name has the value of its control, so the baseline run does the
    same job as the run above it.
    *formula* is one over the arguments of *pipeline*, such as "samples * (read + train)":
    its terms light the bars of the stage that has their name, and a bar's end can be
    dragged. With *roofs* it also draws how many samples per second each part allows, and the run
    as a line below, as `plot_roofs` does.
    *words* are those of the page, by ours: with `words={"accelerator": "GPU", "sample": "batch"}`
    the picture says GPU and batch, as the text around it does.

    Each of *controls* has the name of an argument, and is abbreviated as in `interact`:
    (least, most), (least, most, step), a list, a dictionary of texts and values, True or
    False; or it is a `slider`, `seconds` or `cards`. It starts at the argument's default.

    Raises TypeError for what is none of these, ValueError for a control without values, for
    a default that is none of them, or for a formula that has no value. An error in
    *pipeline* is shown instead of a run.
    """

    # The widget keeps no values: every question of the page brings them along.
    questions = ("show", "code", "run", "cancel")

    def __init__(
        self,
        pipeline: Callable[..., Any],
        task: ChallengeTask | None = None,
        /,
        *,
        pinned: Values | None = None,
        formula: str = "",
        roofs: bool = False,
        words: Mapping[str, str] = OUR_WORDS,
        **controls: Any,
    ) -> None:
        refuse_controls_of_these_names(pinned, formula, roofs, words)
        self.pipeline = check.function("pipeline", pipeline)
        self.task = task
        self.pinned = pinned
        self.roofs = roofs
        self.words = words
        self.last_baseline: tuple[Values, Scene | None] = ({}, None)
        self.controls = controls_of(pipeline, controls)
        self.cancelled = threading.Event()  # of the last real run
        self.first = {name: one.start for name, one in self.controls.items()}
        self.start = self.values(self.first)
        self.formula = Formula(formula, pipeline, self.start) if formula else None
        state = self.state_without_runs()
        runs = self.first_runs(state)
        # At first, in words
        self.shown = state["scene"]["summary"] if state["scene"] else state["error"]
        super().__init__("explore", state, runs)

    # ---- what the page begins with ----

    def state_without_runs(self) -> ExploreState:
        """Return what the page begins with, but for the pictures of runs."""
        task = self.task.spec() if self.task else None
        if task:
            task["goals"] = [worded(goal, self.words) for goal in task["goals"]]
        formula = self.formula.spec(self.controls) if self.formula else None
        if formula:
            formula["said"] = worded(formula["said"], self.words)
        return {
            "scene": None,
            "pinned": None,
            "error": "",
            "controls": [one.spec() for one in self.controls.values()],
            "task": task,
            "formula": formula,
            "roofs": self.roofs,
        }

    def first_runs(self, state: ExploreState) -> dict[str, Trace]:
        """Return the runs at the start by their titles; their pictures go into *state*, or the error."""
        runs: dict[str, Trace] = {}
        try:
            if self.pinned is not None:
                beside, state["pinned"] = self.picture(self.start | self.pinned)
                runs["the baseline run"] = beside
            run, state["scene"] = self.picture(self.start)
            runs["this run" if runs else ""] = run
        except Exception as error:
            state["error"] = sentence_of(error)
        return runs

    def save(self, path: str | Path, *, title: str = "", caption: str = "") -> Path:
        """Write one file that is alive without Python, a server or a network; return its *path*.

        It is a page with a *title* above and a *caption* below, or a module that MyST, marimo and
        slides can show if its name ends in ".mjs". All settings of the controls are run now. Of
        one that raises, or takes more than 2 s, the file says so, as this view does. An address
        such as `workers.html#workers=4` opens it there. Print how large it is.

        Raises ValueError for cards, and for more than 500 settings.
        """
        path = Path(path)
        path.write_text(by_itself(self, path.suffix, title, caption), "utf-8")
        print(f"{path}: {size(path.stat().st_size)}")
        return path

    # ---- what the page asks ----

    def show(self, id: int, values: Any, rank: int = 0) -> None:
        """Simulate, and send the picture, or say why there is none.

        Of several ranks it has the timeline of *rank*.
        """
        began = perf_counter()
        answer: Scene | Failed
        try:
            rank = check.integer("rank", rank, least=0)
            answer = self.compared(self.values(values), rank)
        except KeyboardInterrupt:
            answer = {"error": "The simulation was interrupted."}
        except Exception as error:
            answer = {"error": sentence_of(error)}
        took = 1000 * (perf_counter() - began)
        self.tell("picture", answer, id=id, took=round(took, 1))

    def code(self, values: Any) -> None:
        """Send the pipeline of these *values* as programs."""
        self.tell("code", self.programs(values))

    def run(self, id: int, values: Any) -> None:
        """Run it for real on another thread, because the kernel's own would not hear a cancel.

        Where no thread can be started it runs here and hears none. There may be several views, each
        of which knows its own run by *id*. One run goes on at a time, for two would disturb each
        other; the newest wins.
        """
        self.cancel()
        self.cancelled = threading.Event()
        real = partial(self.run_real, id, values)
        if not start_thread(real, self.cancelled):
            real(self.cancelled)

    def cancel(self) -> None:
        """End the real run."""
        self.cancelled.set()

    # ---- how it is answered ----

    def programs(self, values: Any) -> dict[str, str]:
        """Return the pipeline of the page's *values* as programs: ours, and that for a real library."""
        run = described(self.pipeline, **self.values(values))
        dataset = run.of_one_rank.dataset
        languages = "lessonkit", "torch" if loaders_in(dataset.node) else "tf.data"
        return {language: dataset.code(language) for language in languages}

    def values(self, numbers: Any) -> Values:
        """Return the values of the page's *numbers*; raise ValueError if one is missing."""
        if not isinstance(numbers, dict) or set(numbers) != set(self.controls):
            raise ValueError("values must name every control, and nothing else")
        return {name: self.controls[name].value(number) for name, number in numbers.items()}

    def picture(self, values: Values, rank: int = 0) -> tuple[Trace, Scene]:
        """Run the pipeline for these *values*; return the run, and how the page draws it."""

        def run() -> Trace:
            return described(self.pipeline, **values).simulate(rank)

        trace = in_time("this pipeline", run)
        drawn = page_data(trace, words=self.words, roofs=self.roofs)
        if self.formula:
            drawn["formula"] = self.formula.judge(trace, values)
        if self.task:
            drawn["verdict"] = verdict = self.task.judge(Attempt(trace, values, self.start))
            verdict["goals"] = [
                (met, worded(said, self.words)) for met, said in verdict["goals"]
            ]
            verdict["message"] = worded(verdict["message"], self.words)
        return trace, drawn

    def compared(self, values: Values, rank: int = 0) -> Scene:
        """Return how the page draws the run for these *values*, and its baseline run.

        The page has the baseline run of the start, so only another one is added; it is None
        where that pipeline has none, for then there is nothing to compare with.
        """
        _, drawn = self.picture(values, rank)
        if self.pinned is None:
            return drawn
        beside = values | self.pinned
        if beside != self.start | self.pinned:
            drawn["pinned"] = self.baseline(beside)
        return drawn

    def baseline(self, values: Values) -> Scene | None:
        """Return how the page draws the baseline run for these *values*; None if it raises.

        The last one is kept, because a hand mostly turns what the baseline run does not follow.
        """
        if self.last_baseline[0] != values:
            try:
                _, drawn = self.picture(values)
            except Exception:
                self.last_baseline = values, None
            else:
                self.last_baseline = values, drawn
        return self.last_baseline[1]

    def run_real(self, id: int, values: Any, cancelled: threading.Event) -> None:
        """Run it, saying how far it has come; then send measured and predicted times."""
        last = 0.0
        self.tell("progress", text="The run begins.", id=id)

        def progress(count: int, elapsed: float) -> None:
            nonlocal last
            if perf_counter() - last > PROGRESS:
                last = perf_counter()
                text = f"Element {count} arrived after {milliseconds(elapsed)}"
                self.tell("progress", text=text, id=id)

        try:
            run = described(self.pipeline, **self.values(values))
            predicted = run.simulate()
            real = benchmark(
                run.dataset,
                clock="real",
                progress=progress,
                cancel=cancelled,
                **run.options,
            )
            if real.cancelled:
                text = f"Cancelled after {milliseconds(real.duration)}."
                return self.tell("stopped", text=text, id=id)
            draw = partial(page_data, real, words=self.words)
            scene = in_time("drawing this run", draw, DRAWING, cancelled)
            self.tell("real", {"scene": scene, **side_by_side(predicted, real)}, id=id)
        except BaseException as error:  # whatever it is: the page waits for an end
            text = "Cancelled." if cancelled.is_set() else sentence_of(error)
            self.tell("stopped", text=text, id=id)

    def stored(self) -> Drawing | None:
        """Return the picture that a notebook keeps: the roofs where they are drawn, else the runs."""
        if not self.runs or any(run.ranks for run in self.runs.values()):
            return super().stored()
        if self.roofs:
            with suppress(ValueError):  # of a run without samples
                return plot_roofs([*self.runs.values()][-1])
        return plot_timelines(self.runs, words=self.words)

    def __repr__(self) -> str:
        """Say where the controls begin, and what the run there is like."""
        return ": ".join(filter(None, [self.setting_in_words(self.first), self.shown]))

    def setting_in_words(self, numbers: Values) -> str:
        """Say where the sliders and choices are, of which *numbers* has the steps."""
        words = [
            f"{one.label} {one.texts[numbers[one.name]]}"
            for one in self.controls.values()
            if one.kind in ("range", "choice")
        ]
        # "num workers 4 workers" would say it twice
        twice = re.compile(r"[\w ]*\b(\w+?)s? (\S+ \1s?\b)")
        return ", ".join(twice.sub(r"\2", one) for one in words)


def refuse_controls_of_these_names(
    pinned: object, formula: object, roofs: object, words: object
) -> None:
    """Raise TypeError if one of these arguments is a control that somebody meant by its name."""
    are_ours = (
        isinstance(pinned or {}, dict)
        and isinstance(formula, str)
        and isinstance(roofs, bool)
        and isinstance(words, Mapping)
    )
    if not are_ours:
        raise TypeError("pinned, formula, roofs, words: no control can have this name")


def side_by_side(predicted: Trace, real: Trace) -> Json:
    """Put each stage in words, as *predicted* and as measured."""
    *rows, total = [
        [
            row.stage,
            milliseconds(row.predicted[1]),
            milliseconds(row.measured[1]),
            row.verdict,
        ]
        for row in compare(predicted, real).stages
    ]
    return {"rows": rows, "total": total}


explore = Explore  # as users write it


def show(
    dataset: Any,
    *,
    pinned: Any = None,
    words: Mapping[str, str] = OUR_WORDS,
    **options: Any,
) -> Explore:
    """Show the run of the `Dataset` *dataset*, and below it that of another one if it is *pinned*.

    *words* are those of the page, as in `explore`.

    *options* are keywords of `benchmark`. With *ranks* among them, *dataset* is a function
    that makes the pipeline of a rank. Raises TypeError if it is neither.
    """
    if not isinstance(dataset, Dataset) and "ranks" not in options:
        raise TypeError(
            f"{dataset!r}: show takes a Dataset; for a function that makes one there is explore"
        )

    def pipeline(made: Any = dataset) -> Any:
        return made, options

    beside = None if pinned is None else {"made": pinned}
    return Explore(pipeline, pinned=beside, words=words)
