"""What this machine gives to a job: cores, memory, and how much of it other programs take."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds, in as many
MEMORY = Path("/proc/meminfo")
MEMORY_QUOTA = Path("/sys/fs/cgroup/memory.max")  # of a container, in bytes
MEMORY_USED = Path("/sys/fs/cgroup/memory.current")
STATISTICS = Path("/proc/stat")
# The columns of /proc/stat in which a core is busy, also for another machine on the same host: user, nice,
# system, irq, softirq, steal
BUSY = (1, 2, 3, 6, 7, 8)


def allowed_cores() -> int:
    """Return how many cores one process of this job may use, by its binding and its quota.

    Where several processes of one job run here, as `LOCAL_WORLD_SIZE` says, they share the cores.
    """
    bound = os.cpu_count() or 1
    with suppress(AttributeError):  # not on every system
        bound = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):
        most, period = QUOTA.read_text().split()
        bound = min(bound, max(1, int(most) // int(period)))
    said = os.environ.get("LOCAL_WORLD_SIZE", "")
    beside = int(said) if said.isdigit() else 1
    return max(1, bound // max(1, beside))


def private_memory(pid: int) -> int | None:
    """Return the bytes that a process shares with no other; None where the system does not say."""
    found = 0
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Private_"):
                found += 1024 * int(line.split()[1])
    return found or None


def free_memory() -> int | None:
    """Return the bytes of memory that a program can still have; None where the system does not say."""
    with suppress(OSError, ValueError, KeyError):
        lines = MEMORY.read_text().splitlines()
        said = dict(line.split(":", 1) for line in lines)
        free = 1024 * int(said["MemAvailable"].split()[0])
        with suppress(OSError, ValueError):  # a container may have less
            free = min(free, int(MEMORY_QUOTA.read_text()) - int(MEMORY_USED.read_text()))
        return free
    return None


def busy_seconds() -> float | None:
    """Return for how many seconds the cores of this machine have been busy; None if nobody says."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        columns = STATISTICS.read_text().split("\n", 1)[0].split()
        return sum(int(columns[column]) for column in BUSY) / os.sysconf("SC_CLK_TCK")
    return None


def own_seconds() -> float:
    """Return for how many seconds this process and those that it has ended were on a core."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


@dataclass
class Others:
    """What other programs take of the cores, from the time at which this was made."""

    began: float = field(default_factory=perf_counter)
    busy: float | None = field(default_factory=busy_seconds)
    own: float = field(default_factory=own_seconds)

    def cores(self) -> float:
        """Return how many cores other programs had since then; 0 where the system does not say.

        It is what all programs had, less what this process and its workers had. Workers that
        have not ended yet count as others, so ask when all have.
        """
        busy = busy_seconds()
        elapsed = perf_counter() - self.began
        if busy is None or self.busy is None or elapsed <= 0:
            return 0.0
        ours = own_seconds() - self.own
        return max(0.0, (busy - self.busy - ours) / elapsed)
