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
  timeline.show.limit = true;
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

const drawn = (scene, width = 800) => {
  const timeline = new Timeline({ height: 220 });
  timeline.draw(scene, width);
  return timeline;
};

test("where a run could end is drawn when somebody asks, and not before", () => {
  const timeline = new Timeline({ height: 220 });
  timeline.limit = 95000;
  timeline.draw(sceneOf({ end: 110000, rows: [ROW], bars: BARS }), 800);
  const limits = () => timeline.svg.querySelectorAll(".lk-limit").length;
  assert.equal(limits(), 0);
  timeline.show.limit = true;
  timeline.draw();
  assert.equal(limits(), 3); // its name, and its line in two parts
});

// So many bars one after the other, each as long as the pause behind it.
function inTurn(count, length = 1000) {
  const bars = Array.from({ length: count }, (_, bar) => bar);
  const all = (value) => bars.map(() => value);
  return sceneOf({
    end: 2 * count * length,
    rows: [ROW],
    bars: {
      row: all(0),
      lane: all(0),
      start: bars.map((bar) => 2 * bar * length),
      length: all(length),
      kind: all(""),
      label: bars.map(String),
      note: all(""),
      level: all(1),
      cause: all(-1),
      who: bars,
    },
  });
}

test("of bars that nobody can tell apart the share of the time is drawn in which they work", () => {
  const timeline = drawn(inTurn(500));
  const shown = timeline.bars.filter(({ ofRect }) => !/lk-hidden/.test(String(ofRect.class)));
  assert.equal(shown.length, 0);
  const [{ d }] = [...timeline.layer.envelopes.children].map((node) => ({
    d: node.getAttribute("d"),
  }));
  const heights = [...d.matchAll(/V([\d.]+)/g)].map(([, y]) => Number(y));
  const floor = heights.pop();
  const high = timeline.highOf(0) - 2;
  for (const y of heights) assert.ok(Math.abs((floor - y) / high - 0.5) < 0.2, `${y}`);
  assert.match(timeline.keys.textContent, /share of time/);
});

test("bars that can be told apart are drawn one by one", () => {
  const timeline = drawn(inTurn(100));
  assert.equal(timeline.layer.envelopes.children.length, 0);
  assert.equal(timeline.keys.textContent, "");
});

test("a wait is a line in the middle of its lane, and a hand finds it in all of that", () => {
  const kind = ["", "idle"];
  const waits = { idle: { mark: "/", legend: "waits", sentence: "" } };
  const timeline = drawn(sceneOf({ end: 110000, rows: [ROW], waits, bars: { ...BARS, kind } }));
  const work = timeline.box(0);
  const wait = timeline.box(1);
  assert.equal(wait.height, 6);
  assert.ok(Math.abs(wait.y + 3 - (work.y + work.height / 2)) <= 3);
  assert.equal(timeline.at(wait.x + 5, work.y + 1), 1);
});
