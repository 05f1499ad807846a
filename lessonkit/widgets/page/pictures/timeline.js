// The timeline: a row for each stage, a lane for each call, a bar for each piece of work or
// waiting.

import { moments, rounds } from "../base/axis.js";
import { attributes, html, svg, unique } from "../base/dom.js";
import {
  BOLD_LETTER,
  BRIEF,
  filling,
  hatching,
  inside,
  LETTER,
  label,
  labelBefore,
  line,
  sized,
  TILE,
} from "../base/drawn.js";
import { KEYS, keys } from "../base/keyboard.js";
import { clamped, cut, size, time } from "../base/numbers.js";
import { envelopeOf, isDense } from "./envelope.js";
import { BAND, BOTTOM, heightsOf, TOP } from "./heights.js";
import { written } from "./labels.js";
import { journey } from "./words.js";

/** @typedef {import("../scene.js").Scene} Scene */

/**
 * @typedef {object} Box
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 */

/**
 * A bar as it is drawn, and what its nodes were told last, by the names of attributes.
 * @typedef {object} Drawn
 * @property {SVGElement} rect
 * @property {SVGElement} text
 * @property {string} label
 * @property {boolean} lit
 * @property {Record<string, string | number>} ofRect
 * @property {Record<string, string | number>} ofText
 */

/**
 * A stretch of the axis in which a text stands.
 * @typedef {object} Stretch
 * @property {number} from
 * @property {number} to
 */

// In pixels.
export const LEFT = 92;
export const RIGHT = 16;
export const NARROWEST = 240; // with something to see beside the names
const NAMED = 14; // where the names of lines end, above the times of the playhead and the other run
const TRACK = 64; // of what is held over time
const SEEN = 6; // of a wait in a row of which only an envelope is drawn
const LOW = 11; // a lane that is lower has no labels

export const FINEST = 10; // microseconds between two marks: their numbers have no more digits

// Events, and the methods that act on them.
const HEARD = {
  pointerdown: "press",
  pointermove: "move",
  pointerup: "release",
  pointercancel: "release",
  pointerleave: "away",
  keydown: "key",
};

export class Timeline {
  /** @type {Scene | null} */
  scene = null;
  /** @type {Scene | null} */
  other = null; // a second run on the same axis
  isPinned = false; // whether that one is the baseline run, and not a real one
  least = 0; // what the axis has room for in any case
  limit = 0; // the earliest end of such a run, if it is to be drawn
  held = 0; // the end of the axis while a hand is on a bar; 0 without one
  time = 0;
  isMoved = false; // whether the playhead is where a hand has put it
  bar = -1; // the one that is pointed at
  show = { path: false, waits: true, memory: false, limit: false };
  /** @type {Set<number>} */
  dense = new Set(); // the rows that are drawn as envelopes
  /** @type {Map<number, string>} */
  numbers = new Map(); // what is written on bars of work
  width = 0;
  /** @type {Drawn[]} */
  bars = [];
  named = ""; // what the names of rows were drawn from
  /** @type {(Stretch & { node: SVGElement }) | null} */
  ended = null; // the text at the end of the second run
  hatch = unique("hatch");

  /**
   * @param {object} given
   * @param {number} given.height pixels, if names and labels have room, and lanes need them
   * @param {(micros: number) => void} [given.onTime] called when the playhead moves
   * @param {(bar: number) => void} [given.onBar] called when another bar is pointed at
   */
  constructor({ height, onTime = () => {}, onBar = () => {} }) {
    this.height = height;
    this.onTime = onTime;
    this.onBar = onBar;
    const layer = (name) => svg("g", { class: `lk-${name}` });
    this.layer = {
      grid: layer("grid"),
      names: layer("names"),
      ghosts: layer("ghosts"),
      envelopes: layer("envelopes"),
      bars: layer("bars"),
      labels: layer("labels"),
      path: layer("path"),
      track: layer("track"),
      axis: layer("axis"),
    };
    this.keys = html("div", { class: "lk-keys" });
    this.headLine = svg("line", { y1: -6 });
    this.headText = svg("text", { x: 10, y: -8 });
    const handle = svg("path", { d: "M-6,-18 h12 v9 l-6,6 l-6,-6 z" });
    this.head = svg("g", { class: "lk-head" }, handle, this.headLine, this.headText);
    this.ring = svg("rect", { class: "lk-ring", rx: 3 });
    const aria = { role: "slider", tabindex: 0, "aria-label": "Time in the run" };
    const layers = [hatching(this.hatch), ...Object.values(this.layer), this.ring, this.head];
    this.svg = svg("svg", { class: "lk-timeline", ...aria, ...KEYS }, ...layers);
    for (const [event, act] of Object.entries(HEARD)) {
      this.svg.addEventListener(event, (about) => this[act]?.(about));
    }
  }

