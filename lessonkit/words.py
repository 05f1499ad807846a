"""Numbers as people read them."""


def milliseconds(seconds: float) -> str:
    """A time, in seconds only if it is long.

    >>> milliseconds(0.0175), milliseconds(0.21), milliseconds(13.35), milliseconds(0.04444444)
    ('17.5 ms', '210 ms', '13.35 s', '44.4 ms')
    """
    if seconds >= 10:
        return f"{seconds:.2f} s"
    return f"{number(seconds * 1e3)} ms"


def percent(share: float) -> str:
    """A share of a whole.

    >>> percent(0.28571), percent(1.0), percent(0.5)
    ('28.6 %', '100 %', '50 %')
    """
    return f"{number(share * 100)} %"


def size(nbytes: float) -> str:
    """How much memory.

    >>> size(800), size(400_000), size(3_200_000)
    ('800 B', '400 kB', '3.2 MB')
    """
    for unit in ("B", "kB", "MB"):
        if nbytes < 1000:
            return f"{number(nbytes)} {unit}"
        nbytes /= 1000
    return f"{number(nbytes)} GB"


def samples(count: int) -> str:
    """How many samples.

    >>> samples(1), samples(20)
    ('1 sample', '20 samples')
    """
    return f"{count} sample{'' if count == 1 else 's'}"


def number(value: float) -> str:
    """At most one digit behind the point, and none that says nothing.

    >>> number(26.5), number(210), number(0.125), number(1234.5)
    ('26.5', '210', '0.12', '1234')
    """
    digits = 1 if abs(value) < 1000 else 0
    if 0 < abs(value) < 1:
        digits = 2
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
