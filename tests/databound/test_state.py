"""What a step trains is as before when it was measured, and what is not is said."""

import threading
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import pytest

from databound import machine, measure_job, probe
from databound.measure import state
from databound.measure.batches import bytes_of
from databound.measure.state import Training, kept, reached
from databound.model import measuring
from databound.thresholds import Durations


class Counts:
    """What has a state, as PyTorch's optimisers have one."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.more = [count]

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count, "more": self.more}

    def load_state_dict(self, told: dict[str, Any]) -> None:
        self.count = told["count"]
        self.more = told["more"]

    def __call__(self, batch: object) -> None:
        self.count += 1
        self.more.append(self.count)


class Schedule(Counts):
    """What may be called a few times only, as a schedule with a number of steps."""

    total_steps = 3

    @property
    def last_epoch(self) -> int:
        return self.count

    def __call__(self, batch: object) -> None:
        super().__call__(batch)
        if self.count > self.total_steps:
            raise ValueError("tried to step too often")


class Trainer:
    """What holds things that have a state, as people's own trainers do."""

    def __init__(self) -> None:
        self.model = Counts()
        self.others = {"optimiser": Counts(), "schedules": [Counts()]}
        self.name = "mine"

    def step(self, batch: object) -> None:
        self.model(batch)

    def __call__(self, batch: object) -> None:
        self.model(batch)


MODEL = Counts()
UNUSED = Counts()
TRAINER = Trainer()
MANY = [Counts() for _ in range(101)]
FEW = [Counts(), 3]


def helper(batch: object) -> None:
    MODEL(batch)


def names(step: Callable[[Any], object]) -> list[str]:
    return [one.name for one in reached(step)]


def closure(model: Any) -> Callable[[object], None]:
    def step(batch: object) -> None:
        model(batch)

    return step


def nested(batch: object) -> list[None]:
    return [(lambda: MODEL(batch))() for _ in range(2)]


def of_functions(batch: object) -> None:
    helper(batch)


def of_trainer(batch: object) -> None:
    TRAINER.step(batch)


def with_defaults(batch: object, model: Any = MODEL, *, also: Any = UNUSED) -> None:
    model(batch)


def of_many(batch: object) -> None:
    MANY[0](batch)
    FEW[0](batch)  # type: ignore[operator]


def with_arguments(model: Any, batch: object, also: Any = None) -> None:
    model(batch)


@pytest.mark.parametrize(
    ("step", "found"),
    [
        (helper, ["MODEL"]),
        (closure(MODEL), ["model"]),
        (closure([MODEL]), ["model[0]"]),
        (nested, ["MODEL"]),
        (of_functions, ["MODEL"]),
        (of_trainer, ["TRAINER.model", "TRAINER.others['optimiser']"]),
        (with_defaults, ["model", "also"]),
        (of_many, ["FEW[0]"]),
        (partial(with_arguments, MODEL), ["argument 1 of step"]),
        (partial(with_arguments, MODEL, also=UNUSED), ["argument 1 of step", "also"]),
        (MODEL, ["step"]),
        (TRAINER, ["step.model", "step.others['optimiser']"]),
        (TRAINER.step, ["self.model", "self.others['optimiser']"]),
        (MODEL.__call__, ["self"]),
        (print, []),
        (lambda batch: threading.get_ident(), []),
        (lambda batch: Counts, []),
    ],
)
def test_a_step_reaches_what_its_code_names_and_one_level_further(
    step: Any, found: list[str]
) -> None:
    assert names(step) == found


def test_what_is_reached_twice_is_kept_once() -> None:
    def step(batch: object) -> None:
        MODEL(batch)
        again(batch)

    again = MODEL
    assert names(step) == ["again"]


def test_a_variable_that_has_no_value_yet_is_none() -> None:
    def step(batch: object) -> None:
        later(batch)

    assert names(step) == []
    later = MODEL
    assert names(step) == ["later"]


def test_what_has_a_state_is_as_before_and_nothing_of_it_is_shared() -> None:
    model = Counts(5)
    step = closure(model)
    with kept(step) as training:
        step(0)
        step(0)
        assert model.count == 7
    assert (model.count, model.more) == (5, [5])
    assert training.names == ["model"]
    assert training.head == "Put back as before: model."
    step(0)
    with kept(step):
        step(0)
    assert (model.count, model.more) == (6, [5, 6])


def test_it_is_put_back_when_the_measuring_fails() -> None:
    model = Counts(5)
    with pytest.raises(ZeroDivisionError), kept(closure(model)):
        model(0)
        raise ZeroDivisionError
    assert model.count == 5


