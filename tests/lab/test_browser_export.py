"""*File, Save and Export As* of a lesson that was run: nothing of it is blank."""

from tools.browser import Visit, open_next, run_all
from tools.servers import Server

BEGIN = """
from lessonkit import ArtificialDataset
from lessonkit.widgets import predict, show
predict("How long?", ArtificialDataset(), wrong=[(0.105, "That is one epoch.")], why="It adds up.")
"""
SHOWN = "show(ArtificialDataset(), num_epochs=1)"
SAVE = "jupyterapp.shell.currentWidget.context.save()"
EXPORT = """async (name) => {
    const { baseUrl } = jupyterapp.serviceManager.serverSettings;
    return (await fetch(`${baseUrl}nbconvert/html/${name}?download=true`)).text();
}"""


def test_an_export_has_pictures_questions_tries_and_verdicts(
    desk: Visit, lab: Server
) -> None:
    lab.write("exported", BEGIN, SHOWN)
    open_next(desk.page, "exported.ipynb")
    run_all(desk.page)
    asked = desk.page.locator(".lk-predict")
    for answer in ("105", "210"):
        asked.get_by_label("Your answer in ms").fill(answer)
        asked.get_by_label("certain").check()
        asked.get_by_role("button", name="Commit to this answer").click()
        asked.locator(".lk-tries", has_text=f"{answer} ms, certain").wait_for()
    desk.page.evaluate(SAVE)
    html = desk.page.evaluate(EXPORT, "exported.ipynb")
    assert "✗ 105 ms, certain" in html
    assert "✓ Right. The answer is 210 ms. It adds up." in html
    assert html.lower().count('viewbox="0 0 900') == 1  # the run that the answer uncovered
    assert 'src="data:image/png;base64,' in html  # the picture of show
    assert '<script type="application/vnd.jupyter.widget-view+json">' not in html
