"""What each part of a job allows, held against the bounds of its page and what is known of it."""

import json

import pytest
from support.modelled_jobs import PAID, SAMPLES, Modelled

from databound.advise.advice import recommended
from databound.advise.page import Recommendation
from databound.advise.roofs import GIL_OF_LOOP, GIL_OF_WORKERS, NO_SECOND_PASS
from databound.measure.inside import Inside, Part
from databound.measure.storage import Pass, Read, Storage
from lessonkit.explain.roofs import Roofs

DATA_BOUND = Modelled(0.020, 0.010, computes=False)
TAKES = Modelled(0.020, 0.010, PAID, computes=False)


def page_of(model: Modelled, num_workers: int = 0) -> Recommendation:
    job = model.job()
    job.now = job.now.changed(num_workers=num_workers)
    return recommended(job, tell=lambda _: None)


def roofs_in(page: Recommendation) -> Roofs:
    assert page.roofs is not None
    return page.roofs


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("model", [DATA_BOUND, TAKES])
def test_the_run_is_below_every_roof(model: Modelled, workers: int) -> None:
    roofs = roofs_in(page_of(model, workers))
    assert roofs.run is not None
    assert roofs.run <= min(roofs.per_second.values())


def test_roofs_are_the_bounds_of_the_page_as_samples_per_second() -> None:
    page = page_of(DATA_BOUND)
    roofs = roofs_in(page)
    assert roofs.run is not None
    assert roofs.run / roofs.per_second["step"] == pytest.approx(1 - page.bounds.any)
    assert roofs.run / roofs.per_second["cores"] == pytest.approx(1 - page.bounds.cores)


def test_the_step_and_the_copy_are_what_they_take() -> None:
    """A step takes 10 ms for four samples, and the loop 3 ms for a batch that a worker made."""
    roofs = roofs_in(page_of(TAKES, 2))
    assert roofs.per_second["step"] == pytest.approx(SAMPLES / 0.010, rel=0.02)
    assert roofs.per_second["copy"] == pytest.approx(SAMPLES / 0.003, rel=0.02)
    assert "copy" not in roofs_in(page_of(TAKES)).per_second


def test_what_was_not_measured_is_said_and_not_guessed() -> None:
    alone = roofs_in(page_of(DATA_BOUND)).unknown
    assert alone == {"storage": NO_SECOND_PASS, "GIL": GIL_OF_LOOP}
    assert roofs_in(page_of(DATA_BOUND, 1)).unknown["GIL"] == GIL_OF_WORKERS


@pytest.mark.parametrize(
    ("fetched", "said"),
    [
        # 10 of 40 ms per batch of four samples
        (1_000_000, "one reader got 400 samples/s from it, and several may get more"),
        (0, NO_SECOND_PASS),
    ],
)
def test_a_second_pass_says_what_one_reader_got_from_storage(
    fetched: int, said: str
) -> None:
    page = page_of(DATA_BOUND)
    storage = Storage(
        Pass(0.040, Read(1_000_000, fetched)), Pass(0.030, Read(1_000_000, 0))
    )
    part = Part(1.0, "fetch", "train.py:7", "decode(...)", "")
    page.inside = Inside([part], 0.04, 1, 1, 0.0, 1.0, storage)
    assert roofs_in(page).unknown["storage"] == said


def test_they_stand_on_the_page_in_each_of_its_forms() -> None:
    page = page_of(DATA_BOUND)
    lines = str(roofs_in(page)).splitlines()
    assert page.sections()["What each part of the job allows:"] == lines
    assert f"roofs: {roofs_in(page).words}" in page._repr_html_()
    told = json.loads(json.dumps(page.numbers()))["roofs"]
    assert told["per_second"].keys() == roofs_in(page).per_second.keys()


def test_a_job_that_is_step_bound_has_none_on_its_page() -> None:
    page = page_of(Modelled(0.0004, 0.020, computes=False))
    assert not any("allows" in head for head in page.sections())
