"""What a learner sees and turns: `explore`, `predict`, `challenge`, and what they are given."""

try:
    from IPython.core.getipython import get_ipython

    from . import goals
    from .challenges import challenge
    from .controls import cards, seconds, slider
    from .explorer import explore, show
    from .questions import predict
    from .sandbox import explain_missing_names
except ModuleNotFoundError as missing:
    raise ImportError(
        f"{missing.name} is not installed, which widgets and plots need: "
        'pip install "lessonkit[lessons]"',
        name=missing.name,
    ) from None

explain_missing_names(get_ipython())

__all__ = ["cards", "challenge", "explore", "goals", "predict"]
__all__ += ["seconds", "show", "slider"]


def __dir__() -> list[str]:
    return __all__
