// Which numbers stand on the bars of a row: those of all bars, of every fifth or tenth one, or none.
// `lessonkit/pictures/labels.py` has the same rule for a stored picture.

/**
 * A bar that may have its number written on it.
 * @typedef {object} Labelled
 * @property {number} lane
 * @property {string} label
 * @property {number} middle where it is, in pixels
 * @property {number} width
 */

const EVERY = [5, 10];
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
  if (!bars.every(({ label }) => /^\d+$/.test(label))) return [];
  const inLanes = [...bars].sort((a, b) => a.lane - b.lane || a.middle - b.middle);
  for (const every of EVERY) {
    const some = inLanes.filter(({ label }) => Number(label) % every === 0);
    const areApart = some.slice(1).every((bar, index) => isApart(some[index], bar, wide));
    if (some.length >= FEWEST && areApart) return some;
  }
  return [];
}
