"""Total what a class has predicted: first answers to each question, and how sure the learners were.

    python -m tools.answers anna.zip ben.zip homes/clara/my-lessons

Each archive, folder or notebook is the work of one learner: *Download all my work* of the
site, or the copies of the lessons, saved after the questions were answered.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

STATE, VIEW = (
    "application/vnd.jupyter.widget-state+json",
    "application/vnd.jupyter.widget-view+json",
)
WIDE = 30  # marks of a bar for all

Tries = list[tuple[str, str, bool]]  # what was said, how sure, and whether it was right
Asked = tuple[str, str]  # a lesson and a question


def notebooks(work: Path) -> Iterator[tuple[str, Any]]:
    """Give name and content of each notebook in the *work* of a learner."""
    if work.suffix == ".zip":
        with ZipFile(work) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".ipynb"):
                    yield Path(name).stem, json.loads(archive.read(name))
        return
    for path in sorted(work.rglob("*.ipynb")) if work.is_dir() else [work]:
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def answers(notebook: Any) -> Iterator[tuple[str, Tries]]:
    """Give each question of a *notebook* that was answered, with all tries."""
    widgets = notebook["metadata"].get("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            shown = output.get("data", {}).get(VIEW, {}).get("model_id")
            state = widgets.get(shown, {}).get("state", {})
            asked, kept = (
                json.loads(state.get(name) or "{}") for name in ("state", "kept")
            )
            tries = (
                (kept.get("verdict") or {}).get("tries") if "question" in asked else None
            )
            if tries:
                yield asked["question"], tries


def collected(works: list[Path]) -> dict[Asked, list[Tries]]:
    """Return the tries of all learners by questions, in the order of the lessons."""
    found: dict[Asked, list[Tries]] = defaultdict(list)
    for work in works:
        for name, notebook in notebooks(work):
            for question, tries in answers(notebook):
                found[name, question].append(tries)
    return dict(sorted(found.items(), key=lambda one: one[0][0]))


def table(found: dict[Asked, list[Tries]]) -> Iterator[str]:
    """Write for each question the first answers, the most frequent ones first."""
    for (lesson, question), learners in found.items():
        firsts = Counter((said, right) for (said, _, right), *_ in learners)
        in_the_end = sum(tries[-1][2] for tries in learners)
        yield f"{lesson}: {question}"
        for (said, right), count in firsts.most_common():
            sure = Counter(sure for (one, sure, _), *_ in learners if one == said)
            told = ", ".join(f"{many} {how}" for how, many in sure.most_common())
            bar = "▇" * max(1, round(WIDE * count / len(learners)))
            yield f"  {'✓' if right else '✗'} {said:32} {count:3} {bar} ({told})"
        yield f"  {in_the_end} of {len(learners)} right in the end"


def main() -> None:
    """Total what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "work", nargs="+", type=Path, help="a learner's archive, folder or notebook"
    )
    print("\n".join(table(collected(parser.parse_args().work))))


if __name__ == "__main__":
    main()
