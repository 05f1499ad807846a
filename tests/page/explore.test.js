import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Life } from "../../lessonkit/widgets/page/base/life.js";
import { Task } from "../../lessonkit/widgets/page/challenge/task.js";
import { Controls } from "../../lessonkit/widgets/page/explore/controls.js";
import { Explore } from "../../lessonkit/widgets/page/explore/explore.js";
import { HeatMap, numbered } from "../../lessonkit/widgets/page/explore/heat_map.js";
import { Clock, Model, openPage, sceneOf } from "./support/page.js";

const CALLS = {
  name: "calls",
  label: "calls",
  kind: "range",
  texts: ["1", "2", "3", "4"],
  value: 1,
};
const ORDER = {
  name: "order",
  label: "order",
  kind: "order",
  texts: ["map", "batch"],
  value: [0, 1],
};
const STATE = {
  scene: null,
  pinned: null,
  error: "",
  controls: [CALLS],
  task: null,
  formula: null,
};

let page;
let clock;
let model;

beforeEach(() => {
  page = openPage();
  clock = new Clock();
});

function explore(more = {}) {
  model = new Model({ state: JSON.stringify({ ...STATE, ...more }) });
  const el = page.document.createElement("div");
  return new Explore(new Life(model), el);
}

test("each language shows its program, and ours is open", () => {
  const made = explore();
  made.showCode({ lessonkit: "from lessonkit", torch: "import torch" });
  const blocks = [...made.panel.querySelectorAll("details")];
  assert.deepEqual(
    blocks.map((one) => [one.hasAttribute("open"), one.querySelector("pre").textContent]),
    [
      [true, "from lessonkit"],
      [false, "import torch"],
    ],
  );
});

test("a file of its own asks no kernel: it has no code and no real run", () => {
  const texts = (made) => made.view.tools.textContent;
  assert.match(texts(explore()), /run for real/);
  assert.doesNotMatch(texts(explore({ alone: true })), /run for real|code/);
});

test("a kernel that is silent is said to be, and not before it had time", () => {
  const made = explore();
  made.ask("code");
  assert.equal(made.error.textContent, "");
  while (clock.goOn());
  assert.match(made.error.textContent, /^The kernel has not answered yet/);
});

test("a setting from a record is that of the same text, and the start where there is none", () => {
  const made = explore();
  assert.deepEqual(made.valuesOf({ calls: "4" }), { calls: 3 });
  assert.deepEqual(made.valuesOf({ calls: "40" }), { calls: 1 });
  assert.deepEqual(made.settings({ calls: 2 }), { calls: "3" });
});

test("what is near a value comes in the order in which a hand reaches it", () => {
  const controls = new Controls([CALLS, ORDER], () => {});
  assert.deepEqual(controls.near("calls"), [0, 2, 3]);
  assert.deepEqual(controls.near("order"), []);
});

test("cards change places with the arrow keys", () => {
  const turned = [];
  const controls = new Controls([ORDER], (name, isAtRest) => turned.push([name, isAtRest]));
  const [first] = controls.node.querySelectorAll("button");
  const press = (key) => {
    first.dispatchEvent(Object.assign(new page.document.defaultView.Event("keydown"), { key }));
  };
  press("ArrowRight");
  assert.deepEqual(controls.values.order, [1, 0]);
  press("ArrowRight"); // there is nothing after the last
  assert.deepEqual(controls.values.order, [1, 0]);
  assert.deepEqual(turned, [["order", true]]);
});

test("before anything was tried a goal that is not met is open, and then missed", () => {
  const task = new Task({ text: "Be quick.", goals: ["total"], hints: [] });
  const goals = [
    [true, "total: 1 s"],
    [false, "memory: 2 MB"],
  ];
  const texts = () => task.goals.textContent;
  task.judge({ passed: false, goals, message: "Not yet. Memory." }, false);
  assert.equal(texts(), "✓ total: 1 s○ memory: 2 MB");
  task.judge({ passed: false, goals, message: "Not yet. Memory." });
  assert.equal(texts(), "✓ total: 1 s✗ memory: 2 MB");
  assert.match(task.said.textContent, /You meet 1 of 2 goals/);
  assert.equal("solved" in task.node.dataset, false);
  task.judge({ passed: true, goals, message: "Passed." });
  assert.equal("solved" in task.node.dataset, true);
});

