"""A picture in a file of its own: all settings, and nothing that is asked for anywhere."""

import base64
import gzip
import html
import json
import re
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from support.firefox import firefox

from lessonkit import DataLoader, Dataset
from lessonkit.widgets import cards, explore, slider
from lessonkit.widgets.explorer import Explore
from lessonkit.words import size
from tools.browser import Browser
from tools.firefox import find_firefox
from tools.servers import HOST

LARGEST = 400_000  # bytes, for two sliders of ten
ALL_OF_IT = "document.documentElement"
FRAMED = "document.querySelector('iframe').contentDocument"
ALIVE = f"Boolean({FRAMED}.querySelector('rect.lk-bar'))"
FIGURE = f"{FRAMED}.querySelectorAll('.lk-figures b')[1].textContent"
# One step of a slider: what the picture says when the next frame is drawn.
STEP = f"""(async () => {{
    const slider = {FRAMED}.querySelector("[data-name=workers]");
    slider.stepUp();
    slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
    await new Promise({FRAMED}.defaultView.requestAnimationFrame);
    return {FIGURE};
}})()"""
LIGHTNESS = f"""(() => {{
    const {{ backgroundColor: colour }} = {FRAMED}.defaultView.getComputedStyle({FRAMED}.body);
    return Number(/\\d+/.exec(colour)[0]);
}})()"""


def workers(workers: int = 4, prefetch_factor: int = 2, persistent: bool = False) -> Any:
    images = Dataset.range(48).map(cost=0.020, stage="Decode")
    more: dict[str, Any] = (
        {"prefetch_factor": prefetch_factor, "persistent_workers": persistent}
        if workers
        else {}
    )
    return DataLoader(images, batch_size=4, num_workers=workers, **more), {"num_epochs": 1}


def shown(**controls: Any) -> Explore:
    return explore(workers, **controls)


def content(path: Path) -> dict[str, Any]:
    """What is in a file that was saved."""
    (packed,) = re.findall(r'id="content">([^<]+)<', path.read_text(encoding="utf-8"))
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return found


def test_a_file_has_the_run_of_every_setting(tmp_path: Path) -> None:
    one = shown(workers=slider(0, 9, unit="workers"), prefetch_factor=slider(1, 10))
    one.save(tmp_path / "workers.html")
    assert (tmp_path / "workers.html").stat().st_size < LARGEST
    answers = content(tmp_path / "workers.html")["answers"]
    assert len(answers) == 100
    for key, answer in answers.items():
        first, second = map(int, key.split(","))
        drawn = one.picture({"workers": first, "prefetch_factor": second + 1})[1]
        assert answer == json.loads(json.dumps(drawn))


def test_a_switch_has_both_its_values(tmp_path: Path) -> None:
    shown(persistent=False).save(str(tmp_path / "switch.html"))
    found = content(tmp_path / "switch.html")
    assert list(found["answers"]) == ["0", "1"]
    assert found["values"] == {"persistent": ["False", "True"]}


def test_saving_returns_the_path_and_prints_the_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "workers.html"
    assert shown(workers=(0, 2)).save(str(path)) == path
    assert capsys.readouterr().out == f"{path}: {size(path.stat().st_size)}\n"


def test_a_title_and_a_caption_are_text_and_nothing_else(
    browser: Browser, tmp_path: Path
) -> None:
    title, caption = "How many <b>workers</b>?", "Move the slider & see."
    shown(workers=(0, 2)).save(tmp_path / "one.html", title=title, caption=caption)
    with browser.visit() as visit:
        visit.page.goto((tmp_path / "one.html").as_uri())
        assert visit.page.get_by_role("heading", level=1).inner_text() == title
        visit.page.get_by_text(caption).wait_for()
        assert visit.page.title() == title
    assert not visit.errors


def test_without_scripts_a_picture_stands_still(browser: Browser, tmp_path: Path) -> None:
    one = shown(workers=(0, 2))
    one.save(tmp_path / "one.html", title="How many workers?")
    chromium = browser.context.browser
    assert chromium
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto((tmp_path / "one.html").as_uri())
    page.locator("img").wait_for()
    assert page.locator("noscript p").inner_text() == repr(one)
    image = page.locator("img").bounding_box()
    page.context.close()
    assert image
    assert image["width"] > 600
    assert image["height"] > 100


