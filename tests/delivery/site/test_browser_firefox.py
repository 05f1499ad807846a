"""The site in Firefox: its first page, and a lesson from before Python until its sliders live."""

import json

import pytest
from support.firefox import Firefox, firefox
from support.school import KNOB, LESSONS, PATIENT, READY, Site

from tools.browser import COMPLAINTS

STEP_UP = """(slider) => {
    slider.stepUp();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""
FRAME = "document.querySelector('iframe').contentDocument"
# Takes the second choice of the first question, and says how sure.
GUESS = """(() => {
    const card = document.querySelector("#lessons-opening .lk-predict");
    for (const [index, group] of card.querySelectorAll("fieldset").entries()) {
        group.querySelectorAll("input")[1 - index].click();
    }
    card.querySelector("button.lk-primary").click();
})()"""
TRIED = "document.querySelector('.jp-Notebook .lk-tries')?.textContent ?? ''"


def text(selector: str) -> str:
    """What an element says, as an expression."""
    return f"(document.querySelector({json.dumps(selector)})?.textContent ?? '')"


def assert_clean(page: Firefox) -> None:
    """Nothing has failed, and nothing was asked of another server."""
    assert page.errors == []
    assert page.elsewhere() == []


@pytest.mark.long
def test_the_first_page_asks_and_answers_in_firefox(site: Site) -> None:
    with firefox() as page:
        page.open(f"{site.address}/index.html")
        page.wait_for(f"{FRAME}.querySelector('rect.lk-bar') !== null", PATIENT)
        page.evaluate(
            "document.querySelector('#lessons-guess button[value=\"8\"]').click()"
        )
        page.wait_for(f"{text('#lessons-verdict')}.includes('8 is right')", PATIENT)
        page.wait_for(
            f"{FRAME}.querySelector('output').textContent === '8 workers'", PATIENT
        )
        assert page.evaluate("document.querySelectorAll('#lessons-row li').length") == len(
            LESSONS
        )
        assert_clean(page)


@pytest.mark.long
def test_the_first_lesson_lives_in_firefox(site: Site) -> None:
    with firefox() as page:
        page.open(site.lesson(LESSONS[0]))
        page.wait_for(
            "document.querySelector('#lessons-opening .lk-predict') !== null", PATIENT
        )
        page.evaluate(GUESS)
        page.wait_for(f"{text('#lessons-opening .lk-tries')}.includes('✗')", PATIENT)
        page.wait_for(
            f"{text('#lessons-line [role=status]')} === {json.dumps(READY)}", PATIENT
        )
        page.wait_for("document.querySelector('#lessons-opening') === null", PATIENT)
        # What was answered before Python was there is answered here, too
        page.wait_for(f"{TRIED}.includes('✗')", PATIENT)
        assert not page.evaluate(
            f"document.querySelector({json.dumps(COMPLAINTS)})?.textContent"
        )
        page.evaluate("document.querySelector('.lk-predict button:last-of-type').click()")
        slider = f"document.querySelector('.jp-Notebook .lk:has(.lk-figures) {KNOB}')"
        figures = f"{slider}.closest('.lk').querySelector('.lk-figures').textContent"
        before = page.evaluate(figures)
        page.evaluate(f"({STEP_UP})({slider})")
        page.wait_for(f"{figures} !== {json.dumps(before)}", PATIENT)
        assert_clean(page)
