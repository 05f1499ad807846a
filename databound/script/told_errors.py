"""Prints errors of somebody else's script as Python does, without the lines of ours between theirs."""

import re
import traceback
from pathlib import Path

from ..code import is_own

OURS = str(Path(__file__).parents[1])
# A frame of ours in the text of an error that a worker has sent: its file, the line, marks under it
SENT_FRAME = re.compile(
    rf'^ *File "{re.escape(OURS)}[^"]*", line \d+, in .*\n(?: {{4,}}(?!File ").*\n)*',
    re.MULTILINE,
)


class NotMeasuredError(Exception):
    """There is nothing to measure; the message says why, in a sentence."""


def users_traceback(error: BaseException) -> str:
    """Return the traceback of an *error* as Python prints it, without frames of this package.

    Of an error that was raised where none of the user's own lines is above there is none.
    """
    told = traceback.TracebackException.from_exception(error)
    pending = [told]
    is_users = isinstance(error, SyntaxError)
    while pending:
        one = pending.pop()
        kept = [
            frame for frame in one.stack if not frame.filename.startswith((OURS, "<frozen"))
        ]
        one.stack = traceback.StackSummary.from_list(kept)
        is_users = is_users or any(is_own(frame.filename) for frame in kept)
        pending += [
            other for other in (one.__cause__, one.__context__) if other is not None
        ]
    return SENT_FRAME.sub("", "".join(told.format())) if is_users else ""
