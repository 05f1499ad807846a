import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { mainOf, waysOn } from "../../delivery/site/page/cells.js";

const lesson = (...sources) => sources.map((source) => ({ source }));

test("the main path of a lesson ends at Further, and not at a small heading before it", () => {
  const cells = lesson(
    "# 08",
    "### The job",
    "## Predict",
    "x = 1",
    "## Further\n\nMore.",
    "### Why",
  );
  assert.deepEqual(mainOf(cells), cells.slice(0, 4));
});

test("the main path of the field guide, which has no such heading, ends at its first section", () => {
  const cells = lesson(["# Field", " guide"], "import x", "### A worker dies", "y = 2");
  assert.deepEqual(mainOf(cells), cells.slice(0, 2));
});

test("a notebook without sections is all main path", () => {
  const cells = lesson("# Mine", "Further on, x", "x = 1");
  assert.deepEqual(mainOf(cells), cells);
});

test("a cell leads on to a lesson of each way that it names", () => {
  const one = { source: "So much for that.\n\nNext: [04 Cache](04_cache.ipynb)" };
  assert.deepEqual(waysOn(one), [{ text: "Next: 04 Cache", file: "04_cache.ipynb" }]);
  const two = {
    source: [
      "Next with PyTorch: [09 Workers](09.ipynb); ",
      "with tf.data: [02 Interleave](02.ipynb)",
    ],
  };
  assert.deepEqual(waysOn(two), [
    { text: "Next with PyTorch: 09 Workers", file: "09.ipynb" },
    { text: "with tf.data: 02 Interleave", file: "02.ipynb" },
  ]);
  assert.deepEqual(waysOn({ source: "See [lesson 04](04_cache.ipynb): it caches." }), []);
});

test("each lesson leads on, but for the last of each way, and its main path ends at Further", () => {
  const folder = new URL("../../notebooks/", import.meta.url);
  const names = readdirSync(folder).filter((name) => /^\d+_.*\.ipynb$/.test(name));
  const ends = [];
  for (const name of names.filter((one) => !one.includes("field_guide"))) {
    const { cells } = JSON.parse(readFileSync(new URL(name, folder), "utf-8"));
    const ways = cells.flatMap(waysOn);
    assert(ways.every(({ file }) => names.includes(file)));
    if (!ways.length) ends.push(name.slice(0, 2));
    assert.match([].concat(cells[mainOf(cells).length].source).join(""), /^## Further/);
  }
  assert.deepEqual(ends.sort(), ["08", "10"]);
});
