// `explore`: controls, the view, and what can be done with the pipeline of the moment.

import {
  button,
  div,
  folded,
  html,
  named,
  program,
  tableCell,
  tableHead,
  uniqueNumber,
} from "../base/dom.js";
import { asking, keeping, SILENT } from "../base/kernel.js";
import { Task } from "../challenge/task.js";
import { followed, Record } from "../lesson/record.js";
import { Roofs } from "../pictures/roofs.js";
import { View } from "../pictures/view.js";
import { Controls } from "./controls.js";
import { Formula } from "./formula.js";
import { Pictures } from "./pictures.js";

// Which figure is the large one, by how a goal or a formula begins.
const MAIN = { "time per": "per ", per: "per ", total: "for ", memory: "in " };

const RUN = "Run this pipeline for real, and lay it over the prediction";

/** @typedef {import("../scene.js").VerdictScene["goals"]} VerdictGoals */

export class Explore {
  running = 0; // the number of the real run that goes on
  answered = false; // whether the kernel has heard of it
  stopping = false; // whether it is to be cancelled
  isBegun = false; // whether a hand has turned a control
  passed = false; // whether the goals were met once
  /** @type {VerdictGoals | undefined} */
  given; // how the goals stood before that
  /** @type {VerdictGoals | undefined} */
  reached; // and how they stand now
  baseline; // the values of the baseline run, if the learner has set it
  comes; // the same while its picture is not there yet
  error = html("div", { class: "lk-error", role: "alert" });
  panel = div("lk-panel");

  constructor(model, el) {
    this.model = model;
    const state = JSON.parse(model.get("state"));
    const { task, controls } = state;
    const aim = task?.goals[0] ?? state.formula?.said ?? "";
    this.view = new View(model);
    const main = Object.keys(MAIN).find((name) => aim.startsWith(name));
    if (main) this.view.main = MAIN[main];
    const reach = (name) => this.pictures.expect(this.near(name));
    this.controls = new Controls(controls, (name, rest) => this.turn(name, rest), reach);
    this.start = this.controls.values;
    this.seen = this.start; // the values of the picture; the controls may have others already
    this.pictures = new Pictures(model, this);
    this.runButton = button("run for real", RUN, () => this.run(), { class: "lk-real" });
    const code = button("code", "Show this pipeline as a program", () => this.ask("code"));
    this.view.tools.append(
      html("span", { class: "lk-space" }),
      button("set baseline", "Keep this run as the baseline run", () => this.pin()),
      button("reset", "Back to the start", () => this.reset()),
      ...(state.alone ? [] : [code, this.runButton]), // alone there is no kernel to ask
    );
    if (task) this.task = new Task(task, () => this.keep());
    if (state.formula) this.formula = new Formula(state.formula, this.controls, this.view);
    if (state.roofs) this.view.roofs = new Roofs(model);
    // What a control changes stays in sight with it.
    const [figure, ...pictures] = this.view.nodes;
    const changed = [this.controls.node, figure, this.formula?.node];
    const turned = controls.length ? `lk-turned ${this.controls.amount}` : "";
    const top = div(`lk-top ${turned}`, ...changed.filter(Boolean));
    if (this.view.roofs) pictures.unshift(this.view.roofs.node);
    el.append(...(this.task ? [this.task.node] : []), top, this.error, ...pictures, this.panel);
    this.pinned = state.pinned; // the baseline run at the start
    this.view.pinned = state.pinned;
    this.view.first = state.scene;
    if (!state.alone) this.view.strip.choose = (rank) => this.choose(rank);
    if (state.error) this.refuse(state.error);
    if (state.scene) {
      this.pictures.kept.set(this.pictures.keyOf(this.start), state.scene);
      this.show(state.scene, this.start);
    }
    const note = ({ text }) => this.panel.replaceChildren(html("p", {}, text));
    this.tell = asking(model, (text) => this.say(text), {
      code: ({ about, ...texts }) => this.showCode(texts),
      progress: this.heard(note),
      stopped: this.heard(note, true),
      real: this.heard((answer) => this.showReal(answer), true),
    });
    if (state.alone || !controls.length) return;
    const begins = controls.map((one) => `${one.label} ${settingOf(one, one.value)}`).join(", ");
    this.save = keeping(model, () => {}); // for who reads the notebook without this browser
    this.record = new Record(model, task ? "challenge" : "view", task?.text ?? begins);
    this.recall(this.record.read());
    followed(model, () => this.recall(this.record.read()));
    this.view.looked = () => this.keep();
  }

