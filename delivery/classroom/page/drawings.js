// @ts-check
// How answers are drawn: as lines with bars, as placed bars, as curves, and as points.

import { countOf, people, SURE, sum } from "./answers.js";
import { html, styled, svg } from "./html.js";

const ROUND = [1, 2, 5, 10];
const BEYOND = 3; // times what nine in ten have at most: what is further out, the axis leaves out

/**
 * A mark of an axis: where it is, as a share, and its text.
 * @typedef {{ share: number, text: string | number }} Tick
 */

/**
 * Round values from 0 to an end, about *count*.
 * @param {number} end
 * @param {(value: number) => string | number} text
 * @param {number} count
 * @returns {Tick[]}
 */
function rounds(end, text, count = 5) {
  const power = 10 ** Math.floor(Math.log10(end / count));
  const step = ROUND.map((factor) => factor * power).find((one) => one * count >= end);
  const values = Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, at) => at * step);
  return values.map((value) => ({ share: value / end, text: text(Number(value.toPrecision(6))) }));
}

/**
 * A drawing with its axes. Its *marks* have the units of a *width* and a *height*.
 * @param {string} kind
 * @param {number[]} size
 * @param {Element[]} marks
 * @param {{ left?: Tick[], below?: Tick[], title?: string }} axes
 */
function drawing(kind, [width, height], marks, { left = [], below = [], title = "" }) {
  const about = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" };
  const across = left.map(({ share }) => ({ x2: width, y1: share * height, y2: share * height }));
  const up = below.map(({ share }) => ({ x1: share * width, x2: share * width, y2: height }));
  const lines = kind === "placing" ? up : [...across, ...up];
  const grid = lines.map((one) => svg("line", { ...one, class: "grid" }));
  const axis = (name, ticks, side) => {
    const spans = ticks.map(({ share, text }) =>
      styled(html("span", {}, String(text)), { [side]: `${100 * share}%` }),
    );
    return html("div", { class: name }, ...spans);
  };
  return html(
    "figure",
    { class: kind },
    axis("left", left, "top"),
    svg("svg", about, ...grid, ...marks),
    axis("below", below, "left"),
    html("figcaption", {}, title),
  );
}

/** How answers are drawn whose words tell nothing, by the kind of question. */
const DRAWN = {
  // All bars on one axis: the darker, the more learners put one there.
  placing({ rows, bars, given, steps, step, right }, all, isShown) {
    const box = (row, x, length, more) => {
      const size = { width: length - 0.1, height: 0.85 };
      return svg("rect", { x, y: row + 0.07, ...size, fill: rows[row].colour, ...more });
    };
    const boxes = (places, more) =>
      places.map((at, bar) => box(bars[bar].row, at, bars[bar].length, more));
    const faint = { "fill-opacity": Math.max(0.04, 0.9 / all.length) };
    const marks = given.map(({ row, start, length }) => box(row, start / step, length / step, {}));
    marks.push(...all.flatMap((places) => boxes(places, faint)));
    if (isShown) marks.push(...boxes(right, { class: "truth" }));
    const left = rows.map(({ stage }, row) => ({ share: (row + 0.5) / rows.length, text: stage }));
    const below = rounds((steps * step) / 1000, (time) => `${time} ms`);
    return drawing("placing", [steps, rows.length], marks, { left, below });
  },

  curve({ values, first, steps, step, unit, knob, right }, all, isShown) {
    const line = (said, name) => {
      const points = [first, ...said].map((at, place) => `${place},${steps - at}`);
      return svg("polyline", { points: points.join(" "), class: name });
    };
    const end = values.length - 1;
    const marks = all.map((said) => line(said, "drawn"));
    if (isShown) marks.push(line(right, "truth"));
    const heights = rounds(steps * step, (height) => `${height} ${unit}`);
    const left = heights.map(({ share, text }) => ({ share: 1 - share, text }));
    const below = values.map((text, place) => ({ share: place / end, text }));
    return drawing("curve", [end, steps], marks, { left, below, title: knob });
  },
};

/** @param {string} kind */
export function drawingOf(kind) {
  const known = Object.keys(DRAWN).join(", ");
  if (!DRAWN[kind]) throw new Error(`kind=${kind}: must be one of ${known}, or have words`);
  return DRAWN[kind];
}

/**
 * Who answers alike, one below the other, with a bar for each round: all bars have one scale, the
 * share of those who answered in a round. What a mistake is, is told with the verdict.
 * @param {import("./answers.js").Line[]} lines
 * @param {number[]} rounds
 * @param {boolean} isShown
 */
export function distribution(lines, rounds, isShown) {
  const counts = rounds.map((_, place) => sum(lines.map((line) => countOf(line, place))));
  const shares = lines.flatMap((line) =>
    rounds.map((_, place) => countOf(line, place) / Math.max(1, counts[place])),
  );
  const most = Math.max(1e-9, ...shares);
  const barOf = (line, place) => {
    const parts = line.counts[place].map((many) =>
      styled(html("i"), { width: `${(100 * many) / Math.max(1, counts[place]) / most}%` }),
    );
    const many = countOf(line, place);
    const said = line.counts[place].map((one, how) => `${one} ${SURE[how]}`).join(", ");
    return html("div", { class: "bar", title: said }, ...parts, html("em", {}, String(many)));
  };
  const lineOf = (line) => {
    const isMeant = isShown && line.order !== Infinity;
    const how = !isMeant ? "" : line.right ? "right" : "wrong";
    const mark = { "": "", right: "✓ ", wrong: "✗ " }[how];
    const why = isMeant && line.mistake && sum(line.counts.map(sum)) ? [line.mistake] : [];
    return html(
      "div",
      { class: "line" },
      html("b", { class: how }, mark + line.name),
      ...rounds.map((_, place) => barOf(line, place)),
      ...why.map((text) => html("small", {}, text)),
    );
  };
  const heading = (round, place) => html("h2", {}, `Round ${round}: ${people(counts[place])}`);
  const headings = rounds[0]
    ? [html("div", { class: "line" }, html("b"), ...rounds.map(heading))]
    : [];
  const isLong = lines.some(({ name }) => name.length > 30);
  const all = html(
    "div",
    { class: isLong ? "lines long" : "lines" },
    ...headings,
    ...lines.map(lineOf),
  );
  return styled(all, { "--rounds": rounds.length });
}

/**
 * What each learner reached of one goal of a challenge: a point for each.
 * @param {string} goal
 * @param {[met: boolean, number: number | null][]} made
 */
export function reached(goal, made) {
  const known = made.map(([, number]) => number ?? 0).sort((one, other) => one - other);
  const usual = known[Math.floor(0.9 * (known.length - 1))] ?? 0;
  const end = Math.min(known.at(-1) ?? 0, BEYOND * usual) || known.at(-1) || 1;
  const points = made.map(([met, number], who) => {
    const at = { cx: Math.min(number ?? 0, end), cy: 1 + ((who * 37) % 50) };
    return svg("ellipse", { ...at, rx: 0.008 * end, ry: 6, class: met ? "met" : "missed" });
  });
  const beyond = known.filter((number) => number > end).length;
  const met = made.filter(([isMet]) => isMet).length;
  const further = beyond ? `; ${beyond} further than this axis` : "";
  const heading = html("b", {}, `${goal}: ${met} of ${made.length} have it${further}`);
  const below = rounds(end, (value) => value);
  return html("div", {}, heading, drawing("reached", [end, 50], points, { below }));
}
