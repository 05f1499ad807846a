"""Pictures of runs, live in a page: timelines, roofs, curves, waterfalls, searches; the kitchen."""

from lessonkit.widgets.widget import live

from .pictures import charts, roofs, timeline
from .pictures.kitchen import Kitchen

__all__ = [
    "kitchen",
    "plot_curve",
    "plot_roofs",
    "plot_search",
    "plot_timelines",
    "plot_waterfall",
]

kitchen = live(Kitchen)
plot_curve = live(charts.plot_curve)
plot_roofs = live(roofs.plot_roofs)
plot_search = live(charts.plot_search)
plot_timelines = live(timeline.plot_timelines)
plot_waterfall = live(charts.plot_waterfall)


def __dir__() -> list[str]:
    return __all__