@pytest.mark.parametrize(
    ("said", "shown_as"),
    [("99", "9"), ("-3", "0"), ("4.4", "4"), ("many", "4"), ("", "4")],
)
def test_a_number_out_of_range_opens_the_nearest_setting(
    browser: Browser, tmp_path: Path, said: str, shown_as: str
) -> None:
    one = shown(workers=(0, 9), prefetch_factor=[1, 2, 4])
    one.save(tmp_path / "one.html")
    with browser.visit() as visit:
        visit.page.goto(f"{(tmp_path / 'one.html').as_uri()}#workers={said}")
        slider = visit.page.get_by_role("slider", name="workers")
        slider.and_(visit.page.locator(f"[aria-valuetext='{shown_as}']")).wait_for()
        wanted = str(
            one.picture({"workers": int(shown_as), "prefetch_factor": 2})[1]["figures"][1][
                0
            ]
        )
        visit.page.locator(".lk-figures b", has_text=wanted).wait_for()
    assert not visit.errors


SHARING = Path(__file__).parents[2] / "docs" / "sharing.md"


def test_the_code_of_the_page_about_sharing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saving, showing = re.findall(r"```python\n(.*?)```", SHARING.read_text("utf-8"), re.S)
    names: dict[str, Any] = {}
    exec(saving, names)
    names["picture"].save("workers.mjs")
    exec(showing, names)
    assert {path.name for path in tmp_path.iterdir()} == {"workers.html", "workers.mjs"}


def test_in_a_frame_of_a_page_that_has_our_lines_it_is_as_high_as_it_has_to_be(
    browser: Browser, tmp_path: Path
) -> None:
    two_of_ten().save(tmp_path / "workers.html")
    (lines,) = re.findall(r"```html\n(.*?)```", SHARING.read_text("utf-8"), re.S)
    (tmp_path / "page.html").write_text(f"<!DOCTYPE html><body>{lines}", "utf-8")
    with browser.visit(width=520) as visit:
        visit.page.goto((tmp_path / "page.html").as_uri())
        inside = visit.page.frame_locator("iframe")
        inside.locator("rect.lk-bar").first.wait_for(state="attached")
        fits = f"""() => {{
            const {{ scrollHeight, clientHeight, scrollWidth, clientWidth }} = {ALL_OF_IT};
            return scrollHeight <= clientHeight && scrollWidth <= clientWidth;
        }}"""
        visit.page.frames[1].wait_for_function(fits)
        before = visit.page.locator("iframe").bounding_box()
        inside.locator("[data-name=workers]").press("End")
        inside.locator(".lk-figures b", has_text=figure(workers=9)).wait_for()
        visit.page.frames[1].wait_for_function(fits)
        inside.locator("[data-name=workers]").press("Home")
        inside.locator(".lk-figures b", has_text=figure(workers=0)).wait_for()
        visit.page.frames[1].wait_for_function(fits)
        assert before
        assert before["height"] > 300


MODULE = """async ([address, shadow]) => {
    const { default: widget } = await import(address);
    const place = document.body.appendChild(document.createElement("div"));
    const root = shadow ? place.attachShadow({ mode: "open" }) : place;
    const el = root.appendChild(document.createElement("div"));
    const model = { get() {}, set() {}, save_changes() {}, on() {}, off() {} };
    window.end = widget.render({ model, el });
}"""


