"""What the lessons say of PyTorch and of NumPy's files is what these do."""

import pickle
import re
import subprocess
import sys
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy
import pytest
from support.places import ROOT

from evidence import record
from evidence.many_cases import cases

PART = """
import os, sys
import numpy
array = numpy.load(sys.argv[1], mmap_mode="r")
array.sum()  # so that all pages are there
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
array.sum()
mapped = open("/proc/self/smaps").read().split(sys.argv[1])[1].split("VmFlags")[0]
sizes = dict(line.split(":") for line in mapped.splitlines() if ":" in line)
print(*(sizes[name].split()[0] for name in ("Rss", "Private_Clean", "Private_Dirty")))
"""


def stored(folder: Path) -> Path:
    """Store an array of 8 MB."""
    numpy.save(folder / "array.npy", numpy.arange(1_000_000))
    return folder / "array.npy"


def test_a_pickled_memmap_is_a_copy_that_has_no_file(tmp_path: Path) -> None:
    array: Any = numpy.load(stored(tmp_path), mmap_mode="r")
    sent = pickle.dumps(array)
    assert array.filename
    assert len(sent) > array.nbytes
    assert pickle.loads(sent).filename is None


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="no /proc")
def test_forked_processes_share_the_pages_of_a_memmap(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PART, str(stored(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    resident, *private = map(int, done.stdout.split())
    assert resident > 7_000
    assert private == [0, 0]


def test_a_resumed_loader_of_pytorch_repeats_random_numbers_without_a_seed() -> None:
    """Both workers draw the numbers of their first batches again; sample k gives 1000 k + a number."""
    (case,) = (case for case in cases("resumes_torch") if "repeated" in case)
    before, (*rest, end) = case["before"], case["rest"]
    assert end == "END"
    for first, again in zip(before, rest, strict=False):
        assert [number % 1000 for number in again] == [number % 1000 for number in first]
        assert again != first


# ---- with PyTorch itself: make test-torch ----


class Drawn:
    """Samples that are random numbers of PyTorch."""

    def __init__(self) -> None:
        self.draw: Any = pytest.importorskip("torch").rand

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> float:
        return float(self.draw(()))


@pytest.mark.usefixtures("workers_gone")
def test_workers_repeat_their_numbers_only_after_the_same_seed() -> None:
    torch = pytest.importorskip("torch")

    def numbers() -> list[float]:
        loader = torch.utils.data.DataLoader(Drawn(), 4, num_workers=2, collate_fn=list)
        return [number for batch in loader for number in batch]

    assert numbers() != numbers()
    torch.manual_seed(0)
    first = numbers()
    torch.manual_seed(0)
    assert numbers() == first


@pytest.mark.filterwarnings("ignore")  # torchdata looks at what PyTorch has deprecated
@pytest.mark.usefixtures("workers_gone")
def test_a_resumed_stateful_loader_repeats_its_numbers_after_another_seed() -> None:
    torch = pytest.importorskip("torch")
    loaders = pytest.importorskip("torchdata.stateful_dataloader")

    def loader() -> Any:
        return loaders.StatefulDataLoader(Drawn(), 2, num_workers=2, collate_fn=list)

    torch.manual_seed(1)
    stopped = loader()
    batches = iter(stopped)
    before = [next(batches), next(batches)]
    state = stopped.state_dict()
    torch.manual_seed(2)
    resumed = loader()
    resumed.load_state_dict(state)
    assert list(resumed) == before


def test_a_collective_waits_10_minutes_with_nccl_and_30_with_gloo() -> None:
    torch = pytest.importorskip("torch")
    constants = pytest.importorskip("torch.distributed.constants")
    assert constants.default_pg_timeout == timedelta(minutes=30)
    assert constants.default_pg_nccl_timeout in (None, timedelta(minutes=10))
    folder = Path(torch.__file__).parent / "include/torch/csrc/distributed/c10d"
    header = (folder / "ProcessGroupNCCL.hpp").read_text(encoding="utf-8")
    assert re.search(
        r"NCCLDefaultTimeout =\s+std::chrono::milliseconds\(10 \* 60 \* 1000\)", header
    )


def test_flex_attention_keeps_sentences_apart_only_with_a_mask() -> None:
    torch = pytest.importorskip("torch")
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    draw = torch.Generator().manual_seed(0)
    row = [torch.randn(1, 1, 8, 16, generator=draw) for _ in range(3)]
    sentence = torch.tensor([0] * 3 + [1] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of speed
        one, other = (
            flex.flex_attention(*(part[:, :, sentence == number] for part in row))
            for number in (0, 1)
        )
        apart = torch.cat([one, other], dim=2)
        mask = flex.create_block_mask(
            lambda batch, head, asks, answers: sentence[asks] == sentence[answers],
            *(1, 1, 8, 8),
            device="cpu",
        )
        assert torch.allclose(flex.flex_attention(*row, block_mask=mask), apart, atol=1e-5)
        assert not torch.allclose(flex.flex_attention(*row), apart, atol=0.1)


def test_uneven_ranks_of_a_real_job_hang_at_the_end(tmp_path: Path) -> None:
    """As the sentence of `benchmark` says of uneven ends, and section *When ranks end* of lesson 10."""
    pytest.importorskip("torch")
    path = tmp_path / "uneven_ends.json"
    command = [sys.executable, "-m", "evidence", "uneven-ends", "--only", "ddp"]
    subprocess.run(
        [*command, "--out", str(path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=300,
    )
    saw = {case["case"]: case["saw"] for case in record.cases(str(path))}
    mixed = [0, 0, 0, 0.5, 1, 1, 1.5, 1.5, 2]  # the halves are of two epochs
    for case, gradients in {
        "ddp_epochs": mixed,
        "ddp_epochs_leaves": mixed,
        "ddp_barriers": [0, 0, 0],
    }.items():
        shorter, longer = saw[case]
        assert shorter["means"] == longer["means"] == gradients
        assert ("error" in shorter) == (case == "ddp_barriers")
        assert ("Timed out" in longer["error"]) == (case != "ddp_epochs_leaves")
    shorter, longer = saw["ddp_alone"]
    assert shorter["steps"] == longer["steps"] == 3
    assert "Timed out" in longer["error"]
