"""Pictures of runs: timelines, curves, waterfalls and searches, live in a notebook's page."""

from lessonkit.pictures import curve, search, timeline, waterfall
from lessonkit.widgets.picture import live

__all__ = ["plot_curve", "plot_search", "plot_timeline", "plot_timelines", "plot_waterfall"]

plot_curve = live(curve.plot_curve)
plot_search = live(search.plot_search)
plot_timeline = live(timeline.plot_timeline)
plot_timelines = live(timeline.plot_timelines)
plot_waterfall = live(waterfall.plot_waterfall)


def __dir__() -> list[str]:
    return __all__
