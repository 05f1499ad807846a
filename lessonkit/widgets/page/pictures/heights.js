// How high the rows of a timeline are. They share the height that is wanted, as far as names and
// labels have room and no lane gets thicker than it need be. The picture ends below its axis: what a
// hand turns is above it, so nothing moves under the hand if the picture gets lower.

/** @typedef {import("../scene.js").Scene} Scene */

// In pixels.
export const TOP = 36;
export const BOTTOM = 26;
export const GAP = 9; // between two rows
export const BAND = 5; // of the baseline run, under each row
const ROW = 16; // a row's name needs so much
const LEGIBLE = 15; // of a lane whose bars are labelled
const TALLEST = 480; // of a picture that grows for that
const THICKEST = 38; // of a lane
const LEAST_FLOOR = 40; // from the top to the axis, where there are no rows

// Of the height of a lane.
const OF_WAITS = 0.4; // without work,
const OF_COUNTS = 1.6; // and with steps, each as high as what it counts

/**
 * @typedef {object} Heights
 * @property {number} height of the whole picture, which ends below its axis
 * @property {number} lane of a lane with work
 * @property {number[]} shares of each row's lanes, as parts of that
 * @property {number[]} tops of the rows
 * @property {number} floor where the axis is
 */

/**
 * @param {Pick<Scene, "rows"> & Partial<Pick<Scene, "bars">>} scene
 * @param {number} height that is wanted
 * @param {boolean} isPinned whether a band of the baseline run is under each row
 * @returns {Heights}
 */
export function heightsOf({ rows, bars }, height, isPinned) {
  const shares = bars ? sharesOf(bars, rows.length) : rows.map(() => 1);
  const lanes = rows.reduce((sum, row, index) => sum + row.lanes * shares[index], 0);
  const gap = GAP + (isPinned ? BAND : 0);
  const fixed = TOP + BOTTOM + gap * rows.length;
  const named = fixed + (ROW - gap) * rows.length;
  const legible = bars ? Math.min(TALLEST, fixed + LEGIBLE * lanes) : 0;
  const whole = Math.max(height, named, legible);
  const lane = Math.min(THICKEST, (whole - fixed) / Math.max(1, lanes));
  /** @type {number[]} */
  const tops = [];
  let top = TOP + GAP / 2;
  for (const [index, row] of rows.entries()) {
    tops.push(top);
    top += row.lanes * lane * shares[index] + gap;
  }
  const floor = Math.max(top - GAP / 2, TOP + LEAST_FLOOR);
  return { height: floor + BOTTOM, lane, shares, tops, floor };
}

/**
 * How high the lanes of each row are, by what is in them.
 * @param {import("../scene.js").BarColumns} bars
 * @param {number} count of rows
 */
function sharesOf({ row, kind }, count) {
  /** @type {Set<string>[]} */
  const kinds = Array.from({ length: count }, () => new Set());
  for (const [bar, its] of kind.entries()) kinds[row[bar]].add(its);
  return kinds.map((its) => {
    if (its.has("count")) return OF_COUNTS;
    return its.has("") ? 1 : OF_WAITS;
  });
}