  // ---- from time and place to pixels, and back ----

  get end() {
    // Held still under a hand.
    if (this.held) return this.held;
    return Math.max(1, this.least, this.scene.end, this.other?.end ?? 0);
  }

  x = (micros) => LEFT + (micros / this.end) * (this.width - LEFT - RIGHT);

  timeAt(x) {
    return clamped(((x - LEFT) / (this.width - LEFT - RIGHT)) * this.end, 0, this.end);
  }

  measure() {
    const found = heightsOf(this.scene, this.height, this.isPinned);
    this.high = found.height;
    this.lane = found.lane;
    this.shares = found.shares;
    this.tops = found.tops;
    this.floor = found.floor;
  }

  // The rows that have more bars than can be told apart, and what is in them.
  get crowded() {
    return this.work.flatMap((bars, row) => (isDense(bars) ? [{ row, bars }] : []));
  }

  // How high a lane of a row is.
  highOf = (row) => this.lane * this.shares[row];

  isWait = (bar) => this.scene.bars.kind[bar] !== "" && this.scene.bars.kind[bar] !== "count";

  // Below its bars is the real run.
  get thin() {
    return this.other && !this.isPinned ? 0.72 : 1;
  }

  /**
   * The room that a bar has in its lane.
   * @returns {Box}
   */
  room(bar) {
    const { row, lane, start, length, kind } = this.scene.bars;
    const isCount = kind[bar] === "count";
    const high = this.highOf(row[bar]);
    const gap = Math.min(2, high / 3);
    const x = this.x(start[bar]);
    const between = isCount ? 0 : 1; // steps touch each other
    const width = Math.max(1, this.x(start[bar] + length[bar]) - x - between);
    const y = this.tops[row[bar]] + lane[bar] * high + gap / 2;
    return { x: x + between / 2, y, width, height: high * (isCount ? 1 : this.thin) - gap };
  }

  /**
   * What of that is drawn: a step is as high as what it counts, and a wait is a line.
   * @returns {Box}
   */
  box(bar) {
    const { x, y, width, height } = this.room(bar);
    if (this.isWait(bar)) {
      const middle = Math.round((y + height / 2) / TILE - 0.5) * TILE;
      return { x, y: middle, width, height: TILE };
    }
    const own = height * this.scene.bars.level[bar];
    return { x, y: y + height - own, width, height: own };
  }

  // ---- drawing ----

  draw(scene = this.scene, width = this.width) {
    this.scene = scene;
    this.width = Math.max(NARROWEST, width);
    this.measure();
    const { crowded } = this;
    this.dense = new Set(crowded.map(({ row }) => row));
    sized(this.svg, this.width, this.high + (this.show.memory ? TRACK : 0));
    this.svg.classList.toggle("lk-bare", scene.epochs.length < 2 && !this.show.limit);
    // Under a hand only the kernel knows the waits.
    this.svg.classList.toggle("lk-no-waits", !this.show.waits || this.held > 0);
    this.drawNames();
    this.drawAxis();
    this.layer.envelopes.replaceChildren(...crowded.map((one) => this.envelope(one)));
    this.number();
    this.drawBars();
    this.drawGhosts();
    this.drawPath();
    this.drawTrack();
    this.keys.replaceChildren(...this.keysOf(scene));
    this.point(this.bar < scene.bars.row.length ? this.bar : -1);
    this.seek(this.isMoved ? this.time : this.firstStep, this.isMoved);
  }

