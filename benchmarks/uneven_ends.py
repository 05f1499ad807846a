"""What real ranks do that have 3 and 4 batches per epoch: DistributedDataParallel on gloo.

Needs PyTorch. The output is a line of JSON per case and rank: the gradients, of which each
is the number of the epoch, averaged over the ranks; the error that ended the rank, or "";
and how many seconds its last call took.

python -m benchmarks.uneven_ends SECONDS

The ranks wait for each other for at most SECONDS.
"""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import json
import os
import sys
import tempfile
import time
from datetime import timedelta
from multiprocessing import get_context
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

BATCHES = (3, 4)
CASES = {  # the epochs; whether a barrier follows each; whether rank 0 leaves at its end
    "one epoch": (1, False, False),
    "three epochs": (3, False, False),
    "rank 0 leaves": (3, False, True),
    "barriers": (3, True, False),
}


def train(case: str, rank: int, timeout: float, store: str, lines: Any) -> None:
    """Train as *rank* of a *case*, and put what it saw into *lines*."""
    epochs, has_barriers, leaves = CASES[case]
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    gradients, error, began = list[float](), "", time.monotonic()
    try:
        dist.init_process_group(
            "gloo", init_method=f"file://{store}", rank=rank, world_size=len(BATCHES)
        )
        dist.barrier()  # both have started, however busy the machine is
        group = dist.new_group(timeout=timedelta(seconds=timeout))
        layer = torch.nn.Linear(1, 1, bias=False)
        model: Any = DistributedDataParallel(layer, process_group=group)
        for epoch in range(epochs):
            for _ in range(BATCHES[rank]):
                began = time.monotonic()
                model.zero_grad()
                model(torch.tensor([[float(epoch)]])).sum().backward()
                gradients.append(float(model.module.weight.grad))
            if has_barriers:
                began = time.monotonic()
                dist.barrier(group)
    except RuntimeError as raised:
        error = str(raised)
    lines.put([case, rank, gradients, error, time.monotonic() - began])
    if not leaves:
        time.sleep(100 * timeout)  # until it is killed


def main(timeout: float) -> None:
    """Run all cases."""
    torch.set_num_threads(1)
    context = get_context("fork")
    for case in CASES:
        lines: Any = context.SimpleQueue()
        with tempfile.TemporaryDirectory() as folder:
            processes = [
                context.Process(
                    target=train, args=(case, rank, timeout, f"{folder}/store", lines)
                )
                for rank in range(len(BATCHES))
            ]
            for process in processes:
                process.start()
            for _ in processes:
                print(json.dumps(lines.get()), flush=True)
            for process in processes:
                process.kill()
                process.join()


if __name__ == "__main__":
    main(float(sys.argv[1]))
