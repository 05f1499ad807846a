"""What a training loop asks of PyTorch beside its loader: gradients that are on or off, and `backward`."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any


def add_training(torch: Any) -> None:
    """Give the stand-in *torch* gradients and autograd; PyTorch itself has them."""
    if hasattr(torch, "autograd"):
        return
    gradients = {"on": True}

    @contextmanager
    def no_grad() -> Iterator[None]:
        before = gradients["on"]
        gradients["on"] = False
        try:
            yield
        finally:
            gradients["on"] = before

    torch.is_grad_enabled = lambda: gradients["on"]
    torch.is_inference_mode_enabled = lambda: False
    torch.no_grad = no_grad
    torch.autograd = SimpleNamespace(backward=lambda tensors, *more: None)


def train_on(torch: Any) -> None:
    """Compute gradients, as a step does."""
    if hasattr(torch, "tensor"):
        torch.tensor(1.0, requires_grad=True).square().backward()
    else:
        torch.autograd.backward(None)
