import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BAND,
  BOTTOM,
  GAP,
  heightsOf,
  TOP,
} from "../../lessonkit/widgets/page/pictures/heights.js";
import { sceneOf } from "./support/page.js";

const row = (lanes) => ({ stage: "Map", lanes, colour: "" });
const barsOf = (kinds) => ({ row: kinds.map((_, index) => index), kind: kinds });

test("rows share the height by their lanes", () => {
  const scene = sceneOf({ rows: [row(1), row(3)], bars: barsOf(["", ""]) });
  const { lane, tops, floor, height } = heightsOf(scene, 220, false);
  assert.equal(lane, (220 - TOP - BOTTOM - 2 * GAP) / 4);
  assert.deepEqual(tops, [TOP + GAP / 2, TOP + GAP / 2 + lane + GAP]);
  assert.equal(floor, TOP + 4 * lane + 2 * GAP);
  assert.equal(height, 220);
});

test("a row of waits is lower than one of work, and a row of counts higher", () => {
  const scene = sceneOf({ rows: [row(1), row(1), row(1)], bars: barsOf(["idle", "", "count"]) });
  assert.deepEqual(heightsOf(scene, 220, false).shares, [0.4, 1, 1.6]);
});

test("under each row there is room for the band of a baseline run", () => {
  const scene = sceneOf({ rows: [row(1), row(1)], bars: barsOf(["", ""]) });
  const [first, second] = heightsOf(scene, 220, true).tops;
  const { lane } = heightsOf(scene, 220, true);
  assert.equal(second - first, lane + GAP + BAND);
});

test("a picture ends below its axis, however high it might be", () => {
  const scene = sceneOf({ rows: [row(1)], bars: barsOf([""]) });
  const { height, floor, lane } = heightsOf(scene, 480, false);
  assert.equal(lane, 38);
  assert.equal(height, floor + BOTTOM);
  assert.equal(floor, TOP + GAP + lane);
});

test("a picture grows until its labels have room, and no further", () => {
  const height = (lanes) => {
    return heightsOf(sceneOf({ rows: [row(lanes)], bars: barsOf([""]) }), 220, false).height;
  };
  assert.equal(height(4), 220);
  assert.equal(height(20), TOP + BOTTOM + GAP + 15 * 20);
  assert.equal(height(100), 480);
});

test("before there are bars, each lane is as high as any other", () => {
  assert.deepEqual(heightsOf({ rows: [row(2)] }, 100, false).shares, [1]);
});
