import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Life } from "../../lessonkit/widgets/page/base/life.js";
import { answerOf } from "../../lessonkit/widgets/page/questions/index.js";
import { lanesOf } from "../../lessonkit/widgets/page/questions/placing.js";
import { Model, openPage } from "./support/page.js";

let changes;
let commits;
let page;

beforeEach(() => {
  page = openPage();
  changes = 0;
  commits = 0;
});

function made(kind, state) {
  const changed = () => {
    changes += 1;
  };
  const commit = () => {
    commits += 1;
  };
  const Answer = answerOf(kind);
  const answer = new Answer(new Life(new Model()), state, { changed, commit });
  page.resize();
  return answer;
}

const keyOf = (key, target, more = {}) => {
  return { key, target, preventDefault() {}, stopPropagation() {}, ...more };
};

test("a kind that the page does not know is an error that names those it knows", () => {
  assert.throws(() => answerOf("cards"), {
    message: 'kind="cards": must be one of number, choice, placing, curve',
  });
});

test("a number is what stands in the field, and -1 for nothing", () => {
  const answer = made("number", { unit: "ms", tolerance: "within 2 %" });
  assert.equal(answer.get(), -1);
  answer.set(210);
  assert.equal(answer.get(), 210);
  for (const nothing of [-5, "210", null, Number.NaN]) {
    answer.set(nothing);
    assert.equal(answer.get(), -1);
  }
  assert.equal(answer.input.getAttribute("aria-label"), "Your answer in ms");
  answer.input.dispatchEvent(new CustomEvent("keydown")); // with Enter one commits to it
  assert.equal(commits, 1);
});

test("a choice is the number of the text that is chosen, and -1 for none", () => {
  const answer = made("choice", { choices: ["this", "that"] });
  assert.equal(answer.get(), -1);
  answer.set(1);
  assert.equal(answer.get(), 1);
  answer.set(undefined);
  assert.equal(answer.get(), -1);
  assert.equal(answer.node.className, "lk-choices");
});

test("choices that are sentences stand below each other", () => {
  const { node } = made("choice", { choices: ["The reading decides it.", "no"] });
  assert.equal(node.className, "lk-choices lk-sentences");
});

// ---- bars to place ----

const ROWS = [
  { stage: "Read", lanes: 2, colour: "#4580bd" },
  { stage: "Train", lanes: 1, colour: "#238a35" },
];
const BARS = [
  { row: 0, label: "0", length: 4, name: "Read 0" },
  { row: 0, label: "1", length: 4, name: "Read 1" },
  { row: 1, label: "0", length: 2, name: "Train 0" },
];
const placing = () => made("placing", { rows: ROWS, bars: BARS, given: [], step: 5000, steps: 12 });

test("a bar takes the first lane of its row that is free", () => {
  const lanes = (places, held = -1) => lanesOf(BARS, places, ROWS, held, [0, 0, 0]);
  assert.deepEqual(lanes([0, 4, 0]), [0, 0, 0]);
  assert.deepEqual(lanes([0, 3, 0]), [0, 1, 0]);
  assert.deepEqual(lanes([0, -1, 0]), [0, 0, 0]);
});

test("a bar that is held takes no lane from another", () => {
  assert.deepEqual(lanesOf(BARS, [0, 3, -1], ROWS, 0, [0, 0, 0]), [1, 0, 0]);
});

test("a bar lies on another one where no lane is free", () => {
  const one = [{ ...ROWS[0], lanes: 1 }, ROWS[1]];
  assert.deepEqual(lanesOf(BARS, [0, 3, -1], one, -1, [0, 0, 0]), [0, 0, 0]);
});

test("keys pick a bar up, move it, and put it down", () => {
  const answer = placing();
  const { node } = answer.toPlace[0];
  const press = (key, more) => answer.key(keyOf(key, node, more));
  assert.deepEqual(answer.get(), [-1, -1, -1]);
  press("Enter");
  press("ArrowRight");
  press("ArrowRight", { shiftKey: true });
  assert.equal(changes, 0);
  press("Enter");
  assert.deepEqual(answer.get(), [6, -1, -1]);
  assert.equal(changes, 1);
  assert.equal(answer.said.textContent, "Read 0 is put down: from 30 ms to 50 ms.");
});

