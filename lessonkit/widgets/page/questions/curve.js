// A curve that a learner draws: a point for each value of a knob, to be moved up and down.

import { rounds } from "../base/axis.js";
import { attributes, html, spoken, svg } from "../base/dom.js";
import { inside, LETTER, label, labelBefore, line, sized } from "../base/drawn.js";
import { KEYS, take } from "../base/keyboard.js";
import { clamped, isStep, nearest, number } from "../base/numbers.js";
import { NARROWEST, RIGHT } from "../pictures/timeline.js";

/** @typedef {import("./question.js").Answer} Answer */

/**
 * What the page has to know to have a curve drawn.
 * @typedef {object} CurveState
 * @property {string} knob
 * @property {string[]} values
 * @property {number} first the point that is given, in steps of the axis
 * @property {number} steps
 * @property {number} step in the unit
 * @property {string} unit
 * @property {number} within the share of the true value by which a point may be off
 */

/**
 * What is true.
 * @typedef {object} Truth
 * @property {number[]} truth the curve, in steps of the axis, the given point among it
 * @property {number} knee the first point that is as good as the best
 * @property {[least: number, what: string][]} limits of each run but the first, and what sets it
 */

// In pixels.
const PLOT = 220; // how high
const FLOOR = 40; // below it, and at its left
const ABOVE = 20; // free above the highest point

const UNDRAWN = -1; // the place of a point that is not drawn
const KEYS_BY = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, Enter: 0 }; // in steps
const hint = (within) =>
  `A point is right within ${number(100 * within)} % of the true one. The first is given. Draw the ` +
  "others by hand, or with the arrow keys; Page Up and Page Down make larger steps.";

/** @implements {Answer} */
export class Curve {
  static kind = "curve";

  isHeld = false; // whether a hand draws
  width = 0;
  /** @type {Truth | null} */
  right = null;
  line = svg("path", { class: "lk-drawn" });
  start = svg("circle", { class: "lk-first", r: 7 });

  /**
   * @param {import("../base/life.js").Life} life
   * @param {CurveState} state
   * @param {Pick<import("./question.js").Asking, "changed">} asking
   */
  constructor(life, { knob, values, first, steps, step, unit, within }, { changed }) {
    this.knob = knob;
    this.values = values;
    this.first = first;
    this.steps = steps;
    this.step = step;
    this.unit = unit;
    this.within = within;
    this.changed = changed;
    this.places = values.slice(1).map(() => UNDRAWN);
    const layer = (name) => svg("g", { class: `lk-${name}` });
    this.grid = layer("grid");
    this.axis = layer("axis");
    this.truth = layer("true");
    this.points = this.places.map((_, point) => this.pointOf(point));
    this.given = svg("text", {}, this.says(first));
    const marks = [this.start, ...this.points, this.given];
    const drawn = [this.grid, this.axis, this.truth, this.line, ...marks];
    const given = `${knob}=${values[0]} gives ${this.says(first)}`;
    const aria = { role: "group", "aria-label": `A curve to draw, against ${knob}: ${given}` };
    this.svg = svg(
      "svg",
      {
        class: "lk-timeline lk-plot",
        ...aria,
        onpointerdown: (event) => this.press(event),
        onpointermove: (event) => {
          if (this.isHeld) this.move(event);
        },
        onlostpointercapture: () => {
          this.isHeld = false;
          this.changed();
        },
      },
      ...drawn,
    );
    this.said = spoken("lk-said", hint(within));
    this.node = html(
      "div",
      {},
      life.watched(this.svg, (width) => this.draw(width)),
      this.said,
    );
  }

  /** @param {number} point */
  pointOf(point) {
    return svg("circle", {
      r: 7,
      role: "slider",
      tabindex: 0,
      "aria-label": this.nameOf(point),
      "aria-orientation": "vertical",
      "aria-valuemin": 0,
      "aria-valuemax": this.steps,
      onkeydown: (event) => this.key(event, point),
      ...KEYS,
    });
  }

  // As one says it: "2 calls", "batch 5".
  nameOf(point) {
    const value = this.values[point + 1];
    const knob = this.knob.replaceAll("_", " ");
    return knob.endsWith("s") ? `${value} ${knob}` : `${knob} ${value}`;
  }

  // As they are now, for they move on.
  get() {
    return [...this.places];
  }

  /** @param {unknown} places */
  set(places) {
    const isAnswer = Array.isArray(places) && places.length === this.places.length;
    if (!isAnswer || this.isHeld) return;
    this.places = places.map((place) => (isStep(place) ? Math.min(place, this.steps) : UNDRAWN));
    this.draw();
  }

  /**
   * The true curve over that of the learner, its knee, and the least limit.
   * @param {Truth} told the curve without the given point
   */
  correct({ truth, knee, limits }) {
    this.right = { truth: [this.first, ...truth], knee, limits };
    this.node.inert = true;
    const marked = this.places.some((place) => place >= 0);
    this.said.textContent = marked ? "A filled point is right, and a ring is off." : "";
    this.draw();
  }

  // As the kernel judges it: a hand cannot put a point more exactly than one step.
  isNear(point) {
    const known = this.right.truth[point + 1];
    return Math.abs(this.places[point] - known) <= Math.max(1, this.within * known) * (1 + 1e-9);
  }

