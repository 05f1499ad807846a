"""Controls: sliders, choices, switches and cards, made of the abbreviations of `interact`."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, NamedTuple

from lessonkit import check
from lessonkit.widgets.sandbox import shortened
from lessonkit.words import milliseconds

Values = dict[str, Any]  # by the names of controls
MOST_VALUES = 1000
DIGITS = 9
MOST_NAMED = 10  # values in an error


class RefusedError(ValueError):
    """The page asked for something that there is not."""

    is_whole = True  # a sentence, which needs no line of the code that it came from


@dataclass(frozen=True)
class Control:
    """A control of the page, which names its values by number.

    *texts* has one for each of the *values*, as has the page.
    """

    name: str
    label: str
    kind: str  # range, choice, flag or order
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: Any  # a number; of cards their numbers in order

    def spec(self) -> Values:
        """Return what the page has to know."""
        facts = {name: getattr(self, name) for name in ("name", "label", "kind", "texts")}
        return facts | {"value": self.start}

    def value(self, sent: Any) -> Any:
        """Return the value of a number that the page *sent*; raise RefusedError if it has none."""
        numbers = range(len(self.values))
        if self.kind != "order":
            if type(sent) is int and sent in numbers:
                return self.values[sent]
        elif isinstance(sent, list) and all(type(card) is int for card in sent):
            if sorted(sent) == [*numbers]:
                return [self.values[card] for card in sent]
        raise RefusedError(f"{self.name}: there is no such value")

    def number(self, value: Any) -> Any:
        """Return the number of *value*, or of the nearest on a slider; raise if it has none."""
        if self.kind == "range":
            return min(
                range(len(self.values)), key=lambda step: abs(self.values[step] - value)
            )
        if self.kind != "order":
            return index_of(bool(value) if self.kind == "flag" else value, self.values)
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


class Slider(NamedTuple):
    """Make a slider from *least* to *most* in steps of *step*: `slider(1, 8, unit="calls")`.

    *unit* is written after its values, in the singular after a 1. *label* stands before it;
    without one, the name of the argument. `explore` raises ValueError if it has no steps,
    or more than 1,000.
    """

    least: float
    most: float
    step: float = 1
    unit: str = ""
    label: str = ""


slider = Slider  # as users write it


def seconds(least: float, most: float, step: float, *, label: str = "") -> Slider:
    """Make a slider from *least* to *most* seconds in steps of *step*, shown in milliseconds.

    *label* stands before it; without one, the name of the argument.
    """
    return Slider(least, most, step, "seconds", label)


class Cards(dict[str, Callable[..., Any]]):
    """Put functions on cards whose order the learner changes.

    The pipeline function gets a list of them. *steps* has them by the names on their cards.
    Raise ValueError for fewer than two, TypeError for what is no function.
    """

    def __init__(self, **steps: Callable[..., Any]) -> None:
        if len(steps) < 2:
            raise ValueError("cards: there must be two or more, to have an order")
        super().__init__({name: check.function(name, step) for name, step in steps.items()})


cards = Cards  # as users write it


def controls_of(pipeline: Callable[..., Any], wanted: Values) -> list[Control]:
    """Make the controls *wanted* of a function, which start at the defaults of its arguments.

    Raise TypeError if the function has no such argument, ValueError if its default is none
    of the values.
    """
    parameters = inspect.signature(pipeline).parameters
    if unknown := wanted.keys() - parameters.keys():
        raise TypeError(f"{unknown.pop()}: the pipeline function has no such argument")
    made = (control(name, given) for name, given in wanted.items())
    return [started(one, parameters[one.name].default) for one in made]


def started(fresh: Control, default: Any) -> Control:
    """Start a control at the *default* of its argument; raise ValueError if it is no value."""
    if default is inspect.Parameter.empty:
        return fresh
    try:
        return replace(fresh, start=fresh.number(default))
    except Exception:  # whatever comes of comparing what a learner made
        allowed = ", ".join(fresh.texts[:MOST_NAMED])
        given = shortened(repr(default))
        raise ValueError(
            f"{fresh.name}={given}: the default of the function is none of {allowed}"
        ) from None


def control(name: str, given: Any) -> Control:
    """Make the control that an abbreviation stands for, as in ipywidgets' `interact`.

    >>> control("calls", (1, 4)).texts
    ('1', '2', '3', '4')
    >>> control("read", seconds(0.005, 0.015, 0.005)).texts
    ('5 ms', '10 ms', '15 ms')
    """
    label = name.replace("_", " ")
    if isinstance(given, Slider):
        return ranged(name, given.label or label, given)
    if isinstance(given, Cards):
        order = list(range(len(given)))
        return Control(name, label, "order", tuple(given.values()), tuple(given), order)
    if isinstance(given, bool):
        return Control(name, label, "flag", (False, True), ("False", "True"), int(given))
    if isinstance(given, tuple) and len(given) in (2, 3) and all(map(is_number, given)):
        whole = all(isinstance(end, Integral) for end in given)
        step = given[2] if len(given) == 3 else 1 if whole else (given[1] - given[0]) / 10
        return ranged(name, label, Slider(given[0], given[1], step))
    if isinstance(given, (list, tuple, dict)) and given:
        return chosen(name, label, given)
    raise TypeError(
        f"{name}={given!r}: must be (min, max), (min, max, step), a list, True or False"
    )


def ranged(name: str, label: str, given: Slider) -> Control:
    """Make a slider that starts in the middle; raise ValueError if its steps do not fit."""
    least, most, step, *_ = given
    fits = all(map(is_number, given[:3])) and 0 < most - least < step * MOST_VALUES
    if not fits or not round(step, DIGITS):
        wrong = shortened(f"{least} to {most} in steps of {step}")
        raise ValueError(
            f"{name}: must go up in at most {MOST_VALUES} steps, not from {wrong}"
        )
    steps = int((most - least) / step + 1e-9) + 1
    values = tuple(round(least + number * step, DIGITS) for number in range(steps))
    texts = tuple(worded(value, given.unit) for value in values)
    return Control(name, label, "range", values, texts, (steps - 1) // 2)


def chosen(name: str, label: str, given: Any) -> Control:
    """Make a choice of several values; a dictionary, or pairs, say what each is called."""
    pairs = given.items() if isinstance(given, dict) else given
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        pairs = [(getattr(value, "__name__", value), value) for value in pairs]
    texts, values = zip(*pairs, strict=True)
    return Control(name, label, "choice", values, tuple(map(shortened, map(str, texts))), 0)


def is_number(value: Any) -> bool:
    """Whether a value counts as a number: one of NumPy does, True does not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def worded(value: float, unit: str) -> str:
    """Write a number with its *unit*."""
    if unit == "seconds":
        return milliseconds(value)
    text = str(value) if isinstance(value, int) else f"{float(value):g}"
    return f"{text} {unit.removesuffix('s') if value == 1 else unit}".strip()
