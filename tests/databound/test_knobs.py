"""What no forecast knows is tried by itself, where it may help, and a page says what it saves."""

import multiprocessing
import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from support.modelled_jobs import SAMPLES, Modelled

from databound.advise import knobs
from databound.advise.advice import recommended
from databound.advise.knobs import (
    Knob,
    OneThread,
    TriedKnob,
    is_launch_bound,
    judged,
    pace,
    plausible,
    start_methods,
    try_knob,
    try_knobs,
    try_start_methods,
)
from databound.advise.verdict import verdict
from databound.measure.device import OnDevice
from databound.measure.inside import Inside
from databound.measure.runs import LoaderAndStep
from databound.measure.setting import Setting
from databound.measure.storage import Pass, Storage
from databound.measure.subject import RunRequest
from databound.measure.watching import Watch
from databound.model.job import Job
from databound.thresholds import USUAL
from lessonkit.engine.machine import Handling

DATA_BOUND = verdict("data-bound")
OWN_TIME = verdict("the loop's own time")
STEP_BOUND = verdict("step-bound")


def straggling(number: int) -> float:
    """Each sixth batch takes ten times as long: those after it wait, if their order counts."""
    return 10.0 if number % 6 == 5 else 1.0


def uneven(**more: Any) -> Modelled:
    return Modelled(
        0.0005,
        0.002,
        wait=0.010,
        computes=False,
        of_batch=straggling,
        batches=120,
        **more,
    )


def at(job: Job, workers: int) -> Setting:
    return job.now.changed(num_workers=workers)


def lines(
    job: Job, subject: Any, workers: int, said: Any = DATA_BOUND, inside: Any = None
) -> list[str]:
    return [knob.line for knob in plausible(job, subject, at(job, workers), said, inside)]


# ---- batches that hold up others ----


def test_the_order_of_batches_is_tried_where_some_hold_up_others() -> None:
    model = uneven()
    job = model.job()
    assert lines(job, model, 4) == ["in_order=False"]
    assert lines(job, model, 1) == []  # nobody else has one that is ready
    assert lines(job, model, 4, STEP_BOUND) == []
    model.may_change = {"in_order": False}
    assert lines(job, model, 4) == []
    model.may_change = {}  # an older PyTorch
    assert lines(job, model, 4) == []
    even = Modelled(0.0005, 0.002, wait=0.010, computes=False)
    assert lines(even.job(), even, 4) == []


def test_what_it_saves_is_what_it_really_saves() -> None:
    model = uneven()
    job = model.job()
    (found,) = try_knobs(job, model, at(job, 4), DATA_BOUND, None)
    paces = []
    for in_order in (True, False):
        trace = model.trace(4, step=True, watched=True, in_order=in_order)
        arrivals = trace.epochs[0].arrivals
        paces.append(arrivals[-1] - arrivals[11])  # from where the buffers are full
    assert found.saves == pytest.approx(1 - paces[1] / paces[0], abs=0.03)
    assert found.saves > 0.1
    assert found.worth
    assert str(found).startswith("in_order=False: saves ")
    assert str(found).endswith(
        "% (confirmed by a real run). Mind that batches come as they are ready, in another order "
        "each time."
    )


def test_a_knob_runs_in_turns_with_the_setting_as_it_is() -> None:
    model = uneven()
    job = model.job()
    ran = list[Mapping[str, object]]()
    go = model.go

    def noted(request: RunRequest) -> Watch:
        ran.append(request.also)
        return go(request)

    model.go = noted  # type: ignore[method-assign]
    try_knobs(job, model, at(job, 4), DATA_BOUND, None)
    assert ran == [{}, {"in_order": False}] * 2


# ---- fewer, larger batches ----


def test_larger_batches_are_tried_where_the_loop_s_own_time_or_launching_decides() -> None:
    model = Modelled(0.003, 0.005, Handling(take=0.012), computes=False)
    job = model.job()
    assert lines(job, model, 2, OWN_TIME) == ["batch_size=8"]
    assert lines(job, model, 2) == []
    job.numbers.growth = {}
    assert lines(job, model, 2, OWN_TIME) == []


@pytest.mark.parametrize(
    ("device", "said"),
    [
        (None, False),
        (OnDevice(launch=0.001, train=0.010, queue=3), False),
        (OnDevice(launch=0.010, train=0.001, queue=3), True),
    ],
)
def test_a_step_that_takes_longer_to_launch_than_to_run_is_launch_bound(
    device: OnDevice | None, said: bool
) -> None:
    model = Modelled(0.0004, 0.010, computes=False, device=device)
    job = model.job()
    assert is_launch_bound(job) == said
    assert lines(job, model, 0, STEP_BOUND) == ["batch_size=8"] * said


