import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Roofs } from "../../lessonkit/widgets/page/pictures/roofs.js";
import { openPage } from "./support/page.js";

/** @type {Roofs} */
let roofs;

beforeEach(() => {
  openPage();
  roofs = new Roofs({ watched: (node) => node });
});

const sceneOf = (rates, run) => {
  const lowest = Math.min(...Object.values(rates));
  const parts = Object.entries(rates).map(([name, perSecond]) => {
    return { name, perSecond, lit: perSecond === lowest };
  });
  return { title: "roofs", words: "words", verdict: "verdict", parts, run };
};
const RATES = { storage: 4545, cores: 1600, copy: 79719, step: 3000 };
const all = (selector) => [...roofs.svg.querySelectorAll(selector)];
const heights = (selector) => all(selector).map((node) => Number(node.getAttribute("y1")));
const texts = () => all("text").map(({ textContent }) => textContent);

test("the run lies below the lowest roof, and the lowest one is lit", () => {
  roofs.show(sceneOf(RATES, 1073));
  const [run] = heights(".lk-run");
  const [lit] = heights(".lk-roof.lk-lit");
  const others = heights(".lk-roof:not(.lk-lit)");
  assert.ok(run > lit && others.every((height) => height < lit)); // pixels count downwards
  assert.deepEqual(
    all(".lk-bold").map(({ textContent }) => textContent),
    ["1,600", "cores"],
  );
});

test("equal factors are equal heights, and what is out of sight is at the upper end", () => {
  roofs.show(sceneOf({ reader: 100, cores: 200, GIL: 400, copy: 9e4, step: 8e4 }, 100));
  const [reader, cores, lock, copy, step] = heights(".lk-roof");
  assert.ok(Math.abs(reader - cores - (cores - lock)) < 1e-6);
  assert.equal(copy, step);
  assert.ok(texts().includes("90,000 ↑"));
});

test("the axis grows under a hand, and does not shrink again", () => {
  const scene = sceneOf(RATES, 1073);
  roofs.show(scene);
  const first = heights(".lk-roof");
  roofs.show(sceneOf(RATES, 400));
  const wider = heights(".lk-roof");
  roofs.show(scene);
  assert.notDeepEqual(first, wider);
  assert.deepEqual(heights(".lk-roof"), wider);
});

test("a baseline run is a line of its own, and how far it is to the roof is written", () => {
  roofs.show(sceneOf(RATES, 400), 300);
  assert.equal(all(".lk-run").length, 2);
  assert.ok(texts().includes("the baseline run: 300"));
  assert.ok(texts().includes("4×"));
  roofs.show(sceneOf(RATES, 400), 400);
  assert.equal(all(".lk-run").length, 1);
});

test("a run without samples has no roofs", () => {
  roofs.show(sceneOf(RATES, 400));
  roofs.show(undefined);
  assert.equal(roofs.node.hidden, true);
});

test("what it shows is said, and names of two words go on two lines where it is narrow", () => {
  roofs.show(sceneOf({ "slowest sample": 5, step: 9 }, 4));
  assert.equal(roofs.svg.getAttribute("aria-label"), "roofs: words");
  assert.ok(texts().includes("slowest sample"));
  roofs.draw(180);
  assert.ok(texts().includes("slowest") && texts().includes("sample"));
});
