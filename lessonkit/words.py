"""Numbers as people read them."""


def milliseconds(seconds: float, digits: int | None = None) -> str:
    """Write a time: in seconds if it is long and no *digits* are given, else in milliseconds.

    >>> milliseconds(0.0175), milliseconds(0.21), milliseconds(13.35), milliseconds(0.04444444)
    ('17.5 ms', '210 ms', '13.35 s', '44.4 ms')
    """
    if seconds >= 10 and digits is None:
        return f"{seconds:.2f} s"
    return f"{number(seconds * 1e3, digits)} ms"


def percent(share: float, digits: int | None = None) -> str:
    """Write a share of a whole.

    >>> percent(0.28571), percent(1.0), percent(0.5)
    ('28.6 %', '100 %', '50 %')
    """
    return f"{number(share * 100, digits)} %"


def size(nbytes: float, digits: int | None = None) -> str:
    """Write an amount of memory.

    >>> size(800), size(400_000), size(3_200_000)
    ('800 B', '400 kB', '3.2 MB')
    """
    for unit in ("B", "kB", "MB"):
        if nbytes < 1000:
            return f"{number(nbytes, digits)} {unit}"
        nbytes /= 1000
    return f"{number(nbytes, digits)} GB"


def samples(count: int) -> str:
    """Write a number of samples.

    >>> samples(1), samples(20)
    ('1 sample', '20 samples')
    """
    return f"{count} sample{'' if count == 1 else 's'}"


def number(value: float, digits: int | None = None) -> str:
    """Write at most one digit after the point, or as many as *digits*, and none that says nothing.

    With *digits* a half is rounded up, so that two numbers and their difference agree.

    >>> number(26.5), number(210), number(0.125), number(1234.5)
    ('26.5', '210', '0.12', '1234')
    >>> number(10.96, 2), number(10.2, 2), number(10.96 - 10.2, 2)
    ('10.96', '10.2', '0.76')
    """
    if digits is not None:
        value *= 1 + 1e-9
    elif abs(value) >= 1000:
        digits = 0
    else:
        digits = 2 if 0 < abs(value) < 1 else 1
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
