// A formula and the run that it speaks of are one thing: pointing at a term lights its bars,
// pointing at a bar lights its term, and dragging the end of one bar turns that cost everywhere.

import { attributes, div, html } from "../base/dom.js";
import { inside } from "../base/drawn.js";
import { KEYS } from "../base/keyboard.js";
import { clamped, nearest } from "../base/numbers.js";
import { worded } from "../pictures/words.js";

/** @typedef {import("../scene.js").Scene} Scene */
/** @typedef {import("../scene.js").BarColumns} BarColumns */

const EXACT = "the same as the run"; // what the kernel says of a formula that holds exactly

const lastWord = (text) => text.split(" ").at(-1);

/** @param {string} name */
const spaced = (name) => name.replaceAll("_", " ");

/**
 * How many bars of its row, itself among them, had to wait for one another.
 * @param {Pick<Scene, "bars">} scene
 * @param {number} bar
 */
export function repeats({ bars }, bar) {
  let count = 0;
  for (let at = bar; at >= 0; at = bars.cause[at]) {
    if (bars.row[at] === bars.row[bar]) count += 1;
  }
  return count;
}

/**
 * A run in which some bars take another time, and each keeps its distance from what it waited for:
 * exact as long as that stays the same.
 * @template {Pick<Scene, "bars">} S
 * @param {S} scene
 * @param {number[]} changed
 * @param {number} cost
 * @returns {S}
 */
export function stretched(scene, changed, cost) {
  const { start, length, cause } = scene.bars;
  const starts = [...start];
  const lengths = [...length];
  for (const bar of changed) lengths[bar] = cost;
  const inTime = [...start.keys()].sort((a, b) => start[a] - start[b]);
  for (const bar of inTime) {
    const before = cause[bar];
    if (before < 0) continue;
    const gap = start[bar] - start[before] - length[before];
    starts[bar] = starts[before] + lengths[before] + gap;
  }
  return { ...scene, bars: { ...scene.bars, start: starts, length: lengths } };
}

export class Formula {
  /** @type {Scene | null} */
  scene = null;
  lit = ""; // the term that is pointed at
  /** @type {Record<string, number>} */
  chosen = {}; // of each cost the bar whose end can be dragged, among its bars
  /** @type {{ name: string, off: number, cost: number | null } | null} */
  hand = null; // what a hand drags: how far from the end it holds it, and what it has made of it
  /** @type {{ name: string, index: number, node: HTMLElement, title: HTMLElement, value: HTMLElement }[]} */
  terms = [];
  value = html("b");
  said = html("span", { "aria-live": "polite" });

  /**
   * @param {import("../scene.js").FormulaSpec} spec
   * @param {import("./controls.js").Controls} controls
   * @param {import("../pictures/view.js").View} view
   */
  constructor({ said, words, fixed, steps }, controls, view) {
    this.fixed = fixed;
    this.steps = steps;
    this.controls = controls;
    this.view = view;
    const plain = (text) => html("span", {}, text);
    const part = (word, index) => {
      const isTerm = word in fixed || word in controls.values;
      return isTerm ? this.term(word, (index - 1) / 2) : plain(spaced(word));
    };
    const right = [plain("="), this.value, this.said];
    this.node = div("lk-formula", plain(said), ...words.map(part), ...right);
    attributes(this.node, { role: "group", "aria-label": "Formula" });
    this.edges = Object.keys(steps).map((name) => this.edge(name));
    view.frame.append(...this.edges.map(({ node }) => node));
    view.formula = this;
  }

  lights(name) {
    const light = (lit) => () => {
      this.lit = lit;
      this.view.timeline.point(-1);
    };
    const on = light(name);
    const off = light("");
    return { onpointerenter: on, onpointerleave: off, onfocus: on, onblur: off, ...KEYS };
  }

  term(name, index) {
    const onclick = () => {
      const edge = this.edges.find((one) => one.name === name && !one.node.hidden);
      (edge?.input ?? this.controls.fieldOf(name))?.focus();
    };
    const given = { type: "button", class: "lk-term", onclick, ...this.lights(name) };
    const value = html("b");
    // With a space, so that what is read and what the button is called are the same words.
    const title = html("span", {}, spaced(name));
    const node = html("button", given, title, " ", value);
    this.terms.push({ name, index, node, title, value });
    return node;
  }

