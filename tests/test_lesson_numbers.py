"""Numbers that neither a rerun notebook nor tests/numbers holds.

They stand in the pages for teachers, or a lesson only puts them in words.
"""

import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lesson import NUMBERS, WRITTEN, lesson, numbers_of, pages_of

from evidence.record import DATA, read
from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    Handling,
    Machine,
    benchmark,
    per_sample,
)
from lessonkit.optimize import autotune
from lessonkit.widgets import goals
from lessonkit.widgets.goals import Attempt
from lessonkit.widgets.questions.question import Question
from tools.numbers_of_lessons import renewed

ROOT = Path(__file__).parent.parent
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def ms(dataset: Dataset, **options: Any) -> float:
    return benchmark(dataset, record=False, **options).duration * 1e3


def sample_ms(dataset: Dataset, **options: Any) -> float:
    return benchmark(dataset, record=False, **options).per_sample * 1e3


def busy(dataset: Dataset, **options: Any) -> float:
    """The share of the time in which the accelerator trains, in percent."""
    return benchmark(dataset, **options).busy("Train") * 100


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


def saved(before: dict[str, Any], **tools: Any) -> float:
    """How many ms the guide's pipeline becomes shorter by further tools."""
    return float(guide(**before).duration - guide(**before | tools).duration) * 1e3


def workers(count: int, slow: float = 0.020, **arguments: Any) -> Dataset:
    """The twelve batches of lesson 09, of which one may have a slow image."""
    images = Dataset.range(48).map(cost=lambda image: slow if image == 5 else 0.020)
    return DataLoader(images, 4, num_workers=count, start=(0.012, 0.006), **arguments)


# ---- the pages for teachers ----

SHORT, FILE, LONG, LONGER = (ArtificialDataset(samples) for samples in (2, 3, 20, 1000))
FAR, LONG_FAR = (ArtificialDataset(samples, open=0.300) for samples in (3, 300))
FAST = ArtificialDataset(20, read=0.0075)
BURSTS = ArtificialDataset(read=0.005).repeat(10)
TUNABLE = LONG.map(cost=0.030, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)
TUNED, BETTER = mapped(LONG, 2).prefetch(1), mapped(LONG.prefetch(1), 2)
ONE_CALL: dict[str, Any] = {"cost": 0.020, "num_parallel_calls": 1}
HEAVY: dict[str, Any] = {"cost": per_sample(0.030), "num_parallel_calls": 3}
EACH = per_sample(0.010)
ONCE: dict[str, Any] = {"num_epochs": 1, "train": 0.015}
LANES: dict[str, Any] = {"interleave": True, "prefetch": True, "batch": "none"}
BEST = LANES | {"cache": True}
LAST = {"interleave": True, "parallel_maps": True, "batch": "before the maps"}
ALL = LAST | {"cache": True, "prefetch": True}


def keeps_up(call: float) -> int:
    """The smallest batch whose map needs at most 1 ms per sample, of which 0.1 is work on it."""
    return min(size for size in range(1, 99) if call / size + 0.1 <= 1)


