import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Life } from "../../lessonkit/widgets/page/base/life.js";
import { Challenge, Outcome } from "../../lessonkit/widgets/page/challenge/challenge.js";
import { cellOfAttempt } from "../../lessonkit/widgets/page/challenge/check.js";
import { Clock, Model, openPage } from "./support/page.js";

const TASK = { text: "Be quick.", goals: ["total: at most 1 s"], hints: [] };
const MISSED = [[false, "total: 2 s (at most 1 s), over by 1 s"]];
const CELLS = ["task = challenge()", "x = 1", "task.check(mine)", "other.check(mine)"];

let page;

beforeEach(() => {
  const cells = CELLS.map(() => `<div class="jp-Cell"><div class="output"></div></div>`);
  page = openPage({ body: `<div class="jp-Notebook">${cells.join("")}</div>` });
  Object.assign(globalThis, { innerHeight: 800, addEventListener() {} });
  new Clock();
});

const nodes = () => [...page.document.querySelectorAll(".jp-Cell")];
const models = { get: (index) => ({ sharedModel: { getSource: () => CELLS[index] } }) };

function shown(Kind, place, state) {
  const model = new Model({ state: JSON.stringify(state) });
  const manager = { context: { path: "a.ipynb", model: { cells: models } } };
  const el = nodes()[place].querySelector(".output");
  el.replaceChildren();
  new Kind(new Life(Object.assign(model, { widget_manager: manager })), el);
  return el;
}

const outcome = (more = {}) => {
  const { remark, goals = MISSED, ...state } = more;
  const verdict = { passed: false, goals, message: "Not yet. Total.", remark };
  return shown(Outcome, 2, { question: TASK.text, verdict, scene: null, tried: false, ...state });
};

const said = (el) => el.querySelector(".lk-verdict").textContent;

test("the cell of an attempt is the first that checks, at the card or after it", () => {
  const at = (place) => nodes().indexOf(cellOfAttempt(nodes()[place].firstChild, models));
  assert.deepEqual([0, 1, 2, 3].map(at), [2, 2, 2, 3]);
  assert.equal(cellOfAttempt(nodes()[0].firstChild, undefined), undefined); // no editor
});

test("check chooses the cell and presses the keys that run it and stay there", () => {
  const card = shown(Challenge, 0, { task: TASK });
  const done = [];
  nodes()[2].focus = (how) => done.push(how);
  nodes()[2].addEventListener("keydown", ({ key, keyCode, ctrlKey }) => {
    done.push({ key, keyCode, ctrlKey });
  });
  globalThis.KeyboardEvent = class extends page.document.defaultView.Event {
    constructor(type, given) {
      super(type, given);
      Object.assign(this, given);
    }
  };
  const check = [...card.querySelectorAll("button")].find((one) => one.textContent === "check");
  check.click();
  assert.deepEqual(done, [{ preventScroll: true }, { key: "Enter", keyCode: 13, ctrlKey: true }]);
});

test("where nothing can be run there is no check", () => {
  page.document.querySelector(".jp-Notebook").classList.remove("jp-Notebook");
  const model = new Model({ state: JSON.stringify({ task: TASK }) });
  const el = nodes()[0].firstChild;
  new Challenge(new Life(model), el);
  assert.equal(el.querySelector(".lk-tools button").hidden, true);
});

test("the code of the lesson is nobody's try, and has no verdict", () => {
  assert.equal(said(outcome()), "");
});

test("a try that changes no goal has an answer, and is in the record", () => {
  outcome();
  const words = "The same figures as before: this change makes no difference here.";
  assert.match(said(outcome({ tried: true, remark: words })), /^✗ The same figures as before: /);
  const [key] = Object.keys(page.localStorage);
  assert.equal(JSON.parse(page.localStorage.getItem(key)).tried, true);
  // After the page is loaded again, what was tried runs first
  assert.match(said(outcome()), /^✗ Not yet\./);
});

test("the card above the code tells the verdict, too, and its goals only below", () => {
  const card = shown(Challenge, 0, { task: TASK });
  assert.equal(card.querySelector(".lk-goals").hidden, false);
  outcome();
  assert.equal(card.querySelector(".lk-goals").hidden, true);
  assert.equal(said(card), "");
  outcome({ tried: true });
  assert.match(said(card), /^✗ Not yet\./);
  assert.equal("solved" in card.querySelector(".lk-task").dataset, false);
});
