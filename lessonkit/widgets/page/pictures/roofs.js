// Roofs: each part of a job in a column of its own, and the run as a line below all of them.
// lessonkit/pictures/roofs.py draws the same for a notebook, and says why the axis is logarithmic.

import { div, html, svg } from "../base/dom.js";
import { LETTER, label, labelBefore, line, sized } from "../base/drawn.js";
import { number } from "../base/numbers.js";

/** @typedef {import("../scene.js").RoofsScene} RoofsScene */
/** @typedef {import("../scene.js").RoofScene} RoofScene */

// In pixels.
const HEIGHT = 164; // from the upper edge to the floor
const ABOVE = 24; // above the highest roof, for its number
const BELOW = 26; // below the run, for its words
const LINE = 14;
const WORDS = 100; // of the run, below its line
const GAP = 20; // between the run and the roof above, for how far that is

const OUT_OF_SIGHT = 10; // times the lowest roof; what allows more stands at the upper edge
const MOST_TICKS = 6;

export class Roofs {
  /** @type {RoofsScene | undefined} */
  scene;
  /** @type {number | undefined} */
  baseline; // samples per second of the run that is compared with
  low = Infinity; // the axis grows, and never shrinks under a hand
  high = 0;
  svg = svg("svg", { class: "lk-timeline lk-chart lk-roofs", role: "img" });
  title = html("b");
  verdict = html("span");

  constructor(life) {
    const words = " samples per second (logarithmic); ";
    const frame = life.watched(this.svg, (width) => this.draw(width));
    this.node = div("lk-roofs-of", html("div", {}, this.title, words, this.verdict), frame);
  }

  /**
   * @param {RoofsScene | undefined} scene none of a run without samples
   * @param {number} [baseline]
   */
  show(scene, baseline) {
    this.scene = scene;
    this.baseline = baseline;
    this.node.hidden = !scene;
    if (scene) this.draw(this.svg.clientWidth || Number(this.svg.getAttribute("width")) || 800);
  }

  draw(width) {
    if (!this.scene) return;
    const { title, words, verdict, parts, run } = this.scene;
    this.title.textContent = title;
    this.verdict.textContent = `${verdict}.`;
    this.svg.setAttribute("aria-label", `${title}: ${words}`);
    this.reach();
    const ticks = ticksOf(this.low, this.high);
    const texts = ticks.map((rate) => number(rate));
    const left = 14 + LETTER * Math.max(0, ...texts.map(({ length }) => length));
    const right = 8;
    const each = (width - left - right) / parts.length;
    const isTall = parts.some(({ name }) => name.includes(" ") && LETTER * name.length > each);
    sized(this.svg, width, HEIGHT + LINE * (isTall ? 2 : 1) + 6);
    /** @type {SVGElement[]} */
    const nodes = ticks.flatMap((rate, index) => [
      line(left, this.y(rate), width - right, this.y(rate), { class: "lk-mark" }),
      labelBefore(left - 6, this.y(rate) + 4, texts[index], { class: "lk-quiet" }),
    ]);
    parts.forEach((part, index) => {
      nodes.push(...this.beam(part, left + index * each, each, isTall));
    });
    if (this.isCompared()) nodes.push(...this.compared(left, width - right));
    if (run !== null) nodes.push(...this.below(run, left, width - right, each));
    this.svg.replaceChildren(...nodes);
  }

  // The axis has room for the run, what it is compared with, and each roof that is in sight.
  reach() {
    const { parts, run } = this.scene;
    const rates = parts.map(({ perSecond }) => perSecond);
    const lowest = Math.min(...rates);
    const highest = Math.min(Math.max(...rates), OUT_OF_SIGHT * lowest);
    this.low = Math.min(this.low, (run ?? lowest) / 1.05, (this.baseline ?? lowest) / 1.05);
    this.high = Math.max(this.high, 1.25 * lowest, highest);
  }

  y(rate) {
    const share = Math.log(Math.min(rate, this.high) / this.low) / Math.log(this.high / this.low);
    return HEIGHT - BELOW - share * (HEIGHT - BELOW - ABOVE);
  }

  /** @param {RoofScene} part */
  beam({ name, perSecond, lit }, left, each, isTall) {
    const y = this.y(perSecond);
    const middle = left + each / 2;
    const apart = Math.min(10, 0.06 * each);
    const box = { x: left + apart, y: 0, width: each - 2 * apart, height: y };
    const weight = lit ? "lk-bold" : "";
    const rate = number(perSecond);
    const isBeyond = perSecond > this.high && LETTER * (rate.length + 2) < each - 12;
    const text = isBeyond ? `${rate} ↑` : rate;
    const lines = isTall ? name.split(" ") : [name];
    return [
      svg("rect", { ...box, class: lit ? "lk-beam lk-lit" : "lk-beam" }),
      line(box.x, y, box.x + box.width, y, { class: lit ? "lk-roof lk-lit" : "lk-roof" }),
      label(middle, y - 7, text, { class: `lk-inside ${weight}` }),
      ...lines.map((word, row) =>
        label(middle, HEIGHT + LINE * (row + 1), word, { class: weight }),
      ),
    ];
  }

  below(run, left, right, each) {
    const { parts } = this.scene;
    const y = this.y(run);
    const at = parts.findIndex(({ lit }) => lit);
    const roof = parts[at].perSecond;
    /** @type {SVGElement[]} */
    const nodes = [
      line(left, y, right, y, { class: "lk-run" }),
      svg("text", { x: left + 4, y: y + 16 }, `the run: ${number(run)}`),
    ];
    const top = this.y(roof);
    if (y - top < GAP) return nodes;
    const x = left + (at + 0.5) * each;
    const d = `M${x},${top + 3}V${y - 2}M${x - 4},${top + 8}l4,-5l4,5M${x - 4},${y - 7}l4,5l4,-5`;
    const factor = svg("text", { x: x + 8, y: (top + y) / 2 + 5 }, `${number(roof / run)}×`);
    return [...nodes, svg("path", { d, class: "lk-gap" }), factor];
  }

  // One that is as fast as the run lies under its line.
  isCompared() {
    const { baseline, scene } = this;
    return baseline !== undefined && number(baseline) !== number(scene.run);
  }

  // It begins where the words of the run end, which it would cross.
  compared(left, right) {
    const y = this.y(this.baseline);
    const words = `the baseline run: ${number(this.baseline)}`;
    return [
      line(left + WORDS, y, right, y, { class: "lk-run lk-other" }),
      labelBefore(right - 4, y + 14, words, { class: "lk-quiet lk-inside" }),
    ];
  }
}

/** A picture that nothing turns. */
export class StillRoofs {
  constructor(model, el) {
    const roofs = new Roofs(model);
    el.append(roofs.node);
    roofs.show(JSON.parse(model.get("state")).roofs);
  }
}

// Round numbers: 1, 2 and 5 times powers of ten, or only these where there would be many.
function ticksOf(low, high) {
  const found = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    found.push(...[1, 2, 5].map((factor) => ({ rate: factor * power, isPower: factor === 1 })));
  }
  const seen = found.filter(({ rate }) => rate >= low && rate <= high);
  const kept = seen.length > MOST_TICKS ? seen.filter(({ isPower }) => isPower) : seen;
  return kept.map(({ rate }) => rate);
}
