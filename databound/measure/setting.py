"""How a loader and its step are set, and in what one setting differs from another."""

from dataclasses import asdict, dataclass, fields, replace

from lessonkit.engine import check

Value = int | bool
Changes = dict[str, Value]
"""Arguments that differ from the loader as it is written, by their names."""

LEAST = {"num_workers": 0, "prefetch_factor": 1, "batch_size": 1, "threads": 1}


@dataclass(frozen=True)
class Setting:
    """The arguments of a loader that can be forecast, and the *threads* of its step.

    Without workers, *prefetch_factor* and *persistent_workers* change nothing. *batch_size* is
    None if the loader does not say how large its batches are, or if none of twice the size
    could be measured: then there is no other.
    """

    num_workers: int = 0
    prefetch_factor: int = 2
    persistent_workers: bool = False
    threads: int = 1
    batch_size: int | None = None

    def changed(self, **changes: Value) -> "Setting":
        """Return this setting with *changes*.

        Raises ValueError for a name that it does not have and a number that is too small, and
        TypeError for what is no number.
        """
        allowed = tuple(name for name, value in asdict(self).items() if value is not None)
        for name, value in changes.items():
            check.one_of("setting", name, allowed)
            if name in LEAST:
                check.integer(name, value, least=LEAST[name])
        return replace(self, **changes)  # type: ignore[arg-type]

    def differences(self, other: "Setting") -> Changes:
        """Return the arguments of this setting that *other* has otherwise."""
        mine = asdict(self)
        theirs = asdict(other)
        return {
            field.name: mine[field.name]
            for field in fields(self)
            if mine[field.name] != theirs[field.name]
        }

    @property
    def workers_at_work(self) -> int:
        """How many processes make batches: the loop itself, or its workers."""
        return max(1, self.num_workers)

    @property
    def ahead(self) -> int:
        """How many batches may be made before the loop asks for them."""
        return self.num_workers * self.prefetch_factor


def as_arguments(changes: Changes) -> str:
    """Write *changes* as arguments of a call."""
    return ", ".join(f"{name}={value}" for name, value in changes.items())
