"""How sure a saving is, in the words of a page."""

CONFIRMED = "confirmed by a real run"
NOT_CONFIRMED = "tried, and not confirmed"
NOT_TRIED = "predicted, not tried"


def of_a_trial(believed: bool) -> str:
    """Say how sure a saving is that real runs showed, if it can be *believed* or not."""
    return CONFIRMED if believed else NOT_CONFIRMED
