// Pictures that nothing turns: rows of bars, lines and dots on one axis.

import { moments, rounds } from "../base/axis.js";
import { attributes, html, spoken, svg } from "../base/dom.js";
import {
  BOLD_LETTER,
  BRIEF,
  inside,
  LETTER,
  label,
  labelBefore,
  line,
  sized,
} from "../base/drawn.js";
import { KEYS, keys } from "../base/keyboard.js";
import { clamped, cut, nearest, number } from "../base/numbers.js";

/** @typedef {import("../scene.js").ChartScene} ChartScene */
/** @typedef {import("../scene.js").ChartRow} ChartRow */
/** @typedef {import("../scene.js").ChartMark} ChartMark */
/** @typedef {{ x: number, y: number }} Point */

// In pixels.
const PADDING = 22; // above a row's highest mark, for its text
const BELOW = 42; // of the rows: the numbers of the axis, and what they are
const NUMBERS = 46; // at the left of a row that has an axis of its own

export class Chart {
  at = -1; // what is pointed at, of that of which there is something to say
  /** @type {(Point & { say: string })[]} */
  items = [];
  drawn = svg("g");
  ring = svg("circle", { class: "lk-ring", r: 10 });
  said = spoken("lk-said");

  constructor(model, el) {
    /** @type {ChartScene} */
    const state = JSON.parse(model.get("state"));
    this.scene = state;
    const point = (event) => this.point(this.nearest(event));
    const on = () => this.to(this.at + 1);
    const back = () => this.to(this.at - 1);
    const arrows = { ArrowRight: on, ArrowDown: on, ArrowLeft: back, ArrowUp: back };
    const ends = { Home: () => this.to(0), End: () => this.to(this.items.length) };
    const hears = { onpointermove: point, onpointerdown: point };
    const aria = { role: "slider", tabindex: 0, "aria-label": `${state.title}: ${state.words}` };
    const given = { class: "lk-timeline lk-chart", ...aria, ...hears, ...KEYS };
    this.svg = svg("svg", given, this.drawn, this.ring);
    this.svg.addEventListener("keydown", keys({ ...arrows, ...ends }));
    const title = html("div", {}, html("b", {}, state.title), ` ${state.words}`);
    el.append(
      title,
      model.watched(this.svg, (width) => this.draw(width)),
      this.said,
    );
  }

  draw(width) {
    const { rows, from, to, seconds, across, up } = this.scene;
    const longest = (texts) => LETTER * Math.max(0, ...texts.map((text) => text?.length ?? 0));
    const named = Math.min(0.36 * width, 32 + longest(rows.map(({ name }) => name)));
    const left = up ? NUMBERS : named;
    // A bar has its text after it, all else above; where it is narrow, only the first part.
    this.brief = (text) => (width < BRIEF ? text?.split(", ")[0] : text);
    const bars = rows.flatMap(({ marks }) => marks.filter(({ kind }) => kind === "bar"));
    const right = Math.max(32, 10 + longest(bars.map(({ text }) => this.brief(text))));
    const x = (value) => left + ((value - from) / (to - from || 1)) * (width - left - right);
    let top = up ? 20 : 6;
    const floor = rows.reduce((sum, { height }) => sum + height, top);
    sized(this.svg, width, floor + BELOW);
    this.items = [];
    const nodes = this.axis(x, floor, seconds ? 1e-6 : 1, width - left - right);
    const quiet = { class: "lk-quiet" };
    nodes.push(labelBefore(width - right, floor + 34, across, quiet));
    nodes.push(svg("text", { x: 4, y: 12, ...quiet }, up));
    for (const row of rows) {
      nodes.push(...this.row(row, x, top, left));
      top += row.height;
    }
    this.drawn.replaceChildren(...nodes);
    this.point(Math.min(this.at, this.items.length - 1), this.said.textContent !== "");
  }

  axis(x, floor, least, width) {
    const { from, to, seconds } = this.scene;
    const values = rounds(from, to, width / 90, least);
    const micros = values.map((at) => at * 1e6);
    const times = moments(micros, to * 1e6);
    return values.flatMap((at, index) => [
      line(x(at), 0, x(at), floor, { class: "lk-mark" }),
      label(x(at), floor + 16, seconds ? times[index].text : number(at), { class: "lk-quiet" }),
    ]);
  }

