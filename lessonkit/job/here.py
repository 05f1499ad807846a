"""What this machine allows: cores that may be used, shared memory, how processes start."""

import multiprocessing
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from lessonkit.words import size

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds, in so many
SHARED_MEMORY = Path("/dev/shm")  # through which workers hand batches over


def allowed_cores() -> int:
    """Count the cores that one process of this job may use: of those it is bound to, within its quota.

    Where several processes of one job run here, as `LOCAL_WORLD_SIZE` says, they share the cores.
    """
    bound = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
    with suppress(OSError, ValueError):
        most, period = QUOTA.read_text().split()
        bound = min(bound, max(1, int(most) // int(period)))
    beside = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, bound // max(1, int(beside) if beside.isdigit() else 1))


def allowances(loader: Any, workers: int, nbytes: int) -> list[str]:
    """Say what bounds the settings of *loader* here, where *workers* hold *nbytes* in batches."""
    beside = os.environ.get("LOCAL_WORLD_SIZE")
    among = f", shared by {beside} processes of this job" if beside else ""
    lines = [f"{allowed_cores()} of {os.cpu_count()} cores may be used{among}."]
    if not workers:
        return lines
    if SHARED_MEMORY.is_dir():
        free = shutil.disk_usage(SHARED_MEMORY).free
        verdict = (
            "enough" if free > 2 * nbytes else "too little: allow more, or hand over less"
        )
        through = f"Batches pass through {size(free)} of shared memory"
        lines.append(f"{through}, and take {size(nbytes)}: {verdict}.")
    context = getattr(loader, "multiprocessing_context", None) or multiprocessing
    threads = "PyTorch has one thread in each; other libraries may start more"
    return [*lines, f"Workers start by {context.get_start_method()}. {threads}."]
