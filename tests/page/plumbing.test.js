import assert from "node:assert/strict";
import { test } from "node:test";
import {
  heldAt,
  mostHeld,
  Plumbing,
  underWay,
} from "../../lessonkit/widgets/page/pictures/plumbing.js";
import { openPage, sceneOf } from "./support/page.js";

openPage();

// Two elements come into the first buffer, one leaves it; one comes into the second.
const EVENTS = {
  buffer: [0, 0, 1, 0],
  time: [10, 20, 20, 30],
  change: [1, 1, 1, -1],
  label: ["A", "B", "B", "A"],
  element: [1, 2, 2, 1],
};
const HOLDS = sceneOf({
  events: EVENTS,
  buffers: [
    { name: "prefetch(2)", capacity: 2 },
    { name: "cache()", capacity: null },
  ],
});

test("a buffer held at most as much as was in it at one time", () => {
  assert.equal(mostHeld(HOLDS.events, 0), 2);
  assert.equal(mostHeld(HOLDS.events, 1), 1);
});

test("what left a buffer is not in it, and the rest is in the order in which it came", () => {
  assert.deepEqual(heldAt(HOLDS, 9), [[], []]);
  assert.deepEqual(heldAt(HOLDS, 20), [["A", "B"], ["B"]]);
  assert.deepEqual(heldAt(HOLDS, 30), [["B"], ["B"]]);
});

const WORKS = sceneOf({
  rows: [{ stage: "Map", lanes: 2, colour: "#a68200" }],
  bars: {
    row: [0, 0, 0],
    lane: [1, 0, 0],
    start: [0, 10, 30],
    length: [20, 20, 10],
    kind: ["", "", "full"],
    label: ["0", "1", "10 ms"],
    note: ["", "", "prefetch(1): 2"],
  },
  waits: { full: { mark: "x", legend: "buffer full", sentence: "There is no free slot in {}." } },
  parts: [
    { name: "map", rows: [0], calls: 2, buffer: null },
    { name: "prefetch(2)", rows: [], calls: 1, buffer: 0 },
  ],
  buffers: HOLDS.buffers,
  events: HOLDS.events,
});

test("a bar is under way from its begin on, and no longer at its end", () => {
  assert.deepEqual(underWay(WORKS, 10), { working: [[0, 1]], waiting: [null] });
  assert.deepEqual(underWay(WORKS, 20), { working: [[1]], waiting: [null] });
  assert.deepEqual(underWay(WORKS, 30), { working: [[]], waiting: [2] });
});

test("a part says what it does, or what it waits for", () => {
  const plumbing = new Plumbing();
  plumbing.draw(WORKS);
  const said = () => plumbing.parts[0].said.textContent;
  plumbing.at(15);
  assert.equal(said(), "2 of 2 at work");
  assert.deepEqual(
    plumbing.parts[0].chips.map((chip) => chip.textContent),
    ["1", "0"], // each call in its lane
  );
  plumbing.at(35);
  assert.equal(said(), "There is no free slot in prefetch(1).");
  plumbing.at(50);
  assert.equal(said(), "nothing to do");
});

test("a part that only holds shows a slot for each element that it has room for", () => {
  const plumbing = new Plumbing();
  plumbing.draw(WORKS);
  plumbing.at(20);
  const [, part] = plumbing.parts;
  assert.deepEqual(
    part.slots.map((slot) => slot.textContent),
    ["A", "B"],
  );
  assert.equal(part.held.textContent, "2 of 2");
});
