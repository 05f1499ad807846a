import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { moments, rounds } from "../../lessonkit/widgets/page/base/axis.js";
import { cut, nearest, number, size, time } from "../../lessonkit/widgets/page/base/numbers.js";

// What `lessonkit/words.py` writes: tests/test_words.py holds that it does.
const written = JSON.parse(readFileSync(new URL("words.json", import.meta.url), "utf8"));

for (const [name, write] of Object.entries({ number, time, size })) {
  test(`a ${name} is written as Python writes it`, () => {
    const ours = written[name].map(([value]) => [value, write(value)]);
    assert.deepEqual(ours, written[name]);
  });
}

test("a number may have so many digits, and a half is then rounded up", () => {
  assert.equal(number(10.965, 2), "10.97");
  assert.equal(number(10.2, 2), "10.2");
});

test("a text that is too long ends in a mark", () => {
  assert.equal(cut("prefetch", 8), "prefetch");
  assert.equal(cut("prefetch", 7), "prefet…");
});

test("the nearest is the first of those that are least far away", () => {
  const steps = [10, 20, 30];
  assert.equal(
    nearest(steps, (step) => Math.abs(step - 25)),
    1,
  );
  assert.equal(
    nearest(steps, (step) => Math.abs(step - 26)),
    2,
  );
});

test("an axis has round numbers, about as many as are asked for", () => {
  assert.deepEqual(rounds(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(rounds(3, 100, 2), [50, 100]);
  assert.deepEqual(rounds(0, 30, 6, 10), [0, 10, 20, 30]); // none closer than they may be
});

test("the first moment of an axis names the unit of all", () => {
  assert.deepEqual(moments([0, 5000], 5000), [
    { at: 0, text: "0 ms" },
    { at: 5000, text: "5" },
  ]);
  assert.equal(moments([2e6], 1e7)[0].text, "2 s");
});
