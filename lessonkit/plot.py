"""Pictures of runs: timelines, memory, curves, waterfalls and searches, live in a notebook's page."""

from lessonkit.pictures.curve import plot_curve
from lessonkit.pictures.memory import plot_memory
from lessonkit.pictures.search import plot_search
from lessonkit.pictures.timeline import plot_timeline, plot_timelines
from lessonkit.pictures.waterfall import plot_waterfall
from lessonkit.widgets.picture import live

__all__ = ["plot_curve", "plot_memory", "plot_search", "plot_timeline", "plot_timelines", "plot_waterfall"]

plot_curve, plot_memory, plot_search = live(plot_curve), live(plot_memory), live(plot_search)
plot_timeline, plot_timelines = live(plot_timeline), live(plot_timelines)
plot_waterfall = live(plot_waterfall)


def __dir__() -> list[str]:
    return __all__
