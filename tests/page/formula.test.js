import assert from "node:assert/strict";
import { test } from "node:test";
import { repeats, stretched } from "../../lessonkit/widgets/page/explore/formula.js";
import { sceneOf } from "./support/page.js";

// Read 0, Read 1 right after it, Train 0 5 µs after Read 0, and a bar that waited for nothing.
const SCENE = sceneOf({
  bars: {
    row: [0, 0, 1, 1],
    start: [0, 10, 15, 40],
    length: [10, 10, 20, 5],
    cause: [-1, 0, 0, -1],
  },
});

test("a bar keeps its distance from what it waited for", () => {
  const { bars } = stretched(SCENE, [0, 1], 30);
  assert.deepEqual(bars.length, [30, 30, 20, 5]);
  assert.deepEqual(bars.start, [0, 30, 35, 40]);
});

test("the run itself stays as it was", () => {
  stretched(SCENE, [0], 30);
  assert.deepEqual(SCENE.bars.length, [10, 10, 20, 5]);
  assert.deepEqual(SCENE.bars.start, [0, 10, 15, 40]);
});

test("a cause is moved before what waited for it, in whatever order bars come", () => {
  const bars = { row: [1, 0], start: [10, 0], length: [5, 10], cause: [1, -1] };
  assert.deepEqual(stretched(sceneOf({ bars }), [1], 4).bars.start, [4, 0]);
});

test("of a chain of causes the bars of the same row count", () => {
  assert.equal(repeats(SCENE, 0), 1);
  assert.equal(repeats(SCENE, 1), 2);
  assert.equal(repeats(SCENE, 2), 1);
});
