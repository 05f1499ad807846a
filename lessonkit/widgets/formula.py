"""A formula that belongs to a live view: read as text, and worked out for each run."""

import ast
import inspect
import re
from collections.abc import Callable
from functools import partial
from math import ceil, isclose
from operator import add, mul, neg, sub, truediv
from typing import Any
from unicodedata import normalize

from lessonkit.engine.trace import Trace
from lessonkit.widgets.controls import Control, is_number, worded
from lessonkit.words import milliseconds

Way = Callable[..., Any]
SIGNS: dict[Any, Way] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
    ast.USub: neg,
}
CALLABLE: dict[str, Way] = {"max": max, "min": min, "round_up": ceil}
LEFT_SIDE = re.compile(r"\s*(total|per_sample)\s*(==|>=)\s*")
SEEN, BARELY = 5e-6, "less than 0.01 ms"  # s; less would be written as 0 ms
SAME = 1e-6  # of the run: its clock rounds to whole nanoseconds


class Formula:
    """What a run should take, by *text*: arguments of *pipeline*, numbers, `+ - * /`, max, min and round_up.

    It says the total in seconds; `per_sample ==` before it, or `total >=` for a bound, change that.
    With the values at the *start* it must have a value.
    """

    def __init__(self, text: str, pipeline: Way, start: dict[str, Any]) -> None:
        left = LEFT_SIDE.match(text)
        self.measure, self.sign = left.groups() if left else ("total", "==")
        # As Python reads names
        self.text = normalize("NFKC", text[left.end() if left else 0 :].strip())
        try:
            self.body = ast.parse(self.text, mode="eval").body
        except SyntaxError:
            raise ValueError(f"formula={text!r}: must be an expression") from None
        parameters = inspect.signature(pipeline).parameters.values()
        self.fixed = {one.name: one.default for one in parameters if is_number(one.default)}
        self.value(start)

    def spec(self, controls: dict[str, Control]) -> dict[str, Any]:
        """What the page has to know: words and names in turns, numbers that stay, and the steps of costs."""
        words = re.split(r"\b([^\W\d]\w*)", self.text.replace("*", "·"))
        units = {
            name: "seconds" * isinstance(value, float) for name, value in self.fixed.items()
        }
        fixed = {name: worded(self.fixed[name], unit) for name, unit in units.items()}
        costs = [
            one
            for one in controls.values()
            if one.name in words and isinstance(one.values[0], float)
        ]
        steps = {cost.name: [round(value * 1e6) for value in cost.values] for cost in costs}
        left = f"{self.measure.replace('_', ' ')} {'=' if self.sign == '==' else '≥'}"
        return {"said": left, "words": words, "fixed": fixed, "steps": steps}

    def value(self, numbers: dict[str, Any], part: ast.expr | None = None) -> float:
        """Work it, or a *part*, out for *numbers*; raise ValueError for anything but arithmetic."""
        numbers = self.fixed | numbers

        def of(part: ast.expr) -> Any:
            match part:
                case ast.Constant(value=number) if is_number(number):
                    return number
                case ast.Name(id=name) if is_number(numbers.get(name)):
                    return numbers[name]
                case ast.BinOp(left, sign, right) if type(sign) in SIGNS:
                    return SIGNS[type(sign)](of(left), of(right))
                case ast.UnaryOp(sign, inner) if type(sign) in SIGNS:
                    return SIGNS[type(sign)](of(inner))
                case ast.Call(ast.Name(id=name), [_, *_] as given, []) if name in CALLABLE:
                    return CALLABLE[name](*map(of, given))
            raise ValueError(f"the formula has no number for {ast.unparse(part)}")

        return float(of(part or self.body))

    def beaten(self, numbers: dict[str, Any]) -> list[int]:
        """List which names, counted from the left, have no say: in a max something else is larger."""
        parts, of = list(ast.walk(self.body)), partial(self.value, numbers)
        names = [part for part in parts if isinstance(part, ast.Name)]
        names.sort(key=lambda name: (name.lineno, name.col_offset))
        choices = [part for part in parts if isinstance(part, ast.Call) and part.args[1:]]
        lost = [
            part for choice in choices for part in choice.args if of(part) != of(choice)
        ]
        return [
            names.index(name)
            for part in lost
            for name in ast.walk(part)
            if isinstance(name, ast.Name)
        ]

    def judge(self, trace: Trace, values: dict[str, Any]) -> dict[str, Any]:
        """Say its value for these *values*, what the run took, and whether it holds."""
        try:
            value, beaten = self.value(values), self.beaten(values)
        except (ArithmeticError, ValueError, TypeError) as error:
            return {"value": "?", "holds": False, "said": str(error), "beaten": []}
        took = trace.duration if self.measure == "total" else trace.per_sample
        same = isclose(value, took, rel_tol=SAME)
        holds = same or (took > value and self.sign == ">=")
        time = milliseconds(abs(took - value)) if abs(took - value) >= SEEN else BARELY
        apart = (
            f"the run takes {time} more" if took > value else f"the run takes {time} less"
        )
        # After a bound stands the sign "≤".
        outcome = "as the run" if same else f"the run, by {time}" if holds else apart
        return {
            "value": milliseconds(value),
            "holds": holds,
            "said": outcome,
            "beaten": beaten,
        }
