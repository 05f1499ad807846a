"""Where to stop, and what is noted of it, for all libraries alike."""

from collections.abc import Callable, Iterator
from typing import Any

from evidence.record import Case, Json

STUCK_AFTER = 3  # times the same error in a row

Plain = Callable[[Any], Json]


def pull(
    iterator: Iterator[Any], most: int, plain: Plain, may_be_stuck: bool = False
) -> list[Json]:
    """Return the next elements, at most *most*; errors by their names, and the end as END.

    Some iterators tell one error for ever: with *may_be_stuck*, STUCK ends the list.
    """
    got: list[Json] = []
    while len(got) < most:
        try:
            got.append(plain(next(iterator)))
        except StopIteration:
            return [*got, "END"]
        except Exception as error:  # whatever it is, it stands in the place of an element
            got.append(type(error).__name__)
            last = got[-STUCK_AFTER:]
            if may_be_stuck and len(last) == STUCK_AFTER and len(set(map(str, last))) == 1:
                return [*got, "STUCK"]
    return got


def listed(value: Any) -> Json:
    """Return an element as JSON has it."""
    if isinstance(value, list | tuple):
        return [listed(part) for part in value]
    plain: Json = value.tolist() if hasattr(value, "tolist") else value
    return plain


def ends(whole: list[Json]) -> bool:
    """Whether the run ended by itself."""
    return bool(whole) and whole[-1] in ("END", "STUCK")


def places(whole: list[Json]) -> list[int]:
    """Return after how many elements to stop: after the first, in the middle, before the last."""
    count = len(whole) - ends(whole)
    return sorted({1, count // 2, max(1, count - 1)}) if count > 1 else [0]


def compared(stop: Case, before: list[Json], rest: list[Json], whole: list[Json]) -> Case:
    """Return the stop with the answer whether what followed is what would have followed."""
    exact = rest == whole[stop["after"] :]
    return stop | {"exact": exact} | ({} if exact else {"before": before, "rest": rest})


def refused(error: Exception, length: int) -> Case:
    """Return the answer that it does not work, and why."""
    return {"refused": f"{type(error).__name__}: {str(error)[:length]}"}
