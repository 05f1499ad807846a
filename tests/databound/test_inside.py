"""Where the time of a loader goes: each look counts for the time before it, and has the right name."""

import collections
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.modelled_jobs import Modelled

from databound.advise import advice
from databound.code import call_at, is_own, named_function
from databound.measure import inside, storage, watching
from databound.measure.inside import (
    OF_DATASET,
    OF_LOADER,
    STAGES,
    At,
    Inside,
    Looks,
    Part,
    in_library,
    look_inside,
    looked_at,
    parts_of,
    stack_of,
)
from databound.measure.runs import LoaderAndStep
from databound.measure.storage import Pass, Read, Storage, read_so_far
from databound.measure.subject import RunRequest
from databound.measure.watching import Collated, Watched
from databound.thresholds import USUAL
from lessonkit import DataLoader, Dataset

NAMES_CALLS = hasattr(stack_of.__code__, "co_positions")
names_calls = pytest.mark.skipif(not NAMES_CALLS, reason="Python 3.10 knows lines alone")
HERE = Path(__file__).name


def here(shift: int = 0) -> str:
    """The line of whoever asks, and *shift* more, as a page names it."""
    return f"{HERE}:{sys._getframe(1).f_lineno + shift}"


class Spending:
    """A clock that goes on when it is told to, and then somebody looks at who told it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.looks = Looks(0.0)

    def spend(self, seconds: float, *_: Any) -> str:
        self.now += seconds
        self.looks.look([stack_of(sys._getframe(1))], self.now)
        return "{}"


@pytest.fixture
def spending() -> Spending:
    return Spending()


def parts(spending: Spending, run: Callable[[], Any]) -> dict[str, Part]:
    """What *run* spent, as a loader that runs in this process, by the names of its parts."""

    def drive() -> None:
        run()

    drive()
    stages = {**STAGES, drive.__code__: "loader", run.__code__: "loader"}
    return {part.name: part for part in parts_of(spending.looks, stages)}


@names_calls
def test_a_part_is_a_call_on_a_line_of_the_users_own(spending: Spending) -> None:
    class Samples:
        def __getitem__(self, index: int) -> Any:
            spending.spend(1)
            return json.loads("{}", object_hook=partial(spending.spend, 3))

    line = here(-3)
    below = here(-3)
    found = parts(spending, lambda: Watched(Samples())[0])
    assert list(found) == [f"json.loads(...) in {below}", f"spending.spend(...) in {line}"]
    dear, cheap = found.values()
    assert (dear.share, dear.stage, dear.where) == (0.75, "fetch", below)
    assert dear.under == "self.scan_once(...) in json.decoder.JSONDecoder.raw_decode"
    assert str(dear) == f"75 %  json.loads(...) in {below}: {dear.under}"
    assert (cheap.share, cheap.under) == (0.25, "")


def test_the_same_call_from_another_line_is_another_part(spending: Spending) -> None:
    class Samples:
        def __getitem__(self, index: int) -> Any:
            spending.spend(1)
            spending.spend(1)

    found = parts(spending, lambda: [Watched(Samples())[0], Watched(Samples())[0]])
    assert [part.share for part in found.values()] == [0.5, 0.5]


@names_calls
def test_without_a_line_of_their_own_users_read_which_function_of_a_library_it_is(
    spending: Spending,
) -> None:
    keys: Any = partial(spending.spend, 1)
    samples: Any = os._Environ({"{}": ""}, keys, str, str, str)
    found = parts(spending, lambda: Watched(samples)[0])
    assert list(found) == ["os._Environ.__getitem__"]
    assert found["os._Environ.__getitem__"].under in ("self.encodekey(...)", "")


def test_what_no_function_of_python_does_is_the_dataset_itself(spending: Spending) -> None:
    samples: Any = collections.defaultdict(partial(spending.spend, 1))
    assert list(parts(spending, lambda: Watched(samples)[0])) == [OF_DATASET]


@names_calls
def test_a_collate_function_of_a_library_is_called_so_and_ones_own_has_its_line(
    spending: Spending,
) -> None:
    of_library = partial(json.loads, object_hook=partial(spending.spend, 1))

    def own(samples: str) -> None:
        spending.spend(3)

    line = here(-2)
    found = parts(spending, lambda: [Collated(of_library)("{}"), Collated(own)("{}")])
    assert list(found) == [f"spending.spend(...) in {line}", "collate"]
    assert {part.stage for part in found.values()} == {"collate"}
    assert found["collate"].under.endswith("in json.decoder.JSONDecoder.raw_decode")


def test_what_the_loader_does_between_samples_is_its_own(spending: Spending) -> None:
    assert list(parts(spending, lambda: spending.spend(1))) == [OF_LOADER]


def test_what_is_put_around_a_loader_is_none_of_it(
    spending: Spending, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spent() -> float:
        spending.spend(5)
        return 0.0

    monkeypatch.setattr(watching, "without_core", spent)
    watching.IN_HAND.forget()
    assert parts(spending, lambda: Watched([0])[0]) == {}
    assert sum(spending.looks.seconds.values()) == 5


def test_an_iterable_is_fetched_by_its_own_lines(spending: Spending) -> None:
    class Samples:
        def __iter__(self) -> Iterator[int]:
            spending.spend(1)
            yield 0

    line = here(-3)
    found = parts(spending, lambda: list(Watched(Samples())))
    assert [(part.stage, part.where) for part in found.values()] == [("fetch", line)]


def test_a_look_stands_for_the_time_since_the_one_before() -> None:
    looks = Looks(10.0)
    short = stack_of(sys._getframe())
    long = short[:1]
    looks.look([short], 10.5)
    looks.look([long], 14.5)  # nobody could look for so long
    looks.look([short, long], 15.5)
    assert looks.seconds == {short: 1.0, long: 4.5}
    assert looks.number == 3


@names_calls
@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("a.b(1)[0].c(x, y=2)", "a.b(...)[0].c(...)"),
        ("a.b()", "a.b()"),
        ("f'{a.b(1)}'", "a.b(...)"),
        ("a.b(\n    1,\n    2,\n)", "a.b(...)"),
        ("a['é'].b(1)", "a['é'].b(...)"),
        ("a." + "b" * 80 + "()", "a." + "b" * 55 + "..."),
    ],
)
def test_a_call_is_written_without_its_arguments(
    tmp_path: Path, source: str, told: str
) -> None:
    found = []

    class Anything:
        def __getattr__(self, name: str) -> Any:
            return self

        def __getitem__(self, index: object) -> Any:
            return self

        def __call__(self, *_: Any, **__: Any) -> Any:
            frame = sys._getframe(1)
            found.append(call_at(frame.f_code, frame.f_lasti))
            return self

    file = tmp_path / "mine.py"
    file.write_text(source, encoding="utf-8")
    thing = Anything()
    exec(compile(source, str(file), "exec"), {"a": thing, "x": 0, "y": 0})
    assert found[-1] == told


@names_calls
def test_where_a_function_only_begins_it_has_its_name(spending: Spending) -> None:
    def begins() -> None:
        """Nothing."""

    code = begins.__code__
    starts = [
        place for place, found in enumerate(code.co_positions()) if found[2:] == (0, 0)
    ]
    at = At(code, 2 * starts[0])
    spending.looks.look([(at,)], 1.0)
    (part,) = parts_of(spending.looks, STAGES)
    assert part.name == f"begins in {HERE}:{code.co_firstlineno}"
    library = named_function.__code__
    assert in_library((At(library, at.instruction),)) == "databound.code.named_function"


def test_own_is_what_no_library_is_installed_as() -> None:
    assert is_own(__file__)
    assert is_own("<ipython-input-1-abc>")
    for file in (
        json.__file__,
        pytest.__file__,
        inside.__file__,
        "<frozen os>",
        "<string>",
    ):
        assert not is_own(file), file
    assert not is_own("/elsewhere/site-packages/PIL/Image.py")


def test_a_folder_into_which_pip_has_installed_holds_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, note in (("libraries", "other-1.0.dist-info"), ("mine", "mine.egg-info")):
        folder = tmp_path / name
        (folder / note).mkdir(parents=True)
        monkeypatch.syspath_prepend(folder)
    assert not is_own(str(tmp_path / "libraries" / "other" / "deep.py"))
    assert is_own(str(tmp_path / "mine" / "train.py"))
    assert is_own(str(tmp_path / "train.py"))
    code = json.loads.__code__.replace(
        co_filename=str(tmp_path / "libraries" / "other" / "deep.py")
    )
    assert named_function(code) == "other.deep.loads"


def test_a_function_of_a_library_is_named_as_an_import_has_it() -> None:
    def named(function: Any, file: str | None = None) -> str:
        code = function.__code__
        return named_function(code.replace(co_filename=file) if file else code)

    short = not NAMES_CALLS
    assert named(json.loads) == "json.loads"
    assert named(json.JSONDecoder.decode) == (
        "json.decoder.decode" if short else "json.decoder.JSONDecoder.decode"
    )
    assert named(look_inside) == "databound.measure.inside.look_inside"
    assert named(json.loads, "/x/site-packages/PIL/Image.py") == "PIL.Image.loads"
    assert named(json.loads, "<frozen os>") == "os.loads"


# ---- a thread that looks ----


def test_a_thread_looks_at_what_the_block_does() -> None:
    interval = sys.getswitchinterval()
    with looked_at() as looks:
        assert sys.getswitchinterval() < interval
        number = looks.number
        while looks.number < number + 2:
            pass
    assert sys.getswitchinterval() == pytest.approx(interval)
    assert __file__ in {stack[-1].code.co_filename for stack in looks.seconds}


def test_threads_that_a_loader_starts_count_while_they_run_code_of_the_users() -> None:
    def helper(looks: Looks) -> None:
        number = looks.number
        while looks.number < number + 3:
            pass

    with looked_at([threading.get_ident()]) as looks:
        thread = threading.Thread(target=helper, args=(looks,))
        thread.start()
        thread.join()
    names = {at.code.co_name for stack in looks.seconds for at in stack}
    assert "helper" in names


# ---- loaders ----


class Seen(threading.Event):
    """Somebody looked."""


SEEN = Seen()


@pytest.fixture
def looks_are_seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let each sample wait until somebody looks, as long as the looking goes on."""

    class Noted(Looks):
        def __init__(self, began: float) -> None:
            super().__init__(began)
            SEEN.clear()

        def look(self, stacks: Any, now: float) -> None:
            super().look(stacks, now)
            if any(at.code is FETCHING for stack in stacks for at in stack):
                SEEN.set()

    monkeypatch.setattr(inside, "Looks", Noted)
    SEEN.set()
    yield
    SEEN.set()


