"""The pipeline as a row of parts."""

from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_pipelines import loaded, pipeline

from lessonkit import AUTOTUNE, ArtificialDataset, Dataset, benchmark, work
from lessonkit.engine.node import Node, walk
from lessonkit.engine.trace import ACCELERATOR
from lessonkit.explain.plumbing import Part, plumbing

FILE = ("file", ("Open", "Read"), 1, None)
END = ("accelerator", ("Train",), 1, None)


def parts(dataset: Dataset, load: float = 0) -> tuple[Part, ...]:
    return plumbing(benchmark(dataset, 1, load=load))


def test_operators_stand_in_the_order_of_the_data() -> None:
    dataset = ArtificialDataset(4).shuffle(2).map(cost=0.01).batch(2).prefetch(1)
    assert parts(dataset, load=0.001) == (
        FILE,
        ("shuffle(2)", (), 1, 0),
        ("Map", ("Map",), 1, None),
        ("batch(2)", (), 1, None),
        ("prefetch(1)", (), 1, 1),
        ("accelerator", ("Load", "Train"), 1, None),
    )


def test_files_that_are_opened_on_the_way_belong_to_the_interleave() -> None:
    files = Dataset.range(3).interleave(lambda _: ArtificialDataset(2), cycle_length=2)
    assert parts(files.cache().map(cost=0.01, num_parallel_calls=3)) == (
        ("range", (), 1, None),
        ("interleave(2)", ("Open", "Read"), 1, None),
        ("cache", (), 1, 0),
        ("Map", ("Map",), 3, 1),
        END,
    )


def test_a_stage_of_a_function_belongs_to_the_map_that_calls_it() -> None:
    def parse(value: int) -> int:
        work(0.010, "Parse")
        return value

    expected = (FILE, ("Map", ("Parse",), 1, None), END)
    assert parts(ArtificialDataset(2).map(parse)) == expected


def test_autotune_shows_the_number_that_it_starts_from() -> None:
    dataset = (
        ArtificialDataset(2).map(cost=0.01).map(cost=0.02, num_parallel_calls=AUTOTUNE)
    )
    assert parts(dataset)[1:] == (
        ("Map", ("Map",), 1, None),
        ("Map 2", ("Map 2",), 4, 0),
        END,
    )


def test_the_second_file_has_stages_of_its_own() -> None:
    both = Dataset.zip(ArtificialDataset(2), ArtificialDataset(2))
    assert parts(both) == (
        FILE,
        ("file", ("Open 2", "Read 2"), 1, None),
        ("zip", (), 1, None),
        END,
    )


def test_a_pipeline_that_gives_nothing_has_its_parts() -> None:
    dataset = Dataset.range(0).prefetch(2)
    assert parts(dataset) == (
        ("range", (), 1, None),
        ("prefetch(2)", (), 1, 0),
        END,
    )


@settings(deadline=None)
@given(st.integers(0, 100_000))
def test_each_operator_is_a_part_and_each_stage_and_buffer_has_its_place(
    seed: int,
) -> None:
    dataset = pipeline(seed)
    trace = benchmark(dataset, 1)
    found = plumbing(trace)
    assert len(found) == len(list(walk(dataset.node))) + 1
    stages = {stage for _, stages_of_part, _, _ in found[:-1] for stage in stages_of_part}
    assert {stage for stage in trace.stages if stage.role not in ACCELERATOR} <= stages
    buffers = [buffer for *_, buffer in found if buffer is not None]
    assert len(buffers) == len(set(buffers))
    assert set(buffers) <= set(range(len(trace.buffers)))


@settings(deadline=None)
@given(st.integers(0, 100_000))
def test_two_parts_stand_for_a_loader_with_workers_and_all_that_these_do(
    seed: int,
) -> None:
    def count(node: Node) -> int:
        return 2 if node.arguments.get("num_workers") else 1 + sum(map(count, node.inputs))

    dataset = loaded(seed)
    found = plumbing(benchmark(dataset, 1))
    assert len(found) == count(dataset.node) + 1
    buffers = [buffer for *_, buffer in found if buffer is not None]
    assert len(buffers) == len(set(buffers))
