import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Life } from "../../lessonkit/widgets/page/base/life.js";
import { Question } from "../../lessonkit/widgets/page/questions/question.js";
import { Clock, Model, openPage } from "./support/page.js";

const STATE = {
  kind: "number",
  asks: "Predict",
  question: "How long?",
  sure: ["a guess", "fairly sure", "certain"],
  answer: { unit: "ms", tolerance: "" },
};
const WRONG = "Not 105 ms. That is one epoch.";

let page;
let clock;
let model;
let el;

beforeEach(() => {
  page = openPage({ body: `<div class="jp-Notebook"><div class="jp-Cell" id="cell"></div></div>` });
  clock = new Clock();
  model = new Model({ state: JSON.stringify(STATE) });
  el = page.document.getElementById("cell").appendChild(page.document.createElement("div"));
  const focus = () => {};
  for (const one of [page.document.defaultView.HTMLElement, page.document.defaultView.Element]) {
    if (one) one.prototype.focus = focus;
  }
  new Question(new Life(model), el);
});

const named = (text) => {
  return [...el.querySelectorAll("button")].find((one) => one.textContent === text);
};
const said = () => el.querySelector(".lk-verdict").textContent;
const records = () => Object.keys(page.localStorage).length;
const sure = () => [...el.querySelectorAll("[type=radio]")].map((one) => Boolean(one.checked));

// As a learner answers, and as the kernel does that judges all tries until now.
function answer(value, tries, text, right = false) {
  el.querySelector("[type=number]").value = value;
  el.querySelectorAll("[type=radio]")[2].checked = true;
  named("commit").click();
  model.say({ about: "verdict", right, tries }, { text });
}

test("how sure one is belongs to one answer: after a wrong one it is asked again", () => {
  answer(105, [["105 ms", "certain", false]], WRONG);
  assert.equal(said(), `✗ ${WRONG}`);
  assert.deepEqual(sure(), [false, false, false]);
  named("commit").click();
  assert.equal(said(), "Say how sure you are.");
});

test("a record that is judged again keeps how sure its answer was", () => {
  answer(210, [["210 ms", "certain", true]], "Right.", true);
  const tries = [
    { said: 105, sure: "certain", when: "" },
    { said: 210, sure: "certain", when: "" },
  ];
  const [key] = Object.keys(page.localStorage);
  const record = { ...JSON.parse(page.localStorage.getItem(key)), tries };
  page.localStorage.setItem(key, JSON.stringify(record));
  el.replaceChildren();
  model = new Model({ state: JSON.stringify(STATE) });
  new Question(new Life(model), el);
  const words = ["105 ms", "certain", false];
  model.say({ about: "verdict", right: false, tries: [words] }, { text: WRONG });
  assert.deepEqual(sure(), [false, false, true]);
});

test("tries that were forgotten can be brought back for a while", () => {
  const tries = [["210 ms", "certain", true]];
  answer(210, tries, "Right.", true);
  assert.equal(el.querySelector(".lk-predict").dataset.answered, "");
  named("ask me again").click();
  assert.equal(records(), 0);
  assert.equal("answered" in el.querySelector(".lk-predict").dataset, false);
  assert.equal(el.querySelector(".lk-undo").textContent, "Your tries are forgotten. undo");
  named("undo").click();
  assert.equal(el.querySelector(".lk-predict").dataset.answered, "");
  assert.equal(records(), 1);
  const committed = model.asked.filter((one) => one.do === "commit");
  assert.deepEqual(committed.at(-1), { do: "commit", said: 210, sure: 2, anew: true });
  model.say({ about: "verdict", right: true, tries }, { text: "Right." });
  assert.equal(said(), "✓ Right.");
});

test("a new answer, or half a minute, ends that", () => {
  const begin = () => {
    answer(210, [["210 ms", "certain", true]], "Right.", true);
    named("ask me again").click();
  };
  begin();
  answer(105, [["105 ms", "certain", false]], WRONG);
  assert.equal(named("undo"), undefined);
  begin();
  while (clock.goOn());
  assert.equal(named("undo"), undefined);
});

test("a section that is shown without an answer asks for the run of its question", () => {
  el.querySelector("[data-asks]").dispatchEvent(new page.document.defaultView.Event("lk-show"));
  assert.deepEqual(model.asked.at(-1), { do: "reveal" });
});
