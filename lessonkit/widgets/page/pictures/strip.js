// What several ranks did: a row for each, in the time of the run. On a canvas, for there may be
// 150,000 stretches.

import { moments, rounds } from "../base/axis.js";
import { attributes, div, html } from "../base/dom.js";
import { KEYS } from "../base/keyboard.js";
import { clamped } from "../base/numbers.js";
import { FINEST, LEFT, RIGHT } from "./timeline.js";

/** @typedef {import("../scene.js").StripScene} StripScene */

// In pixels.
const HIGHEST_STRIP = 230;
const THICKEST_ROW = 22;
const LEAST_ROW = 1;
const NAMED = 14; // from the name of a rank to the next
const AXIS = 18; // below the rows: first the axis of time,
const UNDER = AXIS + 16; // and then who was late

/**
 * A part of a step of a rank, in the order of their colours.
 * @typedef {(of: number[], step: number, end: number) => { from: number, to: number }} Stretch
 */

/** @type {Stretch} */
const works = (of, step) => ({ from: of[3 * step + 1], to: of[3 * step + 2] });
/** @type {Stretch} */
const waitsForData = (of, step) => ({ from: of[3 * step], to: of[3 * step + 1] });
/** @type {Stretch} */
const waitsForOthers = (of, step, end) => ({ from: of[3 * step + 2], to: end });
const STRETCHES = [works, waitsForData, waitsForOthers];
// Shares of a row that has room for it: they are told apart by more than colours.
const HEIGHTS = [1, 0.75, 0.5];

export class Strip {
  /** @type {((rank: number) => void) | null} */
  choose = null; // called with the rank whose timeline is wanted, where a kernel can answer
  row = LEAST_ROW; // how high a row is
  ranks = 1;
  keys = div("lk-keys");
  said = html("p", { class: "lk-ranks" });

  constructor() {
    const onclick = (event) => this.choose?.(this.rankAt(event.offsetY));
    const onpointermove = ({ offsetY }) => {
      this.canvas.title = `rank ${this.rankAt(offsetY)}`; // a row may be a pixel high
    };
    this.canvas = html("canvas", { role: "img", onclick, onpointermove });
    this.rank = html("select", { onchange: () => this.choose(Number(this.rank.value)), ...KEYS });
    this.picker = html("label", { class: "lk-rank" }, "timeline of ", this.rank);
    this.node = div("lk-strip", this.canvas, this.keys, this.said);
    this.node.hidden = true;
  }

  rankAt = (y) => clamped(Math.floor(y / this.row), 0, this.ranks - 1);

  /**
   * @param {StripScene | null} strip
   * @param {number} width
   * @param {number} end of the axis
   * @param {boolean} isOpen whether the timeline of a rank is shown below
   */
  draw(strip, width, end, isOpen) {
    this.node.hidden = !strip;
    this.picker.hidden = !strip;
    if (!strip) return;
    const { ranks, rank, colours, words } = strip;
    this.ranks = ranks;
    this.row = clamped(Math.floor(HIGHEST_STRIP / ranks), LEAST_ROW, THICKEST_ROW);
    this.canvas.classList.toggle("lk-can-choose", this.choose !== null);
    this.picker.hidden = !this.choose || ranks === 1;
    if (this.rank.length !== ranks) {
      const option = (_, value) => html("option", { value }, `rank ${value}`);
      this.rank.replaceChildren(...Array.from({ length: ranks }, option));
    }
    this.rank.value = String(rank);
    const ink = getComputedStyle(this.node).color;
    const x = (micros) => LEFT + (micros / Math.max(1, end)) * (width - LEFT - RIGHT);
    const pen = this.pen(width, words);
    this.drawRows(pen, strip, x);
    pen.fillStyle = ink;
    this.drawAxis(pen, width, end, x);
    this.drawLate(pen, strip, x);
    const every = 2 ** Math.max(0, Math.ceil(Math.log2(NAMED / this.row)));
    for (let one = 0; one < ranks; one += every) {
      pen.fillText(`rank ${one}`, LEFT - 10, Math.max(10, (one + 0.5) * this.row + 4)); // not cut
    }
    if (isOpen) pen.fillText("▸", LEFT - 2, (rank + 0.5) * this.row + 4); // whose timeline is below
    const key = ({ text, colour }, index) => {
      const style = `background: ${colour}; height: ${HEIGHTS[index] ?? 1}em`;
      return html("span", {}, html("i", { style }), text);
    };
    this.keys.replaceChildren(...[...colours, { text: "was waited for", colour: ink }].map(key));
    this.said.textContent = words;
  }

  // A canvas that is empty, and sharp on every screen.
  pen(width, words) {
    const sharp = window.devicePixelRatio || 1;
    const height = this.row * this.ranks + UNDER;
    attributes(this.canvas, { width: width * sharp, height: height * sharp, "aria-label": words });
    this.canvas.style.cssText = `width: ${width}px; height: ${height}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(sharp, sharp);
    return pen;
  }

  // One colour after another, because changing it takes time.
  drawRows(pen, { times, ends, colours }, x) {
    const gap = this.row > 4 ? 1 : 0;
    for (const [index, stretch] of STRETCHES.entries()) {
      pen.fillStyle = colours[index].colour;
      const above = this.row >= 6 ? Math.round(this.row * (1 - HEIGHTS[index])) : 0;
      for (const [rank, of] of times.entries()) {
        for (let step = 0; step < ends.length; step++) {
          const { from, to } = stretch(of, step, ends[step]);
          if (to <= from) continue;
          const wide = Math.max(0.5, x(to) - x(from));
          pen.fillRect(x(from), rank * this.row + above, wide, this.row - gap - above);
        }
      }
    }
  }

  // The one of the timeline below may be folded away.
  drawAxis(pen, width, end, x) {
    const high = this.row * this.ranks;
    pen.textAlign = "center";
    pen.font = "11px system-ui, sans-serif";
    for (const { at, text } of moments(rounds(0, end, (width - LEFT) / 90, FINEST), end)) {
      pen.fillRect(x(at), high, 1, 4);
      pen.fillText(text, x(at), high + 14);
    }
  }

  // Under each step the rank that it waited for, where there is room for its number.
  drawLate(pen, { late }, x) {
    const gap = this.row > 4 ? 1 : 0;
    const floor = this.row * this.ranks + UNDER - 4;
    for (const { rank, time } of late) {
      pen.fillRect(x(time) - 2, rank * this.row, 2, Math.max(2, this.row - gap));
    }
    pen.textAlign = "right";
    pen.font = "12px system-ui, sans-serif";
    pen.fillText("waited for", LEFT - 10, floor);
    let free = LEFT;
    for (const { rank, time } of late) {
      const number = String(rank);
      if (x(time) - pen.measureText(number).width < free) continue;
      pen.fillText(number, x(time), floor);
      free = x(time) + 4;
    }
  }
}
