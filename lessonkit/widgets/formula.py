"""A formula that belongs to a live view: checked when it is written, worked out for each run."""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Callable
from math import ceil, isclose
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.widgets.controls import Control, is_number, worded
from lessonkit.words import milliseconds

OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"max": max, "min": min, "round_up": lambda number: ceil(number)}
MEASURES = {"total": "total", "per_sample": "time per sample"}
SIGNS: dict[type[ast.cmpop], str] = {ast.Eq: "=", ast.GtE: "≥"}
SAME = 1e-6  # of the run: a clock of whole nanoseconds rounds


class Formula:
    """What a run should take, by *text*: arguments of *pipeline*, numbers, `+ - * /`, max, min and round_up.

    The text says the total, or begins with `total` or `per_sample` and `==`, or `>=` for a bound.
    """

    def __init__(self, text: str, pipeline: Callable[..., Any]) -> None:
        try:
            self.body = ast.parse(text, mode="eval").body
        except SyntaxError:
            raise ValueError(f"formula={text!r}: is not an expression") from None
        self.measure, self.sign = "total", "="
        if isinstance(self.body, ast.Compare) and type(self.body.ops[0]) in SIGNS:
            self.measure, self.sign = ast.unparse(self.body.left), SIGNS[type(self.body.ops[0])]
            self.body = self.body.comparators[0] if len(self.body.ops) == 1 else self.body
            if self.measure not in MEASURES:
                raise ValueError(f"formula={text!r}: must say one of {', '.join(MEASURES)}")
        self.text = ast.get_source_segment(text, self.body) or ""
        parameters = inspect.signature(pipeline).parameters.values()
        self.constants = {one.name: one.default for one in parameters if is_number(one.default)}

    def spec(self, controls: dict[str, Control]) -> dict[str, Any]:
        """What the page has to know: words and names in turns, fixed numbers, and the steps of each cost."""
        words = re.split(r"\b([A-Za-z_]\w*)", self.text.replace("*", "·"))
        fixed = {name: value for name, value in self.constants.items() if name not in controls}
        sliders = [one for one in controls.values() if one.name in words and isinstance(one.values[0], float)]
        return {
            "said": f"{MEASURES[self.measure]} {self.sign}",
            "words": words,
            "fixed": {name: worded(value, "seconds" * isinstance(value, float)) for name, value in fixed.items()},
            "steps": {slider.name: [round(value * 1e6) for value in slider.values] for slider in sliders},
        }

    def value(self, numbers: dict[str, Any]) -> float:
        """Work it out; raise ValueError for anything but arithmetic on *numbers*."""

        def of(part: ast.expr) -> Any:
            match part:
                case ast.Constant(value=number) if is_number(number):
                    return number
                case ast.Name(id=name) if is_number(numbers.get(name)):
                    return numbers[name]
                case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
                    return OPERATIONS[type(sign)](of(left), of(right))
                case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]) if name in FUNCTIONS:
                    return FUNCTIONS[name](*map(of, given))
            raise ValueError(f"the formula has no number for {ast.unparse(part)}")

        return float(of(self.body))

    def judge(self, trace: Trace, values: dict[str, Any]) -> dict[str, Any]:
        """Say its value for these *values* beside what the run took, and whether it holds."""
        try:
            value = self.value(self.constants | values)
        except (ArithmeticError, ValueError, TypeError) as error:
            return {"value": "?", "holds": False, "said": str(error)}
        took = trace.duration if self.measure == "total" else trace.per_sample
        same = isclose(value, took, rel_tol=SAME)
        apart = f"the run takes {milliseconds(took)}, {milliseconds(abs(took - value))} "
        apart += "more" if took > value else "less"
        holds = same or (self.sign == "≥" and took > value)
        return {"value": milliseconds(value), "holds": holds, "said": "as the run" if same else apart}
