// `challenge`: what is asked for, how it stands, and what helps.

import { div, findAll } from "../base/dom.js";
import { isTried, Record } from "../lesson/record.js";
import { View } from "../pictures/view.js";
import { Task } from "./task.js";

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
    el.append(made.node);
  }
}

export class Outcome {
  constructor(model, el) {
    const { question, verdict, scene } = JSON.parse(model.get("state"));
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
    record.write({ said: null, right, reached, given, hints: before?.hints });
    for (const { dataset } of asked) {
      dataset.given = JSON.stringify(given);
      if (right) dataset.solved = "";
    }
    task.judge(verdict, isTried({ reached, given }));
    el.append(div("lk-card-of", task.said, task.goals));
    if (!scene) return;
    new View(model).showIn(el, scene);
  }
}
