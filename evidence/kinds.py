"""The kinds of evidence: for each file in `data/`, the program that measures it, and how to compare two."""

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import cast

from evidence.record import DATA, Case, Conditions

# Answers the questions of cases. It gets what was asked and what was answered before, and gives
# each case with a new answer in the place of the old one.
Program = Callable[[Iterable[Case], Conditions], Iterator[Case]]
Draw = Callable[[Random, int], Case]  # a new question, by its number


@dataclass(frozen=True)
class Library:
    """A library that is measured."""

    module: str
    requirement: str  # for pip

    @property
    def is_here(self) -> bool:
        """Whether it is installed."""
        return importlib.util.find_spec(self.module) is not None


TENSORFLOW = Library("tensorflow", "tensorflow-cpu==2.21.0")
TORCH = Library("torch", "torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu")
TORCHDATA = Library("torchdata", "torchdata==0.11.0")
GRAIN = Library("grain", "grain==0.2.18")
CUDA = Library("torch", "torch")  # PyPI's has CUDA
TORCHVISION = Library("torchvision", "torchvision")
PILLOW = Library("PIL", "pillow")
DATASETS = Library("datasets", "datasets==5.2.0")


@dataclass(frozen=True)
class Kind:
    """A file of measured truth, the program that makes it, and what its parts mean."""

    name: str  # of the command; the file has it with underscores
    program: str  # module:function
    libraries: tuple[Library, ...]
    answers: frozenset[
        str
    ]  # the keys of a case that are measured; all others are the question
    times: frozenset[str] = (
        frozenset()
    )  # keys whose numbers are times: compared by their ratio
    chance: frozenset[str] = frozenset()  # keys that differ from run to run: not compared
    draw: str = ""  # module:function that draws a new question, if questions can be drawn

    @property
    def path(self) -> Path:
        """The file."""
        return DATA / f"{self.name.replace('-', '_')}.json"

    def measure(self) -> Program:
        """Return the program. Raise ImportError if a library is missing, and say how to install it."""
        for library in self.libraries:
            if not library.is_here:
                raise ImportError(
                    f"{self.name} needs {library.module}: pip install {library.requirement}"
                )
        return cast(Program, found(self.program))

    def drawing(self) -> Draw:
        """Return the function that draws questions. Raise ValueError if this kind has none."""
        if not self.draw:
            raise ValueError(
                f"{self.name}: its questions cannot be drawn; write them into its file"
            )
        return cast(Draw, found(self.draw))


def found(address: str) -> object:
    """Import what is named module:function."""
    module, function = address.split(":")
    return getattr(importlib.import_module(module), function)


def names(*words: str) -> frozenset[str]:
    """Return a set of keys."""
    return frozenset(words)


WORDS = names("message")  # of an error: they have numbers of nodes in them
ARRIVALS = names("arrival_ms", "epoch_ms")


def elements(name: str) -> Kind:
    """What a loop over tf.data sees."""
    program = "evidence.tfdata.elements:measure"
    return Kind(name, program, (TENSORFLOW,), names("measured"), chance=WORDS)


def timings(name: str, draw: str = "") -> Kind:
    """When a loop over tf.data sees it."""
    program = "evidence.tfdata.timings:measure"
    return Kind(name, program, (TENSORFLOW,), names("epochs"), ARRIVALS, draw=draw)


def loaders(name: str, draw: str = "") -> Kind:
    """When a loop over PyTorch's loader gets its batches."""
    return Kind(
        name,
        "evidence.loaders.timings:measure",
        (TORCH,),
        answers=names("order_stable", "others_cpu", "again", "epochs"),
        times=names("arrival_ms", "epoch_ms", "this_run_ms", "iter_ms", "ready_ms"),
        chance=names("order_stable", "others_cpu", "again", "epoch_ms_runs"),
        draw=draw,
    )


def jobs(name: str, *libraries: Library) -> Kind:
    """What epochs of training jobs take."""
    program = "evidence.jobs.measure:measure"
    return Kind(name, program, libraries, names("runs"), names("runs"))


STOPPED = names(
    "whole", "calls of the whole", "second epoch", "stops", "before", "rest", "refused"
)
# Of a resumed run: what depends on how far threads and workers have come
AHEAD = names("calls of the whole", "calls after", "state_bytes", "state_data_bytes")
KINDS = {
    kind.name: kind
    for kind in (
        elements("tfdata-elements"),
        elements("tfdata-random-elements"),
        elements("tfdata-batch-elements"),
        elements("tfdata-operator-elements"),
        Kind(
            "tfdata-rewrite-elements",
            "evidence.tfdata.elements:measure_rewrites",
            (TENSORFLOW,),
            answers=names("operators", "measured", "rewritten"),
            chance=WORDS,
        ),
        timings("tfdata-timings", draw="evidence.tfdata.draw:pipeline"),
        timings("tfdata-batch-timings"),
        timings("tfdata-guide-timings"),
        timings("tfdata-operator-timings"),
        Kind(
            "tfdata-rewrite-timings",
            "evidence.tfdata.timings:measure_rewrites",
            (TENSORFLOW,),
            answers=names("as_written", "epochs"),
            times=ARRIVALS,
            draw="evidence.tfdata.draw:rewritable",
        ),
        Kind(
            "tfdata-guide-elements",
            "evidence.tfdata.guide:measure",
            (TENSORFLOW,),
            answers=names("epochs"),
        ),
        Kind(
            "tfdata-signatures",
            "evidence.tfdata.signatures:measure",
            (TENSORFLOW,),
            answers=names("parameters"),
        ),
        Kind(
            "torch-elements",
            "evidence.loaders.elements:measure",
            (TORCH,),
            answers=names("measured"),
            chance=names("msg"),  # of an error: it has numbers of processes in it
        ),
        loaders("torch-rule-timings"),
        loaders("torch-timings", draw="evidence.loaders.draw:loader"),
        Kind(
            "torch-tutorial",
            "evidence.loaders.tutorial:measure",
            (TORCH,),
            answers=names("seconds", "iter", "end"),
            times=names("seconds", "iter", "end"),
        ),
        Kind(
            "storages",
            "evidence.storages.measure:measure",
            (),
            answers=names("ends"),
            times=names("ends"),
            draw="evidence.storages.draw:readers",
        ),
        Kind(
            "ranks",
            "evidence.ranks.measure:measure",
            (TORCH,),
            answers=names("measured"),
            times=names("measured"),
            draw="evidence.ranks.draw:ranks",
        ),
        Kind(
            "uneven-ends",
            "evidence.ranks.uneven_ends:measure",
            (TORCH,),
            answers=names("saw", "never came back", "seconds"),
            times=names("seconds"),
            chance=names("error"),  # it has addresses in it
        ),
        jobs("jobs", TORCH, PILLOW),
        jobs("gpu-jobs", CUDA, TORCHVISION, PILLOW),
        Kind(
            "shards",
            "evidence.shards:measure",
            (TORCH, DATASETS, GRAIN, TENSORFLOW),
            answers=names("indices", "elements", "batches", "order", "error"),
            chance=names("error"),
        ),
        Kind(
            "resumes-tfdata",
            "evidence.resumes.tfdata:measure",
            (TENSORFLOW,),
            answers=STOPPED,
            chance=AHEAD,
        ),
        Kind(
            "resumes-torch",
            "evidence.resumes.torch:measure",
            (TORCH, TORCHDATA),
            answers=STOPPED,
            chance=AHEAD,
        ),
        Kind(
            "resumes-grain",
            "evidence.resumes.grain:measure",
            (GRAIN,),
            answers=STOPPED,
            chance=AHEAD,
        ),
    )
}
