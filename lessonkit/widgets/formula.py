"""A formula that belongs to a live view: read as text, and worked out for each run."""

import ast
import inspect
import re
from collections.abc import Callable
from functools import partial
from math import ceil, isclose
from operator import add, mul, neg, sub, truediv
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.pictures.scene import FormulaScene, FormulaSpec
from lessonkit.words import milliseconds

from .controls import Control, Values, is_number, worded

SIGNS: dict[type, Callable[..., float]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
    ast.USub: neg,
}
CALLABLE: dict[str, Callable[..., float]] = {"max": max, "min": min, "round_up": ceil}


class Formula:
    """The time that a run should take, by *text*, which has a value for each setting that is shown.

    In *text* are arguments of *pipeline*, numbers, `+ - * /`, max, min and round_up. It says the
    total in seconds; `per_sample ==` before it, or `total >=` for a bound, change that. Raise
    ValueError if it is something else, or has no value for those at the *start*.
    """

    def __init__(self, text: str, pipeline: Callable[..., Any], start: Values) -> None:
        self.measure = "total"
        self.sign = "=="
        right = text.strip()
        if left := re.match(r"\s*(total|per_sample)\s*(==|>=)\s*", text):
            self.measure, self.sign = left.groups()
            right = text[left.end() :].strip()
        try:
            self.body = ast.parse(right, mode="eval").body
        except SyntaxError:
            raise ValueError(f"formula={text!r}: must be an expression") from None
        self.text = ast.unparse(self.body)
        parameters = inspect.signature(pipeline).parameters.values()
        self.fixed = {one.name: one.default for one in parameters if is_number(one.default)}
        try:
            self.value(start)
        except (ArithmeticError, TypeError) as error:
            raise ValueError(f"formula={text!r}: {error}") from None

    def spec(self, controls: dict[str, Control]) -> FormulaSpec:
        """Return what the page has to know.

        It has the text on the left, a list in which other text and names alternate, the numbers
        that stay, and the steps of the costs.
        """
        words = re.split(r"\b([^\W\d]\w*)", self.text.replace("*", "·"))
        fixed = {
            name: worded(number, "seconds" if isinstance(number, float) else "")
            for name, number in self.fixed.items()
        }
        steps = {
            name: [round(value * 1e6) for value in one.values]
            for name, one in controls.items()
            if name in words and isinstance(one.values[0], float)
        }
        sign = "=" if self.sign == "==" else "≥"
        left = f"{self.measure.replace('_', ' ')} {sign}"
        return {"said": left, "words": words, "fixed": fixed, "steps": steps}

    def value(self, numbers: Values, part: ast.expr | None = None) -> float:
        """Return the value for *numbers*, or that of a *part*; raise ValueError if it has none."""
        known = self.fixed | numbers
        of = partial(self.value, numbers)
        match part or self.body:
            case ast.Constant(value=number) if is_number(number):
                return float(number)
            case ast.Name(id=name) if is_number(known.get(name)):
                return float(known[name])
            case ast.BinOp(left, sign, right) if type(sign) in SIGNS:
                return SIGNS[type(sign)](of(left), of(right))
            case ast.UnaryOp(sign, inner) if type(sign) in SIGNS:
                return SIGNS[type(sign)](of(inner))
            case ast.Call(ast.Name(id=name), [_, *_] as given, []) if name in CALLABLE:
                return float(CALLABLE[name](*map(of, given)))
            case other:
                raise ValueError(f"the formula has no number for {ast.unparse(other)}")

    def beaten(self, numbers: Values) -> list[int]:
        """List the names, counted from the left, that have no say: in a max others are larger."""
        of = partial(self.value, numbers)
        names = [part for part in ast.walk(self.body) if isinstance(part, ast.Name)]
        names.sort(key=lambda name: (name.lineno, name.col_offset))
        beaten = []
        for call in ast.walk(self.body):
            if isinstance(call, ast.Call) and call.args[1:]:
                lost = [part for part in call.args if of(part) != of(call)]
                inside = [name for part in lost for name in ast.walk(part)]
                beaten += [number for number, name in enumerate(names) if name in inside]
        return beaten

    def judge(self, trace: Trace, values: Values) -> FormulaScene:
        """Say its value for these *values*, what the run took, and whether it holds."""
        try:
            value = self.value(values)
            beaten = self.beaten(values)
        except (ArithmeticError, ValueError, TypeError) as error:
            return {"value": "?", "holds": False, "said": str(error), "beaten": []}
        took = trace.duration if self.measure == "total" else trace.per_sample
        # The clock rounds to whole nanoseconds
        is_same = isclose(value, took, rel_tol=1e-6)
        is_bound = took > value and self.sign == ">="
        shown = milliseconds(value)
        ran = milliseconds(took)  # as the figures beside it have it
        apart = abs(took - value)
        if is_same:
            said = "the same as the run"
        elif shown != ran:  # after a bound stands the sign "≤"
            said = f"the run of {ran}" if is_bound else f"the run takes {ran}"
        else:  # so little that only the difference tells it; and that is not 0 ms
            time = milliseconds(apart) if apart >= 5e-6 else "less than 0.01 ms"
            more = "more" if took > value else "less"
            said = f"the run, by {time}" if is_bound else f"the run takes {time} {more}"
        return {
            "value": shown,
            "holds": is_same or is_bound,
            "said": said,
            "beaten": beaten,
        }