  // Until its picture is there, the one of the start is not to be taken for it.
  recall(record) {
    if (!record) return;
    const { right, reached, hints = 0, looks, baseline, rank } = record;
    const { keyOf } = this.pictures;
    this.view.unfold(rank !== undefined);
    this.pictures.rank = rank ?? 0;
    const values = this.valuesOf(record.said ?? {}); // code that solved this challenge says nothing
    this.isBegun = keyOf(values) !== keyOf(this.start);
    this.passed = right;
    if (right) this.task?.solved();
    this.task?.help(hints);
    this.view.look(looks);
    if (this.isBegun) this.reached = reached ?? this.reached;
    this.controls.set(values);
    if (baseline) this.baseline = this.valuesOf(baseline);
    this.comes = this.baseline;
    if (this.isBegun) this.stale(true);
    if (this.isBegun || baseline || rank) this.pictures.want(this.comes ?? values, true);
  }

  // The picture of a baseline comes back before that of the controls. Returns whether it is the one
  // with these *values*, which is then no longer awaited.
  takeBaseline(values) {
    const {
      comes,
      pictures: { keyOf },
    } = this;
    if (!comes || keyOf(comes) !== keyOf(values)) return false;
    this.comes = undefined;
    return true;
  }

  keep() {
    const { reached, given, task, passed } = this;
    const { looks } = this.view;
    const before = this.record?.read(); // another page may have come further
    const right = Boolean(passed || before?.right);
    const hints = Math.max(task?.hinted ?? 0, before?.hints ?? 0);
    const said = this.settings(this.controls.values);
    const judged = task && { right, reached, given, hints };
    const baseline = this.baseline && this.settings(this.baseline);
    const rank = this.view.isOpen ? this.pictures.rank : undefined;
    this.record?.write({ said, ...judged, looks, baseline, rank });
    if (judged) this.save({ said, ...judged });
  }

  // As a record has them: a text for each control, so that a lesson may give it more of them.
  settings(values) {
    const setting = (one) => [one.name, settingOf(one, values[one.name])];
    return Object.fromEntries(this.controls.specs.map(setting));
  }

  valuesOf(settings) {
    const step = (one) => stepOf(one, settings[one.name]) ?? one.value;
    return Object.fromEntries(this.controls.specs.map((one) => [one.name, step(one)]));
  }

  turn(name, rest) {
    this.isBegun = true;
    if (rest) this.keep();
    this.view.real = null;
    this.formula?.follow(this.view.timeline.bar);
    this.pictures.want(this.controls.values, rest, this.near(name));
  }

  near(name) {
    return this.controls.near(name).map((value) => ({ ...this.controls.values, [name]: value }));
  }

  choose(rank) {
    this.view.unfold(true);
    this.pictures.rank = rank;
    this.view.real = null;
    this.pictures.want(this.controls.values, true);
    this.keep();
  }

  show(scene, values) {
    if (this.takeBaseline(values)) {
      this.view.pinned = scene;
      return this.pictures.want(this.controls.values, true);
    }
    this.refuse("");
    this.seen = values;
    if (!this.baseline) this.view.pinned = this.baselineOf(scene);
    if (this.task) this.judge(scene.verdict);
    return this.view.draw(this.formula?.show(scene) ?? scene);
  }

  // The one of the lesson does the same job as the run above it; one that a learner has set stays.
  baselineOf = ({ pinned }) => (pinned === undefined ? this.pinned : pinned);

  judge(verdict) {
    this.given ??= verdict.goals; // nobody has moved a control yet
    this.task.judge(verdict, Boolean(this.isBegun));
    const isNew = this.reached && JSON.stringify(verdict.goals) !== JSON.stringify(this.reached);
    this.reached = verdict.goals;
    this.passed ||= verdict.passed;
    if (isNew) this.keep();
  }

