"""What of a class on a Hub ends by itself: `python -m benchmarks.idle`, where JupyterHub is installed.

It starts a Hub with the configuration that we ship, in which half an hour and two hours are some
seconds. One learner closes the page, another one reads on. It is seen when kernels and servers end,
and that who comes back finds a server, and what was saved.
"""

import asyncio
import sys
from time import monotonic
from typing import Any

from benchmarks.hub import Hub, check_environment, hub
from benchmarks.learner import Learner

FIRST = "00_start_here.ipynb"
LEFT = "left"
READS = "reads"
KERNEL = 20  # s, in place of half an hour
SERVER = 40  # s, in place of two hours
LATER = 60  # s: a server looks once a minute whether somebody uses it
NOTICED = 15  # s, until the Hub has seen that a server has ended
MORE = f"""
c.Spawner.args = [
    *c.Spawner.args,
    "--MappingKernelManager.cull_idle_timeout={KERNEL}",
    "--MappingKernelManager.cull_interval=2",
    "--ServerApp.shutdown_no_activity_timeout={SERVER}",
]
"""


def programs(ours: Hub, learner: str, word: str) -> list[Any]:
    """Return those of a *learner* whose command has this *word*."""
    import psutil

    found = []
    for one in ours.processes:
        try:
            if one.environ().get("JUPYTERHUB_USER") == learner and word in str(
                one.cmdline()
            ):
                found.append(one)
        except psutil.Error:  # it has just ended
            pass
    return found


async def until_ended(ours: Hub, word: str, most: float) -> float | None:
    """Wait until the program of who has left has ended; after how many seconds, or None if it does not."""
    began = monotonic()
    while programs(ours, LEFT, word):
        if monotonic() - began > most:
            return None
        await asyncio.sleep(0.5)
    return monotonic() - began


def seconds(took: float | None) -> str:
    """Write how long something took, if it came to an end."""
    return "" if took is None else f"after {took:.0f} s"


def say(what: str, is_well: bool, more: str = "") -> bool:
    """Print one thing that was looked at."""
    print(f"{what:64}{'yes' if is_well else 'NO':5}{more}", flush=True)
    return is_well


async def walk(ours: Hub) -> bool:
    """Let one leave, and look; return whether all is as it should be."""
    learners = left, reads = Learner(LEFT, ours.address), Learner(READS, ours.address)
    for one in learners:
        await one.enter(ours.password, FIRST)
    await left.run("open('mine.txt', 'w').write('kept')")
    await reads.write()
    await left.leave()
    took = await until_ended(ours, "ipykernel_launcher", KERNEL + LATER)
    well = [
        say("the kernel of a page that was closed ends", took is not None, seconds(took))
    ]
    took = await until_ended(ours, "start_learner", SERVER + 2 * LATER)
    well.append(
        say("then the server of who has left ends", took is not None, seconds(took))
    )
    has_kernel = len(programs(ours, READS, "ipykernel_launcher")) == 1
    well.append(say("who reads on, and runs nothing, keeps the kernel", has_kernel))
    await reads.run(f"assert kept == {READS!r}")
    await asyncio.sleep(NOTICED)
    again = Learner(LEFT, ours.address)
    began = monotonic()
    await again.enter(ours.password, FIRST)
    more = f"after {monotonic() - began:.0f} s"
    well.append(say("who comes back has a server and a kernel", True, more))
    await again.run("assert open('mine.txt').read() == 'kept'")
    failures = [failure for one in (*learners, again) for failure in one.failures]
    well.append(say("and finds what was saved", not failures, "; ".join(failures)))
    for one in (reads, again):
        await one.leave()
    return all(well)


def main() -> int:
    """Look, and print what is seen; return 1 if something is not as it should be."""
    check_environment()
    with hub(more=MORE) as ours:
        is_well = asyncio.run(walk(ours))
    return int(not is_well)


if __name__ == "__main__":
    sys.exit(main())