  // When the accelerator begins its first step. Until a hand moves it, the playhead is there,
  // where something happens; at 0 ms nothing has.
  get firstStep() {
    const { row, start, kind } = this.scene.bars;
    const last = this.scene.rows.length - 1;
    const steps = start.filter((_, bar) => row[bar] === last && !kind[bar]);
    return steps.length ? Math.min(...steps) : 0;
  }

  drawNames() {
    const key = JSON.stringify([this.scene.rows, this.tops, this.shares, ...this.dense]);
    if (key === this.named) return;
    this.named = key;
    const names = this.scene.rows.flatMap((row, index) => this.nameOf(row, index));
    this.layer.names.replaceChildren(...names);
  }

  /**
   * The name of a row, and the numbers of its lanes.
   * @param {import("../scene.js").RowScene} row
   * @param {number} index
   */
  nameOf({ stage, lanes }, index) {
    const high = this.highOf(index);
    const top = this.tops[index];
    const short = cut(stage, 10);
    // A lane of workers is always the same one, so each has its number.
    const isOne = lanes === 1 || high < LOW || this.dense.has(index);
    const isNumbered = !isOne && /^Worker( \d+)?$/.test(stage);
    const numbers = Array.from({ length: isNumbered ? lanes : 0 }, (_, lane) => {
      return labelBefore(LEFT - 10, top + (lane + 0.5) * high + 4, lane);
    });
    // In these marks a name that is written from right to left does not turn around what is
    // beside it.
    const isCounted = lanes > 1 && this.shares[index] === 1 && !isNumbered;
    const text = isCounted ? `\u2068${short}\u2069 ×${lanes}` : short;
    const node = labelBefore(LEFT - (isNumbered ? 30 : 10), top + (lanes * high) / 2 + 4, text);
    node.append(svg("title", {}, stage));
    return [node, ...numbers];
  }

  drawAxis() {
    const ticks = moments(rounds(0, this.end, (this.width - LEFT) / 90, FINEST), this.end);
    const lines = ticks.map(({ at }) => line(this.x(at), TOP - 4, this.x(at), this.floor));
    const marks = ticks.map(({ at, text }) => label(this.x(at), this.floor + 16, text));
    const limit = this.show.limit && !this.held ? this.limit : 0; // only the kernel knows it
    const named = this.scene.epochs.length > 1 ? this.drawEpochs(lines, marks, limit) : [];
    this.layer.grid.replaceChildren(...lines);
    this.layer.axis.replaceChildren(...marks);
    if (limit) this.drawLimit(this.x(limit), named);
  }

  /**
   * Adds where epochs begin to the *lines* and their names to the *marks*; gives where these stand.
   * @param {SVGElement[]} lines
   * @param {SVGElement[]} marks
   * @param {number} limit
   */
  drawEpochs(lines, marks, limit) {
    const { epochs, end } = this.scene;
    /** @type {Stretch[]} */
    const named = [];
    for (const [index, start] of epochs.entries()) {
      const after = [limit, epochs[index + 1], end].filter((at) => at > start);
      const x = this.x(start);
      const room = after.length ? this.x(Math.min(...after)) - x : 0;
      const short = `${index + 1}`;
      const isShort = room < 60 && room >= 6 + 8 * short.length;
      const text = room >= 60 ? `epoch ${short}` : isShort ? short : "";
      marks.push(svg("text", { class: "lk-epoch", x: x + 4, y: 10 }, text));
      lines.push(...this.mark(x, "lk-epoch"));
      named.push({ from: x, to: x + 4 + LETTER * text.length });
    }
    return named;
  }

  /**
   * Where the run would end that no order and no parallelism can beat. Its name stands where no
   * epoch has one; the last figure says what sets it.
   * @param {number} x
   * @param {Stretch[]} named
   */
  drawLimit(x, named) {
    const name = "limit";
    const wide = 4 + LETTER * name.length;
    const hasRoom = ({ from, to }) => {
      const isFree = named.every((other) => to <= other.from || from >= other.to);
      return from >= LEFT && to <= this.width && isFree;
    };
    const after = { from: x, to: x + wide, at: x + 4, anchor: "start" };
    const before = { from: x - wide, to: x, at: x - 4, anchor: "end" };
    const place = [after, before].find(hasRoom);
    if (!place) return; // a line without a name tells nothing
    const given = { class: "lk-limit", x: place.at, y: 10, "text-anchor": place.anchor };
    const text = svg("text", given, name);
    text.append(svg("title", {}, "No run that does this work ends before this line."));
    this.layer.axis.append(text);
    this.layer.grid.append(...this.mark(x, "lk-limit"));
  }

