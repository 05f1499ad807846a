"""What the command tells the program that started it."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of all forms of the command."""

    NOTHING_TO_CHANGE = 0
    CHANGE = 1
    FAILED = 2
    CANNOT_TELL = 3
    STOPPED = 130  # as shells say of Ctrl+C
