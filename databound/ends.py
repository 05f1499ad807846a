"""What a step raises that has come to its end."""


class StepsEndedError(Exception):
    """The loop that makes the steps has ended and begins anew: this run of steps is over.

    The batch that the step was called with is not one of the run.
    """
