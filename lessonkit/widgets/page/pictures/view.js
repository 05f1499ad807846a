// The live view of one run: figures, plumbing, timeline, a sentence, and the buttons that belong
// to time.

import { attributes, button, div, html, named, spoken } from "../base/dom.js";
import { KEYS } from "../base/keyboard.js";
import { nearest, number } from "../base/numbers.js";
import { Plumbing } from "./plumbing.js";
import { Strip } from "./strip.js";
import { Timeline } from "./timeline.js";
import { sentence } from "./words.js";

/** @typedef {import("../scene.js").Scene} Scene */

const SLOWER = [1, 2, 5, 10, 20, 50, 100, 200, 500];

const WHOLE = 6; // s; about so long playing takes by default

const HEIGHT = 220; // pixels of a timeline

const STILL = 700; // ms between steps where the reader wants no motion

export class View {
  constructor(life) {
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Scene | null} */
    this.first = null; // the run at the start of the controls, with which all others are compared
    /** @type {Scene | null} */
    this.pinned = null; // the baseline run
    /** @type {Scene | null} */
    this.real = null; // the same pipeline, run for real
    /** @type {{ follow: (bar: number) => void } | null} */
    this.formula = null;
    this.looked = () => {}; // called when a learner has chosen what is shown
    this.isChosen = false; // whether a learner has chosen how fast it plays
    this.playing = 0; // the frame that is asked for while it plays
    this.due = 0; // and the one in which it is drawn
    /** @type {import("./roofs.js").Roofs | null} */
    this.roofs = null; // where a lesson wants them
    this.isOpen = false; // of several ranks, whether the timeline of one is shown
    this.figures = div("lk-figures");
    this.main = "accelerator busy"; // what a learner looks for is the large figure
    this.said = spoken("lk-said");
    this.plumbing = new Plumbing();
    const onBar = (bar) => this.point(bar);
    this.timeline = new Timeline({ height: HEIGHT, onTime: this.at, onBar });
    this.playButton = button("play", "Play", () => this.play());
    const onchange = () => {
      this.isChosen = true;
    };
    const speeds = SLOWER.map((times) => html("option", { value: times }, `${times}× slower`));
    const aria = { "aria-label": "How many times slower than the run" };
    this.slower = html("select", { ...aria, onchange, ...KEYS }, ...speeds);
    const first = button("|◀", "To the start", () => this.timeline.seek(0));
    const back = button("◀|", "One step back", () => this.timeline.step(-1));
    const on = button("|▶", "One step on", () => this.timeline.step(1));
    this.switches = Object.keys(this.timeline.show).map((name) => this.toggle(name));
    this.tools = div("lk-tools", this.playButton, first, back, on, this.slower, ...this.switches);
    this.words = div("lk-words"); // the picture, for screen readers
    this.frame = life.watched(this.timeline.svg, (width) => {
      if (!this.scene || width === this.timeline.width) return;
      this.timeline.draw(this.scene, width);
      this.drawStrip();
    });
    this.keys = div("lk-keys");
    this.strip = new Strip();
    const ontoggle = () => {
      if (this.scene?.strip) this.toggled();
    };
    this.summary = html("summary", {}, "timeline of one rank");
    const timeline = [this.strip.picker, this.plumbing.node, this.frame, this.keys];
    this.fold = attributes(html("details", {}, this.summary, ...timeline), { ontoggle });
    this.fold.hidden = true; // until there is a run
    life.recoloured(() => {
      if (this.scene?.strip) this.draw(this.scene); // a canvas does not follow the page's colours
    });
    const pictures = [this.strip.node, this.fold];
    // What tells of a run, and is pale as long as a newer one is awaited; the buttons go on working.
    this.told = [this.figures, ...pictures, this.said, this.words];
    this.nodes = [...this.told, this.tools];
    life.atEnd(() => this.stop());
  }

  toggle(name) {
    const text = name === "path" ? "critical path" : name;
    const { show } = this.timeline;
    const node = button(text, `Show the ${text}`, () => {
      this.look({ [name]: !show[name] });
      this.timeline.draw();
      this.looked();
    });
    return attributes(node, { "aria-pressed": String(show[name]) });
  }

  // What the timeline shows, by names.
  get looks() {
    return { ...this.timeline.show };
  }

  // A record of another version may have other names.
  look(looks) {
    const { show } = this.timeline;
    Object.keys(show).forEach((name, index) => {
      show[name] = Boolean(looks?.[name] ?? show[name]);
      this.switches[index].setAttribute("aria-pressed", show[name]);
    });
  }

  showIn(parent, scene, pinned = null) {
    if (!this.scene) parent.append(...this.nodes);
    this.pinned = pinned;
    this.draw(scene);
  }

  // Drawn once a frame, whatever comes in between.
  draw(scene) {
    this.scene = scene;
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const { scene } = this;
    this.timeline.other = this.real ?? this.pinned;
    this.timeline.least = (this.pinned ?? this.first)?.end ?? 0;
    this.timeline.isPinned = !this.real && this.pinned !== null;
    this.timeline.limit = (scene.end * scene.limit) / scene.perSample; // no number without samples
    this.fold.hidden = false;
    this.foldUnder(Boolean(scene.strip));
    this.roofs?.show(scene.roofs, this.pinned ? 1 / this.pinned.perSample : undefined);
    this.plumbing.draw(scene);
    this.timeline.draw(scene, this.fold.clientWidth || this.timeline.width || 800);
    this.drawStrip();
    this.drawFigures();
    this.keys.replaceChildren(...this.timeline.keysOf(scene));
    if (this.timeline.bar < 0) this.say(-1);
    this.words.textContent = scene.summary;
    if (!this.isChosen) this.slower.value = String(this.usual());
  }

  // A strip shows all ranks; the timeline of one of them is there for who asks.
  unfold(isOpen) {
    this.isOpen = isOpen;
    this.fold.open = isOpen;
  }

  toggled() {
    this.drawNow();
    if (this.isOpen === this.fold.open) return; // no hand has done that
    this.isOpen = this.fold.open;
    this.looked();
  }

  foldUnder(isStrip) {
    if (this.summary.hidden === !isStrip) return;
    this.summary.hidden = !isStrip;
    this.fold.open = !isStrip || this.isOpen;
  }

  drawStrip() {
    this.strip.draw(this.scene.strip, this.timeline.width, this.timeline.end, this.fold.open);
  }

  usual() {
    const wanted = (WHOLE * 1e6) / Math.max(1, this.scene.end);
    return SLOWER[nearest(SLOWER, (times) => Math.abs(times - wanted))];
  }

  drawFigures() {
    const { scene, pinned } = this;
    const shown = [...scene.figures];
    const isOther = pinned && pinned.summary !== scene.summary && scene.perSample;
    const factor = isOther ? pinned.perSample / scene.perSample : 0;
    if (factor) shown.splice(1, 0, [`${number(factor)}×`, "baseline speed"]);
    const figure = ([value, what]) => {
      const given = { class: what.startsWith(this.main) && "lk-main" };
      return html("div", given, html("b", {}, value), " ", html("span", {}, what));
    };
    const nodes = shown.map(figure);
    // Where a run may be compared, there is room for that: or the picture would move.
    if (pinned && !factor) nodes.splice(1, 0, div("lk-room", "1.00× baseline speed"));
    this.figures.replaceChildren(...nodes);
  }

  at = (micros) => this.plumbing.at(Math.min(micros, this.scene.end));

  point(bar) {
    this.say(bar);
    this.formula?.follow(bar);
  }

  say(bar) {
    if (bar >= 0) {
      const { subject, rest } = sentence(this.scene, bar);
      return this.said.replaceChildren(html("b", {}, subject), ` ${rest}`);
    }
    const { note, data } = this.scene;
    const pinned = this.pinned ? "The band under each row is the baseline run. " : "";
    const other = this.real ? "The thin bars are the real run. " : pinned;
    const seen = html("b", {}, data && `What the model sees: ${data}.`);
    return this.said.replaceChildren(`${note} ${other}`, seen);
  }

  play() {
    if (this.playing) return this.stop();
    const { timeline } = this;
    if (timeline.time >= this.scene.end || !timeline.isMoved) timeline.seek(0);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    named(this.playButton, "Pause", "pause");
    let before = performance.now();
    const frame = (now) => {
      const isAtEnd = timeline.time >= this.scene.end;
      const passed = now - before;
      if (!this.playing || !timeline.svg.isConnected || isAtEnd) return this.stop();
      if (!still) timeline.seek(timeline.time + (passed * 1000) / Number(this.slower.value));
      else if (passed > STILL) timeline.step(1);
      if (!still || passed > STILL) before = now;
      this.playing = requestAnimationFrame(frame);
    };
    this.playing = requestAnimationFrame(frame);
  }

  stop() {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    named(this.playButton, "Play", "play");
  }
}
