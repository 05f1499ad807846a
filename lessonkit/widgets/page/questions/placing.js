// Bars that a learner puts on the axis of a run. They wait in a tray below it, and snap to its
// steps.

import { attributes, div, spoken, svg } from "../base/dom.js";
import { inside, label, labelBefore, sized } from "../base/drawn.js";
import { KEYS, take } from "../base/keyboard.js";
import { clamped, isStep, time } from "../base/numbers.js";
import { BOTTOM, GAP, TOP } from "../pictures/heights.js";
import { LEFT, NARROWEST, Timeline } from "../pictures/timeline.js";

/** @typedef {import("../scene.js").RowScene} RowScene */

/**
 * A bar to place; its length is in steps of the axis.
 * @typedef {object} PlacedBar
 * @property {number} row
 * @property {string} label what stands on it
 * @property {number} length
 * @property {string} name
 */

/**
 * A bar that is there from the start, in microseconds.
 * @typedef {object} GivenBar
 * @property {number} row
 * @property {number} lane
 * @property {number} start
 * @property {number} length
 */

/** @typedef {import("./question.js").Answer} Answer */

/**
 * What the page has to know to have bars placed.
 * @typedef {object} PlacingState
 * @property {RowScene[]} rows
 * @property {PlacedBar[]} bars
 * @property {GivenBar[]} given
 * @property {number} step microseconds
 * @property {number} steps of the axis
 */

const WIDE = 1.4; // a bold letter is 0.7 of its size wide
const LANE = 32; // pixels
const FAST = 5; // steps at a time
const IN_TRAY = -1; // the place of a bar that is not placed
const HOW =
  "Drag each bar to where it belongs, or press Enter on it. Arrow keys then move it, " +
  "with Shift five steps at a time; " +
  "Enter puts it down, Escape takes it back, and Delete removes it from the axis.";

// What is said of a bar, and of where it is.
const TOLD = {
  moved: (name, where) => `${name}: ${where}.`,
  held: (name, where) => `${name} is picked up: ${where}.`,
  down: (name, where) => `${name} is put down: ${where}.`,
  back: (name, where) => `${name} was dropped outside and is back: ${where}.`,
};

/**
 * The lane of each bar. A bar takes the first lane of its row that is free, and one that is held
 * takes none from another; where none is free, a bar lies on another one.
 * @param {Pick<PlacedBar, "row" | "length">[]} bars
 * @param {number[]} places
 * @param {Pick<RowScene, "lanes">[]} rows
 * @param {number} held the bar that a hand holds, -1 for none
 * @param {number[]} before the lanes that the bars had
 */
export function lanesOf(bars, places, rows, held, before) {
  const lanes = [...before];
  const meets = (one, other) =>
    places[other] < places[one] + bars[one].length &&
    places[one] < places[other] + bars[other].length;
  for (const bar of bars.keys()) {
    if (places[bar] < 0) continue;
    const taken = lanes.filter((_, other) => {
      const isBefore = other !== bar && other !== held && (other < bar || bar === held);
      const isBeside = places[other] >= 0 && bars[other].row === bars[bar].row;
      return isBefore && isBeside && meets(bar, other);
    });
    const all = Array.from({ length: rows[bars[bar].row].lanes }, (_, lane) => lane);
    lanes[bar] = all.find((lane) => !taken.includes(lane)) ?? 0;
  }
  return lanes;
}

/** @implements {Answer} */
export class Placing extends Timeline {
  static kind = "placing";

  picked = -1; // the bar that a hand or the keyboard moves
  before = IN_TRAY; // where that one was
  /** @type {{ x: number, y: number } | null} */
  grip = null; // where on the bar the hand is
  /** @type {GivenBar[]} */
  placed = []; // where the learner had put the bars, once they are corrected
  tray = labelBefore(LEFT - 10, 0, "to place");
  shadow = svg("rect", { class: "lk-shadow", rx: 3, style: "display: none" });
  theirs = svg("g", { class: "lk-theirs" });