# Words of a page, and the values of the numbers in them
Claim = tuple[str, Callable[[], list[float]]]
PAGES: dict[str, list[Claim]] = {
    "docs/teaching/00.md": [
        ("busy 28.6 %", lambda: [busy(FILE)]),
        ("**D: 3.5 times", lambda: [ms(FILE) / ms(Dataset.range(3))]),
        ("take 60 of the 210 ms", lambda: [ms(Dataset.range(3)), ms(FILE)]),
        ("from 28.6 to 16.7 %", lambda: [busy(FILE), busy(FILE, train=0.005)]),
        ("35 ms per sample becomes 26.5", lambda: [sample_ms(FILE), sample_ms(LONG)]),
        (
            "a sample takes 25 ms, and the accelerator is busy 40 %",
            lambda: [sample_ms(LONGER), busy(LONGER)],
        ),
        ("copy to the accelerator (240 ms)", lambda: [ms(FILE, load=0.005)]),
    ],
    "docs/teaching/01.md": [
        ("loader alone takes 660 ms", lambda: [ms(LONG, train=0)]),
        ("the training alone takes 400 ms", lambda: [ms(Dataset.range(20))]),
        ("both together take 680 ms", lambda: [ms(LONG.prefetch(1))]),
        ("no run takes less than 28.3 ms", lambda: [sample_ms(FILE.prefetch(1))]),
    ],
    "docs/teaching/02.md": [
        (
            "85 ms with 80",
            lambda: [ms(both, num_epochs=1) for both in (files(2, SHORT, 2), SHORT)],
        ),
        (
            "take 23.1 ms per sample with three",
            lambda: [sample_ms(files(8, FAR, 3), num_epochs=1)],
        ),
        (
            "The first sample is there after 315 ms, and then 24",
            lambda: [(at := arrivals(files(8, FAR, 3)))[0], len(at)],
        ),
        ("which makes 555 ms", lambda: [ms(files(8, FAR, 3), num_epochs=1)]),
        (
            "one call takes 15.0 ms",
            lambda: [sample_ms(files(8, LONG_FAR, 1), num_epochs=1)],
        ),
        ("two take 10.1", lambda: [sample_ms(files(8, LONG_FAR, 2), num_epochs=1)]),
        (
            "39.5, 20.9 and 15.1",
            lambda: [sample_ms(files(800, FAR, n), num_epochs=1) for n in (1, 2, 3)],
        ),
    ],
    "docs/teaching/03.md": [
        (
            "is 3.75, so 4",
            lambda: [
                37.5 / 10,
                min(range(1, 9), key=lambda calls: ms(mapped(FAST, calls))),
            ],
        ),
        (
            "a single call takes only 45",
            lambda: [(at := arrivals(mapped(FILE, 1)))[1] - at[0]],
        ),
    ],
    "docs/teaching/04.md": [
        ("limit of 6.5", lambda: [ms(mapped(FILE)) / ms(Dataset.range(3))])
    ],
    "docs/teaching/05.md": [
        ("3 and 23 are enough", lambda: [keeps_up(2), keeps_up(20)]),
        (
            "230 and 390 ms",
            lambda: [ms(FILE.map(**HEAVY)), ms(FILE.batch(3).map(**HEAVY), train=EACH)],
        ),
        (
            "after the map the run takes 270",
            lambda: [ms(FILE.map(**HEAVY).batch(3), train=EACH)],
        ),
    ],
    "docs/teaching/07.md": [
        (
            "AUTOTUNE reached 25.25 ms",
            lambda: [sample_ms(autotune(TUNABLE, Machine(cores=2)).dataset)],
        ),
        ("18.5 ms is possible", lambda: [sample_ms(BETTER)]),
        (
            "Three calls, 18.5 ms",
            lambda: [sample_ms(autotune(TUNABLE, Machine(cores=3)).dataset)],
        ),
        ("1,520 ms", lambda: [ms(LONG.map(**ONE_CALL).map(**ONE_CALL))]),
        ("become 2,280", lambda: [ms(LONG.map(cost=0.040, num_parallel_calls=1))]),
    ],
    "docs/teaching/08.md": [
        ("loader alone takes 450 ms", lambda: [ms(BURSTS, num_epochs=1, train=0)]),
        ("step alone takes 450 ms", lambda: [ms(Dataset.range(30), **ONCE)]),
        ("both together take 665 ms", lambda: [ms(BURSTS.prefetch(1), **ONCE)]),
        ("three slots it is 485 ms", lambda: [ms(BURSTS.prefetch(3), **ONCE)]),
        (
            "It takes 215 ms longer",
            lambda: [ms(BURSTS.prefetch(1), **ONCE) - ms(BURSTS, num_epochs=1, train=0)],
        ),
        ("at most 2.67 times", lambda: [guide().duration / 5]),
        ("Prefetch saves 2,500 ms", lambda: [saved({}, prefetch=True)]),
        ("which saves 4,660 ms and", lambda: [saved({"prefetch": True}, cache=True)]),
        ("ms and 1,820 ms", lambda: [saved(LAST, cache=True)]),
        ("costs 0.43 s", lambda: [saved(ALL, batch="none") / 1e3]),
        ("beat it: 5,230 ms", lambda: [guide(**LANES).duration * 1e3]),
        (
            "5.23 s with 1.3 MB",
            lambda: [(run := guide(**LANES)).duration, run.max_bytes / 1e6],
        ),
        (
            "5.05 s with 10.8 MB",
            lambda: [(run := guide(**BEST)).duration, run.max_bytes / 1e6],
        ),
        (
            "limit is 2.5 s",
            lambda: [ms(Dataset.range(500), num_epochs=1, train=0.005) / 1e3],
        ),
    ],
    "docs/teaching/09.md": [
        ("works in these 128 ms", lambda: [arrivals(workers(4))[0]]),
        (
            "six take 292 ms and twelve 344",
            lambda: [ms(workers(count), num_epochs=1) for count in (6, 12)],
        ),
        ("changes nothing: 598 ms", lambda: [ms(workers(4, 0.300), num_epochs=1)]),
        (
            "598 ms with one and with",
            lambda: [ms(workers(4, 0.300, prefetch_factor=1), num_epochs=1)],
        ),
        (
            "418 ms with one and 498 ms with two",
            lambda: [
                ms(workers(4, 0.300, in_order=False, prefetch_factor=slots), num_epochs=1)
                for slots in (1, 2)
            ],
        ),
        (
            "Four workers save 20.3 s",
            lambda: [(told := tutorial("TOOLS"))[0] - told[1]],
        ),
        (
            "and 1.1 s when they come fourth",
            lambda: [(other := tutorial("OTHER"))[3] - other[4]],
        ),
    ],
}