class Samples:
    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> int:
        SEEN.wait()
        return index


FETCHING = Samples.__getitem__.__code__
WAITS = FETCHING.co_firstlineno + 1


def loaders(library: Any) -> dict[str, Any]:
    data = library.utils.data

    class AtOnce(Samples):
        def __getitems__(self, indices: list[int]) -> list[int]:
            return [self[index] for index in indices]

    class Stream(data.IterableDataset):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[int]:
            return map(Samples().__getitem__, range(64))

    def mine(index: int) -> int:
        return Samples()[index]

    batches = [[0, 1], [2], [3, 4], [5], [6], [7]]
    return {
        "map-style": data.DataLoader(Samples(), batch_size=4),
        "workers": data.DataLoader(Samples(), batch_size=4, num_workers=2),
        "batch_sampler": data.DataLoader(Samples(), batch_sampler=batches),
        "without batches": data.DataLoader(Samples(), batch_size=None),
        "__getitems__": data.DataLoader(AtOnce(), batch_size=4),
        "iterable": data.DataLoader(Stream(), batch_size=4),
        "ours": DataLoader(Dataset.range(64).map(mine), batch_size=4),
        "ours, on threads": DataLoader(
            Dataset.range(64).map(mine, num_parallel_calls=2), batch_size=4
        ),
    }