@pytest.mark.parametrize("shadow", [False, True])
def test_a_module_lives_in_a_page_that_imports_it(
    browser: Browser, tmp_path: Path, shadow: bool
) -> None:
    one = two_of_ten()
    saved = one.save(tmp_path / "workers.mjs", title="How many workers?", caption="Try 8.")
    assert saved.stat().st_size < LARGEST
    text = saved.read_text("utf-8")
    with browser.visit() as visit:
        page: Any = visit.page
        address = f"http://{HOST}:9/workers.mjs"
        page.route(
            f"http://{HOST}:9/*",
            lambda route: route.fulfill(
                body=text
                if route.request.url == address
                else "<!DOCTYPE html><h1>Mine</h1><h2>It</h2>",
                content_type="text/javascript"
                if route.request.url == address
                else "text/html",
            ),
        )
        page.goto(f"http://{HOST}:9/page.html")
        page.evaluate(MODULE, [address, shadow])
        page.locator("rect.lk-bar").first.wait_for(state="attached")
        page.get_by_text("How many workers?").wait_for()
        page.get_by_text("Try 8.").wait_for()
        page.locator("[data-name=workers]").press("ArrowRight")
        page.locator(".lk-figures b", has_text=figure(workers=5)).wait_for()
        # Its styles are there, and none of a lesson's switches
        tint = "(node) => getComputedStyle(node).display"
        assert page.locator(".lk-figures").evaluate(tint) == "flex"
        assert not page.locator(".lk-class").count()
        assert page.url.endswith("/page.html")
        page.evaluate("() => end()")
        assert not page.locator(".lk").count()
        assert len(visit.requests) == 2
    assert not visit.errors


def test_too_many_settings_and_cards_are_refused_with_a_sentence(
    tmp_path: Path,
) -> None:
    many = shown(workers=slider(0, 99), prefetch_factor=slider(1, 10))
    said = "1,000 settings are more than 500: give workers, which has 100, fewer values"
    with pytest.raises(ValueError, match=said):
        many.save(tmp_path / "many.html")
    steps = cards(cache=Dataset.cache, batch=lambda made: made.batch(2))
    ordered = explore(lambda order: Dataset.range(4), order=steps)
    with pytest.raises(ValueError, match="order: cards cannot be saved"):
        ordered.save(tmp_path / "cards.html")
    assert not list(tmp_path.iterdir())


def test_a_setting_that_fails_says_so_and_all_others_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So long that a busy machine has done what is quick
    monkeypatch.setattr("lessonkit.widgets.sandbox.MOST_SECONDS", 1.0)

    def pipeline(workers: int = 1, kind: str = "quick") -> Dataset:
        if workers == 0:
            raise ValueError("there must be a worker")
        while kind == "slow":
            sleep(1)
        return Dataset.range(4)

    one = explore(pipeline, workers=(0, 2), kind=["quick", "slow"])
    one.save(tmp_path / "one.html")
    answers = content(tmp_path / "one.html")["answers"]
    whole = {key for key, answer in answers.items() if "error" not in answer}
    assert (len(answers), whole) == (6, {"1,0", "2,0"})
    error = answers["0,1"]["error"]
    assert error.startswith(
        "workers 0, kind slow: there must be a worker (in pipeline, line"
    )
    error = answers["2,1"]["error"]
    assert error.startswith("workers 2, kind slow: this pipeline took longer than 1 s")


