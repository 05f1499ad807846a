// The page's program. It comes once to a page, with a hidden widget, and `loader.js` finds it.

import { div, html } from "./base/dom.js";
import { giveBack } from "./base/keyboard.js";
import { Life } from "./base/life.js";
import { styled } from "./base/styled.js";
import { Challenge, Outcome } from "./challenge/challenge.js";
import { Mystery } from "./challenge/mystery.js";
import { Explore } from "./explore/explore.js";
import { HeatMap } from "./explore/heat_map.js";
import { moveOn } from "./lesson/cells.js";
import { Classroom } from "./lesson/classroom.js";
import { Installation } from "./lesson/installation.js";
import { keepSaved } from "./lesson/saved.js";
import { Teaching } from "./lesson/teaching.js";
import { Chart } from "./pictures/chart.js";
import { Kitchen } from "./pictures/kitchen.js";
import { StillRoofs } from "./pictures/roofs.js";
import { Runs } from "./pictures/runs.js";
import { placeOf, WAITS } from "./place.js";
import { Question } from "./questions/question.js";
import STYLE from "./style.css";

// What draws a widget, by the role that the kernel gives it.
const ROLES = {
  question: Question,
  challenge: Challenge,
  outcome: Outcome,
  mystery: Mystery,
  explore: Explore,
  "heat map": HeatMap,
  chart: Chart,
  runs: Runs,
  roofs: StillRoofs,
  kitchen: Kitchen,
  installation: Installation,
};

// A widget whose cell has not run since Python started would not answer: it says so, and takes no
// hand. Managers of widgets mark a new view by this class; of a change they tell the model.
const GONE = "jupyter-widgets-disconnected";

function mark(model, el, live) {
  const note = html("p", { class: "lk-waits", role: "status" });
  const look = (gone) => {
    live.inert = gone;
    note.textContent = gone ? WAITS : "";
  };
  el.prepend(note);
  look(el.classList.contains(GONE));
  // Here `this` is the view, by which anywidget takes its listeners away in the end.
  /** @this {any} */
  function update() {
    look(this?.model?.comm_live === false);
  }
  model.on("comm_live_update", update);
}

/**
 * Draws a widget in *el*, and gives the function that ends it.
 * @param {{ model: import("./base/life.js").Model, el: HTMLElement }} view
 */
function render({ model, el }) {
  const life = new Life(model);
  styled(life, el, STYLE);
  Classroom.join();
  el.classList.add("lk");
  life.listen(el, "keydown", giveBack, true);
  life.listen(el, "keydown", moveOn, true);
  const live = el.appendChild(div("lk-live"));
  mark(life, el, live);
  new ROLES[model.get("role")](life, live);
  Teaching.offer(life, el);
  return () => life.end();
}

/** @typedef {{ render: typeof render }} Program */

/** @type {Program} */
export const program = { render };

export default {
  // A host is not shown: its page calls this as soon as it knows of it.
  /** @param {{ model: import("./base/life.js").Model }} made */
  initialize({ model }) {
    keepSaved(model.widget_manager);
    placeOf(model.get("version")).take(program);
  },
};
