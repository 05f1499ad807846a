// Numbers, and texts that have room for so many letters.

export const isStep = (step) => Number.isInteger(step) && step >= 0;

/** @param {number} value @param {number} least @param {number} most */
export const clamped = (value, least, most) => Math.max(least, Math.min(most, value));

export const cut = (text, room) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

/**
 * The index of the one that is least far away.
 * @template T
 * @param {T[]} all
 * @param {(one: T, index: number) => number} away
 */
export function nearest(all, away) {
  const distances = all.map(away);
  return distances.indexOf(Math.min(...distances));
}

// Numbers, times and sizes as `lessonkit/words.py` writes them.
const GROUPED = new Intl.NumberFormat("en", { signDisplay: "negative" });

const EXACT = 1e-9; // what floating point may add to a number of two digits, or take from it

/**
 * @param {number} value
 * @param {number} [wanted] digits behind the point; three or so in all without it, or both of two
 */
export function number(value, wanted) {
  if (wanted !== undefined) return written(value * (1 + 1e-9), wanted);
  const isExact = Math.abs(value - Math.round(100 * value) / 100) < EXACT;
  return isExact && Math.abs(value) < 1000 ? written(value, 2) : rough(value);
}

/** @param {number} value */
function rough(value) {
  const size = Math.abs(value);
  return written(value, size < 10 ? 2 : size < 1000 ? 1 : 0);
}

/** @param {number} value @param {number} digits behind the point at most */
function written(value, digits) {
  const kept = Number(value.toFixed(12));
  // `toFixed` rounds a half up; only an eighth, a fourth or a half is one.
  const scaled = kept * 10 ** digits;
  const isHalf = Number.isInteger(8 * kept) && scaled % 1 !== 0;
  const even = Math.abs(scaled % 1) === 0.5 ? 2 * Math.round(scaled / 2) : Math.round(scaled);
  return GROUPED.format(isHalf ? even / 10 ** digits : Number(kept.toFixed(digits)));
}

// Microseconds, as the kernel gives them.
export function time(micros) {
  return micros >= 1e7 ? `${number(micros / 1e6, 2)} s` : `${number(micros / 1000)} ms`;
}

export function size(bytes) {
  const power = [1e3, 1e6, 1e9].filter((unit) => bytes >= unit).length;
  return `${rough(bytes / 1000 ** power)} ${["B", "kB", "MB", "GB"][power]}`;
}
