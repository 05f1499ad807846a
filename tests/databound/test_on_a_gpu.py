"""What is put back, and what is tried, of a job whose step runs on a GPU. Left out where there is none."""

from typing import Any

import pytest

from databound import recommend
from databound.measure.state import kept

torch = pytest.importorskip("torch")
if not (hasattr(torch, "nn") and torch.cuda.is_available()):
    pytest.skip("there is no GPU", allow_module_level=True)


class Samples(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
    def __len__(self) -> int:
        return 2000

    def __getitem__(self, number: int) -> Any:
        return torch.rand(3, 64, 64)


class Job:
    """A model on the GPU, its optimiser, and a step."""

    def __init__(self) -> None:
        layers = torch.nn.Flatten(), torch.nn.Linear(3 * 64 * 64, 1000)
        self.model = torch.nn.Sequential(*layers).cuda()
        self.optimiser = torch.optim.AdamW(self.model.parameters())

    def step(self, batch: Any) -> None:
        self.optimiser.zero_grad()
        self.model(batch.to("cuda", non_blocking=True)).square().mean().backward()
        self.optimiser.step()

    def told(self) -> str:
        sums = [one.double().sum().item() for one in self.model.parameters()]
        return repr([sums, self.optimiser.state_dict()["state"]])


def test_weights_on_a_gpu_are_as_before_and_their_copies_take_no_room_there() -> None:
    job = Job()
    job.step(torch.rand(8, 3, 64, 64))
    job.optimiser.zero_grad()
    before = job.told()
    had = torch.cuda.memory_allocated()
    with kept(job.step) as training:
        assert torch.cuda.memory_allocated() == had
        for _ in range(5):
            job.step(torch.rand(8, 3, 64, 64))
        assert job.told() != before
    assert job.told() == before
    assert training.names == ["self.model", "self.optimiser"]
    assert all(one.is_cuda for one in job.model.parameters())


def test_pinned_memory_is_tried_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    job = Job()
    before = job.told()
    loader = torch.utils.data.DataLoader(Samples(), batch_size=64, num_workers=2)
    page = recommend(loader, job.step)
    capsys.readouterr()
    assert job.told() == before
    if page.verdict not in ("step-bound", "cannot tell"):
        assert "pin_memory=True" in [knob.line for knob in page.knobs]