  /**
   * @param {ChartRow} row
   * @param {(value: number) => number} x
   * @param {number} top
   * @param {number} left
   */
  row({ name, height, top: most, marks }, x, top, left) {
    const bars = marks[0].kind === "bar";
    const floor = top + height - 4;
    const nodes = [];
    const y = (value) => floor - (value / (most || 1)) * (height - (bars ? 10 : PADDING));
    if (name) {
      const room = Math.floor((left - 8) / LETTER);
      nodes.push(labelBefore(left - 8, top + height / 2 + 4, cut(name, room)));
      nodes[0].append(svg("title", {}, name));
    }
    const first = x(this.scene.from);
    const last = x(this.scene.to);
    if (!bars) nodes.push(...this.heights(y, most, first, last));
    let free = 0; // from here on there is room for a text; what has none is said where one points
    for (const mark of marks) {
      const points = mark.points.map(([at, value]) => ({ x: x(at), y: y(value) }));
      const begin = points[0];
      const end = points.at(-1).x;
      nodes.push(this.mark(mark, points, floor));
      const pointed = bars ? { x: end, y: (begin.y + floor) / 2 } : begin;
      if (mark.say) this.items.push({ ...pointed, say: mark.say });
      const text = bars ? this.brief(mark.text) : mark.text;
      const wide = (mark.marked ? BOLD_LETTER : LETTER) * (text?.length ?? 0);
      const isStep = marks[0].kind === "steps" && begin.y + 24 < floor;
      const beside = isStep ? begin.x + 8 : begin.x - wide / 2; // beside the line that comes down
      const at = bars ? end + 6 : clamped(beside, left, last + 30 - wide);
      if (!text || at < free) continue;
      const given = {
        x: at,
        y: bars ? floor - 6 : begin.y + (isStep ? 17 : -9),
        class: mark.marked ? "lk-bold" : "",
      };
      nodes.push(svg("text", given, text));
      free = at + wide;
    }
    return nodes;
  }

  // The vertical axis of a row, in milliseconds.
  heights(y, most, first, last) {
    const values = rounds(0, most * 1000, 3);
    return values.flatMap((value) => {
      const at = y(value / 1000);
      const name = value ? "lk-mark" : "lk-floor";
      return [
        line(first, at, last, at, { class: name }),
        labelBefore(first - 8, at + 4, number(value), { class: "lk-quiet" }),
      ];
    });
  }

  /**
   * @param {ChartMark} mark
   * @param {Point[]} points where it is
   * @param {number} floor of its row
   */
  mark({ kind, change, marked, hollow }, points, floor) {
    const { x, y } = points[0];
    if (kind === "bar") {
      const box = { x, y, width: points.at(-1).x - x, height: floor - y, rx: 2 };
      return svg("rect", { ...box, class: change ? `lk-${change}` : "lk-dot" });
    }
    const round = { cx: x, cy: y, r: marked ? 8 : 5, class: hollow ? "lk-hollow" : "lk-dot" };
    if (kind === "dot") return svg("circle", round);
    const next = (point) => {
      return kind === "line" ? `L${point.x},${point.y}` : `H${point.x}V${point.y}`;
    };
    const d = `M${x},${y}${points.slice(1).map(next).join("")}`;
    return svg("path", { d, class: "lk-drawn" });
  }

  nearest(event) {
    const here = inside(this.svg, event);
    return nearest(this.items, ({ x, y }) => Math.hypot(here.x - x, 3 * (here.y - y)));
  }

  point(at, aloud = true) {
    this.at = at;
    const item = this.items[at];
    this.ring.style.display = item && aloud ? "" : "none";
    const range = { "aria-valuemin": 1, "aria-valuemax": this.items.length || 1 };
    const text = item?.say ?? this.scene.words;
    const now = { "aria-valuenow": Math.max(1, at + 1), "aria-valuetext": text };
    attributes(this.svg, { ...range, ...now });
    if (!item || !aloud) return;
    attributes(this.ring, { cx: item.x, cy: item.y });
    this.said.textContent = item.say;
  }

  to = (at) => this.point(clamped(at, 0, this.items.length - 1));
}
