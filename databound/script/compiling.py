"""Hears when `torch.compile` is at work in a script: for a minute or more nothing else is seen to happen."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import ModuleType

from .when_imported import when_imported

# The module of PyTorch that tells; it is imported with the compiler, or not at all
TELLS = "torch._dynamo.callback"


@contextmanager
def compiling_noted(note: Callable[[], object]) -> Iterator[None]:
    """Call *note* in the block each time that `torch.compile` begins to compile something."""

    def begins(*_: object) -> None:
        note()

    with ExitStack() as then:

        def meet(module: ModuleType) -> None:
            handler = module.callback_handler
            handler.register_start_callback(begins)
            then.callback(forget, handler, begins)

        then.enter_context(when_imported(TELLS, meet))
        yield


def forget(handler: object, callback: Callable[..., None]) -> None:
    """Take a *callback* from the compiler's *handler*, which a script may have emptied itself."""
    with suppress(ValueError):
        handler.remove_start_callback(callback)  # type: ignore[attr-defined]
