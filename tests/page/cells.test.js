import assert from "node:assert/strict";
import { test } from "node:test";
import { mainOf } from "../../delivery/site/page/cells.js";

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