  // The last good picture stays, and is not to be taken for that of the new values.
  refuse(text, values) {
    if (values && this.takeBaseline(values)) return this.pictures.want(this.controls.values, true);
    this.error.textContent = text;
    return this.stale(text !== "");
  }

  late = () => this.stale(true);

  stale(is) {
    const { roofs, told } = this.view;
    for (const node of roofs ? [roofs.node, ...told] : told) node.classList.toggle("lk-stale", is);
    if (is) this.formula?.unsure();
  }

  // Of a kernel that may be busy nothing is said yet; one that does not hear a cancel runs nothing
  // any more.
  say(text) {
    this.refuse(text === "…" ? "" : text);
    if (text === SILENT && this.stopping) this.rest(0);
  }

  pin() {
    if (!this.view.scene) return; // nothing has run yet
    this.baseline = this.seen;
    this.comes = undefined;
    this.view.pinned = this.view.scene;
    this.view.real = null;
    this.view.draw(this.view.scene);
    this.keep();
  }

  reset() {
    this.baseline = undefined;
    this.comes = undefined;
    this.view.pinned = this.pinned;
    this.view.real = null;
    this.panel.replaceChildren();
    this.controls.set(this.start);
    this.pictures.want(this.start, true);
    this.keep();
  }

  ask = (what, more) => this.tell({ do: what, values: this.controls.values, ...more });

  run() {
    if (!this.running) {
      this.rest(uniqueNumber());
      this.answered = false;
      return this.ask("run", { id: this.running });
    }
    this.stopping = true;
    if (!this.answered) this.rest(0); // there may be no kernel to say that it has ended
    return this.tell({ do: "cancel" });
  }

  // The controls rest while it runs for real: they would disturb it.
  rest(running) {
    // By this number the kernel speaks of it, for there may be other views of this widget.
    this.running = running;
    const isRunning = running !== 0;
    this.pictures.paused = this.controls.node.inert = isRunning;
    for (const { node } of this.formula?.edges ?? []) node.inert = isRunning;
    this.stopping &&= isRunning;
    if (!isRunning && this.pictures.wanted) this.pictures.ask(); // it had to wait
    const [text, title] = isRunning ? ["cancel", "Cancel the real run"] : ["run for real", RUN];
    named(this.runButton, title, text);
  }

  // A run that ends, or says how far it is, may be of another view.
  heard(act, ends) {
    return (message) => {
      if (!this.running || message.id !== this.running) return;
      this.answered = true;
      this.refuse("");
      act(message);
      if (ends) this.rest(0);
    };
  }

  showReal({ scene, rows, total }) {
    this.view.real = scene;
    this.view.draw(this.view.scene);
    const titles = ["stage", "predicted", "measured", "prediction"];
    const first = html("tr", {}, ...titles.map((text) => tableHead("col", text)));
    const others = [...rows, total].map(([stage, ...texts]) => {
      return html("tr", {}, tableHead("row", stage), ...texts.map((text) => tableCell(text)));
    });
    const words = html("p", {}, "The real run is the thin line below each bar.");
    this.panel.replaceChildren(words, html("table", {}, first, ...others));
  }

  showCode(programs) {
    const blocks = Object.entries(programs).map(([language, text]) => {
      const copied = (words) => () => (copy.textContent = words);
      const copy = button("copy", `Copy the ${language} program`, () => {
        navigator.clipboard?.writeText(text).then(copied("copied"), copied("select and copy"));
      });
      return folded(language, language === "lessonkit", copy, program(text));
    });
    const close = button("close", "Close the programs", () => this.panel.replaceChildren());
    this.panel.replaceChildren(close, ...blocks);
  }
}

// What a control is set to, as its reader sees it: a text, or those of the cards in their order.
const settingOf = ({ texts }, value) => {
  return Array.isArray(value) ? value.map((card) => texts[card]) : texts[value];
};

// The value of such a setting; none if the control does not have it, or has it no longer.
function stepOf({ texts }, said) {
  const steps = [said].flat().map((text) => texts.indexOf(text));
  if (steps.includes(-1)) return undefined;
  if (!Array.isArray(said)) return steps[0];
  return new Set(steps).size === texts.length ? steps : undefined;
}