  /**
   * A line through the rows and beside its own name, with a gap where the times of the playhead and
   * of the other run stand.
   * @param {number} x
   * @param {string} name
   */
  mark(x, name) {
    const given = { class: name };
    return [line(x, TOP - 4, x, this.floor, given), line(x, 2, x, NAMED, given)];
  }

  /**
   * What each kind of wait looks like, two that look alike with one key; and what an envelope is.
   * @param {Pick<Scene, "waits">} scene
   */
  keysOf({ waits }) {
    const seen = this.show.waits ? Object.values(waits) : [];
    const marks = new Map(seen.map(({ legend, mark }) => [legend, mark]));
    const keys = [...marks].map(([legend, mark]) => {
      const fill = filling(this.hatch, mark);
      const size = { width: 5 * TILE, height: TILE };
      return html("span", {}, svg("svg", size, svg("rect", { ...size, fill })), legend);
    });
    if (this.dense.size) keys.push(html("span", {}, "▁▃▅ the share of time in which it works"));
    return keys;
  }

  // ---- bars, and what is drawn in place of too many ----

  // The bars of work of each row, in pixels, in the order of time.
  get work() {
    const { row, lane, start, length, kind } = this.scene.bars;
    /** @type {import("./envelope.js").Work[][]} */
    const found = this.scene.rows.map(() => []);
    for (const [bar, its] of kind.entries()) {
      const to = this.x(start[bar] + length[bar]);
      if (!its) found[row[bar]].push({ lane: lane[bar], from: this.x(start[bar]), to });
    }
    return found;
  }

  /** @param {{ row: number, bars: import("./envelope.js").Work[] }} crowded */
  envelope({ row, bars }) {
    const { lanes, colour, stage } = this.scene.rows[row];
    const { from, step, shares } = envelopeOf(bars, lanes);
    const high = lanes * this.highOf(row) * this.thin - 2;
    const floor = this.tops[row] + high + 1;
    const stairs = shares.map((share, at) => {
      return `V${(floor - share * high).toFixed(1)}H${(from + (at + 1) * step).toFixed(1)}`;
    });
    const d = `M${from.toFixed(1)},${floor.toFixed(1)}${stairs.join("")}V${floor.toFixed(1)}Z`;
    return svg("path", { d, fill: colour, class: "lk-envelope", "data-stage": stage });
  }

  // Chooses what is written on bars of work, row by row.
  number() {
    const { row, lane, kind, label: labels } = this.scene.bars;
    /** @type {(import("./labels.js").Labelled & { bar: number })[][]} */
    const rows = this.scene.rows.map(() => []);
    for (const [bar, text] of labels.entries()) {
      if (!text || kind[bar] || this.dense.has(row[bar])) continue;
      const { x, width, height } = this.room(bar);
      if (height < LOW) continue;
      const about = { bar, label: text, lane: lane[bar], middle: x + width / 2, width: width - 4 };
      rows[row[bar]].push(about);
    }
    const wide = (text) => LETTER * text.length;
    const chosen = rows.flatMap((bars) => written(bars, wide));
    this.numbers = new Map(chosen.map(({ bar, label: text }) => [bar, text]));
  }

  // Bars are kept from one picture to the next, and only what has changed is told to the page.
  drawBars() {
    const count = this.scene.bars.row.length;
    while (this.bars.length < count) {
      const rect = svg("rect");
      const text = svg("text", { "text-anchor": "middle" });
      this.bars.push({ rect, text, label: "", lit: false, ofRect: {}, ofText: {} });
      this.layer.bars.append(rect);
      this.layer.labels.append(text); // above all bars, for a number may be wider than its own
    }
    for (const { rect, text } of this.bars.splice(count)) {
      rect.remove();
      text.remove();
    }
    for (const bar of this.bars.keys()) this.drawBar(bar);
  }

