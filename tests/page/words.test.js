import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  counted,
  filled,
  journey,
  sentence,
  who,
  worded,
} from "../../lessonkit/widgets/page/pictures/words.js";
import { sceneOf } from "./support/page.js";

const SCENE = sceneOf({
  rows: [{ stage: "Open" }, { stage: "Read" }, { stage: "Train" }, { stage: "Queue" }],
  waits: {
    idle: { mark: "/", legend: "waits for input", sentence: "It waits for {}." },
    full: { mark: "x", legend: "buffer full", sentence: "There is no free slot in {}." },
  },
  bars: {
    row: [0, 1, 2, 2, 1, 3, 1],
    start: [0, 30000, 50000, 45000, 45000, 0, 70000],
    length: [30000, 15000, 10000, 5000, 5000, 1000, 1000],
    kind: ["", "", "", "idle", "full", "count", "start"],
    label: ["A", "0", "3", "5 ms", "5 ms", "2", "w"],
    note: ["", "", "0, 1", "prefetch(1)", "Slow: 2 calls", "", ""],
    cause: [-1, 0, 1, -1, -1, -1, -1],
    who: [5, 1, [1, 2], 0, 0, 0, 0],
  },
});

test("a bar says on what it works: a file, a sample, or a batch and its samples", () => {
  assert.deepEqual(
    [0, 1, 2].map((bar) => who(SCENE, bar)),
    ["Open, file A", "Read, sample 0", "Train, batch 3 (0, 1)"],
  );
  assert.equal(who({ ...SCENE, unit: "elements" }, 1), "Read, element 0");
});

test("work says when it was, and what it had to wait for", () => {
  assert.deepEqual(sentence(SCENE, 0), {
    subject: "Open, file A:",
    rest: "30 ms, from 0 ms to 30 ms. It began immediately.",
  });
  assert.match(sentence(SCENE, 1).rest, /It began when Open, file A ended\.$/);
  assert.match(sentence(SCENE, 2).rest, /It began 5 ms after Read, sample 0 ended\.$/);
});

test("a wait says for what, and a buffer is named without the number of its calls", () => {
  assert.deepEqual(sentence(SCENE, 3), {
    subject: "The accelerator waits 5 ms, from 45 ms to 50 ms.",
    rest: "It waits for prefetch(1).",
  });
  assert.equal(sentence(SCENE, 4).rest, "There is no free slot in Slow.");
  assert.equal(filled("{}", "$&: 2 calls"), "$&"); // it is no pattern
});

test("a count agrees with its number", () => {
  assert.equal(counted(SCENE, 5), "2 index lists");
  const one = sceneOf({ rows: [{ stage: "Ready" }], bars: { row: [0], label: ["1"] } });
  assert.equal(counted(one, 0), "1 batch");
});

test("a journey has the bars of the same sample, those of its batch among them", () => {
  assert.deepEqual([...journey(SCENE, 1)], [1, 2]);
  assert.deepEqual([...journey(SCENE, 0)], [0]);
  assert.deepEqual([...journey(SCENE, 3)], [3]); // what works on no sample shares none
});

// Python writes what it sends by the same rule: tests/package/test_words.py reads this, too.
const NAMES = JSON.parse(readFileSync(new URL("names.json", import.meta.url), "utf8"));

for (const [text, words, said] of NAMES) {
  test(`in the words of a page: ${text}`, () => assert.equal(worded(text, words), said));
}

test("a bar is told in the words of its page", () => {
  const scene = { ...SCENE, words: { accelerator: "GPU", sample: "batch" } };
  assert.match(sentence(scene, 3).subject, /^The GPU waits/);
  assert.match(sentence(scene, 1).subject, /^Read, batch 0:/);
});
