"""What the board says of the answers in words."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from delivery.classroom.server import HERE

Counts = tuple[int, int, int]  # a guess, fairly sure, certain
SURE: Counts = (0, 0, 5)
LESS: Counts = (0, 2, 1)
ASKED = """
import { worthHearing } from "%s/answers.js";
const line = ([name, right, counts]) => ({ name, right, counts: [counts] });
console.log(worthHearing(%s.map(line), 0, %s));
"""


def heard(answers: list[tuple[str, bool, Counts]], is_shown: bool) -> str:
    """Whom the board wants to hear first; an answer has a name, whether it is right, and counts."""
    program = ASKED % (HERE.as_uri(), json.dumps(answers), json.dumps(is_shown))
    command = ["node", "--input-type=module", "--eval", program]
    return subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node.js")
def test_before_the_verdict_nobody_learns_from_the_board_who_is_wrong() -> None:
    answers = [("105 ms", False, LESS), ("210 ms", True, SURE)]
    swapped = [(name, not right, counts) for name, right, counts in answers]
    said = "Worth hearing first: 5 learners, certain of “210 ms”"
    assert heard(answers, False) == heard(swapped, False) == said
    # Afterwards it is somebody who is wrong
    assert heard(answers, True) == "Worth hearing first: 1 learner, certain of “105 ms”"
    assert heard(swapped, True) == said
    assert heard([("210 ms", True, SURE)], True) == ""
