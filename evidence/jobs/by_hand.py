"""Runs the jobs of `families` in many settings by hand, and compares the first advice with the best.

python -m evidence.jobs.by_hand --out FILE              all 24, three rounds: hours, on an even machine
python -m evidence.jobs.by_hand --out FILE --only crops
python -m evidence.jobs.by_hand --small                 small data and one round: do they run at all?

Settings take turns, so that a busy minute does not fall on one of them alone, and `recommend` is asked
between the rounds. What is far behind the best after the first round is not run again. Whatever other
programs took of the cores meanwhile stands beside the numbers: a file that was made beside other work
proves nothing. FILE has each family as soon as it is done, and those that it has already are not run again.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import product
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch
from torch.utils.data import DataLoader

from databound import recommend
from databound.advise.rows import TableRow
from databound.machine import Others, allowed_cores
from databound.ranges import Scatter, scatter_of, variance_of_middle
from evidence.jobs.families import archives, audio, tables, text, vision
from evidence.jobs.families.family import Family
from evidence.jobs.measure import run
from evidence.record import about

FAMILIES: list[Family] = [
    family
    for module in (vision, text, audio, tables, archives)
    for family in module.FAMILIES
]
SMALLER = 10  # times fewer samples, to see whether a job runs
FEWEST = 64  # samples, so that a few batches are left
BEHIND_BEST = 0.05  # share; an advice that is as near to the best is right
# Times the best of the first round. One and the same setting differs by a tenth from round to round, so
# one that took so much longer is not the best, and need not run again
OUT_OF_REACH = 1.5

Setting = dict[str, Any]


class Tried(NamedTuple):
    """A *setting* that was run: the seconds of the first and of a later epoch, for each round."""

    setting: Setting
    runs: list[list[float]]

    @property
    def each(self) -> list[float]:
        """The mean seconds of an epoch in a training of several, for each round."""
        return [TableRow({}, first, later, 0).mean for first, later in self.runs]

    @property
    def mean(self) -> float:
        """The median of these."""
        return median(self.each)

    @property
    def scatter(self) -> Scatter:
        """How much the rounds differ from each other."""
        return scatter_of(self.each)


def settings(cores: int) -> Iterator[Setting]:
    """Yield the settings that are tried by hand, on so many *cores*."""
    threads = sorted({1, torch.get_num_threads()})
    counts = sorted({0, 1, 2, cores, 2 * cores})
    for workers, number in product(counts, threads):
        for stay in (False, True) if workers else (False,):
            yield {
                "num_workers": workers,
                "persistent_workers": stay,
                "threads": number,
            }


def loader_of(data: Any, said: Setting, now: Setting) -> DataLoader[Any]:
    """Return the loader as it is written."""
    return DataLoader(data, **said, **now)


def compared(family: Family, rounds: int, count: int) -> dict[str, Any]:
    """Run a *family* with *count* samples by hand, and `recommend` in between; return what came."""
    data, said, step = family.make(count)
    now = {"persistent_workers": False, "threads": torch.get_num_threads()} | family.now
    tried = [Tried(setting, []) for setting in settings(allowed_cores())]
    if all(one.setting != now for one in tried):
        tried.insert(0, Tried(now, []))
    run(data, said, step, now)  # files are in memory then, and libraries loaded
    others = Others()
    advised = now
    for turn in range(rounds):
        if turn == rounds // 2:
            page = recommend(loader_of(data, said, family.now), step)
            changes = page.changes[0].settings if page.changes else {}
            advised = now | changes
            if not advised["num_workers"]:
                advised["persistent_workers"] = False
            if all(one.setting != advised for one in tried):
                more = [run(data, said, step, advised) for _ in range(turn)]
                tried.append(Tried(advised, more))
        in_reach = OUT_OF_REACH * min((one.mean for one in tried if one.runs), default=inf)
        for one in tried:
            if not one.runs or one.mean <= in_reach or one.setting in (now, advised):
                one.runs.append(run(data, said, step, one.setting))
    of_now, of_advice = (
        next(one for one in tried if one.setting == setting) for setting in (now, advised)
    )
    best = min(tried, key=lambda one: one.mean)
    scatter = Scatter()
    for one in tried:
        scatter = scatter.with_another(one.scatter)
    return {
        "family": family.name,
        "samples": count,
        "verdict": page.verdict,
        "advised": changes,
        "saves": page.changes[0].saves if page.changes else 0.0,
        "slowest": page.inside.parts[0].name if page.inside else None,
        "besides": [str(knob) for knob in page.knobs],
        "now": of_now.mean,
        "with_advice": of_advice.mean,
        "best": best.mean,
        "best_setting": best.setting,
        "scatter": scatter,
        "others": others.cores(),
        "runs": [[one.setting, one.runs] for one in tried],
        "page": str(page).splitlines(),
    }


def noise_of(found: dict[str, Any], rounds: int) -> float:
    """Return the share by which two settings may differ that take the same, in medians of *rounds*."""
    of_each = rounds / variance_of_middle(rounds)
    return Scatter(*found["scatter"]).range(of_each / 2)


def in_words(found: dict[str, Any], rounds: int) -> str:
    """Return what came of a family as a line: whether the advice was right, or whether nobody can tell."""
    behind = found["with_advice"] / found["best"] - 1
    noise = noise_of(found, rounds)
    judged = "behind the best"
    if behind <= BEHIND_BEST:
        judged = "right"
    elif behind <= noise:
        judged = "cannot be told from noise"
    return (
        f"{found['family']:14}{found['verdict']:26}now {found['now']:7.3f} s, advised "
        f"{found['with_advice']:7.3f} s, best {found['best']:7.3f} s: {judged} "
        f"({100 * behind:+.0f} %, two alike differ by up to {100 * noise:.0f} %, "
        f"other programs had {found['others']:.1f} cores)"
    )


def main() -> None:
    """Compare as the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="families whose name has this text")
    parser.add_argument("--small", action="store_true", help="small data, and one round")
    parser.add_argument("--out", type=Path, help="where to write all numbers, as JSON")
    given = parser.parse_args()
    rounds = 1 if given.small else given.rounds
    said = about(
        "24 jobs in many settings, and with the first advice of `recommend`",
        ["torch"],
        {"rounds": rounds, "small": given.small},
    )
    cases = (
        json.loads(given.out.read_text())["cases"]
        if given.out and given.out.exists()
        else []
    )
    done = {case["family"] for case in cases}
    for family in FAMILIES:
        if given.only not in family.name or family.name in done:
            continue
        if family.missing:
            print(f"{family.name:14}left out, for want of {', '.join(family.missing)}")
            continue
        count = max(FEWEST, family.count // SMALLER) if given.small else family.count
        cases.append(compared(family, rounds, count))
        print(in_words(cases[-1], rounds), flush=True)
        if given.out:
            given.out.write_text(json.dumps({"about": said, "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
