"""Numbers as people read them: one format for times, shares and sizes, in Python and on a page.

A number has two digits after the point if it is below 10, one if it is below 1,000, and none if
it is larger; zeros at the end are left out, a half goes to the even digit as in Python's own
formats, and commas set the thousands apart. But a number below 1,000 that has no more than two
digits keeps both, unless it is an amount of memory: a question of 34.25 ms and an answer of 34.2 ms
would not agree. A time of 10 s or more is in seconds with two digits, a shorter one in milliseconds.
Only in the columns of a table have all numbers three digits, so that the points are in line.
`widgets/page/base/numbers.js` follows the same rules, and a table that both are tested with holds
the two together.
"""

import re
from collections.abc import Mapping

EXACT = 1e-9  # what floating point may add to a number of two digits, or take from it


def milliseconds(
    seconds: float, digits: int | None = None, long: bool | None = None
) -> str:
    """Write a time: in seconds if it is *long*, else in milliseconds.

    If that is not said, 10 s are long, unless *digits* are given.

    >>> milliseconds(0.0175), milliseconds(1.135), milliseconds(13.35), milliseconds(0.00218)
    ('17.5 ms', '1,135 ms', '13.35 s', '2.18 ms')
    """
    if long is None:
        long = seconds >= 10 and digits is None
    if long:
        return f"{number(seconds, 2)} s"
    return f"{number(seconds * 1e3, digits)} ms"


def percent(share: float) -> str:
    """Write a share of a whole.

    >>> percent(0.28571), percent(1.0), percent(0.5)
    ('28.6 %', '100 %', '50 %')
    """
    return f"{number(share * 100)} %"


def size(nbytes: float) -> str:
    """Write an amount of memory.

    >>> size(800), size(400_000), size(3_200_000)
    ('800 B', '400 kB', '3.2 MB')
    """
    for unit in ("B", "kB", "MB"):
        if nbytes < 1000:
            return f"{rough(nbytes)} {unit}"
        nbytes /= 1000
    return f"{rough(nbytes)} GB"


def counted(count: float, things: str) -> str:
    """Write how many *things* there are, in the singular if there is one.

    >>> counted(1, "samples"), counted(1, "processes"), counted(0, "batches"), counted(1000, "runs")
    ('1 sample', '1 process', '0 batches', '1,000 runs')
    """
    text = f"{round(float(count), 6):,}".removesuffix(".0")
    one = re.sub(r"(?<=ss)es$|(?<=tch)es$|(?<=\w{3})s$", "", things)  # "ms" stays
    return f"{text} {one if count == 1 else things}"


DIGITS_TYPED = 9  # after the point; those behind are errors of floats


def as_typed(value: float) -> str:
    """Write a number digit by digit, as somebody typed it: rounded it would be another one.

    >>> as_typed(34.25), as_typed(1200.0), as_typed(0.1 + 0.2)
    ('34.25', '1,200', '0.3')
    """
    return f"{value:,.{DIGITS_TYPED}f}".rstrip("0").rstrip(".")


# A page that has no words of its own says all as we do
OUR_WORDS: Mapping[str, str] = {}


def worded(text: str, words: Mapping[str, str]) -> str:
    """Write *text* in the *words* of a page, each of which stands for one of ours.

    A plural stays one, and a capital, too; `widgets/page/pictures/words.js` does the same.

    >>> worded("Samples for the accelerator", {"sample": "batch", "accelerator": "GPU"})
    'Batches for the GPU'
    """
    if not words:
        return text

    def in_its_place(found: re.Match[str]) -> str:
        one, name, plural = found.group(0, 1, 2)
        word = words[name.lower()]
        if plural:
            word += "es" if re.search("(s|x|ch|sh)$", word) else "s"
        return word[:1].upper() + word[1:] if one[0].isupper() else word

    names = "|".join(map(re.escape, words))
    return re.sub(rf"\b({names})(e?s)?\b", in_its_place, text, flags=re.IGNORECASE)


def number(value: float, digits: int | None = None) -> str:
    """Write a number by the rules above, or with at most as many *digits* after the point.

    With *digits* a half is rounded up, so that two numbers and their difference agree.

    >>> number(2.18), number(26.54321), number(210), number(0.125), number(1234.5), number(34.25)
    ('2.18', '26.5', '210', '0.12', '1,234', '34.25')
    >>> number(10.96, 2), number(10.2, 2), number(10.96 - 10.2, 2)
    ('10.96', '10.2', '0.76')
    """
    if digits is None:
        is_exact = abs(value) < 1000 and abs(value - round(value, 2)) < EXACT
        return written(value, 2) if is_exact else rough(value)
    return written(value * (1 + 1e-9), digits)


def rough(value: float) -> str:
    """Write a number with three digits or so, as it does for an amount of memory."""
    return written(value, 2 if abs(value) < 10 else 1 if abs(value) < 1000 else 0)


def written(value: float, digits: int) -> str:
    """Write a number with at most so many *digits* after the point."""
    shown = round(round(value, 12), digits) + 0.0  # which makes a negative zero positive
    text = f"{shown:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
