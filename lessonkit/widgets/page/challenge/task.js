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
    this.shown = html("div", { class: "lk-help" });
    this.more = button("hint", "Show the next hint", () => {
      this.help(this.hinted + 1);
      ask();
    });
    this.help(0);
    this.tools = div("lk-tools", ...(hints.length ? [this.more] : []));
    const asked = question("Challenge ", text);
    this.node = div("lk-card-of lk-task", asked, this.goals, this.said, this.tools, this.shown);
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
  judge(judged, tried = true) {
    const node = ([met, said]) => (met || tried ? marked("li", met, said) : openGoal(said));
    this.goals.replaceChildren(...judged.goals.map(node));
    this.tell(judged, tried);
  }

  /** @param {import("../scene.js").VerdictScene} verdict @param {boolean} tried */
  tell({ passed, goals, message, remark = "" }, tried) {
    if (passed) this.solved();
    if (passed || !goals.length) return this.said.replaceChildren(verdict(passed, message));
    if (!tried) return this.said.replaceChildren();
    // The goals say it to those who see them; who hears this hears the first that was missed.
    const met = goals.filter(([met]) => met).length;
    const count = goals.length > 1 ? `You meet ${met} of ${goals.length} goals.` : "";
    const brief = verdict(false, [remark || "Not yet.", count].filter(Boolean).join(" "));
    const heard = html("span", { class: "lk-words" }, [remark, message].filter(Boolean).join(" "));
    return this.said.replaceChildren(attributes(brief, { "aria-hidden": "true" }), heard);
  }
}