  /**
   * @param {import("../base/life.js").Life} life
   * @param {PlacingState} state
   * @param {Pick<import("./question.js").Asking, "changed">} asking
   */
  constructor(life, { rows, bars, given, step, steps }, { changed }) {
    const lanes = rows.reduce((sum, row) => sum + row.lanes, 0);
    super({ height: TOP + BOTTOM + GAP * rows.length + LANE * lanes });
    this.rows = rows;
    this.scene = /** @type {any} */ ({ rows, epochs: [], end: step * steps });
    this.given = given;
    this.perStep = step; // microseconds
    this.steps = steps;
    this.changed = changed;
    this.places = bars.map(() => IN_TRAY); // in steps
    this.lanes = bars.map(() => 0);
    this.toPlace = bars.map((bar, index) => ({ ...bar, ...this.nodesOf(bar, index) }));
    const { grid, names, ghosts, axis, bars: front } = this.layer;
    this.svg.replaceChildren(grid, names, ghosts, axis, this.tray, this.shadow, this.theirs, front);
    front.append(...this.toPlace.map(({ node }) => node));
    attributes(this.svg, { role: "group", "aria-label": "Bars to place in time" });
    this.svg.removeAttribute("tabindex");
    // Or the page would follow the finger.
    front.addEventListener("touchstart", (event) => event.preventDefault());
    const many = bars.length === 1 ? "1 bar" : `${bars.length} bars`;
    this.said = spoken("lk-said", `${many} to place. ${HOW}`);
    const frame = life.watched(this.svg, (width) => this.draw(this.scene, width));
    this.node = div("lk-placing", frame, this.said);
  }

  /**
   * @param {PlacedBar} bar
   * @param {number} index
   */
  nodesOf({ row, label: words, name }, index) {
    const rect = svg("rect", { rx: 3, fill: this.rows[row].colour, height: LANE - 2 });
    const text = label(0, LANE / 2 + 3, words || name);
    const onblur = () => {
      if (this.picked === index && !this.grip) this.drop();
    };
    const node = svg("g", { role: "button", tabindex: 0, onblur, ...KEYS }, rect, text);
    return { node, rect, text };
  }

  point() {} // of these bars nothing is told yet

  // As they are now, for they move on.
  get() {
    return [...this.places];
  }

  /** @param {unknown} places */
  set(places) {
    const isAnswer = Array.isArray(places) && places.length === this.toPlace.length;
    if (!isAnswer || this.picked >= 0) return;
    this.places = places.map((place, bar) => (isStep(place) ? this.clamp(bar, place) : IN_TRAY));
    this.arrange();
  }

  /**
   * The true bars slide over those of the learner, which stay as outlines.
   * @param {{ truth: number[] }} told
   */
  correct({ truth }) {
    this.placed = [];
    for (const [bar, { row, length }] of this.toPlace.entries()) {
      const start = this.places[bar] * this.perStep;
      const lane = this.lanes[bar];
      if (start >= 0) this.placed.push({ row, lane, start, length: length * this.perStep });
    }
    this.svg.classList.add("lk-slide");
    this.places = truth;
    this.node.inert = true;
    this.tray.textContent = "";
    this.said.textContent = "";
    requestAnimationFrame(() => {
      if (this.width) this.draw(this.scene, this.width);
    });
  }

  // ---- drawing ----

  draw(scene, width) {
    this.width = Math.max(NARROWEST, width);
    this.measure();
    this.bottom = this.floor + BOTTOM; // of the axis; below it is the tray
    sized(this.svg, this.width, this.bottom + (this.node.inert ? 0 : LANE));
    this.tray.setAttribute("y", String(this.bottom + LANE / 2 + 3));
    this.drawNames();
    this.drawAxis();
    const shape = (bar) => {
      return svg("rect", { fill: scene.rows[bar.row].colour, rx: 3, ...this.boxAt(bar) });
    };
    this.layer.ghosts.replaceChildren(...this.given.map(shape));
    const outline = (bar) => svg("rect", { rx: 3, ...this.boxAt(bar) });
    this.theirs.replaceChildren(...this.placed.map(outline));
    this.arrange();
  }

  arrange() {
    if (!this.width) return;
    this.lanes = lanesOf(this.toPlace, this.places, this.rows, this.picked, this.lanes);
    for (const bar of this.toPlace.keys()) this.placeBar(bar);
  }

  placeBar(bar, { x, y, width } = this.box(bar)) {
    const { name, length, node, rect, text } = this.toPlace[bar];
    attributes(rect, { width });
    const size = Math.min(11.5, (WIDE * width) / text.textContent.length); // pixels, of a letter
    const visibility = size < 7 ? "hidden" : "visible";
    attributes(text, { x: width / 2, style: `font-size: ${size}px; visibility: ${visibility}` });
    node.style.transform = `translate(${x}px, ${y}px)`;
    const said = `${name}, ${time(length * this.perStep)}, ${this.where(bar)}`;
    attributes(node, { "aria-pressed": String(bar === this.picked), "aria-label": said });
  }

