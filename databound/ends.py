"""How a step ends that will not be called again."""


class StepsEndedError(Exception):
    """The loop that makes the steps has ended and begins anew: this run of steps is over.

    The batch that the step was called with is not one of the run.
    """


class StepFailedError(RuntimeError):
    """The step raised, with a batch as the loader of the job gives it: there is nothing to measure."""
