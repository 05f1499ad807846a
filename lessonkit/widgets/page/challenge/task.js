// What a challenge asks for, how it stands, and what helps.

import {
  attributes,
  button,
  div,
  html,
  marked,
  named,
  question,
  spoken,
  verdict,
} from "../base/dom.js";

const openGoal = (goal) => html("li", {}, "○ ", goal);

export class Task {
  // *ask* is called when the learner has asked for one more hint.
  constructor({ text, goals, hints }, ask = () => {}) {
    this.goals = html("ul", { class: "lk-goals" }, ...goals.map((goal) => openGoal(goal)));
    this.said = spoken("lk-verdict");
    this.hints = hints;
    this.shown = html("div");
    this.more = button("hint", "Show the next hint", () => {
      this.help(this.hinted + 1);
      ask();
    });
    this.help(0);
    const help = div("lk-help", ...(hints.length ? [this.more, this.shown] : []));
    const asked = question("Challenge ", text);
    this.node = div("lk-card-of lk-task", asked, this.goals, this.said, help);
  }

  // Shows so many hints; the button says how many are left.
  help(hinted) {
    this.hinted = hinted;
    this.shown.replaceChildren(...this.hints.slice(0, hinted).map((hint) => html("p", {}, hint)));
    const left = Math.max(0, this.hints.length - hinted);
    named(this.more, "Show the next hint", `hint (${left})`);
    this.more.disabled = !left;
  }

  solved = () => (this.node.dataset.solved = "");

  // Before anything was *tried*, a goal is open and not missed.
  judge({ passed, goals, message }, tried = true) {
    if (passed) this.solved();
    const node = ([met, said]) => (met || tried ? marked("li", met, said) : openGoal(said));
    this.goals.replaceChildren(...goals.map(node));
    if (passed || !goals.length) return this.said.replaceChildren(verdict(passed, message));
    if (!tried) return this.said.replaceChildren();
    // The goals say it to those who see them; who hears this hears the first that was missed.
    const met = goals.filter(([met]) => met).length;
    const count = goals.length > 1 ? ` You meet ${met} of ${goals.length} goals.` : "";
    const brief = verdict(false, `Not yet.${count}`);
    const heard = html("span", { class: "lk-words" }, message);
    return this.said.replaceChildren(attributes(brief, { "aria-hidden": "true" }), heard);
  }
}
