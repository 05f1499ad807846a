"""`challenge`: a goal with a budget, checked by running the learner's own pipeline."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from lessonkit.engine.trace import Trace
from lessonkit.pictures.scene import OutcomeState, VerdictScene

from .explorer import Explore
from .goals import Attempt, ChallengeTask, Goal, failed
from .page_data import figures_and_words, page_data
from .sandbox import described, sentence_of
from .widget import Page

SAME = "The same figures as before"


class Outcome(Page):
    """What came of an attempt: which goals it meets, and its run.

    The first one is that of the code as it stood when the lesson was run; *tried* says that
    this one is a later one.
    """

    def __init__(
        self,
        question: str,
        verdict: VerdictScene,
        trace: Trace | None,
        *,
        tried: bool = False,
    ) -> None:
        self.verdict = verdict
        runs = {"": trace} if trace else {}
        state: OutcomeState = {
            "question": question,
            "verdict": verdict,
            "tried": tried,
            "scene": page_data(trace) if trace else None,
        }
        super().__init__("outcome", state, runs)

    @property
    def passed(self) -> bool:
        """Whether every goal was met."""
        return self.verdict["passed"]

    def __repr__(self) -> str:
        judged = [("met" if met else "missed", said) for met, said in self.verdict["goals"]]
        goals = [f"- {how}: {said}" for how, said in judged]
        return "\n".join([self.verdict["message"], *goals])


class Checked(NamedTuple):
    """An attempt, as the next one is compared with it: its code, and all that one sees of its run."""

    code: str
    seen: list[object]


class Challenge(Page):
    """A task for code: `check` judges a pipeline function."""

    def __init__(self, task: ChallengeTask) -> None:
        self.task = task
        self.checked: Checked | None = None  # the last attempt
        super().__init__("challenge", {"task": task.spec()})

    def check(self, pipeline: Callable[[], Any]) -> Outcome:
        """Run what *pipeline* returns; show the run, and the goals that it meets or what failed.

        A try after which all figures are as before is told so, whatever has changed in the code.
        """
        trace = None
        try:
            trace = described(pipeline).simulate()
            verdict = self.task.judge(Attempt(trace))
        except Exception as error:
            verdict = failed(sentence_of(error))
        before = self.checked
        self.checked = Checked(code_of(pipeline), [verdict])
        if trace:
            self.checked.seen.append(figures_and_words(trace, "")[0])
        if before and trace and not verdict["passed"] and before.seen == self.checked.seen:
            is_changed = before.code != self.checked.code
            more = ": this change makes no difference here." if is_changed else "."
            verdict = {**verdict, "remark": SAME + more}
        return Outcome(self.task.text, verdict, trace, tried=before is not None)

    def __repr__(self) -> str:
        goals = [f"- {goal.asked()}" for goal in self.task.goals]
        return "\n".join([self.task.text, *goals])


def code_of(pipeline: Callable[[], Any]) -> str:
    """Return the text of the function *pipeline*; "" where nobody has it."""
    with suppress(OSError, TypeError):
        return inspect.getsource(pipeline)
    return ""


def challenge(
    text: str,
    *,
    goals: Sequence[Goal],
    hints: Sequence[str] = (),
    pipeline: Callable[..., Any] | None = None,
    **controls: Any,
) -> Challenge | Explore:
    """Set a task, *text*, with *goals*, each a number with a target.

    *hints* are shown one by one.

    With a *pipeline* function, and *controls* for its arguments as in `explore`, each step
    of a control is judged right away. Without one, the result has a method `check`,
    which judges the learner's own pipeline function. Raises TypeError or ValueError as
    `explore` does.
    """
    task = ChallengeTask(text, tuple(goals), tuple(hints))
    if pipeline is None:
        return Challenge(task)
    return Explore(pipeline, task, **controls)
