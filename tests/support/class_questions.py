"""Questions of a class, as a lesson makes them: one of each type, and a challenge."""

from __future__ import annotations

from typing import Any

from lessonkit import ArtificialDataset
from lessonkit.widgets import challenge, goals, predict

ONCE = {"num_epochs": 1}


def one_file(read: int = 15) -> Any:
    return ArtificialDataset(3, open=0.03, read=read / 1e3), {**ONCE, "train": 0.01}


def mapped(calls: int) -> Any:
    return ArtificialDataset(20).map(cost=0.030, num_parallel_calls=calls), ONCE


def every_type() -> list[Any]:
    """One question of each type, and a vote."""
    naive = ArtificialDataset()
    return [
        predict(
            "How long?",
            (naive, ONCE),
            wrong=[(0.2, "That is two epochs.")],
            why="It adds up.",
        ),
        predict(
            "Which is it?",
            (naive, ONCE),
            answer=lambda _: "the reading",
            choices=["the reading", "the training"],
            wrong=[("the training", "Reading takes longer.")],
            why="It takes 45 ms.",
        ),
        predict(
            "When does each bar begin?",
            (naive.prefetch(1), ONCE),
            place=["Train"],
            wrong=[((naive, ONCE), "You let them take turns.")],
            why="Reading goes on.",
        ),
        predict(
            "How many ms a sample?",
            mapped,
            draw={"calls": range(1, 4)},
            wrong=[(lambda *runs: [runs[0].per_sample] * 3, "More calls do help.")],
            why="Training decides.",
        ),
        predict(
            "Which of these is true?",
            answer=lambda: "this",
            choices=["this", "that"],
            wrong=[("that", "That is not so.")],
            why="Because.",
        ),
    ]


def questions() -> list[Any]:
    """All of these, and a challenge."""
    task = challenge(
        "Be quick.",
        goals=[goals.total(at_most=0.08)],
        hints=["Read faster."],
        pipeline=one_file,
        read=(5, 25, 5),
    )
    return [*every_type(), task]
