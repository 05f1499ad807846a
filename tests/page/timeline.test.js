import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Timeline } from "../../lessonkit/widgets/page/pictures/timeline.js";
import { openPage, sceneOf } from "./support/page.js";

beforeEach(() => {
  openPage();
});

const ROW = { stage: "Train", lanes: 1, colour: "#228b35" };
const BARS = {
  row: [0, 0],
  lane: [0, 0],
  start: [0, 60000],
  length: [50000, 50000],
  kind: ["", ""],
  label: ["0", "1"],
  note: ["", ""],
  level: [1, 1],
  cause: [-1, -1],
  who: [1, 2],
};

test("no line goes through the times of the playhead and of the other run", () => {
  const timeline = new Timeline({ height: 220 });
  const scene = sceneOf({ end: 110000, rows: [ROW], bars: BARS, epochs: [0, 60000] });
  timeline.limit = 95000;
  timeline.other = scene;
  timeline.isPinned = true;
  timeline.draw(scene, 800);
  const lines = [...timeline.svg.querySelectorAll(".lk-grid .lk-epoch, .lk-grid .lk-limit")];
  assert.equal(lines.length, 6); // two epochs and the limit, each in two parts
  const number = (node, name) => Number(node.getAttribute(name));
  // A text stands on its line, and letters are at most 10 pixels high and 3 deep.
  const [ended] = timeline.layer.ghosts.querySelectorAll("text");
  for (const line of lines) {
    const [top, bottom] = [number(line, "y1"), number(line, "y2")];
    const baseline = number(ended, "y");
    assert.ok(bottom <= baseline - 10 || top >= baseline + 3, `${top} to ${bottom}`);
  }
});