  x = (value) => FLOOR + (value / (this.values.length - 1)) * (this.width - FLOOR - 2 * RIGHT);
  y = (place) => PLOT - (place / this.steps) * (PLOT - ABOVE);

  /**
   * A line through all points that are drawn, and not through those that are not.
   * @param {number[]} places
   */
  path(places) {
    let isOn = false; // whether the line goes on from the point before
    let path = "";
    for (const [point, place] of places.entries()) {
      const isDrawn = place >= 0;
      if (isDrawn) path += `${isOn ? "L" : "M"}${this.x(point)},${this.y(place)}`;
      isOn = isDrawn;
    }
    return path;
  }

  draw(width = this.width) {
    if (!width) return;
    this.width = Math.max(NARROWEST, width);
    sized(this.svg, this.width, PLOT + FLOOR);
    this.drawAxes();
    attributes(this.start, { cx: this.x(0), cy: this.y(this.first) });
    attributes(this.given, { x: this.x(0) + 9, y: this.y(this.first) - 9 });
    attributes(this.line, { d: this.path([this.first, ...this.places]) });
    for (const [point, node] of this.points.entries()) {
      const place = Math.max(0, this.places[point]);
      attributes(node, { cx: this.x(point + 1), cy: this.y(place) });
      attributes(node, { "aria-valuenow": place, "aria-valuetext": this.where(point) });
      const isDrawn = this.places[point] >= 0;
      node.classList.toggle("lk-empty", !isDrawn);
      if (!this.right) continue;
      node.classList.toggle("lk-near", isDrawn && this.isNear(point));
      node.classList.toggle("lk-off", isDrawn && !this.isNear(point));
    }
    if (this.right) this.drawTruth(this.right);
  }

  drawAxes() {
    const right = this.width - RIGHT;
    const marks = rounds(0, this.steps * this.step, 5).map((value) => value / this.step);
    const across = (mark) => line(FLOOR - 8, this.y(mark), right, this.y(mark));
    this.grid.replaceChildren(...marks.map(across));
    this.axis.replaceChildren(
      ...this.values.map((value, point) => label(this.x(point), PLOT + 20, value)),
      ...marks.map((mark) => labelBefore(FLOOR - 12, this.y(mark) + 4, number(mark * this.step))),
      labelBefore(right, PLOT + 36, this.knob),
      svg("text", { x: 2, y: 10 }, this.unit && `${this.unit}, for each value of ${this.knob}`),
    );
  }

  /** @param {Truth} right */
  drawTruth({ truth, knee, limits = [] }) {
    const dot = (place, point) => svg("circle", { cx: this.x(point), cy: this.y(place), r: 4 });
    this.truth.replaceChildren(svg("path", { d: this.path(truth) }), ...truth.map(dot));
    if (knee > 0 && knee < truth.length - 1) {
      const x = this.x(knee);
      const words = `knee: ${this.knob}=${this.values[knee]}`;
      const isRight = x + LETTER * words.length < this.width;
      const beside = { x: x + (isRight ? 6 : -6), y: 32, "text-anchor": isRight ? "start" : "end" };
      this.truth.append(line(x, 20, x, PLOT), svg("text", beside, words));
    }
    this.drawLimit(Math.min(...limits.map(([least]) => least)));
  }

  // What none of these runs can get below. A first run that does is not held by it.
  drawLimit(least) {
    if (least > this.first + 1e-6) return;
    const y = this.y(least);
    const right = this.width - RIGHT;
    const isLow = y > PLOT - 16;
    const place = { x: FLOOR + 10, y: isLow ? y - 6 : y + 14 };
    const words = svg("text", place, `limit: ${this.says(least)}`);
    this.truth.append(line(FLOOR - 8, y, right, y, { class: "lk-limit" }), words);
  }

  says = (place) => `${number(place * this.step)} ${this.unit}`.trim();

  where(point) {
    const place = this.places[point];
    return place < 0 ? "not drawn yet" : this.says(place);
  }

  put(point, place) {
    this.places[point] = clamped(place, 0, this.steps);
    this.draw();
    this.said.textContent = `${this.nameOf(point)}: ${this.where(point)}`;
  }

  // A hand that passes over points takes each of them along.
  press(event) {
    this.isHeld = true;
    this.svg.setPointerCapture?.(event.pointerId);
    event.preventDefault();
    this.move(event);
  }

  move(event) {
    const { x, y } = inside(this.svg, event);
    const point = nearest(this.points, (_, index) => Math.abs(this.x(index + 1) - x));
    this.put(point, Math.round(((PLOT - y) / (PLOT - ABOVE)) * this.steps));
  }

  key(event, point) {
    const beside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const by = KEYS_BY[event.key];
    const end = { Home: 0, End: this.steps }[event.key]; // as of any slider
    if (beside) this.points[point + beside]?.focus();
    else if (end !== undefined) this.put(point, end);
    else if (by !== undefined) this.put(point, this.from(point) + by);
    else return;
    this.changed();
    take(event);
  }

  // From where a key moves a point: one that is not drawn begins where the one before it is.
  from(point) {
    if (this.places[point] >= 0) return this.places[point];
    return Math.round(this.places[point - 1] ?? this.first);
  }
}
