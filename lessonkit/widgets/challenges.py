"""`challenge`: a goal with a budget, checked by running the learner's own pipeline."""

from collections.abc import Callable, Sequence
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.pictures.scene import VerdictScene

from .explorer import Explore
from .goals import Attempt, ChallengeTask, Goal, failed
from .page_data import page_data
from .sandbox import described, sentence_of
from .widget import Page


class Outcome(Page):
    """What came of an attempt: which goals it meets, and its run."""

    def __init__(self, question: str, verdict: VerdictScene, trace: Trace | None) -> None:
        self.verdict = verdict
        scene = page_data(trace) if trace else None
        runs = {"": trace} if trace else {}
        state = {"question": question, "verdict": verdict, "scene": scene}
        super().__init__("outcome", state, runs)

    @property
    def passed(self) -> bool:
        """Whether every goal was met."""
        return self.verdict["passed"]

    def __repr__(self) -> str:
        judged = [("met" if met else "missed", said) for met, said in self.verdict["goals"]]
        goals = [f"- {how}: {said}" for how, said in judged]
        return "\n".join([self.verdict["message"], *goals])


class Challenge(Page):
    """A task for code: `check` judges a pipeline function."""

    def __init__(self, task: ChallengeTask) -> None:
        self.task = task
        super().__init__("challenge", {"task": task.spec()})

    def check(self, pipeline: Callable[[], Any]) -> Outcome:
        """Run what *pipeline* returns; show the run, and the goals that it meets or what failed."""
        try:
            trace = described(pipeline).simulate()
            return Outcome(self.task.text, self.task.judge(Attempt(trace)), trace)
        except Exception as error:
            return Outcome(self.task.text, failed(sentence_of(error)), None)

    def __repr__(self) -> str:
        goals = [f"- {goal.asked()}" for goal in self.task.goals]
        return "\n".join([self.task.text, *goals])


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