  /** @param {number} bar */
  drawBar(bar) {
    const { bars, rows, waits } = this.scene;
    const drawn = this.bars[bar];
    const box = this.box(bar);
    const { stage, colour } = rows[bars.row[bar]];
    const kind = bars.kind[bar];
    const isCount = kind === "count";
    const isWait = this.isWait(bar);
    const isHidden = this.dense.has(bars.row[bar]) && (!isWait || box.width < SEEN);
    const fill = isWait ? filling(this.hatch, waits[kind].mark) : colour;
    const name = isWait ? "lk-bar lk-wait" : isCount ? "lk-bar lk-count" : "lk-bar";
    tell(drawn.rect, drawn.ofRect, {
      ...box,
      rx: isCount || isWait ? 0 : 2.5,
      fill,
      "data-start": bars.start[bar],
      "data-length": bars.length[bar],
      "data-stage": stage,
    });
    const shownAs = isHidden ? `${name} lk-hidden` : name;
    if (tell(drawn.rect, drawn.ofRect, { class: shownAs })) drawn.lit = false;
    const full = box.height / bars.level[bar];
    const fits = (text) => LETTER * text.length <= box.width - (isWait ? 12 : 4);
    const told = isWait ? this.waitOf(bar) : full < LOW ? [] : [bars.label[bar]];
    const shown = kind ? told.find(fits) : this.numbers.get(bar);
    const text = (isHidden ? "" : shown) ?? "";
    if (drawn.label !== text) drawn.text.textContent = text;
    drawn.label = text;
    if (!text) return;
    const isAbove = isCount && full - box.height >= LOW; // a step with room for its number
    tell(drawn.text, drawn.ofText, {
      x: box.x + box.width / 2,
      y: isAbove ? box.y - 2 : box.y + box.height / 2 + 4,
      // A number may be wider than its bar: behind it is the colour of that.
      ...(isWait || isAbove
        ? { class: "lk-why", style: "" }
        : { class: "", style: `stroke: ${colour}` }),
    });
  }

  /**
   * What may be written on a wait, the longest first.
   * @param {number} bar
   */
  waitOf(bar) {
    const { kind, label, note, row } = this.scene.bars;
    const text = label[bar];
    if (kind[bar] !== "idle" || this.highOf(row[bar]) < LOW) return [];
    const [cause] = note[bar].split(",");
    const words = `waits ${text}`;
    return [...(cause ? [`${words} for ${cause}`] : []), words, text];
  }

  // The other run, one shape for each stage: a real one thin below the same bars, the baseline
  // run as a band under the row.
  drawGhosts() {
    this.ended = null;
    this.layer.ghosts.replaceChildren();
    if (!this.other) return;
    const { bars, rows } = this.other;
    /** @type {string[]} */
    const shapes = rows.map(() => "");
    const ours = rows.map(({ stage }) => this.scene.rows.findIndex((row) => row.stage === stage));
    for (let bar = 0; bar < bars.row.length; bar++) {
      const row = ours[bars.row[bar]];
      if (row >= 0 && !bars.kind[bar]) shapes[bars.row[bar]] += this.ghostOf(bar, row);
    }
    const end = this.x(this.other.end);
    const isLeft = end > this.width / 2;
    const whole = `${this.isPinned ? "baseline" : "real"} run: ${time(this.other.end)}`;
    const words = this.width < BRIEF ? time(this.other.end) : whole; // a line below says the rest
    const at = end + (isLeft ? -4 : 4);
    const wide = LETTER * words.length;
    const from = isLeft ? at - wide : at;
    const node = label(at, TOP - 8, words, { "text-anchor": isLeft ? "end" : "start" });
    this.ended = { node, from, to: from + wide };
    this.layer.ghosts.append(
      ...shapes.map((d, row) => svg("path", { d, fill: rows[row].colour })),
      line(end, TOP - 4, end, this.floor),
      node,
    );
  }