@pytest.mark.usefixtures("looks_are_seen")
@pytest.mark.parametrize(
    "name",
    [
        "map-style",
        "workers",
        "batch_sampler",
        "without batches",
        "__getitems__",
        "iterable",
        "ours",
        "ours, on threads",
    ],
)
def test_the_time_of_any_loader_has_the_lines_of_its_dataset(
    library: Any, name: str
) -> None:
    subject = LoaderAndStep(loaders(library)[name], print)
    found = look_inside(subject, 0.0)
    assert found is not None
    assert f"{HERE}:{WAITS}" in {part.where for part in found.parts}
    assert sum(part.share for part in found.parts) == pytest.approx(1)
    assert found.batches >= 1
    assert found.looks >= 1


def test_of_a_loader_with_one_batch_nothing_is_said(library: Any) -> None:
    loader = library.utils.data.DataLoader(range(4), batch_size=4)
    assert look_inside(LoaderAndStep(loader, print), 0.0) is None


@pytest.mark.usefixtures("looks_are_seen")
def test_passes_go_over_samples_that_no_run_has_had(library: Any) -> None:
    had = []

    class Noted(Samples):
        def __getitem__(self, index: int) -> int:
            had.append(index)
            return super().__getitem__(index)

    loader = library.utils.data.DataLoader(Noted(), batch_size=1)
    subject = LoaderAndStep(loader, print)
    subject.go(RunRequest(0, 0.0, least=20))
    before = {*had}
    had.clear()
    look_inside(subject, 0.0)
    half = len(had) // 2
    assert not before & {*had}
    assert had[:half] == had[half:]  # twice the same


