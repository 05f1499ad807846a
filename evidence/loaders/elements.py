"""Which samples in which batch, by whom, in which order and with which errors: measured on real PyTorch."""

from collections.abc import Iterable, Iterator

from evidence.loaders.run import Epoch, Refused, described, run, warm_up
from evidence.record import Case, Conditions, Json


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each loader and note what its loop sees."""
    warm_up()
    for case in cases:
        result = run(case["spec"])
        if isinstance(result, Refused):
            yield case | {"measured": {"build_error": described(result.error)}}
        else:
            epochs = [seen(epoch, case) for epoch in result.epochs]
            yield case | {"measured": {"len": result.length, "epochs": epochs}}


def seen(epoch: Epoch, case: Case) -> Json:
    """Return an epoch as the file has it; what `next` did in turn only where that says more."""
    found: dict[str, Json] = {
        "batches": epoch.batches,
        "worker": epoch.worker,
        "outcome": epoch.outcome,
    }
    if epoch.error:
        found["error"] = epoch.error
    if "error" in str(epoch.sequence) or case["spec"].get("extra_next"):
        found["sequence"] = epoch.sequence
    return found
