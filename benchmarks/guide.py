"""The 24 pipelines of tf.data's performance guide, built as the tests build them."""

import sys
from dataclasses import dataclass
from pathlib import Path

from lessonkit import Dataset, Machine, Trace, benchmark

TESTS = Path(__file__).parent.parent / "tests"


@dataclass
class Guided:
    """A pipeline of the guide, and how it is trained on."""

    name: str
    dataset: Dataset
    num_epochs: int
    train: float  # s
    machine: Machine

    def run(self, clock: str = "virtual") -> Trace:
        """One recorded run."""
        return benchmark(
            self.dataset, self.num_epochs, self.train, clock=clock, machine=self.machine
        )


def pipelines() -> list[Guided]:
    """All of them, in the order of the file."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    import tfdata

    return [
        Guided(
            case["pipeline"]["name"],
            tfdata.build(case["pipeline"]),
            len(case["epochs"]),
            case["pipeline"]["train"],
            Machine(tfdata.CORES),
        )
        for case in tfdata.cases("tfdata_guide_timings")
    ]
