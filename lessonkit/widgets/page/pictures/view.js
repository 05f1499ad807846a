// The live view of one run: the figure that is looked for, the timeline, the other figures in a line, a
// sentence, and the buttons that belong to time; the plumbing unfolds while it plays, or when asked.

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

const HEIGHT = 200; // pixels of a timeline: with its head and its buttons it fits a low screen

const LIMIT = "limit: "; // how the name of that figure begins

const STILL = 700; // ms between steps where the reader wants no motion

export class View {
  /** @type {Scene | null} */
  scene = null;
  /** @type {Scene | null} */
  first = null; // the run at the start of the controls, with which all others are compared
  /** @type {Scene | null} */
  pinned = null; // the baseline run
  /** @type {Scene | null} */
  real = null; // the same pipeline, run for real
  /** @type {{ follow: (bar: number) => void } | null} */
  formula = null;
  /** @type {import("./roofs.js").Roofs | null} */
  roofs = null; // where a lesson wants them
  main = ""; // how the name of the large figure begins: what a learner looks for
  answer = ""; // or the sentence that names that figure
  looked = () => {}; // called when a learner has chosen what is shown
  isChosen = false; // whether a learner has chosen how fast it plays
  isOpen = false; // of several ranks, whether the timeline of one is shown
  isUnfolded = false; // whether the plumbing is seen
  playing = 0; // the frame that is asked for while it plays
  due = 0; // and the one in which it is drawn
  head = div("lk-result");
  figures = div("lk-figures");
  said = spoken("lk-said");
  words = div("lk-words"); // the picture, for screen readers
  plumbing = new Plumbing();
  strip = new Strip();

  constructor(life) {
    const onBar = (bar) => this.point(bar);
    this.timeline = new Timeline({ height: HEIGHT, onTime: this.at, onBar });
    this.playButton = button("play", "Play", () => this.play(), { class: "lk-play" });
    const onchange = () => {
      this.isChosen = true;
    };
    const speeds = SLOWER.map((times) => html("option", { value: times }, `${times}× slower`));
    const aria = { "aria-label": "How many times slower than the run" };
    this.slower = html("select", { ...aria, onchange, ...KEYS }, ...speeds);
    const first = button("|◀", "To the start", () => this.timeline.seek(0));
    const back = button("◀|", "One step back", () => this.timeline.step(-1));
    const on = button("|▶", "One step on", () => this.timeline.step(1));
    /** @type {Record<string, HTMLElement>} */
    this.switches = {
      path: this.toggle("path", "critical path"),
      waits: this.toggle("waits"),
      memory: this.toggle("memory"),
      boxes: this.toggle("boxes"),
      limit: this.toggle("limit", "limit", "what could it be at best?"),
    };
    const { limit, ...others } = this.switches;
    const parts = [this.playButton, first, back, on, this.slower, ...Object.values(others)];
    this.tools = div("lk-tools lk-run", ...parts);
    this.frame = life.watched(this.timeline.svg, (width) => {
      if (!this.scene || width === this.timeline.width) return;
      this.timeline.draw(this.scene, width);
      this.drawStrip();
    });
    const ontoggle = () => {
      if (this.scene?.strip) this.toggled();
    };
    this.summary = html("summary", {}, "timeline of one rank");
    const timeline = [this.strip.picker, this.frame, this.timeline.keys];
    this.fold = attributes(html("details", {}, this.summary, ...timeline), { ontoggle });
    this.fold.hidden = true; // until there is a run
    life.recoloured(() => {
      if (this.scene?.strip) this.draw(this.scene); // a canvas does not follow the page's colours
    });
    const strip = life.watched(this.strip.node, () => {
      if (this.scene) this.drawStrip();
    });
    strip.classList.add("lk-ranked");
    const pictures = [strip, this.fold];
    // What tells of a run, and is pale as long as a newer one is awaited; the buttons go on working.
    const told = [this.head, ...pictures, this.figures, this.said, this.words];
    this.told = [...told, this.plumbing.node];
    this.nodes = [...told, this.tools, this.plumbing.node];
    life.atEnd(() => this.stop());
  }

