// `challenge`: what is asked for, how it stands, and what helps.

import { div, findAll } from "../base/dom.js";
import { bringInSight } from "../lesson/in_sight.js";
import { isTried, Record } from "../lesson/record.js";
import { View } from "../pictures/view.js";
import { checkButton } from "./check.js";
import { Task } from "./task.js";

const JUDGED = "lk-judged"; // what a card hears when its code was checked

/** @typedef {import("../scene.js").OutcomeState} OutcomeState */

export class Challenge {
  constructor(model, el) {
    const { task } = JSON.parse(model.get("state"));
    const record = new Record(model, "challenge", task.text);
    const { right, hints = 0 } = record.read() ?? {};
    const made = new Task(task, () => {
      record.write({ said: null, right: false, ...record.read(), hints: made.hinted });
    });
    made.node.dataset.task = task.text;
    made.help(hints);
    if (right) made.solved();
    made.tools.prepend(checkButton(model, () => made.node));
    model.listen(made.node, JUDGED, ({ detail }) => {
      made.goals.hidden = true; // they stand below the code, with what was reached
      made.tell(detail.verdict, detail.tried);
    });
    el.append(made.node);
  }
}

export class Outcome {
  constructor(model, el) {
    /** @type {OutcomeState} */
    const { question, verdict, scene, tried: isNew } = JSON.parse(model.get("state"));
    const task = new Task({ text: "", goals: [], hints: [] });
    const record = new Record(model, "challenge", question);
    const before = record.read();
    const right = verdict.passed || Boolean(before?.right);
    const isAsked = ({ dataset }) => dataset.task === question;
    const asked = findAll(document, ".lk-task").filter(isAsked);
    // How the goals stand with the code of the lesson, which runs first, is nobody's try. The page
    // knows it too, for a browser may keep nothing.
    const { goals: reached } = verdict;
    const first = JSON.parse(asked[0]?.dataset.given ?? "null");
    const given = before?.given ?? first ?? reached;
    const tried = isNew || isTried({ reached, given, tried: before?.tried });
    const did = { reached, given, hints: before?.hints, ...(tried && { tried }) };
    record.write({ said: null, right, ...did });
    task.judge(verdict, tried);
    const card = div("lk-card-of", task.said, task.goals);
    card.append(
      div(
        "lk-tools",
        checkButton(model, () => card),
      ),
    );
    for (const node of asked) {
      node.dataset.given = JSON.stringify(given);
      if (right) node.dataset.solved = "";
      node.dispatchEvent(new CustomEvent(JUDGED, { detail: { verdict, tried } }));
    }
    el.append(card);
    // JupyterLab has gone on to the next cell meanwhile.
    const seen = asked.map((node) => node.querySelector(".lk-verdict"));
    if (isNew) bringInSight(model, card, seen);
    if (!scene) return;
    new View(model).showIn(el, scene);
  }
}
