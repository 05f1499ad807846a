"""Two clocks for one model: what the engine says with all its spans, and what a table of forecasts asks."""

from random import Random

import pytest

from databound.measure.device import OnDevice
from databound.measure.numbers import JobNumbers, Start, StepNumbers
from databound.measure.setting import Setting
from databound.measure.uneven import Uneven
from databound.model.arrivals import Clock, Piece, Process
from databound.model.forecast import Model

MS = 0.001


def random_model(seed: int) -> Model:
    """A model of any kind; each worker makes a batch at least."""
    draw = Random(seed)
    device = None
    if draw.random() < 0.3:
        queue = draw.choice([1, 2, 5])
        device = OnDevice(10 * MS * draw.random(), 30 * MS * draw.random(), queue)
    cores = draw.choice([1, 1.7, 2.5]) if draw.random() < 0.5 and not device else 0.0
    uneven = Uneven()
    if draw.random() < 0.4:
        uneven.places = [number / 20 for number in range(20)]
        uneven.makes = [2 * draw.random() for _ in range(20)]
    if draw.random() < 0.3:
        uneven.steps = [0.5, 0.5, 2]
        uneven.turn = 3
    first = draw.choice([0, 50 * MS])
    numbers = JobNumbers(
        cores=draw.choice([1, 2, 4, 8]),
        waits=draw.choice([0, 20 * MS]),
        works=draw.choice([0, 30 * MS * draw.random()]),
        first=first,
        first_works=draw.choice([0, first]),
        take=draw.choice([0, 1 * MS]),
        start=Start(5 * MS * draw.random(), 30 * MS * draw.random()),
        noise=0.01,
        threads={1: StepNumbers(30 * MS * draw.random(), cores, 30 * MS * draw.random())},
        stream=draw.random() < 0.2,
        totals={},
        nbytes=1,
        device=device,
        uneven=uneven,
        opening=draw.choice([0, 0.1]),
    )
    workers = draw.choice([0, 1, 2, 4, 8])
    stay = workers > 0 and draw.random() < 0.5
    setting = Setting(workers, draw.choice([1, 2, 4]), stay)
    return Model(numbers, setting, draw.choice([9, 50, 90]))


@pytest.mark.parametrize("seed", range(60))
def test_both_clocks_say_the_same(seed: int) -> None:
    model = random_model(seed)
    told = model.run(2).epochs
    found = model.arrivals(2)
    assert len(found) == 2
    for epoch, same in zip(told, found, strict=True):
        # The engine counts whole nanoseconds
        assert same.came == pytest.approx(epoch.arrivals, abs=1e-6)
        assert same.duration == pytest.approx(epoch.duration, abs=1e-6)


def test_who_computes_shares_the_cores_and_who_waits_does_not() -> None:
    clock = Clock(cores=1)
    ends = []

    def process(piece: Piece) -> Process:
        yield piece
        ends.append(clock.now)

    def main() -> Process:
        clock.ready.append(process(Piece(1.0, cores=1)))
        clock.ready.append(process(Piece(1.0, cores=2)))
        clock.ready.append(process(Piece(1.5)))
        yield Piece(9.0)

    clock.run(main())
    # Three cores are wanted of one, so each second of work takes three
    assert ends == [1.5, 3.0, 3.0]
