// The plumbing: the parts of the pipeline, and at one moment what each holds and does.

import { div, html } from "../base/dom.js";
import { KEYS } from "../base/keyboard.js";
import { number, time } from "../base/numbers.js";
import { counted, filled } from "./words.js";

/** @typedef {import("../scene.js").Scene} Scene */
/** @typedef {import("../scene.js").EventColumns} EventColumns */
/** @typedef {import("../scene.js").PartScene} PartScene */

const SLOTS = 8; // a larger buffer shows how full it is
const CALLS = 6; // of a stage with more only those at work are drawn, one fewer
const READY = 3; // of more beside the calls only the number is said

/**
 * A part as it is drawn. What works is a box with a chip for each call; what only holds shows the
 * slots of its buffer.
 * @typedef {object} Part
 * @property {number[]} rows
 * @property {number | null} buffer
 * @property {boolean} works
 * @property {number} calls
 * @property {HTMLElement} box
 * @property {HTMLElement} said what it does
 * @property {HTMLElement} held how full it is
 * @property {HTMLElement[]} chips
 * @property {HTMLElement[]} slots
 */

/**
 * How many elements a buffer held at most.
 * @param {Pick<EventColumns, "buffer" | "change">} events
 * @param {number} wanted
 */
export function mostHeld({ buffer, change }, wanted) {
  let held = 0;
  let most = 1;
  for (const [event, by] of change.entries()) {
    if (buffer[event] !== wanted) continue;
    held += by;
    most = Math.max(most, held);
  }
  return most;
}

/**
 * What each buffer holds at a time: the labels of its elements, in the order in which they came.
 * @param {Pick<Scene, "events" | "buffers">} scene
 * @param {number} micros
 */
export function heldAt({ events, buffers }, micros) {
  const found = buffers.map(() => new Map());
  for (let event = 0; event < events.time.length && events.time[event] <= micros; event++) {
    const elements = found[events.buffer[event]];
    if (events.change[event] > 0) elements.set(events.element[event], events.label[event]);
    else elements.delete(events.element[event]);
  }
  return found.map((elements) => [...elements.values()]);
}

/**
 * The bars of each row that are under way at a time: all that work, and one that waits.
 * @param {Pick<Scene, "bars" | "rows">} scene
 * @param {number} micros
 */
export function underWay({ bars, rows }, micros) {
  /** @type {number[][]} */
  const working = rows.map(() => []);
  /** @type {(number | null)[]} */
  const waiting = rows.map(() => null);
  for (let bar = 0; bar < bars.row.length; bar++) {
    const isOver = bars.start[bar] + bars.length[bar] <= micros;
    if (bars.start[bar] > micros || isOver) continue;
    if (bars.kind[bar]) waiting[bars.row[bar]] = bar;
    else working[bars.row[bar]].push(bar);
  }
  return { working, waiting };
}

export class Plumbing {
  /** @type {Part[]} */
  parts = [];
  /** @type {Scene | null} */
  scene = null;
  structure = ""; // that which is built
  node = html("div", {
    class: "lk-plumbing",
    role: "group",
    "aria-label": "The pipeline at the time of the playhead",
    tabindex: 0,
    ...KEYS,
  });

  /** @param {Scene} scene */
  draw(scene) {
    const structure = JSON.stringify([scene.parts, scene.buffers, scene.rows]);
    if (structure !== this.structure) this.build(scene);
    this.structure = structure;
    this.scene = scene;
  }

  /** @param {Scene} scene */
  build(scene) {
    this.parts = scene.parts.map((part) => this.part(scene, part));
    const arrow = () => html("span", { class: "lk-arrow", "aria-hidden": "true" });
    const boxes = this.parts.flatMap(({ box }) => [arrow(), box]);
    this.node.replaceChildren(...boxes.slice(1));
  }

