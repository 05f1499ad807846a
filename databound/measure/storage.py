"""What storage takes of a loader's time: a second pass over the same samples finds them in memory.

This is the method of DS-Analyzer (Mohan et al., *Analyzing and Mitigating Data Stalls in DNN
Training*, VLDB 2021): what the second pass saves was storage, and the rest is decoding. It tells
something only if the first pass really read from storage, which Linux counts.
"""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lessonkit.words import milliseconds, size

from ..thresholds import FEW_BYTES, MOSTLY, SMALL

COUNTED = Path("/proc/self/io")


class Read(NamedTuple):
    """The bytes that a process and those that it has ended *asked* for, and *fetched* from storage."""

    asked: int
    fetched: int


def read_so_far() -> Read | None:
    """Return what this process has read since it began; None where the system does not say."""
    with suppress(OSError, ValueError, KeyError):
        lines = COUNTED.read_text().splitlines()
        said = {name: int(value) for name, value in (line.split(":") for line in lines)}
        return Read(said["rchar"], said["read_bytes"])
    return None


class Pass(NamedTuple):
    """A pass over so many *batches*: the *seconds* for each, and what was *read* if that is known."""

    seconds: float
    read: Read | None
    batches: int = 1

    @classmethod
    def since(cls, before: Read | None, seconds: float, batches: int) -> "Pass":
        """Return a pass of *seconds* per batch that ends now, and began when *before* was read."""
        after = read_so_far()
        if before is None or after is None:
            return cls(seconds, None, batches)
        read = Read(after.asked - before.asked, after.fetched - before.fetched)
        return cls(seconds, read, batches)


class Storage(NamedTuple):
    """What two passes over the same samples say of storage."""

    first: Pass
    second: Pass

    @property
    def share(self) -> float | None:
        """The share of the first pass that was storage; None if these passes cannot tell."""
        read = self.first.read
        if read is None or not read.fetched:
            return None
        return max(0.0, 1 - self.second.seconds / self.first.seconds)

    @property
    def sentence(self) -> str:
        """What these passes say, or why they cannot; nothing of a loader that reads no files."""
        read = self.first.read
        if read is None:
            return "This system does not count what is read, so nobody can tell what storage takes."
        if not read.fetched:
            if not self.reads_files(read):
                return ""
            return (
                "Its files were in memory already, so nobody can tell what storage takes when they "
                "are not."
            )
        share = self.share or 0.0
        second = milliseconds(self.second.seconds)
        first = milliseconds(self.first.seconds)
        if share < SMALL:
            words = (
                f"A second pass over the same samples took {second} per batch, and the first "
                f"{first}, which differ by chance: storage takes little"
            )
        else:
            words = (
                f"A second pass over the same samples took {second} per batch instead of {first}: "
                f"{whole_percent(share)} of the first was storage"
            )
        return f"{words} ({self.told(read)})."

    def told(self, read: Read) -> str:
        """Say how much the passes read from storage, and what that leaves open."""
        words = f"{size(read.fetched)} read"
        if read.fetched < MOSTLY * read.asked:
            words += f", and the rest of {size(read.asked)} was in memory already"
        again = self.second.read
        if again and again.fetched > MOSTLY * read.fetched:
            words += "; the second pass read from storage as well, so it is more"
        return words

    def reads_files(self, read: Read) -> bool:
        """Whether so much was *read* for a batch that it may have been samples."""
        return read.asked > FEW_BYTES * self.first.batches

    def numbers(self) -> dict[str, object]:
        """Return the passes for programs."""
        return {
            "share": self.share,
            "first": self.first.seconds,
            "second": self.second.seconds,
            "read": self.first.read._asdict() if self.first.read else None,
            "read_again": self.second.read._asdict() if self.second.read else None,
        }


def whole_percent(share: float) -> str:
    """Write a share of which nobody knows a tenth of a percent.

    >>> whole_percent(0.416)
    '42 %'
    """
    return f"{round(100 * share)} %"
