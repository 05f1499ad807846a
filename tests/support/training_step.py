"""A step of training, on PyTorch and on its stand-in alike."""

from typing import Any


def train_on(torch: Any) -> None:
    """Compute gradients, as a step does."""
    if hasattr(torch, "tensor"):
        torch.tensor(1.0, requires_grad=True).square().backward()
    else:
        torch.autograd.backward(None)
