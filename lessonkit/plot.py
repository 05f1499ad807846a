"""Pictures of runs, live in a page: timelines, curves, waterfalls and searches; and the kitchen."""

from lessonkit.pictures.kitchen import Kitchen as kitchen  # noqa: N813 - used like a function
from lessonkit.widgets.widget import live

from .pictures import charts, timeline

__all__ = [
    "kitchen",
    "plot_curve",
    "plot_search",
    "plot_timelines",
    "plot_waterfall",
]

plot_curve = live(charts.plot_curve)
plot_search = live(charts.plot_search)
plot_timelines = live(timeline.plot_timelines)
plot_waterfall = live(charts.plot_waterfall)


def __dir__() -> list[str]:
    return __all__