  toggle(name, what = name, text = what) {
    const turn = () => {
      this.look({ [name]: !this.looks[name] });
      this.drawNow();
      this.looked();
    };
    const node = button(text, `Show the ${what}`, turn);
    return attributes(node, { "aria-pressed": String(this.looks[name]) });
  }

  // What is shown, by names.
  get looks() {
    return { ...this.timeline.show, boxes: this.isUnfolded };
  }

  // A record of another version may have other names.
  look(looks) {
    const { boxes, ...show } = { ...this.looks, ...looks };
    for (const name of Object.keys(this.timeline.show))
      this.timeline.show[name] = Boolean(show[name]);
    this.isUnfolded = Boolean(boxes);
    for (const [name, node] of Object.entries(this.switches)) {
      node.setAttribute("aria-pressed", String(this.looks[name]));
    }
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
    this.plumbing.node.hidden = !this.isUnfolded || !this.fold.open;
    if (!this.plumbing.node.hidden) this.plumbing.draw(scene);
    // Told by the page, and not asked for: that would have it lay out all of a notebook once more.
    this.timeline.draw(scene, this.timeline.width || this.fold.clientWidth || 800);
    this.drawStrip();
    this.drawFigures();
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
    const width = this.strip.node.parentElement.clientWidth || this.timeline.width;
    this.strip.draw(this.scene.strip, width, this.timeline.end, this.fold.open);
  }

  usual() {
    const wanted = (WHOLE * 1e6) / Math.max(1, this.scene.end);
    return SLOWER[nearest(SLOWER, (times) => Math.abs(times - wanted))];
  }

  // The large figure, and how it compares; the others in a line. What the run could be at best is a
  // question, so its answer is there for who asks.
  drawFigures() {
    const { scene, pinned } = this;
    const isMain = ([value, what]) => {
      return this.main
        ? what.startsWith(this.main)
        : this.answer.includes(`The answer is ${value}.`);
    };
    const usual = scene.figures.find(([, what]) => what.endsWith(" busy"));
    const main = scene.figures.find(isMain) ?? usual ?? scene.figures[0];
    const figure = ([value, what]) => [html("b", {}, value), " ", html("span", {}, what)];
    const [own, was] = [scene, pinned].map((run) => run?.perSample);
    const room = pinned ? [html("div", { class: "lk-was" }, ...this.compared(main, own, was))] : [];
    this.head.replaceChildren(div("lk-main", ...figure(main)), ...room);
    const others = scene.figures.filter((one) => one !== main && !one[1].startsWith(LIMIT));
    const limit = scene.figures.find(([, what]) => what.startsWith(LIMIT));
    const asked = limit && this.looks.limit ? figure(limit) : [];
    this.figures.replaceChildren(
      ...others.map((one) => div("", ...figure(one))),
      ...(limit ? [html("div", {}, this.switches.limit, " ", ...asked)] : []),
    );
  }

  // Beside a baseline run there is room for this from the start: or the head would grow under a hand.
  compared([value, what], own, was) {
    if (!own || !was || this.pinned.summary === this.scene.summary) return ["\u00a0"];
    const factor = was / own;
    const turned = `${number(Math.max(factor, 1 / factor))} times as`;
    const times = factor === 1 ? "as fast" : factor < 1 ? `${turned} slow` : `${turned} fast`;
    // A total of more samples takes longer, and these may be faster.
    const before = this.pinned.figures.find(([, name]) => name === what)?.[0];
    const isChanged = factor !== 1 && before !== value;
    const told = !before ? `per sample ${times}` : isChanged ? `was ${before}: ${times}` : times;
    const name = factor === 1 ? "" : factor < 1 ? "lk-wrong" : "lk-right";
    return [html("b", { class: name }, told), " as the baseline run"];
  }

  at = (micros) => {
    if (!this.plumbing.node.hidden) this.plumbing.at(Math.min(micros, this.scene.end));
  };

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
    if (!this.isUnfolded) {
      this.look({ boxes: true }); // what happens in them is what one watches
      this.drawNow();
    }
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
