// Which numbers stand on the bars of a row: those of all bars, of every fifth one, of those that have
// room for the longest, or none.
// `lessonkit/pictures/labels.py` has the same rule for a stored picture.

/**
 * A bar that may have its number written on it.
 * @typedef {object} Labelled
 * @property {number} lane
 * @property {string} label
 * @property {number} middle where it is, in pixels
 * @property {number} width
 */

const EVERY = 5;
const LEAST = 0.5; // of a number that has to stand on its bar; the rest may be above those beside it
const APART = 6; // pixels between two numbers
const FEWEST = 2; // numbers that show how a row is counted

/** @param {Labelled} bar @param {Labelled} next @param {(text: string) => number} wide */
function isApart(bar, next, wide) {
  const room = next.middle - bar.middle;
  return next.lane !== bar.lane || room >= (wide(bar.label) + wide(next.label)) / 2 + APART;
}

/**
 * The bars of a row whose labels are written. Some with a number and some without one look as if
 * the others had none.
 * @template {Labelled} B
 * @param {B[]} bars with a label, in the order of time
 * @param {(text: string) => number} wide how wide a text is, in pixels
 * @returns {B[]}
 */
export function written(bars, wide) {
  const fits = ({ label, width }) => wide(label) <= width;
  if (bars.every(fits)) return bars;
  const longest = Math.max(...bars.map(({ label }) => wide(label)));
  const long = bars.filter(({ width }) => longest <= width); // such as those of a straggler
  if (!bars.every(({ label }) => /^\d+$/.test(label))) return long;
  const inLanes = [...bars].sort((a, b) => a.lane - b.lane || a.middle - b.middle);
  const some = inLanes.filter(({ label }) => Number(label) % EVERY === 0);
  const areOn = some.every(({ label, width }) => LEAST * wide(label) <= width);
  const areApart = some.slice(1).every((bar, index) => isApart(some[index], bar, wide));
  return some.length >= FEWEST && areOn && areApart ? some : long;
}
