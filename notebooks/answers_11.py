"""The answers to the questions of lesson 11, and the jobs that were measured for it."""

import json
from dataclasses import asdict
from functools import lru_cache
from io import BytesIO
from math import ceil
from pkgutil import get_data
from statistics import fmean as mean
from typing import Any, NamedTuple

from databound import load_job, recommend
from databound.advise.three_runs import ThreeRuns
from lessonkit import Trace, benchmark
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds

__all__ = [
    "Profile",
    "best_loader",
    "both_of",
    "epoch",
    "gpu_errors",
    "gpu_rows",
    "gpu_table",
    "mean",
    "measured",
    "number_of_workers",
    "off_by",
    "on_gpu",
    "probed",
    "seconds_to_reach",
    "step_of",
    "stored",
    "together",
    "took",
    "tried",
    "tried_rows",
    "workers",
]


@lru_cache
def stored(name: str) -> Any:
    """Return a job by its *name*, as it was measured."""
    # On the site it is in an archive
    return load_job(BytesIO(get_data(__name__, f"{name}_11.json") or b""))


def probed(job: Any, **changes: Any) -> ThreeRuns:
    """Return what `probe` says of a stored *job*: its loader alone, its step alone, both."""
    threads = job.setting(**changes).threads
    loader, options = job.model(**changes)
    alone = benchmark(
        loader, num_epochs=1, **(options | {"step": None, "train": 0})
    ).epochs[0]
    both = job.run(1, **changes).epochs[0]
    step = job.numbers.threads[threads].seconds
    return ThreeRuns(
        alone.duration / alone.count,
        step,
        both.duration / both.count,
        job.batch_size,
        can_recommend=True,
    )


class Tried(NamedTuple):
    """A setting, and the seconds of an epoch with it: as *told* by a forecast, and as it *took*."""

    setting: str
    told: float
    took: float

    @property
    def off(self) -> float:
        """The share by which the forecast differs from what was measured."""
        return abs(self.told / self.took - 1)


class Errors(NamedTuple):
    """By which shares of the mean of two runs a forecast was off, and one of the two runs."""

    told: list[float]
    single: list[float]


def tried_rows(name: str) -> list[Tried]:
    """Return the predicted and the measured second epoch, as the job is and with each change.

    The runs are real: `python -m evidence.jobs.forecasts --store` wrote down the two epochs of each.
    """
    job, rows = stored(name), []
    runs = json.loads(get_data(__name__, f"tried_{name}_11.json") or b"")
    for settings in [{}, *(change.settings for change in recommend(job).changes)]:
        wanted = asdict(job.setting(**settings))
        taken = [epochs[1] for said, epochs in runs if said.items() <= wanted.items()]
        words = (
            ", ".join(f"{name}={value}" for name, value in settings.items()) or "as it is"
        )
        rows += [Tried(words, job.forecast(**settings)[1], each) for each in taken]
    return rows


def took(name: str, **settings: Any) -> float:
    """Return the seconds of a later epoch of a job with *settings*, as they were really measured."""
    job = stored(name)
    wanted = asdict(job.setting(**settings))
    runs = json.loads(get_data(__name__, f"tried_{name}_11.json") or b"")
    return mean(epochs[1] for said, epochs in runs if said.items() <= wanted.items())


def tried(name: str) -> str:
    """Return a table of the predicted and the measured second epochs."""
    lines = [f"{'seconds of the second epoch':70}predicted  measured"]
    lines += [
        f"{row.setting:70}{row.told:9.3f}{row.took:10.3f}" for row in tried_rows(name)
    ]
    return "\n".join(lines)


def seconds_to_reach(job: Any) -> float:
    """Return what two epochs of a job may take in the challenge: a little more than at best."""
    loader, options = job(num_workers=4, prefetch_factor=2, persistent_workers=True)
    takes: float = benchmark(loader, **options).duration
    return ceil(20 * 1.01 * takes) / 20


def step_ms(threads: int) -> float:
    """Return what a step of the job with images takes, with as many threads."""
    return 1e3 * float(stored("images").numbers.threads[threads].seconds)


def on_gpu(name: str) -> Any:
    """Return what was measured of a job by its *name* on one NVIDIA H200 with 16 cores.

    The result has the `job` that `measure` gave, the `real` epochs of ten settings, each run
    twice, and the first change that `recommend` gave, which was really run too.
    """
    stored = json.loads(get_data(__name__, "gpu_11.json") or b"")[name]
    return stored | {"job": load_job(BytesIO(json.dumps(stored["job"]).encode()))}