@pytest.mark.parametrize(
    ("page", "text", "values"),
    [
        pytest.param(page, *claim, id=claim[0])
        for page, claims in PAGES.items()
        for claim in claims
    ],
)
def test_a_page_says_what_a_run_gives(
    page: str, text: str, values: Callable[[], list[float]]
) -> None:
    assert text in (ROOT / page).read_text(encoding="utf-8")
    shown = NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3})", "", text))  # 1,080
    digits = [len(number.partition(".")[2]) for number in shown]
    assert [
        f"{value:.{places}f}" for value, places in zip(values(), digits, strict=True)
    ] == shown


MISTAKES = {
    "00_start_here": {"180", "330", "170", "160"},
    "01_prefetch": {"105", "150", "160"},
    "03_parallel_map": {"195", "300", "230"},
    "04_cache": {"195", "435"},
    "05_vectorise": {"25.2"},
    "07_optimisers": {"37.5", "60"},
    "09_workers": {"20", "68", "80", "98"},
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_number_on_a_page_is_explained_in_the_lesson(name: str) -> None:
    page = (ROOT / f"docs/teaching/{name[:2]}.md").read_text(encoding="utf-8")
    section = page.split("## What learners get wrong")[1].split("##")[0]
    asked = [value for value in lesson(name).values.values() if hasattr(value, "wrong")]
    wrong = {
        f"{value:g}" for one in asked for value, _ in one.wrong if isinstance(value, float)
    }
    assert MISTAKES[name] <= wrong & set(NUMBER.findall(section))


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


@pytest.mark.parametrize("name", [file.stem for file in NUMBERS.glob("teaching_*.txt")])
def test_the_numbers_of_a_page_for_teachers_are_what_a_run_gives(name: str) -> None:
    run, page = pages_of(name)
    told = " ".join(page.read_text(encoding="utf-8").split())
    listed = numbers_of(NUMBERS / f"{name}.txt")
    problems = [number.problem(told, lesson(run).names) for number in listed]
    assert not any(problems), "\n".join(filter(None, problems))


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
    told, other = tutorial("TOOLS"), tutorial("OTHER")
    assert told[0] == other[0]
    assert told[-1] == other[-1]
    assert told[0] - told[1] > 15 * (other[3] - other[4])  # four workers, first and fourth


def test_four_workers_after_the_one_call_made_it_slower_on_pytorch() -> None:
    seconds = {row["name"]: row["seconds"] for row in ROWS}
    told = f"turned {seconds['one call first']:.1f} s into {seconds['one call, then four workers']:.1f}"
    assert told == "turned 3.3 s into 3.8"
    assert told in lesson("09_workers").prose


@pytest.mark.parametrize("name", WRITTEN)
def test_what_an_answer_reveals_is_not_the_run_of_the_next_question(name: str) -> None:
    for before, after in pairwise(lesson(name).values.values()):
        if isinstance(before, Question) and isinstance(after, Question):
            seen = [trace.spans for trace in before.traces[-1:]]
            assert not any(trace.spans in seen for trace in after.traces)


def test_numbers_are_written_anew_where_their_words_stand_and_in_the_words_of_others() -> (
    None
):
    sources = ["It takes 1,210 ms in\nall.", "Then 1,210 ms become 40 %."]
    lines = [
        "# Explain",
        "takes {1,210 ms} in all == took",
        "Then {1,210 ms} become == took",
        "Then 1,210 ms become {40 %}. == share",
    ]
    renewed(sources, lines, {"took": 0.9875, "share": 0.4})
    assert sources == ["It takes 988 ms in\nall.", "Then 988 ms become 40 %."]
    assert lines[1:] == [
        "takes {988 ms} in all == took",
        "Then {988 ms} become == took",
        "Then 988 ms become {40 %}. == share",
    ]