  /**
   * @param {Scene} scene
   * @param {PartScene} about
   * @returns {Part}
   */
  part(scene, { name, rows, calls, buffer }) {
    const works = rows.length > 0;
    const box = div("lk-part", html("b", {}, name));
    const part = { rows, buffer, works, calls, box, chips: [], slots: [] };
    const made = { ...part, said: html("span"), held: html("span") };
    if (works) {
      box.classList.add("lk-box");
      box.style.borderColor = scene.rows[rows.at(-1)].colour;
      // What is only counted has no calls.
      if (calls) made.calls = Math.max(calls, ...rows.map((row) => scene.rows[row].lanes));
      const length = made.calls > CALLS ? CALLS - 1 : made.calls;
      const chip = () => html("i", { class: "lk-chip" }, html("u"), html("em"));
      made.chips = Array.from({ length }, chip);
      const more = made.calls > length ? html("b", {}, `+${made.calls - length}`) : "";
      box.append(div("lk-chips", ...made.chips, more), made.said);
    } else if (buffer !== null) {
      const most = scene.buffers[buffer].capacity ?? mostHeld(scene.events, buffer);
      const slot = () => html("i", { class: "lk-slot" });
      made.slots = Array.from({ length: Math.min(SLOTS, most) }, slot);
      box.append(div("lk-slots", ...made.slots), made.held);
    }
    return made;
  }

  /** @param {number} micros */
  at(micros) {
    const { working, waiting } = underWay(this.scene, micros);
    const held = heldAt(this.scene, micros);
    for (const part of this.parts) {
      const busy = part.rows.flatMap((row) => working[row]);
      const wait = part.rows.map((row) => waiting[row]).find((bar) => bar !== null);
      if (part.works) this.work(part, busy, wait, micros);
      if (part.buffer !== null) this.hold(part, held[part.buffer]);
    }
  }

  /**
   * @param {Part} part
   * @param {number[]} busy its bars that work
   * @param {number | undefined} wait one of its bars that waits
   * @param {number} micros
   */
  work(part, busy, wait, micros) {
    const { bars, rows } = this.scene;
    /** @type {number[]} */
    const calls = [];
    for (const bar of busy) {
      // A call keeps its place, as in the timeline.
      let index = part.calls > CALLS ? 0 : bars.lane[bar];
      while (calls[index] !== undefined) index++;
      calls[index] = bar;
    }
    for (const [index, chip] of part.chips.entries()) {
      const bar = calls[index];
      const fill = chip.querySelector("u");
      const text = chip.querySelector("em");
      chip.classList.toggle("lk-full", bar !== undefined);
      text.textContent = "";
      fill.style.width = "0";
      if (bar === undefined) continue;
      const { stage, colour } = rows[bars.row[bar]];
      text.textContent = bars.label[bar] || stage;
      fill.style.width = `${(100 * (micros - bars.start[bar])) / bars.length[bar]}%`;
      fill.style.background = colour;
    }
    part.said.textContent = this.words(part, busy, wait, micros);
    part.said.title = part.said.textContent; // a small box cuts it
  }

  /**
   * What a part does.
   * @param {Pick<Part, "calls" | "box">} part
   * @param {number[]} busy
   * @param {number | undefined} wait
   * @param {number} micros
   */
  words(part, busy, wait, micros) {
    const { bars, rows, waits } = this.scene;
    if (busy.length) {
      const bar = busy[0];
      const { stage } = rows[bars.row[bar]];
      const many = `${busy.length} of ${part.calls} at work`;
      // A box has little room, and its title mostly says what works in it.
      const title = part.box.querySelector("b").textContent.toLowerCase();
      const isNamed = title.includes(stage.toLowerCase());
      if (part.calls > 1) return isNamed ? many : `${stage}: ${many}`;
      return `${stage}: ${number((micros - bars.start[bar]) / 1000)} of ${time(bars.length[bar])}`;
    }
    if (wait === undefined) return part.calls ? "nothing to do" : "empty";
    if (bars.kind[wait] === "count") return counted(this.scene, wait);
    const { sentence, legend } = waits[bars.kind[wait]];
    return filled(sentence, bars.note[wait]) || legend;
  }

  /**
   * @param {Part} part
   * @param {string[]} labels of what it holds
   */
  hold(part, labels) {
    const { capacity } = this.scene.buffers[part.buffer];
    for (const [index, slot] of part.slots.entries()) {
      slot.textContent = labels[index] ?? "";
      slot.classList.toggle("lk-full", index < labels.length);
    }
    const count = labels.length;
    const ready = count > READY ? `${count} ready` : `ready ${labels.join(" ")}`;
    if (part.works) part.said.textContent += count ? `; ${ready}` : "";
    else part.held.textContent = capacity === null ? `${count} kept` : `${count} of ${capacity}`;
  }
}
