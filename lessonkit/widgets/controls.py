"""Controls: sliders, choices, switches and cards, made of the abbreviations of `interact`."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, TypeGuard

from lessonkit.pictures.scene import ControlScene
from lessonkit.words import counted, milliseconds

from .sandbox import shortened

Values = dict[str, Any]  # by the names of controls
Kind = Literal["range", "choice", "flag", "order"]  # how the page draws a control

MOST_STEPS = 1000  # of a slider: more are finer than a screen
DIGITS = 9  # after the point, of its values: the others are errors of floats
ROUNDING = 0.001  # of a step, which is due to floats


@dataclass(frozen=True)
class Control:
    """A control of the page, which names its values by number.

    *texts* has one for each of the *values*, as has the page.
    """

    kind: Kind
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: Any  # a number; of cards their numbers in order
    name: str = ""
    label: str = ""

    def spec(self) -> ControlScene:
        """Return what the page has to know."""
        return {
            "name": self.name,
            "label": self.label,
            "kind": self.kind,
            "texts": self.texts,
            "value": self.start,
        }

    def value(self, sent: Any) -> Any:
        """Return the value of a number that the page *sent*; raise ValueError if it has none."""
        numbers = range(len(self.values))
        if self.kind != "order":
            if type(sent) is int and sent in numbers:
                return self.values[sent]
        elif isinstance(sent, list) and all(type(card) is int for card in sent):
            if sorted(sent) == [*numbers]:
                return [self.values[card] for card in sent]
        raise ValueError(f"{self.name}: there is no such value")

    def number(self, value: Any) -> Any:
        """Return the number of *value*, or of the nearest on a slider; raise if it has none."""
        if self.kind == "range":
            apart = [abs(step - value) for step in self.values]
            return apart.index(min(apart))
        if self.kind != "order":
            return index_of(value, self.values)
        cards = [index_of(card, self.values) for card in value]
        self.value(cards)  # which must be all of them
        return cards


def index_of(value: Any, values: tuple[Any, ...]) -> int:
    """Find *value* among *values*, or else one that equals it; raise ValueError if there is none.

    >>> index_of(True, (1, True)), index_of(1.0, (2, 1))
    (1, 1)
    """
    for number, one in enumerate(values):
        if one is value:
            return number
    return values.index(value)  # arrays do not compare


def slider(
    least: float, most: float, step: float = 1, unit: str = "", label: str = ""
) -> Control:
    """Make a slider from *least* to *most* in steps of *step*: `slider(1, 8, unit="calls")`.

    *unit* is written after its values, in the singular after a 1. *label* stands before it;
    without one, the name of the argument. It starts in the middle if the argument has no
    default. Raises ValueError if it has no steps, or more than 1,000.
    """
    are_numbers = all(map(is_number, (least, most, step)))
    if (
        not are_numbers
        or not (1 - ROUNDING) * step <= most - least <= (MOST_STEPS + ROUNDING) * step
        or not round(step, DIGITS)
    ):
        wrong = shortened(f"{least} to {most} in steps of {step}")
        raise ValueError(
            f"slider: must go up in at most {MOST_STEPS} steps, not from {wrong}"
        )
    steps = int((most - least) / step + ROUNDING)
    values = [round(least + number * step, DIGITS) for number in range(steps + 1)]
    texts = [worded(value, unit) for value in values]
    return Control(
        "range", tuple(values), tuple(texts), (len(values) - 1) // 2, label=label
    )


def seconds(least: float, most: float, step: float, *, label: str = "") -> Control:
    """Make a slider from *least* to *most* seconds in steps of *step*, shown in milliseconds.

    *label* stands before it; without one, the name of the argument.
    """
    return slider(least, most, step, "seconds", label)


def cards(**steps: Callable[..., Any]) -> Control:
    """Put functions on cards whose order the learner changes.

    The pipeline function gets a list of them. *steps* has them by the names on their cards.
    Raises ValueError for fewer than two.
    """
    if len(steps) < 2:
        raise ValueError("cards: there must be two or more, to have an order")
    return Control("order", tuple(steps.values()), tuple(steps), [*range(len(steps))])


def controls_of(pipeline: Callable[..., Any], wanted: Values) -> dict[str, Control]:
    """Make the controls *wanted* of a function, which start at the defaults of its arguments.

    Raises TypeError if the function has no such argument, ValueError if its default is none
    of the values.
    """
    parameters = inspect.signature(pipeline).parameters
    if unknown := wanted.keys() - parameters.keys():
        raise TypeError(f"{unknown.pop()}: the pipeline function has no such argument")
    return {
        name: started(control(name, given), parameters[name].default)
        for name, given in wanted.items()
    }


def started(fresh: Control, default: Any) -> Control:
    """Start a control at the *default* of its argument; raise ValueError if it is no value."""
    if default is inspect.Parameter.empty:
        return fresh
    try:
        return replace(fresh, start=fresh.number(default))
    except Exception:  # whatever comes of comparing what a learner made
        allowed = ", ".join(fresh.texts[:10])
        given = shortened(repr(default))
        raise ValueError(
            f"{fresh.name}={given}: the default of the function is none of {allowed}"
        ) from None


def control(name: str, given: Any) -> Control:
    """Make the control of the argument *name* that is *given*, or that an abbreviation stands for.

    Raises TypeError if it is none.

    >>> control("calls", (1, 4)).texts
    ('1', '2', '3', '4')
    >>> control("read", seconds(0.005, 0.015, 0.005)).texts
    ('5 ms', '10 ms', '15 ms')
    """
    if isinstance(given, Control):
        made = given
    elif isinstance(given, bool):
        made = Control("flag", (False, True), ("False", "True"), int(given))
    elif isinstance(given, tuple) and len(given) in (2, 3) and all(map(is_number, given)):
        made = slider(*given)
    elif isinstance(given, (list, tuple, dict)) and given:
        made = chosen(given)
    else:
        raise TypeError(
            f"{name}={given!r}: must be (min, max), (min, max, step), a list, True or False"
        )
    return replace(made, name=name, label=made.label or name.replace("_", " "))


def chosen(given: Any, name: str = "", label: str = "") -> Control:
    """Make a choice of several values; a dictionary says what each is called."""
    values = tuple(given)
    texts = [getattr(value, "__name__", value) for value in values]
    if isinstance(given, dict):
        values = tuple(given.values())
    shown = tuple(shortened(str(text)) for text in texts)
    return Control("choice", values, shown, 0, name, label)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value counts as a number: one of NumPy does, True does not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def worded(value: float, unit: str) -> str:
    """Write a number with its *unit*."""
    if unit == "seconds":
        return milliseconds(value)
    return counted(value, unit).strip()