def gpu_rows(name: str) -> list[Tried]:
    """Return each setting of a job on the GPU, and its first epoch as predicted and measured."""
    found, rows = on_gpu(name), []
    usual = found["real"][0][0]
    for setting, runs in found["real"]:
        changed = {key: value for key, value in setting.items() if value != usual[key]}
        words = ", ".join(f"{key}={value}" for key, value in changed.items())
        told = found["job"].forecast(**setting)[0]
        took = mean(first for first, _ in runs)
        rows.append(Tried(words or "num_workers=0", told, took))
    return rows


def gpu_table(name: str) -> str:
    """Return a table of what an epoch of a job on the GPU took, with what was predicted."""
    lines = [f"{'seconds of the first epoch':44}predicted  measured     off"]
    for row in gpu_rows(name):
        off = 100 * (row.told / row.took - 1)
        lines.append(f"{row.setting:44}{row.told:9.2f}{row.took:10.2f}{off:+6.0f} %")
    return "\n".join(lines)


def gpu_errors(name: str) -> Errors:
    """Return by which shares the forecasts for a job on the GPU were off, and its runs themselves."""
    found = on_gpu(name)
    told, single = [], []
    for setting, runs in found["real"]:
        forecast = found["job"].forecast(**setting)
        for predicted, took in zip(forecast, zip(*runs, strict=True), strict=True):
            told.append(abs(predicted / mean(took) - 1))
            single.append(abs(took[0] / mean(took) - 1))
    return Errors(told, single)


def off_by(part: float, *, told: bool = True) -> float:
    """Return what a *part* of all forecasts on the GPU was off by at most; or of single runs."""
    jobs = [gpu_errors(name) for name in ("images", "text", "features")]
    errors = sorted(error for job in jobs for error in (job.told if told else job.single))
    return errors[int(part * len(errors))]


def measured() -> Any:
    """Return the seconds that real PyTorch took, as `python -m evidence.facts` measured them."""
    return json.loads(get_data(__name__, "measured_11.json") or b"")


class Profile:
    """Draw *spans* as a profiler does, in one row for the only thread.

    Each span has a name, its start and its end, in milliseconds.
    """

    wide, high, left = 1000, 26, 60

    def __init__(self, spans: list[tuple[str, float, float]]) -> None:
        self.spans = spans

    def __repr__(self) -> str:
        return f"A profiler's picture of {len(self.spans)} calls in {self.spans[-1][2]:.0f} ms."

    def _repr_svg_(self) -> str:
        scale = (self.wide - self.left - 10) / self.spans[-1][2]
        drawn = [f'<text x="4" y="{self.high - 8}">main</text>']
        for name, began, ended in self.spans:
            place, width = self.left + began * scale, (ended - began) * scale
            box = f'x="{place:.1f}" y="2" width="{width:.1f}" height="{self.high - 4}"'
            short = name.split(".")[-1][: int(width / 7)]
            drawn.append(
                f'<g><title>{name}</title><rect {box} fill="{"#8bbf7c" if name == "step" else "#f0c36d"}"/>'
            )
            drawn.append(
                f'<text x="{place + 3:.1f}" y="{self.high - 8}">{short}</text></g>'
            )
        head = f'viewBox="0 0 {self.wide} {self.high}" width="100%" role="img" aria-label="{self!r}"'
        style = "background:#fff;font:12px sans-serif"
        return f'<svg xmlns="http://www.w3.org/2000/svg" {head} style="{style}">{"".join(drawn)}</svg>'


def epoch(job: Any, **changes: Any) -> tuple[Any, dict[str, Any]]:
    """Return one epoch of a *job* with changed settings, in the form that a question takes."""
    loader, options = job.model(**changes)
    return loader, options | {"num_epochs": 1}


HALF, SOME, SAME, LONGER = (
    "about half as long as before",
    "shorter, but by less than a third",
    "as long as before",
    "longer than before",
)
CHOICES = [HALF, SOME, SAME, LONGER]


def answer(before: Trace, after: Trace) -> str:
    """Say in words how long an epoch takes, compared with the one before."""
    share = after.duration / before.duration
    return (
        LONGER if share > 1.04 else SAME if share > 0.96 else SOME if share > 0.65 else HALF
    )


def workers() -> dict[str, Any]:
    """Explain what workers do on cores that the step already uses."""
    wrong = [
        (
            HALF,
            "Each worker would need a core of its own. But the step already computes on both "
            "cores, and now has to wait for them.",
        ),
        (
            SOME,
            "Loading would have to cost the step nothing. Workers and step share the same two cores.",
        ),
        (
            SAME,
            "The work does stay the same. Threads and workers that share cores also slow each other down.",
        ),
    ]
    why = (
        "Two threads of the step and two workers need four cores, and there are two. A step now "
        "takes three times as long."
    )
    return {"answer": answer, "choices": CHOICES, "wrong": wrong, "why": why}