def test_a_schedule_that_would_end_begins_again() -> None:
    schedule = Schedule(1)
    step = closure(schedule)
    with kept(step) as training:
        repeated = training.without_end(step)
        for _ in range(10):
            repeated(0)
    assert (schedule.count, schedule.more) == (1, [1])


def test_a_step_without_such_a_schedule_is_called_as_it_is() -> None:
    step = closure(MODEL)
    assert Training(step).without_end(step) is step


class Refuses(Counts):
    def load_state_dict(self, told: dict[str, Any]) -> None:
        raise KeyError("count")


class SaysNothing(Counts):
    def state_dict(self) -> dict[str, Any]:
        raise RuntimeError("not now")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Refuses(), "model: KeyError('count')"),
        (SaysNothing(), "model: RuntimeError('not now')"),
    ],
)
def test_what_could_not_be_put_back_is_said(model: Counts, said: str) -> None:
    with kept(closure(model)) as training:
        pass
    assert training.names == []
    assert training.not_put_back == [said]
    assert training.head == "Not put back:"


def test_where_there_is_no_room_for_a_copy_none_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Counts()
    model.more = [b"x" * 1000]  # type: ignore[list-item]
    assert bytes_of(model.state_dict()) == 1000
    monkeypatch.setattr(state, "free_memory", lambda: 1999)
    with kept(closure(model)) as training:
        model(0)
    assert model.count == 1
    assert training.not_put_back == ["model: a copy needs 1 kB, and 2 kB are free"]
    for free in (2000, None):
        monkeypatch.setattr(state, "free_memory", lambda free=free: free)
        assert Training(closure(model)).names == ["model"]


def test_free_memory_is_what_the_system_and_the_container_leave(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {name: tmp_path / name for name in ("MEMORY", "MEMORY_QUOTA", "MEMORY_USED")}
    for name, file in files.items():
        monkeypatch.setattr(machine, name, file)
    assert machine.free_memory() is None
    files["MEMORY"].write_text("MemTotal: 8 kB\nMemAvailable:       5 kB\n")
    assert machine.free_memory() == 5 * 1024
    files["MEMORY_QUOTA"].write_text("max\n")
    files["MEMORY_USED"].write_text("1000\n")
    assert machine.free_memory() == 5 * 1024
    files["MEMORY_QUOTA"].write_text("3000\n")
    assert machine.free_memory() == 2000


@pytest.mark.parametrize("put_back", [True, False])
def test_a_job_is_measured_and_its_model_is_as_before(
    library: Any, monkeypatch: pytest.MonkeyPatch, put_back: bool
) -> None:
    monkeypatch.setattr(measuring, "USUAL", Durations(run=0.0, again=0.0))
    model = Counts()
    schedule = Schedule()

    def step(batch: object) -> None:
        model(batch)
        if put_back:  # else it ends
            schedule(batch)

    loader = library.utils.data.DataLoader(range(64), batch_size=4)
    if put_back:
        job = measure_job(loader, step)
        assert (model.count, schedule.count) == (0, 0)
        assert job.subject.training.names == ["model", "schedule"]  # type: ignore[union-attr]
    else:
        job = measuring.measured(loader, step, put_back=False)
        assert model.count > 3
        assert job.subject.training is None  # type: ignore[union-attr]


def test_probe_leaves_what_it_trains_as_before() -> None:
    model = Counts(5)
    probe([[1]] * 30, closure(model))
    assert (model.count, model.more) == (5, [5])


# ---- with PyTorch itself ----


def test_pytorchs_own_are_as_before() -> None:
    torch = pytest.importorskip("torch")
    if not hasattr(torch, "nn"):
        pytest.skip("a stand-in for PyTorch")
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
    optimiser = torch.optim.Adam(model.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.1, total_steps=20)
    scaler = torch.amp.GradScaler("cpu")
    model.eval()
    model[0].weight.grad = torch.ones(4, 4)

    def step(batch: Any) -> None:
        model.train()
        scaler.scale(model(batch).square().mean()).backward()
        scaler.step(optimiser)
        scaler.update()
        optimiser.zero_grad()
        schedule.step()

    def told() -> str:
        gradients = [one.grad for one in model.parameters()]
        modes = [one.training for one in model.modules()]
        states = [one.state_dict() for one in (model, optimiser, schedule, scaler)]
        return repr([*states, gradients, modes])

    before = told()
    copies = copy(model.state_dict())
    with kept(step) as training:
        repeated = training.without_end(step)
        for _ in range(50):
            repeated(torch.rand(8, 4))
        assert told() != before
    assert told() == before
    assert training.names == ["model", "optimiser", "scaler", "schedule"]
    # The very parameters that the optimiser has, and not others in their place
    assert all(
        one.data_ptr() == copies[name].data_ptr()
        for name, one in model.state_dict().items()
    )
