"""How sure a saving is, in the words of a page."""

CONFIRMED = "confirmed by a real run"
NOT_CONFIRMED = "tried, and not confirmed"
LEFT_OPEN = "tried, and its range leaves open whether it saves"
NOT_TRIED = "predicted, not tried"


def of_a_trial(saves: float, within: float, *, believed: bool) -> str:
    """Say how sure it is that something *saves* that share, *within* so much, by real runs.

    They are not *believed* if they took less than all bounds allow. The range is wider than the saving
    where few batches of an epoch were seen, and these differ.
    """
    if not believed:
        return NOT_CONFIRMED
    return CONFIRMED if saves > within else LEFT_OPEN