test("a bar stays within the axis", () => {
  const answer = placing();
  const { node } = answer.toPlace[0];
  answer.key(keyOf("Enter", node));
  for (let time = 0; time < 4; time++) answer.key(keyOf("ArrowRight", node, { shiftKey: true }));
  assert.equal(answer.get()[0], 8); // it ends with the axis
  answer.key(keyOf("ArrowLeft", node, { shiftKey: true }));
  answer.key(keyOf("ArrowLeft", node, { shiftKey: true }));
  assert.equal(answer.get()[0], 0);
});

test("Escape takes a bar back to where it was, and Delete into the tray", () => {
  const answer = placing();
  answer.set([3, -1, -1]);
  const { node } = answer.toPlace[0];
  answer.key(keyOf("Enter", node));
  answer.key(keyOf("ArrowRight", node));
  answer.key(keyOf("Escape", node));
  assert.deepEqual(answer.get(), [3, -1, -1]);
  answer.key(keyOf("Enter", node));
  answer.key(keyOf("Delete", node));
  assert.deepEqual(answer.get(), [-1, -1, -1]);
});

test("an answer from a record fits the axis, or stays in the tray", () => {
  const answer = placing();
  answer.set([99, "1", 2]);
  assert.deepEqual(answer.get(), [8, -1, 2]);
  answer.set([1, 2]); // of another question
  answer.set(null);
  assert.deepEqual(answer.get(), [8, -1, 2]);
});

test("when they are corrected, the bars of the learner stay as outlines", () => {
  const answer = placing();
  answer.set([1, -1, 2]);
  answer.correct({ truth: [0, 4, 8] });
  assert.deepEqual(answer.placed, [
    { row: 0, lane: 0, start: 5000, length: 20000 },
    { row: 1, lane: 0, start: 10000, length: 10000 },
  ]);
  assert.deepEqual(answer.get(), [0, 4, 8]);
});

// ---- a curve to draw ----

const CURVE = {
  knob: "calls",
  values: ["1", "2", "3"],
  first: 80,
  steps: 100,
  step: 2,
  unit: "ms",
};
const curve = () => made("curve", CURVE);

test("a point that is not drawn begins where the one before it is", () => {
  const answer = curve();
  answer.key(keyOf("ArrowDown"), 0);
  assert.deepEqual(answer.get(), [79, -1]);
  answer.key(keyOf("Enter"), 1);
  assert.deepEqual(answer.get(), [79, 79]);
  answer.key(keyOf("PageDown"), 1);
  assert.deepEqual(answer.get(), [79, 69]);
  assert.equal(changes, 3);
});

test("Home and End bring a point to the ends of its axis, and scroll no page", () => {
  const answer = made("curve", CURVE);
  let taken = 0;
  const press = (key) => {
    const event = keyOf(key, answer.points[0]);
    answer.key({ ...event, preventDefault: () => (taken += 1) }, 0);
    return answer.get()[0];
  };
  assert.deepEqual([press("End"), press("Home")], [CURVE.steps, 0]);
  assert.equal(taken, 2);
});

test("a point is named as one says it", () => {
  const name = (knob) => made("curve", { ...CURVE, knob }).points[0].getAttribute("aria-label");
  const [, second] = CURVE.values;
  assert.equal(name("calls"), `${second} calls`);
  assert.equal(name("prefetch_factor"), `prefetch factor ${second}`);
});

test("a point stays within the axis", () => {
  const answer = curve();
  answer.put(0, 140);
  answer.put(1, -3);
  assert.deepEqual(answer.get(), [100, 0]);
});

test("a curve from a record fits the axis, or is not drawn", () => {
  const answer = curve();
  answer.set([140, 1.5]);
  assert.deepEqual(answer.get(), [100, -1]);
  answer.set([1]);
  assert.deepEqual(answer.get(), [100, -1]);
});

test("the line goes through the points that are drawn, and leaves out the others", () => {
  const answer = curve();
  const [first, second, third] = [0, 1, 2].map((point) => answer.x(point));
  assert.equal(answer.path([0, 100, 0]), `M${first},220L${second},20L${third},220`);
  assert.equal(answer.path([0, -1, 100]), `M${first},220M${third},20`);
});

test("the true curve has its knee, and the least limit if the given point is above it", () => {
  const answer = curve();
  const limits = [
    [30, "Read"],
    [20, "Train"],
  ];
  answer.correct({ truth: [40, 40], knee: 1, limits });
  assert.match(answer.truth.textContent, /knee: calls=2/);
  assert.match(answer.truth.textContent, /limit: 40 ms/);
  const other = curve();
  other.correct({ truth: [40, 20], knee: 2, limits: [[90, "Read"]] });
  assert.doesNotMatch(other.truth.textContent, /knee|limit/);
});
