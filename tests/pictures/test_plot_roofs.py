"""The picture of roofs: what is drawn where, and what stands on it."""

from itertools import pairwise

import pytest
from support.random_runs import runs

from lessonkit import ArtificialDataset, benchmark
from lessonkit.analysis import Roofs, limits
from lessonkit.pictures.drawing import png
from lessonkit.pictures.roofs import OUT_OF_SIGHT, axis_of, plot_roofs

RATES = {"storage": 4545.0, "cores": 1600.0, "copy": 79719.0, "step": 3000.0}


def test_a_trace_its_limits_and_its_roofs_are_one_picture() -> None:
    trace = benchmark(ArtificialDataset(20).map(cost=0.03, num_parallel_calls=2), 1)
    pictures = [plot_roofs(of) for of in (trace, limits(trace), limits(trace).roofs)]
    assert len({repr(picture) for picture in pictures}) == 1
    assert len({png(picture) for picture in pictures}) == 1
    with pytest.raises(TypeError, match="must be a Trace"):
        plot_roofs(0.5)  # type: ignore[arg-type]


def test_the_run_lies_below_the_lowest_roof_and_higher_rates_are_higher() -> None:
    """Heights are counted from the top; roofs that are out of sight are all at the upper end."""
    for seed, _, _, trace in runs():
        if not trace.samples or not limits(trace).bound:
            continue
        roofs = limits(trace).roofs
        assert roofs.run is not None
        axis = axis_of(roofs)
        heights = [
            axis.at(rate) for rate in sorted([roofs.run, *roofs.per_second.values()])
        ]
        assert all(lower >= higher for lower, higher in pairwise(heights)), seed
        assert all(axis.low <= tick <= axis.high for tick in axis.ticks()), seed


def test_equal_factors_are_equal_heights() -> None:
    axis = axis_of(Roofs({"a": 100, "b": 200, "c": 400}))
    assert axis.at(100) - axis.at(200) == pytest.approx(axis.at(200) - axis.at(400))


def test_what_is_out_of_sight_is_marked_and_takes_no_room() -> None:
    axes = plot_roofs(Roofs(RATES)).figure.axes[0]
    assert [text.get_text() for text in axes.texts] == [
        "4,545",
        "1,600",
        "79,719 ↑",
        "3,000",
    ]
    assert axis_of(Roofs(RATES)).high == OUT_OF_SIGHT * RATES["cores"]


def test_the_lowest_is_lit_by_more_than_its_colour() -> None:
    axes = plot_roofs(Roofs(RATES)).figure.axes[0]
    weights = {text.get_text(): text.get_fontweight() for text in axes.texts}
    assert [text for text, weight in weights.items() if weight == "bold"] == ["1,600"]
    names = axes.get_xticklabels()
    assert [one.get_text() for one in names if one.get_fontweight() == "bold"] == ["cores"]


def test_how_far_the_run_is_from_the_roof_is_written_where_there_is_room() -> None:
    def texts(run: float) -> list[str]:
        axes = plot_roofs(Roofs(RATES, run=run)).figure.axes[0]
        return [text.get_text().strip() for text in axes.texts]

    assert {"the run: 400", "4×"} <= {*texts(400)}
    assert "the run: 1,599" in texts(1599)
    assert not any("×" in text for text in texts(1599))
