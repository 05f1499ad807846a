"""Where a job was measured: on which machine, with which versions, by which command, and when."""

import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import gmtime, strftime
from typing import Any

from lessonkit.words import counted

from .machine import allowed_cores

PROCESSORS = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class InScript:
    """Where a job stands in a script that was run as it is.

    The *loader* was *made_at* a line and feeds the loop *loop_at* another, each told as
    `train.py:23`; *file* is the whole path of the first, and *line* its number, if it is known. If a
    trainer makes it, its *arguments* are those of a call of that name, *arguments_at* its line.
    The script and its own arguments are *target*, as a shell takes them. A step also takes batches of
    the loaders that were made at the lines *beside*.
    """

    target: str
    loader: str
    made_at: str = ""
    loop_at: str = ""
    file: str = ""
    line: int = 0
    arguments: str = ""
    arguments_at: str = ""
    beside: Sequence[str] = ()

    def __str__(self) -> str:
        loop = f"the loop at {self.loop_at or 'a line of a library'}"
        if self.arguments:
            where = f"{self.arguments_at}  {self.arguments}".strip()
            return f"{where} makes {self.loader}, which feeds {loop}"
        return f"{self.made_at or 'A library'}  {self.loader}  feeds {loop}"

    def waits_beside(self) -> Iterator[str]:
        """Yield a sentence for each loader whose batches are waited for in the step."""
        for line in self.beside:
            yield (
                f"The step also takes batches of the loader made at {line}, and what it waits for them "
                f"is in its time: --loader {line} measures that loader."
            )

    @property
    def change_at(self) -> str:
        """Where a change of a setting is written."""
        return self.arguments_at if self.arguments else self.made_at


@dataclass(frozen=True)
class Origin:
    """Where a job was measured, with which versions, by which *command*, and when (*date*, in UTC)."""

    command: str
    date: str
    machine: str
    python: str
    pytorch: str
    databound: str
    script: InScript | None = None

    def __str__(self) -> str:
        versions = f"Python {self.python}"
        if self.pytorch:
            versions += f", PyTorch {self.pytorch}"
        return (
            f"Measured on {self.date} by `{self.command}`: {self.machine}; {versions}, "
            f"databound {self.databound}."
        )


def origin_now(command: str, script: InScript | None = None) -> Origin:
    """Return the origin of a job that is measured now, in this process, by a *command*."""
    torch: Any = sys.modules.get("torch")
    return Origin(
        command=command,
        date=strftime("%Y-%m-%d %H:%M UTC", gmtime()),
        machine=machine_now(torch),
        python=platform.python_version(),
        pytorch=str(getattr(torch, "__version__", "")),
        databound=version_of_this(),
        script=script,
    )


def origin_of(told: dict[str, Any]) -> Origin:
    """Return the origin that a file tells."""
    script = told.get("script")
    return Origin(**told | {"script": InScript(**script) if script else None})


def machine_now(torch: Any) -> str:
    """Say what this machine is: its system, its processor, the cores for this job, and its GPU."""
    parts = [platform.platform()]
    if name := processor():
        parts.append(name)
    parts.append(counted(allowed_cores(), "cores"))
    if torch is not None and torch.cuda.is_initialized():
        with suppress(AttributeError, RuntimeError, AssertionError):
            parts.append(torch.cuda.get_device_name())
    return ", ".join(parts)


def processor() -> str:
    """Return the name of the processor, where the system tells it."""
    with suppress(OSError):
        for line in PROCESSORS.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor()


def version_of_this() -> str:
    """Return the version of the package that this is in."""
    try:
        return version("lessonkit")
    except PackageNotFoundError:  # a copy that was not installed
        return "not installed"