  // The end of one bar: a slider for the keyboard, and a handle for the hand.
  edge(name) {
    const { timeline } = this.view;
    const turn = (rest) => () => this.controls.turn(name, Number(input.value), rest);
    const input = html("input", {
      type: "range",
      max: this.steps[name].length - 1,
      "aria-label": `Length of a bar: ${spaced(name)}`,
      oninput: turn(false),
      onchange: turn(true),
      ...this.lights(name),
    });
    const along = (event) => inside(timeline.svg, event).x;
    const onpointerdown = (event) => {
      event.preventDefault();
      node.setPointerCapture(event.pointerId);
      input.focus({ preventScroll: true });
      const { x, width } = timeline.box(this.bar(name));
      timeline.held = timeline.end;
      this.hand = { name, off: along(event) - x - width, cost: null };
    };
    const onlostpointercapture = () => {
      this.hand = null;
      timeline.held = 0;
      this.controls.turn(name, this.controls.values[name], true);
    };
    const onpointermove = (event) => {
      if (this.hand) this.drag(along(event));
    };
    const node = attributes(div("lk-edge", input), {
      onpointerdown,
      onpointermove,
      onlostpointercapture,
      title: `Drag to change ${spaced(name)}`,
    });
    return { name, node, input };
  }

  // The picture follows the hand in each frame; the kernel is asked as by a slider, once a step. The axis
  // stays: where a run grows by more than the bar in the hand, a longer axis would take the bar away from
  // the hand, and the further it is dragged the more so.
  drag(x) {
    const { name, off } = this.hand;
    const steps = this.steps[name];
    const bar = this.bar(name, this.scene);
    if (bar < 0) return; // a run without such bars came while the hand was down
    const { start, length } = this.scene.bars;
    const moved = this.view.timeline.timeAt(x - off) - start[bar] - length[bar];
    const wanted = length[bar] + moved / repeats(this.scene, bar);
    const cost = clamped(wanted, steps[0], steps.at(-1));
    this.hand.cost = cost;
    const near = nearest(steps, (step) => Math.abs(step - cost));
    if (near !== this.controls.values[name]) this.controls.turn(name, near, false);
    this.view.draw(this.show(this.scene));
  }

  /**
   * What to draw of a run that came: itself, or what the hand makes of it.
   * @param {Scene} scene
   */
  show(scene) {
    this.scene = scene;
    const { value, holds, said, beaten } = scene.formula;
    for (const { name, node, index } of this.terms) {
      node.title = beaten.includes(index) ? "has no effect here" : "";
      const row = this.rowOf(name, scene);
      node.style.borderColor = row < 0 ? "" : scene.rows[row].colour; // as its bars
    }
    const isExact = said === EXACT; // a bound that only holds is no hit
    const text = ` ${isExact ? "✓" : holds ? "≤" : "✗"} ${said}`;
    this.value.textContent = value;
    // Set only if it is another, or it would be read out again.
    if (this.said.textContent !== text) this.said.textContent = text;
    this.said.className = isExact ? "lk-right" : holds ? "" : "lk-wrong";
    if (!this.hand || this.hand.cost === null) return scene;
    return stretched(scene, this.bars(this.hand.name, scene), this.hand.cost);
  }

  // Its terms have other values than the run that is drawn: nothing is claimed of them.
  unsure() {
    this.value.textContent = "…";
    this.said.textContent = "";
  }

  // The stage that a term belongs to; -1 for none.
  rowOf(name, { rows, words }) {
    const stage = worded(spaced(name), words);
    return rows.findIndex((row) => row.stage.toLowerCase() === stage.toLowerCase());
  }

  bars(name, scene = this.view.scene) {
    const { bars } = scene;
    const row = this.rowOf(name, scene);
    return bars.row.map((_, bar) => bar).filter((bar) => bars.row[bar] === row && !bars.kind[bar]);
  }

  // The bar whose end can be dragged: the one that was pointed at last, or the first.
  bar(name, scene = this.view.scene) {
    const bars = this.bars(name, scene);
    return bars[this.chosen[name]] ?? bars[0] ?? -1;
  }

  // After each drawing, and whenever another bar is pointed at.
  follow(pointed) {
    const { values, specs } = this.controls;
    const texts = { ...this.fixed };
    for (const spec of specs) texts[spec.name] = spec.texts[values[spec.name]];
    for (const { name, node, title, value } of this.terms) {
      title.hidden = lastWord(spaced(name)) === lastWord(texts[name]); // "calls 2 calls"
      const said = [spaced(name), texts[name], node.title].filter(Boolean).join(", ");
      attributes(node, { "aria-label": said });
      value.textContent = texts[name];
      const isLit = pointed < 0 ? name === this.lit : this.bars(name).includes(pointed);
      node.classList.toggle("lk-lit", isLit);
    }
    for (const edge of this.edges) this.followEdge(edge, pointed, texts[edge.name]);
    if (pointed < 0 && this.lit) this.view.timeline.light(new Set(this.bars(this.lit)));
  }

  followEdge({ name, node, input }, pointed, text) {
    const here = this.bars(name).indexOf(pointed);
    if (here >= 0) this.chosen[name] = here;
    const bar = this.bar(name);
    node.hidden = bar < 0;
    if (bar >= 0) {
      const { x, y, width, height } = this.view.timeline.box(bar);
      Object.assign(node.style, { left: `${x + width}px`, top: `${y}px`, height: `${height}px` });
    }
    attributes(input, { "aria-valuetext": text }).value = this.controls.values[name];
  }
}
