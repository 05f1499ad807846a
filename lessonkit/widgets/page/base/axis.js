// The numbers of an axis.

import { number } from "./numbers.js";

const ROUND = [1, 2, 5, 10];

/**
 * The least of 1, 2 or 5 times a power of ten that is no less than *step*.
 * @param {number} step
 */
function nice(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return ROUND.map((factor) => factor * power).find((round) => round >= step);
}

/**
 * Round values of an axis, about *count*.
 * @param {number} from
 * @param {number} to
 * @param {number} count
 * @param {number} least no two are closer to each other than this
 */
export function rounds(from, to, count, least = 0) {
  const step = Math.max(least, nice((to - from) / Math.max(2, count)) || least);
  /** @type {number[]} */
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step / 1e6; at += step) found.push(at);
  return found;
}

/**
 * Values of an axis of time with their texts: all in one unit, which the first one names.
 * @param {number[]} values microseconds
 * @param {number} end of the axis
 */
export function moments(values, end) {
  const isLong = end >= 1e7;
  const unit = isLong ? " s" : " ms";
  const micros = isLong ? 1e6 : 1e3;
  return values.map((at, index) => {
    return { at, text: number(at / micros) + (index ? "" : unit) };
  });
}
