import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { envelopeOf, isDense } from "../../lessonkit/widgets/page/pictures/envelope.js";
import { written } from "../../lessonkit/widgets/page/pictures/labels.js";

// Python draws stored pictures by the same rules: tests/pictures/test_labels.py reads this, too.
const { labels, envelopes } = JSON.parse(
  readFileSync(new URL("rows.json", import.meta.url), "utf8"),
);

for (const { what, bars, shown } of labels) {
  test(`labels: ${what}`, () => {
    const about = bars.map(([lane, label, middle, width]) => ({ lane, label, middle, width }));
    const found = written(about, (text) => 7 * text.length);
    assert.deepEqual(found.map(({ label }) => label).sort(), shown);
  });
}

for (const { what, bars, lanes, dense, from, step, shares } of envelopes) {
  test(`envelopes: ${what}`, () => {
    const work = bars.map(([lane, begin, to]) => ({ lane, from: begin, to }));
    assert.equal(isDense(work), dense);
    if (!dense) return;
    const found = envelopeOf(work, lanes);
    assert.equal(found.from, from);
    assert.equal(found.step, step);
    assert.deepEqual(
      found.shares.map((share) => Number(share.toFixed(6))),
      shares,
    );
  });
}