  /** @param {GivenBar} bar */
  boxAt({ row, lane, start, length }) {
    const x = this.x(start);
    const width = Math.max(1, this.x(start + length) - x - 1);
    return { x: x + 0.5, y: this.tops[row] + lane * this.lane + 1, width, height: LANE - 2 };
  }

  // All bars together are no longer than the axis, so that each has its place in the tray.
  box(bar) {
    const { row, length: steps } = this.toPlace[bar];
    const length = steps * this.perStep;
    const place = this.places[bar];
    if (place >= 0) {
      return this.boxAt({ row, lane: this.lanes[bar], start: place * this.perStep, length });
    }
    const before = this.toPlace.slice(0, bar).reduce((sum, other) => sum + other.length, 0);
    const inTray = this.boxAt({ row: 0, lane: 0, start: before * this.perStep, length });
    return { ...inTray, y: this.bottom + 1 };
  }

  where(bar) {
    const place = this.places[bar];
    if (place < 0) return "not placed yet";
    const end = place + this.toPlace[bar].length;
    return `from ${time(place * this.perStep)} to ${time(end * this.perStep)}`;
  }

  // ---- picking up, moving, putting down ----

  clamp(bar, place) {
    return clamped(place, 0, this.steps - this.toPlace[bar].length);
  }

  pick(bar) {
    this.picked = bar;
    this.before = this.places[bar];
  }

  put(place, told = TOLD.moved) {
    const bar = this.picked;
    this.places[bar] = place;
    this.arrange();
    this.said.textContent = told(this.toPlace[bar].name, this.where(bar));
  }

  drop(place = this.places[this.picked], told = TOLD.down) {
    this.put(place, told);
    this.picked = -1;
    this.grip = null;
    this.shadow.style.display = "none";
    this.arrange();
    this.changed();
  }

  key(event) {
    const bar = this.toPlace.findIndex(({ node }) => node === event.target);
    if (bar < 0) return;
    const isPicked = bar === this.picked;
    const here = this.places[bar];
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const ends = {
      Enter: here,
      " ": here,
      Escape: this.before,
      Delete: IN_TRAY,
      Backspace: IN_TRAY,
    };
    const to = ends[event.key];
    const isToPick = event.key === "Enter" || event.key === " ";
    if (isPicked && by) this.put(this.clamp(bar, here + by * (event.shiftKey ? FAST : 1)));
    else if (isPicked && to !== undefined) this.drop(to);
    else if (isToPick) {
      this.pick(bar);
      this.put(Math.max(0, here), TOLD.held);
    } else return;
    take(event);
  }

  press(event) {
    const bar = this.toPlace.findIndex(({ node }) => node.contains(event.target));
    if (bar < 0 || event.button) return;
    if (this.picked >= 0) this.drop();
    this.pick(bar);
    const { x, y } = inside(this.svg, event);
    const box = this.box(bar);
    this.grip = { x: x - box.x, y: y - box.y };
    this.layer.bars.append(this.toPlace[bar].node); // above all others
    this.svg.setPointerCapture?.(event.pointerId);
    event.preventDefault();
  }

  // The bar follows the hand, and its outline shows where it will be put.
  move(event) {
    if (!this.grip) return;
    const { x, y } = inside(this.svg, event);
    const left = x - this.grip.x;
    const place = Math.round(this.timeAt(left) / this.perStep);
    this.put(y < this.bottom ? this.clamp(this.picked, place) : IN_TRAY);
    const box = this.box(this.picked);
    attributes(this.shadow, box).style.display = "";
    this.placeBar(this.picked, { ...box, x: left, y: y - this.grip.y });
  }

  release(event) {
    if (!this.grip) return;
    const { x, y } = inside(this.svg, event);
    const { node } = this.toPlace[this.picked];
    const isInside = x >= 0 && y >= 0 && x <= this.width && y <= this.bottom + LANE;
    // In the order in which Tab goes through them.
    this.layer.bars.append(...this.toPlace.map((bar) => bar.node));
    node.focus({ preventScroll: true });
    if (isInside && event.type !== "pointercancel") this.drop();
    else this.drop(this.before, TOLD.back);
  }
}
