"""Voilà's kernels: each ends when its page has gone, and none starts for which there is no memory."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from tornado.web import HTTPError

from delivery import voila
from delivery.voila import EACH, FULL, LEFT, OPENING, SPARE, Kernels
from tools.servers import SOCKETS, VOILA, serve

FULL_HOUSE = """
from delivery import voila
from delivery.voila import Kernels

voila.SPARE = 1e18
"""


class Clock:
    """A clock that stands until somebody moves it."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(voila, "monotonic", made)
    return made


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Any:
    """What starts kernels, without processes; they have the names k0, k1, ..."""
    theirs = Kernels.__mro__[1]

    async def start(self: Any, **_: Any) -> str:
        name = f"k{len(self._kernel_connections)}"
        self._kernels[name] = SimpleNamespace(execution_state="busy")
        self._kernel_connections[name] = 0
        return name

    async def shutdown(self: Any, name: str, *_: Any, **__: Any) -> None:
        del self._kernels[name]

    monkeypatch.setattr(theirs, "start_kernel", start)
    monkeypatch.setattr(theirs, "shutdown_kernel", shutdown)
    return Kernels()


def done(act: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(act)


def after(seconds: float, clock: Clock, kernels: Any) -> list[str]:
    """The kernels that are there when so many seconds have passed."""
    clock.now += seconds
    done(kernels.cull_kernels())
    return [*kernels.list_kernel_ids()]


def test_a_kernel_waits_for_its_page_longer_than_for_one_that_has_gone(
    kernels: Any, clock: Clock
) -> None:
    slow = done(kernels.start_kernel())
    left = done(kernels.start_kernel())
    kernels.notify_connect(left)
    kernels.notify_disconnect(left)
    assert after(LEFT, clock, kernels) == [slow, left]
    assert after(1, clock, kernels) == [slow]
    assert after(OPENING - LEFT - 1, clock, kernels) == [slow]
    assert after(1, clock, kernels) == []


def test_a_page_that_is_read_for_a_day_keeps_its_kernel_through_a_moment_without_a_network(
    kernels: Any, clock: Clock
) -> None:
    read = done(kernels.start_kernel())
    kernels.notify_connect(read)
    assert after(86_400, clock, kernels) == [read]
    kernels.notify_disconnect(read)
    assert after(LEFT - 1, clock, kernels) == [read]
    kernels.notify_connect(read)
    assert after(86_400, clock, kernels) == [read]


def test_a_kernel_stays_for_the_second_of_two_pages(kernels: Any, clock: Clock) -> None:
    both = done(kernels.start_kernel())
    kernels.notify_connect(both)
    kernels.notify_connect(both)
    kernels.notify_disconnect(both)
    assert after(2 * LEFT, clock, kernels) == [both]
    kernels.notify_disconnect(both)
    assert after(LEFT + 1, clock, kernels) == []
    # Its page hears of the end after it
    kernels.notify_disconnect(both)
    assert not kernels.alone
    assert not kernels.had_page


@pytest.mark.parametrize(
    ("free", "starts"), [(SPARE + EACH, True), (SPARE + EACH - 1, False)]
)
def test_without_memory_no_kernel_starts_and_the_page_says_so(
    free: float, starts: bool, kernels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=free))
    if starts:
        assert done(kernels.start_kernel()) == "k0"
        return
    with pytest.raises(HTTPError) as refused:
        done(kernels.start_kernel())
    assert (refused.value.status_code, refused.value.log_message) == (503, FULL)


def test_whoever_finds_no_memory_reads_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full_house.py").write_text(FULL_HOUSE)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[3]}")
    ours = "delivery.voila.Kernels"
    assert any(option.endswith(ours) for option in VOILA.options)
    options = tuple(one.replace(ours, "full_house.Kernels") for one in VOILA.options)
    with serve(VOILA._replace(options=options), SOCKETS) as server:
        address = server.write("a lesson", "1 + 1").replace(" ", "%20")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address, timeout=60)
        with refused.value as answer:
            assert answer.code == 503
            assert FULL in answer.read().decode()