def test_what_larger_batches_save_is_by_the_sample() -> None:
    model = Modelled(0.003, 0.005, Handling(take=0.012), computes=False)
    job = model.job()
    (found,) = try_knobs(job, model, at(job, 2), OWN_TIME, None)
    seconds = []
    for size in (1, 2):
        arrivals = model.trace(2, step=True, size=size).epochs[0].arrivals
        seconds.append((arrivals[-1] - arrivals[5]) / (len(arrivals) - 6) / size)
    assert found.saves == pytest.approx(1 - seconds[1] / seconds[0], abs=0.02)
    assert "an epoch has half as many steps" in str(found)


# ---- what needs a GPU, and threads of libraries ----


def test_pinned_memory_is_tried_where_a_gpu_is_used() -> None:
    model = Modelled(0.020, 0.010, computes=False)
    job = model.job()
    model.may_change = {"pin_memory": False}
    assert lines(job, model, 2) == []
    model.may_launch = True
    assert lines(job, model, 2) == ["pin_memory=True"]
    model.may_change = {"pin_memory": True}
    assert lines(job, model, 2) == []


def inside_with(cores: float) -> Inside:
    return Inside([], 0.1, 1, 1, 0.0, cores, Storage(Pass(0.1, None), Pass(0.1, None)))


def test_threads_in_workers_are_limited_where_one_process_holds_several_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_to: list[int] = []
    monkeypatch.setitem(sys.modules, "cv2", SimpleNamespace(setNumThreads=set_to.append))
    monkeypatch.setattr(knobs, "find_spec", lambda name: None)
    began: list[int] = []
    model = Modelled(0.020, 0.010, computes=False)
    model.may_change = {"worker_init_fn": began.append}
    job = model.job()
    assert lines(job, model, 2, inside=inside_with(1.2)) == []
    assert lines(job, model, 1, inside=inside_with(2.0)) == []
    assert lines(job, model, 2) == []
    (knob,) = plausible(job, model, at(job, 2), DATA_BOUND, inside_with(1.96))
    assert knob.line == "worker_init_fn with `import cv2; cv2.setNumThreads(1)`"
    assert knob.alters == "one process that makes batches holds 2 cores"
    init: Any = knob.arguments["worker_init_fn"]
    init(7)
    assert (began, set_to) == ([7], [1])
    monkeypatch.delitem(sys.modules, "cv2")
    assert lines(job, model, 2, inside=inside_with(2.0)) == []


# ---- how workers start ----


def model_that_starts_in(seconds: float) -> Modelled:
    return Modelled(0.020, 0.010, computes=False, start=(0.0, seconds))


def starting(seconds: float) -> Modelled:
    """A job whose workers are spawned in *seconds*, and forked at once."""
    model = model_that_starts_in(seconds)
    model.may_change = {"multiprocessing_context": "spawn"}
    go = model.go
    others = {
        "fork": model_that_starts_in(0.0),
        "forkserver": model_that_starts_in(0.75 * seconds),
    }

    def by_another_way(request: RunRequest) -> Watch:
        way = str(request.also.get("multiprocessing_context"))
        return others[way].go(request) if way in others else go(request)

    model.go = by_another_way  # type: ignore[method-assign]
    return model


def test_another_way_to_start_workers_is_tried_where_starts_take_long() -> None:
    model = starting(0.4)
    job = model.job()
    assert try_start_methods(job, model, at(job, 0)) == []
    found = try_start_methods(job, model, at(job, 2))
    assert [one.line for one in found] == [
        "multiprocessing_context='fork'",
        "multiprocessing_context='forkserver'",
    ]
    # Each epoch starts them, and the first batch waits for that
    epoch = model.seconds(2)[1]
    assert found[0].saves == pytest.approx(0.4 / epoch, abs=0.01)
    assert found[1].saves == pytest.approx(0.1 / epoch, abs=0.01)
    assert "must not use a GPU" in str(found[0])
    quick = starting(0.002)
    assert try_start_methods(quick.job(), quick, at(quick.job(), 2)) == []


