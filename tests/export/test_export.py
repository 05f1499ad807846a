"""A lesson that was run and saved becomes a page that shows what its learner did."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from support.pages import Said

from lessonkit import ArtificialDataset
from lessonkit import __main__ as program
from lessonkit.export import _load_jupyter_server_extension
from lessonkit.export.notebook import STATE, VIEW, export_html
from lessonkit.export.run import svg_of, ticks
from lessonkit.widgets import challenge, explore, goals, predict, slider

TEXT = "How <long> does it take?"
WRONG = "That is <one> epoch."


def asked() -> Any:
    return predict(TEXT, ArtificialDataset(), wrong=[(0.105, WRONG)], why="It adds up.")


def answered(*said: float, waits: bool = False) -> tuple[Any, dict[str, Any]]:
    """A question, and what the page keeps of it after these answers."""
    made = asked()
    told: Any = None
    tries = []
    for answer in said:
        about, told = Said(made).ask({"do": "commit", "said": answer, "sure": 2})
        words, sure, right = about["tries"][-1]
        tries.append({"said": answer, "words": words, "sure": sure, "right": right})
        told = {**told, "right": about["right"]}
    return made, {"tries": tries, "verdict": told, **({"waits": True} if waits else {})}


def notebook(folder: Path, *widgets: tuple[Any, Any]) -> Path:
    """A lesson as JupyterLab saves it: the views in the outputs, and the states of their widgets."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# 00 <Start>"}
    ]
    states = {}
    for number, (widget, kept) in enumerate(widgets):
        name = f"model-{number}"
        data = widget._repr_mimebundle_()[0]
        data = {kind: data[kind] for kind in data if not isinstance(data[kind], bytes)}
        data[VIEW] = {"model_id": name, "version_major": 2, "version_minor": 1}
        output = {"output_type": "display_data", "metadata": {}, "data": data}
        cells.append(
            {
                "cell_type": "code",
                "id": name,
                "metadata": {"jupyter": {"source_hidden": True}},
                "execution_count": 1,
                "source": "import answers_00",
                "outputs": [output],
            }
        )
        state = {"role": widget.role, "state": widget.state, "kept": json.dumps(kept)}
        states[name] = {"state": state}
    metadata = {"widgets": {STATE: {"state": states}}}
    content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path = folder / "00_start.ipynb"
    path.write_text(json.dumps(content))
    return path


def page(folder: Path, *widgets: tuple[Any, Any]) -> str:
    return export_html(notebook(folder, *widgets)).read_text()


def words(html: str) -> str:
    """What one reads of a page."""
    body = re.sub(r"<style>.*?</style>", "", html.partition("<main>")[2], flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_a_question_has_its_tries_its_verdict_and_its_run(tmp_path: Path) -> None:
    html = page(tmp_path, answered(105, 210))
    text = words(html)
    assert "Predict How &lt;long&gt; does it take?" in text
    assert "✗ 105 ms, certain" in text
    assert "✓ 210 ms, certain" in text
    assert "✓ Right. The answer is 210 ms. It adds up." in text
    assert "<svg" in html
    assert "<title>00 &lt;Start&gt;</title>" in html


def test_a_question_that_is_open_shows_no_run_and_its_last_verdict(tmp_path: Path) -> None:
    html = page(tmp_path, answered(105), (asked(), None))
    assert "✗ Not 105 ms. That is &lt;one&gt; epoch." in words(html)
    assert "Not answered." in words(html)
    assert "<svg" not in html


def test_while_a_class_waits_no_verdict_is_told(tmp_path: Path) -> None:
    text = words(page(tmp_path, answered(210, waits=True)))
    assert "Right" not in text
    assert "✓" not in text


def test_an_attempt_has_its_goals_and_a_challenge_with_controls_what_was_reached(
    tmp_path: Path,
) -> None:
    task: Any = challenge("Be <quick>.", goals=[goals.total(at_most=0.18)])
    turned: Any = challenge(
        "Turn it.",
        goals=[goals.total(at_most=0.18)],
        pipeline=lambda calls=1: ArtificialDataset(),
        calls=slider(1, 2),
    )
    reached = {"right": True, "reached": [[True, "total: 170 ms"]]}
    text = words(
        page(
            tmp_path, (task, None), (task.check(ArtificialDataset), None), (turned, reached)
        )
    )
    assert "Challenge Be &lt;quick&gt;. ○ total: at most 180 ms" in text
    assert "✗ Not yet. Total: 210 ms (at most 180 ms), over by 30 ms." in text
    assert "Challenge Turn it. ✓ Passed: every goal is met. ✓ total: 170 ms" in text


def test_a_page_asks_for_nothing_and_leaves_folded_sources_out(tmp_path: Path) -> None:
    html = page(tmp_path, (explore(lambda n=3: ArtificialDataset(n), n=(1, 4)), None))
    assert not re.search(r"<(script|link)|src=\"(?!data:)|url\(", html)
    assert "answers_00" not in html
    assert VIEW not in html


def test_a_widget_of_somebody_else_stays_as_it_is(tmp_path: Path) -> None:
    path = notebook(tmp_path, (asked(), None))
    content = json.loads(path.read_text())
    content["metadata"]["widgets"][STATE]["state"]["model-0"]["state"] = {"value": 3}
    path.write_text(json.dumps(content))
    assert VIEW in export_html(path).read_text()


def test_the_drawing_of_a_run_has_each_bar_where_the_run_has_it() -> None:
    scene = json.loads(explore(lambda n=3: ArtificialDataset(n), n=(1, 4)).state)["scene"]
    svg = svg_of(scene)
    assert svg.count("<rect") == len(scene["bars"]["row"])
    filled = re.findall(r'<rect x="([\d.]+)" .*? width="([\d.]+)"', svg)
    scale = (900 - 92 - 16) / scene["end"]
    for (x, width), start, length in zip(
        filled, scene["bars"]["start"], scene["bars"]["length"], strict=True
    ):
        assert float(x) == pytest.approx(92 + start * scale, abs=0.06)
        assert float(width) == pytest.approx(max(1, length * scale - 1), abs=0.06)


@pytest.mark.parametrize(
    ("end", "texts"),
    [
        (210_000, ["0 ms", "50", "100", "150", "200"]),
        (25, ["0 ms", "0.01", "0.02"]),
    ],
)
def test_an_axis_has_round_times(end: int, texts: list[str]) -> None:
    assert [text for _, text in ticks(end)] == texts


def test_the_command_writes_the_page_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook(tmp_path, answered(210))
    monkeypatch.setattr(sys, "argv", ["lessonkit", "export", str(path), "--to", "html"])
    assert program.main() == 0
    wanted = path.with_suffix(".html")
    assert capsys.readouterr().out == f"The page is {wanted}; it needs no network.\n"
    assert wanted.exists()


@pytest.mark.parametrize("content", ["[]", "{", "{}", "3", None])
def test_what_is_no_notebook_is_said_to_be_none(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ipynb"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(sys, "argv", ["lessonkit", "export", str(path)])
    with pytest.raises(SystemExit, match=r"lessonkit: .*a\.ipynb"):
        program.main()


def test_a_server_gets_it_beside_what_it_has() -> None:
    from traitlets.config import Config

    class Server:
        config = Config({"HTMLExporter": {"preprocessors": ["theirs"]}})

    _load_jupyter_server_extension(Server)
    assert Server.config.HTMLExporter.preprocessors == [
        "theirs",
        "lessonkit.export.notebook.DrawSaved",
    ]
