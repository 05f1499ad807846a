"""What other programs take of a machine, by the system's own counts less those of this job."""

import os
from pathlib import Path

import pytest

from databound import machine
from databound.machine import Others, busy_seconds, private_memory

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def statistics(path: Path, *, user: float, idle: float, stolen: float = 0.0) -> None:
    """Write what the system says: seconds of all cores in programs of users, and without work.

    Of a virtual machine, others on the same host may have *stolen* some.
    """
    columns = [user, 0, 0, idle, 0, 0, 0, stolen]
    path.write_text(
        "cpu " + " ".join(str(round(one * TICKS)) for one in columns) + "\ncpu0 1"
    )


@pytest.mark.parametrize(("own", "others"), [(1.0, 1.5), (6.0, 0.25), (8.0, 0.0)])
def test_others_had_what_all_had_less_what_this_job_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: float, others: float
) -> None:
    path = tmp_path / "stat"
    clock = iter([10.0, 14.0])
    spent = iter([2.0, 2.0 + own])
    monkeypatch.setattr(machine, "STATISTICS", path)
    statistics(path, user=100, idle=50)
    made = Others(began=next(clock), own=next(spent))
    statistics(path, user=106, idle=51, stolen=1)
    monkeypatch.setattr(machine, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(machine, "own_seconds", lambda: next(spent))
    assert made.cores() == pytest.approx(others)


def test_where_the_system_does_not_say_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "STATISTICS", tmp_path / "none")
    assert busy_seconds() is None
    assert Others().cores() == 0
    assert private_memory(2**22 + 1) is None
