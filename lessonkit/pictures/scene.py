"""What the page is sent: the one description of it, field by field.

`page/scene.js` says the same on the page's side, and `tests/widgets/test_scene.py` compares the two.
Tables of a few entries are lists of objects; bars and events, of which a run has thousands, are
columns of one length. All times are whole microseconds since the first request, unless a field
says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:  # Python 3.10 has none, and needs none: these are read as text
    from typing_extensions import NotRequired

# ---- a run ----


class RowScene(TypedDict):
    """A row of the timeline: a stage of the pipeline."""

    stage: str
    lanes: int  # calls side by side
    colour: str


class BarColumns(TypedDict):
    """The bars of the timeline: work, waits and counts."""

    row: list[int]
    lane: list[int]
    start: list[int]
    length: list[int]
    kind: list[str]  # empty for work, "start", "count", or a kind of wait
    label: list[str]  # what stands on it: the number of its element, or how long it waits
    note: list[str]  # what it waits for; of work on a batch, its samples
    level: list[float]  # its height, as a share of its lane
    cause: list[int]  # the bar that it had to wait for, -1 for none
    who: list[int | Sequence[int]]  # the sample that it works on, or those of its batch


class WaitScene(TypedDict):
    """What a kind of wait looks like, and how it is put in words."""

    mark: str  # of its filling: its pattern is this, repeated
    legend: str
    sentence: str  # in which a name takes the place of {}


class PartScene(TypedDict):
    """A part of the pipeline, and what works and is kept in it."""

    name: str
    rows: list[int]  # those of its stages
    calls: int  # at a time at most, 0 where nobody can say
    buffer: int | None  # the number of its buffer


class BufferScene(TypedDict):
    """A buffer, and how many elements it has room for; None for as many as come."""

    name: str
    capacity: int | None


class EventColumns(TypedDict):
    """What came into buffers, and left them, in the order of time."""

    buffer: list[int]
    time: list[int]
    change: list[int]  # 1 for what came, -1 for what left
    label: list[str]
    element: list[int]
    bytes: list[int]  # empty where nothing has a size


class RankColour(TypedDict):
    """What a colour of the strip stands for."""

    text: str
    colour: str


class LateRank(TypedDict):
    """The rank that the others waited for in a step, and until when."""

    rank: int
    time: int


class StripScene(TypedDict):
    """What several ranks did, a row for each."""

    ranks: int
    rank: int  # whose timeline is below
    colours: list[RankColour]  # of training, waiting for data, and waiting for others
    late: list[LateRank]
    times: list[list[int]]  # of each rank, for each step: when it asked, got and trained
    ends: list[int]  # of the steps
    words: str


class FormulaScene(TypedDict):
    """What a formula says of a run."""

    value: str
    holds: bool
    said: str
    beaten: list[int]  # its terms that have no effect, counted from the left


class VerdictScene(TypedDict):
    """How the goals of a challenge stand: for each whether it is met, and a sentence."""

    passed: bool
    goals: Sequence[tuple[bool, str]]
    message: str
    remark: NotRequired[
        str
    ]  # what a try in code did to the figures, if that is worth a word


class RoofScene(TypedDict):
    """A part of a job, and how many samples per second it allows."""

    name: str
    perSecond: float
    lit: bool  # whether it is the lowest


class RoofsScene(TypedDict):
    """How many samples per second each part allows, and how many the run makes."""

    title: str
    words: str
    verdict: str
    parts: list[RoofScene]  # in the order in which a sample meets them
    run: float | None


class Scene(TypedDict):
    """What the page draws of one run."""

    end: int
    unit: str  # "samples", or "elements" where an element may be more than one
    rows: list[RowScene]  # from top to bottom, the accelerator last
    bars: BarColumns
    path: list[int]  # the bars of the critical path
    epochs: list[int]  # when each begins
    waits: dict[str, WaitScene]  # by the kinds of bars
    parts: list[PartScene]
    buffers: list[BufferScene]
    events: EventColumns
    figures: list[tuple[str, str]]  # numbers with their names
    summary: str  # the picture in words
    note: str
    data: str  # what is wrong with the data that the model sees; empty if nothing is
    perSample: float | None  # seconds
    limit: float  # seconds per sample, which no run with this work gets below
    words: dict[str, str]  # of the page, by those of ours for which they stand
    strip: StripScene | None  # of several ranks
    formula: NotRequired[FormulaScene]
    verdict: NotRequired[VerdictScene]
    roofs: NotRequired[RoofsScene]  # where they are asked for
    # The baseline run beside it, where that is not the one of the start; None if there is none
    pinned: NotRequired[Scene | None]


# ---- pictures that nothing turns ----


class ChartMark(TypedDict):
    """A bar, a dot, a line or steps through *points*, each a pair of numbers."""

    kind: str  # "bar", "dot", "line" or "steps"
    points: Sequence[tuple[float, float]]
    text: NotRequired[str]  # beside it
    say: NotRequired[str]  # what is said of it where one points
    change: NotRequired[str]  # of a bar that says what has changed: "less" or "more"
    marked: NotRequired[bool]
    hollow: NotRequired[bool]


class ChartRow(TypedDict):
    """A row of marks, *height* pixels high; *top* is the number at its upper edge."""

    height: int
    top: float
    marks: list[ChartMark]
    name: NotRequired[str]


ChartScene = TypedDict(
    "ChartScene",
    {
        "title": str,
        "words": str,
        "across": str,  # what the horizontal axis has
        "up": str,  # and the vertical one; empty where rows have names
        "from": float,
        "to": float,
        "seconds": bool,  # whether the axis has these, and not plain numbers
        "rows": list[ChartRow],
    },
)


class RunScene(TypedDict):
    """A run among others on one axis of time."""

    title: str
    words: str
    scene: Scene


# ---- what a learner turns and answers ----


class ControlScene(TypedDict):
    """A control; its values are known to the page by their numbers and their texts alone."""

    name: str
    label: str
    kind: str  # "range", "choice", "flag" or "order"
    texts: Sequence[str]
    value: int | list[int]  # at the start; of cards their numbers in order


class TaskScene(TypedDict):
    """What a challenge asks for."""

    text: str
    goals: list[str]
    hints: Sequence[str]


class FormulaSpec(TypedDict):
    """A formula, before any run."""

    said: str  # its left side
    words: list[str]  # its right side: other text and names take turns
    fixed: dict[str, str]  # the numbers that stay, by their names
    steps: dict[str, list[int]]  # of the costs that a control turns


class Failed(TypedDict):
    """Why there is no picture."""

    error: str


class ExploreState(TypedDict):
    """What `explore` begins with."""

    scene: Scene | None
    pinned: Scene | None
    error: str
    controls: list[ControlScene]
    task: TaskScene | None
    formula: FormulaSpec | None
    roofs: bool  # whether they are drawn
    alone: NotRequired[bool]  # in a file of its own, without a kernel to ask


class OutcomeState(TypedDict):
    """What came of an attempt in code."""

    question: str  # the text of its challenge
    verdict: VerdictScene
    tried: bool  # whether the challenge had been checked before
    scene: Scene | None


class QuestionState(TypedDict):
    """What every question begins with; `answer` is for its type, and described in its file."""

    kind: str
    asks: str  # "Predict" or "Vote"
    question: str
    sure: Sequence[str]
    answer: dict[str, Any]


class RevealedScene(TypedDict):
    """What the page shows when an answer is right, or asked for; types of questions add to it."""

    text: str
    scene: Scene | None
    pinned: Scene | None
