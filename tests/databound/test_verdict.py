"""One function decides the six verdicts, for those who know little of a job and for those who know much."""

from dataclasses import replace

import pytest

from databound.advise.verdict import VERDICTS, Facts, decide
from databound.thresholds import (
    FULL,
    HIDDEN,
    MOSTLY,
    NOT_HIDDEN,
    SLOWED,
    SMALL,
    STEP_COUNTS,
    WORTH,
)

A_LITTLE = 0.001


def kind(facts: Facts) -> str:
    """The verdict in a word or two; its advice is a sentence that begins with a small letter."""
    found = decide(facts)
    assert found.kind in VERDICTS
    assert found.advice[0].islower()
    assert not found.advice.endswith(".")
    return found.kind


@pytest.mark.parametrize("beside", [-A_LITTLE, A_LITTLE])
def test_below_what_is_worth_it_a_job_is_step_bound(beside: float) -> None:
    """Where nobody knows by how much runs differ, a tenth is not worth it."""
    for worth, error in ((WORTH, 0.0), (SMALL, None)):
        step = 1 - (worth + beside)
        facts = Facts(step=step, both=1.0, loader=2.0, in_background=True, error=error)
        assert kind(facts) == ("data-bound" if beside > 0 else "step-bound")


@pytest.mark.parametrize("beside", [-A_LITTLE, A_LITTLE])
def test_runs_that_differ_by_more_than_can_be_saved_tell_nothing(beside: float) -> None:
    facts = Facts(step=0.7, both=1.0, in_background=True, error=0.3 + beside)
    assert kind(facts) == ("cannot tell" if beside > 0 else "data-bound")


@pytest.mark.parametrize("beside", [-A_LITTLE, A_LITTLE])
def test_a_ready_batch_that_costs_most_of_the_wait_is_the_loops_own_time(
    beside: float,
) -> None:
    waited = 0.8
    taking = (MOSTLY + beside) * waited
    for facts in (
        Facts(step=0.2, both=1.0, loader=1.0, taking=taking),
        Facts(step=0.2, both=1.0, taking=taking, in_background=True, error=0.01),
    ):
        assert kind(facts) == ("the loop's own time" if beside > 0 else "data-bound")


@pytest.mark.parametrize("beside", [-A_LITTLE, A_LITTLE])
def test_cores_that_are_full_most_of_the_time_are_what_both_want(beside: float) -> None:
    computed = (MOSTLY + beside) * FULL * 4  # of one second on four cores
    facts = Facts(
        step=0.2,
        both=1.0,
        in_background=True,
        error=0.01,
        cores=4,
        computed=computed,
        step_computed=computed / 2,
    )
    expected = "both want the same cores" if beside > 0 else "data-bound"
    assert kind(facts) == expected
    # Without workers they do not want them at the same time
    assert kind(replace(facts, in_background=False)) == "they take turns"


@pytest.mark.parametrize("beside", [-A_LITTLE, A_LITTLE])
def test_a_step_that_computes_little_does_not_compete_for_the_cores(beside: float) -> None:
    """A loader that fills the cores by itself is what the step waits for; more workers are no advice."""
    facts = Facts(
        step=0.1,
        both=1.0,
        in_background=True,
        error=0.01,
        cores=2,
        computed=1.9,
        step_computed=1.9 * (STEP_COUNTS + beside),
    )
    found = decide(facts)
    assert found.kind == ("both want the same cores" if beside > 0 else "data-bound")
    if beside < 0:
        assert "already uses all cores" in found.advice
        assert "more workers" not in found.advice


@pytest.mark.parametrize("beside", [-A_LITTLE, A_LITTLE])
def test_a_loop_slower_than_both_in_a_row_shares_something(beside: float) -> None:
    facts = Facts(step=0.3, both=(SLOWED + beside) * 0.8, loader=0.5)
    assert kind(facts) == ("both want the same cores" if beside > 0 else "they take turns")


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        (NOT_HIDDEN - A_LITTLE, "they take turns"),
        (NOT_HIDDEN + A_LITTLE, "cannot tell"),
        (HIDDEN - A_LITTLE, "cannot tell"),
        (HIDDEN + A_LITTLE, "data-bound"),
    ],
)
def test_what_is_hidden_says_whether_both_go_on_at_a_time(
    hidden: float, expected: str
) -> None:
    loader, step = 1.0, 0.8
    assert (
        kind(Facts(step=step, both=loader + step - hidden * step, loader=loader))
        == expected
    )
    if expected == "data-bound":
        both = loader + step - hidden * step
        assert kind(Facts(step=loader, both=both, loader=step)) == "step-bound"


@pytest.mark.parametrize("beside", [-A_LITTLE, A_LITTLE])
def test_whether_a_short_run_is_hidden_does_not_matter(beside: float) -> None:
    step = SMALL + beside
    facts = Facts(step=step, both=1.0 + step, loader=1.0)
    assert kind(facts) == ("they take turns" if beside > 0 else "data-bound")


def test_advice_on_runs_that_differ_names_what_makes_them_differ() -> None:
    """No buffer is deepened that a loader does not have."""
    facts = Facts(step=0.7, both=1.0, in_background=False, error=0.5)
    uneven = decide(facts).advice
    busy = decide(replace(facts, others=1.25)).advice
    assert "this job is uneven" in uneven
    assert "other programs used 1.2 of the cores" in busy
    for advice in (uneven, busy):
        assert "buffer" not in advice
        assert "overlap" not in advice
    unknown = Facts(step=0.8, both=1.4, loader=1.0)
    assert decide(unknown) == ("cannot tell", VERDICTS["cannot tell"])


def test_a_loop_that_takes_no_time_is_step_bound() -> None:
    assert kind(Facts(step=0.0, both=0.0, loader=0.0)) == "step-bound"