  /**
   * The shape of a bar of the other run in a row of this one.
   * @param {number} bar
   * @param {number} row
   */
  ghostOf(bar, row) {
    const { start, length, lane } = this.other.bars;
    const { lanes } = this.scene.rows[row];
    const high = this.highOf(row);
    const x = this.x(start[bar]);
    const width = Math.max(1, this.x(start[bar] + length[bar]) - x - 1);
    const below = this.isPinned ? lanes * high + 1 : (Math.min(lane[bar], lanes - 1) + 0.74) * high;
    const height = this.isPinned ? BAND : high * 0.2;
    const brief = (pixels) => pixels.toFixed(1);
    const corner = `${brief(x)},${brief(this.tops[row] + below)}`;
    return `M${corner}h${brief(width)}v${brief(height)}h${brief(-width)}z`;
  }

  drawPath() {
    const { row } = this.scene.bars;
    const outlined = this.show.path ? this.scene.path.toSorted((a, b) => row[a] - row[b]) : [];
    /** @type {(Box & { row: number })[]} */
    const boxes = [];
    for (const bar of outlined) {
      const box = { ...this.box(bar), row: row[bar] };
      const before = boxes.at(-1);
      // Bars that nobody can tell apart have one outline.
      const isOne = before?.row === box.row && this.dense.has(box.row);
      if (isOne && box.x - before.x - before.width < SEEN)
        before.width = box.x + box.width - before.x;
      else boxes.push(box);
    }
    const drawn = boxes.map(({ x, y, width, height }) => {
      return svg("rect", { x: x - 0.5, y: y - 1.5, width: width + 1, height: height + 3, rx: 3 });
    });
    this.layer.path.replaceChildren(...drawn);
  }

  // What is held over time, all buffers one on the other.
  drawTrack() {
    this.layer.track.replaceChildren();
    if (!this.show.memory) return;
    const { time: times, change, bytes } = this.scene.events;
    let held = 0;
    let most = 0;
    const levels = change.map((by, event) => {
      held += by * (bytes.length ? bytes[event] : 1);
      most = Math.max(most, held);
      return held;
    });
    const floor = this.floor + BOTTOM + TRACK - 8;
    const y = (level) => floor - (level / Math.max(1, most)) * (TRACK - 20);
    const stairs = levels.map((level, event) => {
      return `H${this.x(times[event]).toFixed(1)}V${y(level).toFixed(1)}`;
    });
    const top = bytes.length ? size(most) : `${most} elements`;
    this.layer.track.append(
      svg("path", { d: `M${LEFT},${floor}${stairs.join("")}H${this.x(this.scene.end)}V${floor}Z` }),
      labelBefore(LEFT - 10, floor - 8, "Memory"),
      svg("text", { x: LEFT + 4, y: floor - TRACK + 30 }, `at most ${top}`),
    );
  }

  // ---- the playhead, and pointing ----

  /**
   * @param {number} micros
   * @param {boolean} isMoved
   */
  seek(micros, isMoved = true) {
    this.isMoved = isMoved;
    this.time = clamped(micros, 0, this.end);
    const x = this.x(this.time);
    this.head.setAttribute("transform", `translate(${x.toFixed(1)},${TOP})`);
    attributes(this.headLine, { y2: this.floor - TOP });
    this.headText.textContent = time(this.time);
    this.placeHeadText(x);
    attributes(this.svg, {
      "aria-valuemin": 0,
      "aria-valuemax": Math.round(this.end / 1000),
      "aria-valuenow": Math.round(this.time / 1000),
      "aria-valuetext": time(this.time),
    });
    this.onTime(this.time);
  }

  /**
   * On the side where no text of the other run is; if both have some, that one gives way.
   * @param {number} x
   */
  placeHeadText(x) {
    const { node, from, to } = this.ended ?? { node: null, from: 0, to: 0 };
    const own = 18 + BOLD_LETTER * this.headText.textContent.length;
    const isOver = (begin) => begin < to && begin + own > from;
    const isBeside = isOver(x) && !isOver(x - own) && x - own > 0;
    const isLeft = x > this.width - 80 || isBeside;
    const begin = isLeft ? x - own : x;
    if (node) attributes(node, { visibility: isOver(begin) ? "hidden" : "visible" });
    attributes(this.headText, {
      x: isLeft ? -10 : 10,
      "text-anchor": isLeft ? "end" : "start",
    });
  }

