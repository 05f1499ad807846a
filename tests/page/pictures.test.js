import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Life } from "../../lessonkit/widgets/page/base/life.js";
import { KEPT, Pictures, SLOW, SLOWEST } from "../../lessonkit/widgets/page/explore/pictures.js";
import { Clock, Model } from "./support/page.js";

// A kernel that answers at once, after having worked for `took` ms.
let model;
let clock;
let pictures;
let shown;
let took;

beforeEach(() => {
  clock = new Clock();
  model = new Model();
  shown = [];
  took = 0;
  pictures = new Pictures(new Life(model), {
    show: (_, values) => shown.push(values.value),
    late() {},
    refuse: (text) => shown.push(text),
  });
});

// Whether something was asked for; it is answered.
function asks(act) {
  const before = model.asked.length;
  act();
  if (model.asked.length === before) return false;
  model.say({ about: "picture", id: model.asked.at(-1).id, took }, {});
  return true;
}

const to = (value, near = []) => asks(() => pictures.want({ value }, true, near));
const valuesOf = (numbers) => numbers.map((value) => ({ value }));
const wanted = () => model.asked.map(({ values }) => values.value);

function rest(most = 1000) {
  while (model.asked.length < most) {
    let isDue = false;
    asks(() => {
      isDue = clock.goOn();
    });
    if (!isDue) return;
  }
}

test("what came once is not asked for again", () => {
  assert.equal(to(0), true);
  assert.equal(to(1), true);
  assert.equal(to(0), false);
  assert.deepEqual(shown, [0, 1, 0]);
});

test("the picture that was not seen for longest is let go", () => {
  for (let value = 0; value < 2 * KEPT; value++) {
    to(value);
    to(0);
  }
  assert.equal(pictures.kept.size, KEPT);
  assert.deepEqual([to(0), to(2 * KEPT - 1), to(KEPT + 1), to(KEPT)], [false, false, false, true]);
});

test("as many neighbours are fetched ahead as leave room for what was seen", () => {
  to(0, valuesOf([...Array(2 * KEPT).keys()]));
  rest(3 * KEPT);
  assert.equal(model.asked.length, KEPT / 2);
  assert.deepEqual([to(1), to(0)], [false, false]);
});

for (const [ms, ahead] of [
  [10, [6, 4, 7, 3]],
  [700, [6, 4]],
  [5000, []],
]) {
  test(`of pictures that take ${ms} ms, ${ahead.length} neighbours are fetched ahead`, () => {
    took = ms;
    to(0);
    to(5, valuesOf([6, 4, 7, 3]));
    rest();
    assert.deepEqual(wanted(), [0, 5, ...ahead]);
  });
}

test("what is next to a control is fetched when a hand comes to it", () => {
  pictures.expect(valuesOf([6, 4, 7, 3]));
  rest();
  assert.deepEqual(wanted(), [6, 4]);
  assert.equal(to(6), false);
});

test("what a hand wanted is asked for also when it comes to another control", () => {
  took = 2 * SLOWEST;
  to(0);
  to(1);
  pictures.want({ value: 2 }, false);
  pictures.expect(valuesOf([9]));
  rest();
  assert.equal(wanted().at(-1), 2);
});

test("only what is slow again and again waits until the hand rests", () => {
  const move = (value) => asks(() => pictures.want({ value }, false));
  const slow = 1.1 * SLOW;
  const asked = [0, slow, 0, slow, slow, 0].map((ms, value) => {
    took = ms;
    return move(value);
  });
  assert.deepEqual(asked, [true, true, true, true, true, false]);
});

test("a picture that comes late is not drawn after the one that is wanted now", () => {
  to(1);
  pictures.want({ value: 2 }, true);
  const { id } = model.asked.at(-1);
  pictures.want({ value: 1 }, true); // who turns back at once
  model.say({ about: "picture", id, took: 0 }, {});
  assert.deepEqual(shown, [1, 1]);
});

test("an error is told, and asked for again", () => {
  pictures.want({ value: 1 }, true);
  model.say({ about: "picture", id: model.asked.at(-1).id, took: 0 }, { error: "No such value." });
  assert.deepEqual(shown, ["No such value."]);
  assert.equal(to(1), true);
});

test("the picture of one rank is not that of another", () => {
  to(1);
  pictures.rank = 2;
  assert.equal(to(1), true);
  assert.equal(model.asked.at(-1).rank, 2);
});
