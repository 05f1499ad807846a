// The heat map: squares of which nothing is known until a try lights them, and the tuner's walk over
// them.

import { button, div, html, named, saying, spoken, tableCell, tableHead } from "../base/dom.js";
import { asking, keeping } from "../base/kernel.js";
import { take } from "../base/keyboard.js";
import { Record } from "../lesson/record.js";

/**
 * What is told of a square.
 * @typedef {object} Step
 * @property {[x: number, y: number]} square
 * @property {number} seconds per sample
 * @property {string} text the same in words
 * @property {string} why the tuner tried it, and what came of it; empty where a hand did
 * @property {string} [tuner] the numbers of the tuner's steps that led there
 * @property {string} [outcome] what came of the last of them
 */

const STRIDE = 700; // ms from one step of the tuner to the next
const COLD = "#c08a3e"; // of the slowest square, which is lit least
const WARM = "#ffe08a";
const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const PATH =
  "In the corner of a square is the number of the tuner's step, on black if it was taken.";

/**
 * Steps of the tuner, each with its number and with what came of it; one may lead to a square where
 * another was. A square that only a hand lights has no reason, and gets no number.
 * @param {Step[]} steps
 * @returns {Step[]}
 */
export function numbered(steps) {
  const squares = steps.map(({ square }) => String(square));
  return steps.map((step, index) => {
    if (!step.why) return step;
    const before = squares.slice(0, index + 1);
    const here = before.flatMap((square, at) => (square === squares[index] ? at + 1 : []));
    return { ...step, tuner: here.join(", "), outcome: step.why.split(":")[0].toLowerCase() };
  });
}

/** One of the squares: a button that knows where it is. */
class Square {
  constructor(label, x, y, light) {
    this.label = label;
    this.x = x;
    this.y = y;
    const given = { class: "lk-square", tabindex: x || y ? -1 : 0 };
    this.node = button("?", `${label}: not known yet`, light, given);
  }
}

export class HeatMap {
  /** @type {Map<Square, Step>} */
  lit = new Map(); // what was told of a square, the last one at the end
  said = spoken("lk-verdict");
  path = html("span", { hidden: true }, PATH);

  constructor(model, el) {
    const [across, down] = JSON.parse(model.get("state")).knobs;
    this.next = model.timer();
    const answers = { walk: ({ steps }) => this.walk(numbered(steps)) };
    const ask = asking(model, saying(this.said), answers);
    const square = (x, y) => {
      const label = `${across.label} ${across.texts[x]}, ${down.label} ${down.texts[y]}`;
      return new Square(label, x, y, () => ask({ do: "light", square: [x, y] }));
    };
    this.squares = across.texts.map((_, x) => down.texts.map((_, y) => square(x, y)));
    const watch = () => ask({ do: "walk" });
    const walk = button("watch the tuner", "Let the tuner walk over the map", watch);
    const map = div("lk-map", this.table(across, down));
    el.append(div("lk-card-of", map, this.said, div("lk-tools", walk, this.path)));
    this.save = keeping(model, (steps) => {
      for (const step of steps) this.light(step);
    });
    this.record = new Record(model, "heat map", `${across.label}, ${down.label}`);
    const said = this.record.saidBefore(model);
    const there = said.filter(([x, y]) => this.squares[x]?.[y]); // the map may have been larger
    this.before = there.length; // which are lit again one by one
    for (const square of there) ask({ do: "light", square });
  }

  table(across, down) {
    const columns = across.texts.map((text) => tableHead("col", text));
    const corner = tableCell(`${down.label} ↑ ${across.label} →`);
    const rows = down.texts.map((text, y) => {
      const squares = this.squares.map((column) => tableCell(column[y].node));
      return html("tr", {}, tableHead("row", text), ...squares);
    });
    const title = html(
      "caption",
      {},
      "Time per sample; nobody knows it yet where there is a question mark",
    );
    const given = { role: "grid", onkeydown: (event) => this.key(event) };
    return html("table", given, title, ...rows.reverse(), html("tr", {}, corner, ...columns));
  }

  key(event) {
    const here = this.squares.flat().find(({ node }) => node === event.target);
    const [right, up] = WAYS[event.key] ?? [];
    const next = here && this.squares[here.x + right]?.[here.y + up];
    if (!next) return;
    here.node.tabIndex = -1;
    next.node.tabIndex = 0;
    next.node.focus();
    take(event);
  }

  /** @param {Step[]} steps */
  walk([step, ...rest]) {
    this.light(step);
    const steps = [...this.lit.values()];
    this.save(steps);
    if (steps.length >= this.before) this.record.write({ said: steps.map(({ square }) => square) });
    if (rest.length) this.next.start(() => this.walk(rest), STRIDE);
  }

  /** @param {Step} step */
  light(step) {
    const [x, y] = step.square;
    const square = this.squares[x][y];
    const before = this.lit.get(square);
    // Who lights it once more takes nothing off the path.
    const { tuner = before?.tuner, outcome = before?.outcome } = step;
    const title = `${square.label}: ${step.text} per sample`;
    const follows = tuner ? this.follow(square, tuner, outcome) : "";
    named(square.node, title + follows, step.text);
    square.node.classList.add("lk-known");
    this.lit.delete(square);
    this.lit.set(square, { ...step, tuner, outcome });
    // The brightest is the fastest of those that are lit: the map knows no more than its reader.
    const times = [...this.lit.values()].map(({ seconds }) => seconds);
    const least = Math.min(...times);
    const range = Math.max(...times) - least || 1;
    for (const [other, { seconds }] of this.lit) {
      other.node.classList.toggle("lk-here", other === square);
      const share = (100 * (seconds - least)) / range;
      other.node.style.background = `color-mix(in srgb, ${COLD} ${share}%, ${WARM})`;
    }
    this.said.textContent = `${title}. ${step.why}`;
  }

  // Draws a step of the tuner that led to this square, and puts it in words.
  follow(square, tuner, outcome) {
    square.node.dataset.number = tuner;
    square.node.dataset.outcome = outcome;
    this.path.hidden = false;
    return `, ${tuner.includes(",") ? "steps" : "step"} ${tuner} of the tuner, ${outcome}`;
  }
}
