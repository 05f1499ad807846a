"""`map_and_filter`: one call maps an element and decides whether it is kept."""

from typing import Any

from lessonkit.engine.element import Bytes, Element, call_parts
from lessonkit.engine.machine import Cost, Function
from lessonkit.engine.run import price

from .select import Filter
from .stream import endless_or_unknown, operator


@operator("map_and_filter", count=endless_or_unknown)
class MapAndFilter(Filter):
    """Calls the function and then the predicate with its result, and gives it if that says yes."""

    map_func: Function | None
    cost: Cost
    kind: str
    nbytes: Bytes

    def prepare(self) -> None:
        super().prepare()
        self.price = price(self.cost, "cost")

    async def keeps(self, element: Element) -> Any:
        def both(*parts: Any) -> tuple[Any, Any]:
            value = element.value if self.map_func is None else self.map_func(*parts)
            return value, self.predicate(*call_parts(value))

        element.value, is_kept = await self.run.apply(
            both, element, self.stage, self.price, self.kind
        )
        if self.run.sized:
            self.run.measure(element, self.nbytes)
        return is_kept