  /**
   * To the next moment at which a bar begins or ends.
   * @param {number} direction
   */
  step(direction) {
    const { start, length } = this.scene.bars;
    const moments = start.flatMap((at, bar) => [at, at + length[bar]]);
    const ahead = moments.filter((at) => (at - this.time) * direction > 0);
    if (ahead.length) this.seek(direction > 0 ? Math.min(...ahead) : Math.max(...ahead));
  }

  at(x, y) {
    return this.scene.bars.row.findLastIndex((_, bar) => {
      const box = this.room(bar); // a line is thin for a hand
      return x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y && y <= box.y + box.height;
    });
  }

  /** @param {number} bar */
  point(bar) {
    this.bar = bar;
    this.light(bar >= 0 && !this.scene.bars.kind[bar] ? journey(this.scene, bar) : null);
    this.ring.style.display = bar >= 0 ? "" : "none";
    if (bar >= 0) attributes(this.ring, this.box(bar));
    this.onBar(bar);
  }

  /** @param {Set<number> | null} lit */
  light(lit) {
    this.svg.classList.toggle("lk-dim", lit !== null && lit.size > 1);
    for (const [index, bar] of this.bars.entries()) {
      const light = lit?.has(index) ?? false;
      if (bar.lit === light) continue;
      for (const node of [bar.rect, bar.text]) node.classList.toggle("lk-lit", light);
      bar.lit = light;
    }
  }

  /**
   * To the bar next to the one that is pointed at: in its row, or in a row above or below.
   * @param {number} direction
   * @param {boolean} isToRow
   */
  walk(direction, isToRow = false) {
    const { row, start } = this.scene.bars;
    const all = row.map((_, bar) => bar).sort((a, b) => start[a] - start[b] || row[a] - row[b]);
    const here = this.bar;
    if (here < 0) {
      this.point(all.find((bar) => start[bar] >= this.time) ?? all[0] ?? -1);
    } else if (isToRow) {
      const there = all.filter((bar) => (row[bar] - row[here]) * direction > 0);
      const away = (column, bar) => Math.abs(column[bar] - column[here]);
      there.sort((a, b) => away(row, a) - away(row, b) || away(start, a) - away(start, b));
      this.point(there[0] ?? here);
    } else {
      const beside = all.filter((bar) => row[bar] === row[here]);
      this.point(beside[beside.indexOf(here) + direction] ?? here);
    }
  }

  press(event) {
    this.svg.focus({ preventScroll: true });
    this.svg.setPointerCapture(event.pointerId);
    this.seek(this.timeAt(inside(this.svg, event).x));
    event.preventDefault();
  }

  move(event) {
    const { x, y } = inside(this.svg, event);
    if (this.svg.hasPointerCapture(event.pointerId)) this.seek(this.timeAt(x));
    const bar = this.at(x, y);
    if (bar !== this.bar) this.point(bar);
  }

  away() {
    this.point(-1);
  }

  key(event) {
    this.steer(event);
  }

  steer = keys({
    ArrowRight: ({ shiftKey }) => (shiftKey ? this.walk(1) : this.step(1)),
    ArrowLeft: ({ shiftKey }) => (shiftKey ? this.walk(-1) : this.step(-1)),
    ArrowDown: () => this.walk(1, true),
    ArrowUp: () => this.walk(-1, true),
    Home: () => this.seek(0),
    End: () => this.seek(this.end),
    Enter: () => {
      if (this.bar >= 0) this.seek(this.scene.bars.start[this.bar]);
    },
    Escape: () => this.away(),
  });
}

/**
 * Gives a node those attributes that are not what it was told last; true if there were any.
 * @param {SVGElement} node
 * @param {Record<string, string | number>} said
 * @param {Record<string, string | number>} given
 */
function tell(node, said, given) {
  let isChanged = false;
  for (const [name, value] of Object.entries(given)) {
    const isExact = typeof value === "string" || Number.isInteger(value);
    const text = isExact ? value : value.toFixed(1);
    if (said[name] === text) continue;
    said[name] = text;
    isChanged = true;
    node.setAttribute(name, String(text));
  }
  return isChanged;
}