# ---- what storage takes ----

READ = Read(asked=1_000_000, fetched=1_000_000)
CACHED = Read(asked=1_000_000, fetched=0)


@pytest.mark.parametrize(
    ("first", "second", "share", "said"),
    [
        (Pass(0.020, READ), Pass(0.005, CACHED), 0.75, ": 75 % of the first was storage"),
        (Pass(0.020, READ), Pass(0.030, CACHED), 0.0, "storage takes little"),
        (Pass(0.020, READ), Pass(0.019, CACHED), 0.05, "differ by chance"),
        (Pass(0.020, READ), Pass(0.005, READ), 0.75, "as well, so it is more"),
        (
            Pass(0.020, Read(1_000_000, 100_000)),
            Pass(0.010, CACHED),
            0.5,
            "(100 kB read, and the rest of 1 MB was in memory already)",
        ),
        (Pass(0.020, CACHED), Pass(0.005, CACHED), None, "were in memory already"),
        (Pass(0.020, Read(300, 0)), Pass(0.005, CACHED), None, ""),
        (Pass(0.020, Read(9_000, 0), 10), Pass(0.005, CACHED), None, ""),
        (Pass(0.020, None), Pass(0.005, None), None, "does not count"),
    ],
)
def test_what_a_second_pass_saves_was_storage_if_the_first_read_from_it(
    first: Pass, second: Pass, share: float | None, said: str
) -> None:
    found = Storage(first, second)
    assert found.share == (None if share is None else pytest.approx(share))
    assert said in found.sentence
    assert bool(said) == bool(found.sentence)