test("hints come one by one, and the button says how many are left", () => {
  let asked = 0;
  const count = () => {
    asked += 1;
  };
  const task = new Task({ text: "", goals: [], hints: ["one", "two"] }, count);
  assert.equal(task.more.textContent, "hint (2)");
  task.more.click();
  assert.equal(task.shown.textContent, "one");
  assert.equal(task.more.textContent, "hint (1)");
  task.more.click();
  assert.equal(task.more.disabled, true);
  assert.equal(asked, 2);
});

test("a step of the tuner has its number, and all numbers where it comes back", () => {
  const step = (square, why) => ({ square, seconds: 1, text: "1 s", why });
  const steps = [
    step([0, 0], "Taken: first."),
    step([1, 0], "Not taken: slower."),
    step([0, 0], "Taken: back."),
  ];
  assert.deepEqual(
    numbered(steps).map(({ tuner, outcome }) => [tuner, outcome]),
    [
      ["1", "taken"],
      ["2", "not taken"],
      ["1, 3", "taken"],
    ],
  );
  assert.equal(numbered([step([0, 0], "")])[0].tuner, undefined); // a hand lit it
});

test("a square tells its time, and the steps of the tuner that led there", () => {
  const knob = (name) => ({ name, label: name, kind: "range", texts: ["1", "2"], value: 0 });
  const state = JSON.stringify({ knobs: [knob("decode"), knob("augment")] });
  model = new Model({ state });
  const map = new HeatMap(new Life(model), page.document.createElement("div"));
  const nameOf = (x, y) => map.squares[x][y].node.getAttribute("aria-label");
  assert.equal(nameOf(1, 0), "decode 2, augment 1: not known yet");
  const step = (square, text, why) => ({ square, seconds: Number(text), text, why });
  const steps = [step([1, 0], "2", "Not taken: slower."), step([1, 0], "2", "Taken: fewer calls.")];
  model.say({ about: "walk", steps: [step([1, 0], "2", "")] }); // by a hand
  assert.equal(nameOf(1, 0), "decode 2, augment 1: 2 per sample");
  model.say({ about: "walk", steps });
  while (clock.goOn());
  assert.equal(nameOf(1, 0), "decode 2, augment 1: 2 per sample, steps 1, 2 of the tuner, taken");
  assert.equal(map.said.textContent, "decode 2, augment 1: 2 per sample. Taken: fewer calls.");
  model.say({ about: "walk", steps: [step([1, 0], "2", "")] }); // who lights it once more
  assert.match(nameOf(1, 0), /steps 1, 2 of the tuner, taken$/);
});

test("arrow keys lead from square to square, and not out of the map", () => {
  const knob = (name) => ({ name, label: name, kind: "range", texts: ["1", "2"], value: 0 });
  model = new Model({ state: JSON.stringify({ knobs: [knob("decode"), knob("augment")] }) });
  const map = new HeatMap(new Life(model), page.document.createElement("div"));
  const press = (key, [x, y]) => {
    const target = map.squares[x][y].node;
    map.key({ key, target, preventDefault() {}, stopPropagation() {} });
  };
  const reached = () => {
    const squares = map.squares.flat();
    return squares
      .filter(({ node }) => node.getAttribute("tabindex") === "0")
      .map(({ label }) => label);
  };
  press("ArrowUp", [0, 0]);
  assert.deepEqual(reached(), ["decode 1, augment 2"]);
  press("ArrowUp", [0, 1]);
  press("ArrowLeft", [0, 1]);
  assert.deepEqual(reached(), ["decode 1, augment 2"]);
});

test("the baseline run is that of the picture, or of the start; one that is set stays", () => {
  const ofHttp = sceneOf({ summary: "http" });
  const made = explore({ pinned: sceneOf({ summary: "images" }) });
  made.view.draw = (scene) => {
    made.view.scene = scene; // linkedom has no lists to choose from
  };
  const beside = (more) => {
    made.show(sceneOf(more), { calls: 2 });
    return made.view.pinned?.summary;
  };
  assert.equal(beside({ pinned: ofHttp }), "http");
  assert.equal(beside({ pinned: null }), undefined); // that pipeline has none
  assert.equal(beside({}), "images");
  beside({ summary: "mine" });
  made.pin();
  assert.equal(beside({ pinned: ofHttp }), "mine");
  made.reset();
  assert.equal(beside({ pinned: ofHttp }), "http");
});