def test_a_page_says_what_fails_and_goes_on(browser: Browser, tmp_path: Path) -> None:
    def pipeline(n: int = 0) -> Dataset:
        return Dataset.range(8 // n)

    explore(pipeline, n=(0, 2)).save(tmp_path / "one.html")
    with browser.visit() as visit:
        page: Any = visit.page
        page.goto((tmp_path / "one.html").as_uri())
        error, slider = page.locator(".lk-error"), page.locator("[data-name=n]")
        error.filter(has_text=re.compile("^ZeroDivisionError: .*in pipeline")).wait_for()
        slider.press("ArrowRight")
        page.locator("rect.lk-bar").first.wait_for()
        assert error.inner_text() == ""
        slider.press("ArrowLeft")
        error.filter(has_text=re.compile("^n 0: ZeroDivisionError")).wait_for()
    assert not visit.errors


def test_it_lives_from_a_folder_and_a_setting_has_an_address(
    browser: Browser, tmp_path: Path
) -> None:
    one = shown(workers=slider(0, 9, unit="workers"), prefetch_factor=[1, 2, 4])
    one.save(tmp_path / "workers.html")
    with browser.visit() as visit:
        page: Any = visit.page
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(
            f"{(tmp_path / 'workers.html').as_uri()}#workers=2&prefetch_factor=1&nonsense=7"
        )
        page.locator("rect.lk-bar").first.wait_for()

        def figure(**values: int) -> str:
            return str(one.picture(values)[1]["figures"][1][0])

        assert page.locator(".lk-figures b").nth(1).inner_text() == figure(
            workers=2, prefetch_factor=1
        )
        page.locator("[data-name=workers]").press("ArrowRight")
        wanted = figure(workers=3, prefetch_factor=1)
        page.locator(".lk-figures b", has_text=wanted).wait_for()
        assert page.url.endswith("#workers=3&prefetch_factor=1")
        assert not page.get_by_role("button", name="Run this pipeline").count()
        page.evaluate("() => { location.hash = 'workers=9' }")
        page.locator(
            ".lk-figures b", has_text=figure(workers=9, prefetch_factor=1)
        ).wait_for()
        page.evaluate("() => { location.hash = 'constructor=1' }")  # no name of a control
        assert (
            page.get_by_role("slider", name="workers").get_attribute("aria-valuetext")
            == "9 workers"
        )
        assert len(asked) == 1
    assert not visit.errors


def two_of_ten() -> Explore:
    return shown(workers=slider(0, 9, unit="workers"), prefetch_factor=slider(1, 10))


def framed(folder: Path) -> str:
    """The address of a page with a picture in it, as a course or slides would have it."""
    two_of_ten().save(folder / "workers.html")
    inside = html.escape((folder / "workers.html").read_text(encoding="utf-8"))
    style = "<style>:root { color-scheme: light dark }</style>"
    frame = f'<iframe title="workers" width="900" height="700" srcdoc="{inside}"></iframe>'
    page = f"<!DOCTYPE html>{style}{frame}"
    (folder / "page.html").write_text(page, encoding="utf-8")
    return (folder / "page.html").as_uri()


def figure(**values: int) -> str:
    """How long a run takes, as the picture says it."""
    return str(two_of_ten().picture({"prefetch_factor": 2} | values)[1]["figures"][1][0])


@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_in_a_frame_a_step_is_drawn_in_the_next_frame_without_a_request(
    browser: Browser, tmp_path: Path, scheme: Any, is_dark: bool
) -> None:
    with browser.visit() as visit:
        page: Any = visit.page
        page.emulate_media(color_scheme=scheme)
        page.goto(framed(tmp_path))
        page.wait_for_function(ALIVE)
        assert page.evaluate(FIGURE) == figure(workers=4)
        for workers in (5, 6, 7):
            assert page.evaluate(STEP) == figure(workers=workers)
        assert (page.evaluate(LIGHTNESS) < 128) == is_dark
        assert [url for url in visit.requests if url.startswith(("http", "ws"))] == []
    assert not visit.errors


def test_in_a_frame_without_any_rights_but_scripts_it_lives_as_well(
    browser: Browser, tmp_path: Path
) -> None:
    two_of_ten().save(tmp_path / "workers.html")
    frame = '<iframe sandbox="allow-scripts" src="workers.html" width="900" height="700">'
    page = f"<!DOCTYPE html>{frame}</iframe>"
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with browser.visit() as visit:
        visit.page.goto((tmp_path / "page.html").as_uri())
        inside = visit.page.frame_locator("iframe")
        inside.locator("[data-name=workers]").press("ArrowRight")
        inside.locator(".lk-figures b", has_text=figure(workers=5)).wait_for()
        assert len(visit.requests) == 2  # the page and the picture
    assert not visit.errors


@pytest.mark.skipif(not find_firefox(), reason="there is no Firefox here")
def test_in_a_frame_it_lives_in_firefox(tmp_path: Path) -> None:
    with firefox() as page:
        page.open(framed(tmp_path))
        page.wait_for(ALIVE, 60)
        for workers in (5, 6, 7):
            assert page.evaluate(STEP) == figure(workers=workers)
        assert [url for url in page.requests if url.startswith(("http", "ws"))] == []
        assert page.errors == []
