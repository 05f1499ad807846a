"""The time of a sample against the values of a knob, as a picture."""

from lessonkit.improve.knobs import Curve
from lessonkit.pictures.chart import chart, dot
from lessonkit.pictures.style import Picture
from lessonkit.words import milliseconds


def plot_curve(curve: Curve) -> Picture:
    """Draw the time of a sample against the values of a knob; say from which on more stops helping.

    >>> from lessonkit import ArtificialDataset
    >>> from lessonkit.analysis import curve, knobs
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> plot_curve(curve(dataset, knobs(dataset)[0], values=[1, 2, 3, 4]))
    curve: num_parallel_calls=3 is enough: 38.3 ms a sample, within 2 % of the best
    """
    if not curve.points or not all(curve.samples):
        raise ValueError(
            "plot_curve: no values, or a run in which no element reached the training loop"
        )
    values = [value for value, _ in curve.points]
    times = [
        total / count for (_, total), count in zip(curve.points, curve.samples, strict=True)
    ]
    knee, setting = values.index(curve.knee), f"{curve.knob.name}={curve.knee}"
    time = f"{milliseconds(times[knee])} a sample"
    words = f"{setting} is enough: {time}, within 2 % of the best"
    if knee == 0:
        words = f"more does not help: {time} with {setting}"
    elif knee == len(values) - 1:
        words = f"more may help still: {time} with {setting}, the last that was tried"

    title = f"{curve.knob.name} of {curve.knob.node.method}"
    dots = [
        dot(
            value,
            time,
            milliseconds(time),
            f"{curve.knob.name}={value}: {milliseconds(time)} a sample",
        )
        | {"marked": value == curve.knee}
        for value, time in zip(values, times, strict=True)
    ]
    line = {"kind": "line", "points": [*zip(values, times, strict=True)]}
    lane = {"height": 180, "top": max(times), "marks": [line, *dots]}
    scene = {
        "title": title,
        "words": words,
        "from": values[0],
        "to": values[-1],
        "lanes": [lane],
    }
    return chart("curve", scene)
