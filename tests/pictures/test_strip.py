"""What is drawn of several ranks: the same times as in their traces."""

import pytest
from support.pages import Said

from lessonkit import Dataset, benchmark
from lessonkit.engine.ranks import Ranks
from lessonkit.pictures.strip import late_ranks, plot_ranks, strip_scene, times_of_ranks
from lessonkit.widgets import explore, show
from lessonkit.widgets.sandbox import pipeline_run

STEPS = 20


def pipeline(rank: int) -> Dataset:
    """Rank 1 is late in every fourth step."""
    return Dataset.range(STEPS).map(
        cost=lambda step: 0.030 if rank == 1 and step % 4 == 3 else 0.005
    )


def run(ranks: int) -> Ranks:
    return benchmark(pipeline, ranks=ranks, num_epochs=1, train=0.011)


def of(rank: int, stretches: list[tuple[int, int, int]]) -> float:
    """The seconds of a rank's stretches."""
    return sum(end - start for who, start, end in stretches if who == rank) / 1e9


def test_all_shares_add_up_to_what_each_rank_waits_and_works() -> None:
    for count in (1, 2, 5):
        ranks = run(count)
        works, own, others = times_of_ranks(ranks)
        for rank in range(count):
            data, theirs = ranks.waits(rank)
            took = [
                sum(end - start for who, start, end in each if who == rank) / 1e9
                for each in (own, others)
            ]
            assert round(took[0] - data, 9) == 0
            assert round(took[1] - sum(theirs.values()), 9) == 0
        assert (
            sum(end - start for _, start, end in works + own + others)
            == round(ranks.duration * 1e9) * count
        )


def test_only_who_was_waited_for_is_marked() -> None:
    assert [rank for rank, _ in late_ranks(run(3))] == [1] * (STEPS // 4)
    assert late_ranks(run(1)) == []
    assert "The others waited most often for rank 1, in 5 steps." in repr(
        plot_ranks(run(3))
    )


def test_a_page_gets_the_strip_and_the_trace_of_the_first_rank() -> None:
    shown = show(pipeline, ranks=3, num_epochs=1, train=0.011)
    trace, drawn = shown.picture({"made": pipeline})
    again = run(3)
    assert drawn["strip"] == strip_scene(again, again.traces[0])
    assert trace.duration == again.duration
    assert "image/png" in shown._repr_mimebundle_()[0]

    def job(ranks: int = 2) -> object:
        return pipeline, {"ranks": ranks, "num_epochs": 1}

    found = explore(job, ranks=(1, 4))
    strip = found.picture({"ranks": 4})[1]["strip"]
    assert strip
    assert strip["ranks"] == 4
    assert pipeline_run(job()).of_one_rank.dataset.code() == pipeline(0).code()


def test_one_pipeline_has_no_strip() -> None:
    assert show(pipeline(0)).picture({})[1]["strip"] is None


def test_512_ranks_and_an_uneven_end_are_drawn() -> None:
    many = benchmark(lambda rank: Dataset.range(4 + rank % 2), ranks=512, num_epochs=1)
    assert "Rank 0 ran out of batches after step 4" in repr(plot_ranks(many))
    assert plot_ranks(many).figure
    scene = strip_scene(many, many.traces[0])
    assert [len(times) for times in scene["times"]] == [
        3 * len(steps) for steps in many.times
    ]
    assert len(scene["ends"]) == len(many.steps) == 4


def test_the_timeline_is_that_of_the_rank_that_was_chosen_and_only_that_one_is_recorded() -> (
    None
):
    shown = show(pipeline, ranks=3, num_epochs=1, train=0.011)
    again = run(3)
    for rank, number in ((0, 0), (1, 1), (2, 2), (7, 2)):
        trace, drawn = shown.picture({"made": pipeline}, rank)
        assert trace.spans == again.traces[number].spans
        assert drawn["strip"] == strip_scene(again, again.traces[number])
        assert trace.ranks
        recorded = [one.recorder is not None for one in trace.ranks.traces]
        assert recorded == [place == number for place in range(3)]


@pytest.mark.parametrize("rank", [-1, 1.0, "2", True, None])
def test_a_rank_that_is_none_is_refused_in_a_sentence(rank: object) -> None:
    said = Said(show(pipeline, ranks=3, num_epochs=1))
    _, answer = said.ask({"do": "show", "id": 1, "values": {}, "rank": rank})
    assert "rank" in str(answer)
