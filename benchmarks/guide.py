"""The 24 pipelines of tf.data's performance guide, built as the tests build them."""

from dataclasses import dataclass

from lessonkit import Dataset, Machine, Trace, benchmark


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
    from evidence import tfdata_cases as tfdata

    return [
        Guided(
            case["pipeline"]["name"],
            tfdata.build(case["pipeline"]),
            len(case["epochs"]),
            case["pipeline"]["train"],
            Machine(tfdata.CORES),
        )
        for case in tfdata.cases("guide_timing_cases.json")
    ]
