"""A line of what is printed: what was measured, how much, and the goal."""

WIDTH = 62  # characters for what was measured


def at_most(what: str, value: float, limit: float, unit: str) -> str:
    """Return the line of a value that should be below a limit."""
    return told(what, f"{value:.3g} {unit}", f"< {limit} {unit}", value < limit)


def at_least(what: str, value: float, limit: float, unit: str) -> str:
    """Return the line of a value that should reach a limit."""
    return told(what, f"{value:.3g} {unit}", f">= {limit} {unit}", value >= limit)


def told(what: str, value: str, goal: str = "", met: bool = True) -> str:
    """Return the line of a value, with a goal or without one."""
    verdict = f"   goal {goal}: {'met' if met else 'missed'}" if goal else ""
    return f"{what:{WIDTH}}{value:>12}{verdict}"
