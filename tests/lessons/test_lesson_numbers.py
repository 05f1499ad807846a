"""What lessons say in words, or of measurements, and no stored output and no comment after a number holds."""

import random
import re
from itertools import pairwise
from typing import Any

import pytest

from evidence.record import DATA, read
from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Handling,
    benchmark,
)
from lessonkit.widgets import goals
from lessonkit.widgets.goals import Attempt
from lessonkit.widgets.questions.question import Question
from tools.lesson import WRITTEN, lesson
from tools.lessons import FIELD_GUIDE


def sample_ms(dataset: Dataset, **options: Any) -> float:
    return benchmark(dataset, record=False, **options).per_sample * 1e3


def arrivals(dataset: Dataset, **options: Any) -> list[float]:
    """When the elements of the first epoch arrive, in milliseconds."""
    return [
        round(time * 1e3, 6) for time in benchmark(dataset, **options).epochs[0].arrivals
    ]


def mapped(dataset: Dataset, calls: int | None = None) -> Dataset:
    return dataset.map(cost=0.030, num_parallel_calls=calls)


def files(count: int, file: Dataset, lanes: int | None) -> Dataset:
    return Dataset.range(count).interleave(lambda _: file, lanes, num_parallel_calls=lanes)


def guide(**tools: Any) -> Any:
    """A run of the last pipeline of TensorFlow's guide, with some of its tools."""
    dataset, options = lesson("08_put_it_together").names["job"](**tools)
    return benchmark(dataset, **options)


def tutorial(order: str) -> list[float]:
    """The seconds of the table at the end of PyTorch's tutorial, with its tools in an order of lesson 09."""
    of = lesson("09_workers").names
    return list(of["in_turn"](of[order]))


FILE = ArtificialDataset(3)
LONG = ArtificialDataset(20)
FAR = ArtificialDataset(3, open=0.300)
TUNED = mapped(LONG, 2).prefetch(1)
BETTER = mapped(LONG.prefetch(1), 2)
BEST = {"interleave": True, "prefetch": True, "batch": "none", "cache": True}


# ---- what a lesson puts in words ----


def test_a_lane_has_three_files_open_as_long_as_there_are_files() -> None:
    assert [benchmark(files(24, FAR, lanes)).max_open_files for lanes in (1, 2, 3)] == [
        3,
        6,
        9,
    ]


def test_two_calls_that_read_give_by_turns_and_two_that_do_not_give_in_bursts() -> None:
    first, *later = arrivals(mapped(ArtificialDataset(9), 2))
    assert first == arrivals(mapped(FILE))[0] == 75
    assert [after - before for before, after in pairwise([first, *later])] == [
        15,
        30,
    ] * 4
    assert arrivals(mapped(Dataset.range(4), 2), train=0) == [30, 30, 60, 60]


@pytest.mark.parametrize("prefetched", [False, True])
def test_the_pace_of_a_parallel_map_is_that_of_the_formula(prefetched: bool) -> None:
    chance = random.Random(0)
    for _ in range(50):
        read, cost, train = (chance.randint(1, 60) / 1e3 for _ in range(3))
        calls = chance.randint(1, 8)
        file = ArtificialDataset(200, open=0, read=read).prefetch(int(prefetched))
        run = file.map(cost=cost, num_parallel_calls=calls)
        pace = max(read, (cost if prefetched else read + cost) / calls, train)
        assert sample_ms(run, num_epochs=1, train=train) == pytest.approx(
            pace * 1e3, rel=0.05
        )


def test_answers_of_predictions_that_no_output_shows() -> None:
    assert lesson("04_cache").values["further-prefetch-code"].right == pytest.approx(295)
    assert lesson("05_vectorise").values["further-unbatch-code"].right == pytest.approx(433)
    assert lesson("06_ordering").values["further-repeat-predict"].right == pytest.approx(
        990
    )


def test_two_changes_of_11_save_time_together_and_each_alone_costs_some() -> None:
    images = lesson("11_your_own_job").names["images"]
    now, _ = images.forecast()
    assert images.forecast(num_workers=2, threads=1)[0] < 0.95 * now
    for alone in ({"threads": 1}, *({"num_workers": count} for count in (1, 2, 4))):
        assert images.forecast(**alone)[0] > now


def test_without_parallel_maps_the_best_pipeline_of_08_takes_as_long_with_four_threads_less() -> (
    None
):
    runs = [guide(**BEST, parallel_maps=parallel) for parallel in (True, False)]
    used = [int(goals.threads(at_most=0).measure(Attempt(run))) for run in runs]
    assert (runs[0].duration, used[0]) == (runs[1].duration, used[1] + 4)


def test_the_better_order_of_07_holds_no_more_than_the_tuned_one() -> None:
    tuned, better = (benchmark(dataset).max_held for dataset in (TUNED, BETTER))
    assert better <= tuned


# ---- the tutorial of PyTorch in 09 ----

TUTORIAL = read(DATA / "torch_tutorial.json")
ROWS = TUTORIAL["cases"]
SLEEP: Any = TUTORIAL["about"]["conditions"]["sleep_of_5_ms_s"]


def test_the_stated_costs_of_09_give_the_table_of_the_tutorial() -> None:
    first, *later = tutorial("TOOLS")
    text = re.search(r"The tutorial measured (.+)\. These", lesson("09_workers").prose)
    assert text
    said = [float(times) for times in re.split(", | and ", text[1])]
    assert first == pytest.approx(32, rel=0.02)
    assert [first / seconds for seconds in later] == pytest.approx(said, rel=0.10)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_what_the_loaders_of_the_tutorial_took_on_pytorch_is_what_the_model_says(
    row: dict[str, Any],
) -> None:
    def model(row: dict[str, Any]) -> float:
        count = row["num_workers"]
        loader = DataLoader(
            Dataset.range(512).map(cost=SLEEP),
            batch_size=32,
            num_workers=count,
            persistent_workers=row["persistent_workers"],
            getitems=row["getitems"],
            start=(row["iter"] / max(count, 1), 0),
            handling=Handling(stop=row["end"]),
        )
        return benchmark(loader, num_epochs=10, train=0.015, record=False).duration

    without = ROWS[0]
    assert model(without) / model(row) == pytest.approx(
        without["seconds"] / row["seconds"], rel=0.15
    )


def test_no_tool_of_the_tutorial_has_a_value_of_its_own() -> None:
    told = tutorial("TOOLS")
    other = tutorial("OTHER")
    assert told[0] == other[0]
    assert told[-1] == other[-1]
    assert told[0] - told[1] > 15 * (other[3] - other[4])  # four workers, first and fourth


def test_four_workers_after_the_one_call_made_it_slower_on_pytorch() -> None:
    seconds = {row["name"]: row["seconds"] for row in ROWS}
    told = f"turned {seconds['one call first']:.1f} s into {seconds['one call, then four workers']:.1f}"
    assert told == "turned 3.3 s into 3.8"
    assert told in lesson(FIELD_GUIDE).prose


@pytest.mark.parametrize("name", WRITTEN)
def test_what_an_answer_reveals_is_not_the_run_of_the_next_question(name: str) -> None:
    for before, after in pairwise(lesson(name).values.values()):
        if isinstance(before, Question) and isinstance(after, Question):
            seen = [trace.spans for trace in before.traces[-1:]]
            assert not any(trace.spans in seen for trace in after.traces)
