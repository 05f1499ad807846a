// A row with more bars than a screen can show apart is drawn as an envelope: how large a share of the
// time its lanes work. `lessonkit/pictures/envelope.py` does the same for a stored picture.

/**
 * @typedef {object} Work
 * @property {number} lane
 * @property {number} from
 * @property {number} to
 */

const CLOSEST = 3; // pixels from the begin of a bar to that of the next; closer ones are a grey mist
const FEWEST = 8; // bars; fewer are drawn, however short they are
const FINEST = 4; // pixels that one step of an envelope covers

/**
 * How far bars are from each other: three of four are closer to the next one in their lane.
 * @param {Work[]} bars in the order of time
 */
export function pitchOf(bars) {
  /** @type {Map<number, number>} */
  const last = new Map();
  /** @type {number[]} */
  const apart = [];
  for (const { lane, from } of bars) {
    const before = last.get(lane);
    if (before !== undefined) apart.push(from - before);
    last.set(lane, from);
  }
  apart.sort((a, b) => a - b);
  return apart[Math.floor(0.75 * apart.length)] ?? Infinity;
}

/**
 * Whether bars are too close to be seen one by one.
 * @param {Work[]} bars in pixels
 */
export const isDense = (bars) => bars.length >= FEWEST && pitchOf(bars) < CLOSEST;

/**
 * The share of *lanes* that work, in steps of one width from the first bar to the last.
 * @param {Work[]} bars in pixels
 * @param {number} lanes
 * @returns {{ from: number, step: number, shares: number[] }}
 */
export function envelopeOf(bars, lanes) {
  const from = Math.min(...bars.map((bar) => bar.from));
  const whole = Math.max(...bars.map((bar) => bar.to)) - from;
  // A step has several bars, or it would show which of them it cuts.
  const count = Math.max(1, Math.floor(whole / Math.max(FINEST, 3 * pitchOf(bars))));
  const step = whole / count;
  const shares = Array.from({ length: count }, () => 0);
  for (const bar of bars) {
    const last = Math.min(count - 1, Math.floor((bar.to - from) / step));
    for (let at = Math.floor((bar.from - from) / step); at <= last; at++) {
      const begin = from + at * step;
      const inside = Math.min(bar.to, begin + step) - Math.max(bar.from, begin);
      shares[at] += Math.max(0, inside) / (step * lanes);
    }
  }
  return { from, step, shares };
}