@pytest.mark.parametrize(
    ("now", "others"),
    [("spawn", ["fork", "forkserver"]), ("forkserver", ["fork"]), ("fork", [])],
)
def test_only_ways_that_are_quicker_are_tried(now: str, others: list[str]) -> None:
    ways = multiprocessing.get_all_start_methods()
    if now not in ways:
        pytest.skip(f"this system has no {now}")
    expected = [way for way in others if way in knobs.QUICKEST_FIRST]
    context = multiprocessing.get_context(now)
    for said in (now, context):
        subject: Any = SimpleNamespace(may_change={"multiprocessing_context": said})
        assert start_methods(subject) == expected
    subject = SimpleNamespace(may_change={"multiprocessing_context": None})
    usual = multiprocessing.get_start_method(allow_none=True) or ways[0]
    if usual == now:
        assert start_methods(subject) == expected
    assert start_methods(SimpleNamespace(may_change={})) == []


# ---- what is said of it ----

KNOB = Knob("in_order=False", "the order changes")


@pytest.mark.parametrize(
    ("each", "error", "most", "told"),
    [
        ([0.3, 0.3], 0.0, 0.5, "saves 30 ± 1 % (confirmed by a real run)"),
        ([0.2, 0.4], 0.0, 0.5, "saves 30 ± 10 % (confirmed by a real run)"),
        ([0.3, 0.3], 0.1, 0.5, "saves 30 ± 7 % (confirmed by a real run)"),
        ([0.3, 0.3], 0.0, 0.2, "saves 20 ± 1 % (tried, and not confirmed)"),
        ([0.3, 0.3], 0.4, 0.5, "saves nothing that these runs can tell (30 ± 28 %)"),
        ([0.01, 0.01], 0.0, 0.5, "saves nothing that these runs can tell (1 ± 1 %)"),
        ([-0.2, -0.2], 0.1, 0.5, "saves nothing that these runs can tell (-20 ± 12 %)"),
    ],
)
def test_what_is_said_of_a_knob_holds_what_runs_differ(
    each: list[float], error: float, most: float, told: str
) -> None:
    assert str(judged(KNOB, each, error, most)).startswith(f"in_order=False: {told}")


def test_a_knob_that_fails_is_said_to() -> None:
    model = Modelled(0.020, 0.010, computes=False)
    job = model.job()

    def refuse(request: RunRequest) -> Watch:
        raise RuntimeError("no memory to pin")

    model.go = refuse  # type: ignore[method-assign]
    found = try_knob(job, model, at(job, 2), KNOB, USUAL)
    assert str(found) == "in_order=False: failed: no memory to pin."
    assert not found.worth


def test_a_run_that_is_too_short_has_no_pace() -> None:
    with pytest.raises(RuntimeError, match="too few batches"):
        pace(Watch(2), 100, 1)


def test_a_page_says_what_was_tried_besides(capsys: pytest.CaptureFixture[str]) -> None:
    model = uneven()
    page = recommended(model.job())
    capsys.readouterr()
    assert [knob.line for knob in page.knobs] == ["in_order=False"]
    said = f"Tried besides, each by itself, with {page.changes[0].line}:"
    assert page.sections()[said] == [str(page.knobs[0])]
    assert page.numbers()["knobs"][0]["line"] == "in_order=False"
    assert said in page._repr_html_()
    page.changes.clear()
    assert "with the loader as it is:" in str(page)
    assert page.head().startswith("No change that can be forecast saves more than")
    page.knobs.clear()
    assert page.head().startswith("No change of a setting saves more than")


def test_a_step_bound_page_names_larger_batches_where_launching_decides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    device = OnDevice(launch=0.010, train=0.001, queue=3)
    page = recommended(Modelled(0.0004, 0.010, computes=False, device=device).job())
    capsys.readouterr()
    assert page.verdict == "step-bound"
    assert f"batch_size={2 * SAMPLES}: saves " in str(page)


# ---- with a loader ----


def test_a_loader_runs_with_arguments_that_it_was_not_made_with(library: Any) -> None:
    def begin(worker: int) -> None:
        """Nothing."""

    loader = library.utils.data.DataLoader(
        range(64), batch_size=4, num_workers=2, worker_init_fn=begin
    )
    subject = LoaderAndStep(loader, print)
    assert subject.may_change == {
        "in_order": True,
        "pin_memory": False,
        "multiprocessing_context": None,
        "worker_init_fn": begin,
    }
    also = {
        "in_order": False,
        "worker_init_fn": OneThread(begin),
        "multiprocessing_context": multiprocessing.get_all_start_methods()[0],
    }
    run = subject.go(RunRequest(2, 60.0, also=also))
    assert len(run.batches) == 16


def test_a_tried_knob_is_plain_data() -> None:
    assert TriedKnob("a", "b", 0.1, 0.1, "c", worth=True)._asdict()["line"] == "a"