def together() -> dict[str, Any]:
    """Explain why two changes help that do harm alone."""
    wrong = [
        (
            HALF,
            "The step would have to be as fast as before. With one thread it "
            f"takes {step_ms(1):.0f} ms, not {step_ms(2):.0f} ms.",
        ),
        (
            SAME,
            "Two losses do not cancel each other. Each change removes the cause of the other's loss.",
        ),
        (
            LONGER,
            "You added the two losses. With one thread the step leaves a core to the workers, and theirs "
            "is gone.",
        ),
    ]
    why = (
        "The step has one core and the workers have the other. Both compute at the same time, "
        "and neither takes a core from the other."
    )
    return {"answer": answer, "choices": CHOICES, "wrong": wrong, "why": why}


def step_of(job: Any) -> float:
    """Return the seconds of a step of a *job* alone."""
    return probed(job).step


def both_of(job: Any) -> float:
    """Return the seconds of a batch of a *job* as it is: made, and then trained on."""
    return probed(job).both


ONE, FOUR, CORES = "1", "4", "16, one for each core"


def number_of_workers(job: Any) -> dict[str, Any]:
    """Explain which of three numbers of workers is best for a *job* on a GPU."""
    one, four, all_cores = (job.forecast(num_workers=count)[0] for count in (1, 4, 16))
    batch, step = probed(job).loader, step_of(job)
    wrong = [
        (
            ONE,
            f"One worker makes a batch every {milliseconds(batch)} and more, and a step takes "
            f"{milliseconds(step)}: the step waits for each of them. An epoch takes {one:.2f} s, with four "
            f"workers {four:.2f} s.",
        ),
        (
            CORES,
            "Four already make batches faster than the step takes them. The other twelve only have to be "
            f"started, one after the other, before the first batch comes: {all_cores:.2f} s, with four "
            f"workers {four:.2f} s.",
        ),
    ]
    why = (
        f"Four workers make a batch every {milliseconds(batch / 4)}, and a step takes "
        f"{milliseconds(step)}, so the step sets the pace: {four:.2f} s. One is too few ({one:.2f} s), and "
        f"sixteen take longer to start ({all_cores:.2f} s)."
    )
    return {
        "choices": [ONE, FOUR, CORES],
        "answer": lambda *_: FOUR,
        "wrong": wrong,
        "why": why,
    }


def best_loader(job: Any) -> dict[str, Any]:
    """Explain how long an epoch of a *job* takes with a loader that takes no time."""
    loader, step, batches = probed(job).loader, step_of(job), job.batches
    wrong = [
        (
            batches * (loader + step),
            f"The epoch takes that long as it is, {milliseconds(loader + step)} for each batch. The best "
            f"loader takes no time, and {milliseconds(step)} are left.",
        ),
        (
            batches * loader,
            "That is the loader, with the steps hidden behind it, as one background reader would have it. "
            "Several workers divide that time, and the best loader needs none.",
        ),
        (
            batches * loader / 16,
            f"You divided the loader by the cores and lost the steps. They cannot be divided, {batches} of "
            f"{milliseconds(step)} one after the other.",
        ),
        (
            batches * max(loader / 4, step) + loader,
            "That adds the first batch, which real workers have to make before the first step. The best "
            "loader in the world does not even take that.",
        ),
    ]
    why = (
        f"The steps stay, {batches} × {milliseconds(step)} = {milliseconds(batches * step)}. All the rest "
        "can go: as a share of an epoch this is the headroom, and no setting gets below it."
    )
    return {"wrong": wrong, "why": why}


def vote() -> Ballot:
    """Explain when to stop."""
    question = (
        "recommend says of a colleague's job: “no loader can save more than 6 %”; num_workers=8 in place "
        "of 4: “tried: saves 4 ± 5 %”. The GPU-util of nvidia-smi is 100 %. What do you advise?"
    )
    right = "D: leave the loader alone"
    wrong = [
        (
            "A: take the 8 workers",
            "4 % would be better than nothing. 4 ± 5 % is what the same setting may differ by when it runs "
            "again. Eight processes are certain, and the saving is not.",
        ),
        (
            "B: try 16 and 32",
            "The 6 % are for a loader that takes no time at all. Real workers take cores and memory, and "
            "the way from 4 to 8 has just shown what they bring.",
        ),
        (
            "C: buy a second GPU",
            "GPU-util says that some kernel was running, also one that waits for another GPU, or a small "
            "one that fills a tenth of the chip. It is no proof that the GPU computes all the time. "
            "Profile the step.",
        ),
    ]
    why = (
        "The headroom is 6 %, and what was tried is within its own noise. The loader is not what the job "
        "waits for; if it has to become faster, the step has to."
    )
    return ballot(question, right, wrong, why)