def test_what_is_read_is_what_the_system_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = tmp_path / "io"
    counted.write_text("rchar: 70\nwchar: 1\nread_bytes: 40\n")
    monkeypatch.setattr(storage, "COUNTED", counted)
    assert read_so_far() == Read(70, 40)
    assert Pass.since(Read(50, 30), 1.0, 3) == Pass(1.0, Read(20, 10), 3)
    assert Pass.since(None, 1.0, 3).read is None
    counted.write_text("nothing")
    assert read_so_far() is None
    assert Pass.since(Read(50, 30), 1.0, 3).read is None


# ---- on the page ----


def test_a_page_names_the_slowest_part_and_adds_the_small_ones_up() -> None:
    shares = [0.62, 0.21, 0.09, 0.05, 0.015, 0.015]
    found = Inside(
        [
            Part(share, "fetch", f"train.py:{number}", "a.b(...)", "")
            for number, share in enumerate(shares)
        ],
        seconds=0.04,
        batches=30,
        looks=600,
        waits=0.25,
        cores=1.0,
        storage=Storage(Pass(0.04, None), Pass(0.04, None)),
    )
    assert found.head == (
        "The slowest part of the loader is a.b(...) in train.py:0: 62 % of the 40 ms that a "
        "batch takes to make."
    )
    assert found.lines() == [
        "62 %  a.b(...) in train.py:0",
        "21 %  a.b(...) in train.py:1",
        "9 %  a.b(...) in train.py:2",
        "5 %  a.b(...) in train.py:3",
        "3 %  all else",
        "For 25 % of the time it waits: no core is busy.",
        "This system does not count what is read, so nobody can tell what storage takes.",
        "Seen in 600 looks at 30 batches.",
    ]
    assert json.loads(json.dumps(found.numbers()))["parts"][0]["share"] == 0.62


def canned() -> Inside:
    pass_ = Pass(0.04, None)
    part = Part(1.0, "fetch", "train.py:7", "decode(...)", "")
    return Inside([part], 0.04, 1, 1, 0.0, 1.0, Storage(pass_, pass_))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Modelled(0.020, 0.010, computes=False), True),
        (Modelled(0.0004, 0.020, computes=False), False),  # step-bound
    ],
)
def test_a_page_looks_inside_where_the_step_waits_for_the_loader(
    monkeypatch: pytest.MonkeyPatch, model: Modelled, said: bool
) -> None:
    monkeypatch.setattr(advice, "seen_inside", lambda *_: canned())
    page = advice.recommended(model.job())
    assert (canned().head in page.sections()) == said
    assert (canned().head in page._repr_html_()) == said
    assert bool(page.numbers()["inside"]) == said


def test_batches_that_take_long_and_jobs_that_are_no_more_are_not_looked_into(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advice, "look_inside", lambda subject: canned())
    job = Modelled(0.020, 0.010, computes=False).job()
    assert advice.seen_inside(job) is None  # nothing of it can be run
    loader = library.utils.data.DataLoader(range(8), batch_size=4)
    job.subject = LoaderAndStep(loader, print)
    assert advice.seen_inside(job)
    job.numbers.waits = 0.26 * USUAL.most
    assert advice.seen_inside(job) is None
    job.subject = None
    assert advice.seen_inside(job) is None


def test_who_has_had_all_samples_begins_with_the_first(library: Any) -> None:
    loader = library.utils.data.DataLoader(range(40), batch_size=4)
    subject = LoaderAndStep(loader, print)
    assert subject.not_yet_read() == 0
    subject.go(RunRequest(0, 0.0, least=3))
    assert subject.not_yet_read() == 3
    subject.go(RunRequest(1, 0.0, least=3, factor=2))
    assert subject.not_yet_read() == 5  # what was made ahead was read, too
    subject.go(RunRequest(0, 60.0))
    assert subject.not_yet_read() == 0


@pytest.mark.parametrize(("cores", "said"), [(1.2, False), (1.96, True)])
def test_threads_of_a_library_are_named_where_one_process_holds_several_cores(
    cores: float, said: bool
) -> None:
    found = canned()
    found.cores = cores
    assert ("To make a batch holds 2 cores" in " ".join(found.lines())) == said
