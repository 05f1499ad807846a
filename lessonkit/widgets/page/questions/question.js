// `predict`: a question that a run answers, or a vote, which has no run. What takes the answer is
// chosen by the kind of question.

import { button, div, marked, question, spoken, verdict } from "../base/dom.js";
import { asking, keeping, SILENT } from "../base/kernel.js";
import { cellAfter, goOn, outside, reveal } from "../lesson/cells.js";
import { Classroom } from "../lesson/classroom.js";
import { Cover, SHOW } from "../lesson/cover.js";
import { bringAll } from "../lesson/in_sight.js";
import { followed, Record } from "../lesson/record.js";
import { Report } from "../lesson/report.js";
import { View } from "../pictures/view.js";
import { answerOf } from "./index.js";
import { Radios } from "./radios.js";

/**
 * What takes an answer. A type of question is a class of such, with a static `kind`.
 * @typedef {object} Answer
 * @property {Element} node
 * @property {() => unknown} get what is said now: -1, or a list of numbers with it, for nothing
 * @property {(said: unknown) => void} set takes no notice of what is no answer
 * @property {(told: any) => void} [correct] shows the truth over what was said
 */

/**
 * What an answer tells its question.
 * @typedef {object} Asking
 * @property {() => void} changed says that another answer stands there
 * @property {(event: KeyboardEvent) => void} commit hears a key; Enter commits to the answer
 */

/** @typedef {import("../scene.js").QuestionState} QuestionState */

/**
 * An answer that was committed to; once the kernel has judged it, it has words.
 * @typedef {object} Try
 * @property {unknown} said
 * @property {string} sure
 * @property {string} when
 * @property {string} [words]
 * @property {boolean} [right]
 */

const PRIMARY = { class: "lk-primary" }; // the one thing to do next
const REGRET = 30000; // ms in which tries that were forgotten can be brought back
const LAST_TIME = "This is your answer from last time. You have not committed to it yet.";

export class Question {
  /** @type {Try[]} */
  tried = []; // as the record has them
  awaits = false; // whether an answer was committed to, and not judged yet
  committed = ""; // the last answer that was, with its round
  shown; // whether the learner asked for the answer
  waits; // whether the teacher has not shown the verdict yet
  verdict; // the last one, or the one that was right
  heard; // the last one that came, which may still wait
  isHeard = false; // whether the page can ask it to show its run
  /** @type {View | null} */
  view = null;
  said = spoken("lk-verdict");
  list = div("lk-tries");
  undo = div("lk-undo");

  constructor(whole, el) {
    const model = whole.part();
    this.whole = whole;
    this.model = model;
    this.el = el;
    /** @type {QuestionState} */
    const state = JSON.parse(model.get("state"));
    const isVote = state.asks === "Vote";
    this.levels = state.sure;
    const commit = (event) => this.enter(event);
    const AnswerOfKind = answerOf(state.kind);
    /** @type {Answer} */
    this.answer = new AnswerOfKind(model, /** @type {any} */ (state.answer), {
      changed: () => this.keep(),
      commit,
    });
    this.sure = new Radios(state.sure, "How sure are you?", commit);
    this.tools = div(
      "lk-tools",
      button("commit", "Commit to this answer", () => this.commit(), PRIMARY),
      button(
        "show me anyway",
        isVote ? "Show which is right" : "Show the run without an answer",
        () => {
          this.awaits = true;
          this.ask({ do: "reveal" });
        },
      ),
    );
    this.on = button("go on", "Go on to the next cell (Shift+Enter)", () => goOn(el), PRIMARY);
    this.again = button("ask me again", "Ask me again, and forget my tries", () => this.forget());
    this.later = model.timer();
    this.regret = model.timer();
    const asked = [question(`${state.asks} `, state.question), this.answer.node, this.sure.node];
    this.card = div("lk-card-of lk-predict", ...asked, this.tools, this.said, this.list, this.undo);
    el.append(this.card);
    if (isVote) el.append(new Report().node); // at the end of a lesson
    this.card.addEventListener("change", () => this.keep());
    this.ask = asking(model, (text) => this.say(text), {
      verdict: (told) => this.hear(told),
      later: ({ text }) => {
        this.said.textContent = text;
        this.keep(); // a page without a kernel: one that comes later judges what was said
      },
    });
    this.record = new Record(model, state.kind, state.question);
    this.save = keeping(model, (kept) => this.restore(kept));
    if (!this.verdict) this.recall(this.record.read());
    this.settle();
    followed(model, () => this.recall(this.record.read()));
    Classroom.follow(model, this.record.about, {
      shown: () => this.uncover(),
      anew: () => this.renew(),
      go: () => this.lead(),
    });
  }

  // Everybody has the verdict: what tells the answer is covered for nobody, right or wrong.
  uncover() {
    if (this.card.dataset.answered !== undefined) return;
    this.card.dataset.answered = "";
    this.settle();
  }

  // To this question, whatever covers it.
  lead() {
    new Cover(this.card, this.model).openAround();
    reveal(outside(this.card));
    this.later.start(() => {
      this.card.scrollIntoView({ block: "center" });
      this.focus();
    }, 100); // until the page has drawn what was covered
  }

  // A view is made before it has its place in the page.
  settle() {
    if (!this.card.isConnected) {
      this.later.start(() => this.settle(), 50);
      return;
    }
    const around = new Cover(this.card, this.model);
    const seen = outside(this.card);
    const { dataset } = seen;
    if (!this.isHeard) this.model.listen(seen, SHOW, () => this.ask({ do: "reveal" }));
    this.isHeard = true;
    const { answered } = this.card.dataset;
    dataset.asks = "";
    if (answered === undefined) delete dataset.answered;
    else dataset.answered = answered;
    this.on.hidden = !cellAfter(this.card); // a frame of its own has no next cell
    if (answered !== undefined) {
      around.open();
    } else {
      around.close();
      around.lead();
    }
  }

  // What the kernel did not take for an answer is no try.
  say(text) {
    this.said.textContent = text;
    if (text === "…" || text === SILENT || this.tried.every(({ words }) => words)) return;
    this.tried = this.tried.filter(({ words }) => words);
    this.keep();
  }

  get did() {
    return {
      said: this.answer.get(),
      sure: this.levels[this.sure.get()] ?? "",
      tries: this.tried,
      right: this.tried.some((one) => one.right),
      shown: this.shown,
      waits: this.waits,
    };
  }

  keep() {
    const { did } = this;
    this.record.write(did);
    this.save({ ...did, verdict: this.verdict });
  }

  restore({ said, sure, tries = [], shown = undefined, verdict: told = undefined, when = "" }) {
    if (this.verdict?.right) return;
    this.answer.set(said);
    this.sure.set(this.levels.indexOf(sure));
    this.tried = tries;
    this.shown = shown;
    const isOfThisVisit = Date.parse(when) > performance.timeOrigin;
    this.said.textContent = isOfThisVisit ? "" : LAST_TIME;
    if (!Array.isArray(told?.tries)) return; // none was kept, or it was damaged
    this.verdict = told;
    this.conclude(told);
  }

  // A widget that was made anew has no tries: the kernel judges those of the record again.
  recall(record) {
    if (!record) return;
    const { tries, right, shown } = record;
    this.restore({ ...record, tries: tries.map(({ words, right: judged, ...one }) => one) });
    // So nothing is covered; in a class the teacher may not have shown it yet.
    if ((right || shown) && !Classroom.found) this.card.dataset.answered = "";
    for (const [index, { said, sure }] of tries.entries()) {
      const how = this.levels.indexOf(sure);
      this.isNew(said, how);
      this.ask({ do: "commit", said, sure: how, anew: index === 0 });
    }
    if (shown) this.ask({ do: "reveal" });
  }

  forget() {
    const { did } = this;
    this.record.forget();
    const anew = this.renew();
    anew.offer(did);
    anew.focus();
  }

  // The class asks this once more: what was answered stays in the record, and may be said again.
  renew() {
    this.model.set("kept", "");
    this.model.save_changes();
    this.model.end(); // another one hears the kernel from now on
    this.el.replaceChildren();
    return new Question(this.whole, this.el);
  }

  // What was forgotten can be brought back for a while, until another answer is there.
  offer(did) {
    const back = button("undo", "Undo: bring my tries back", () => {
      this.undo.replaceChildren();
      this.recall(did);
      this.settle();
      this.keep();
      this.focus();
    });
    this.undo.append("Your tries are forgotten. ", back);
    this.regret.start(() => this.undo.replaceChildren(), REGRET);
  }

  focus() {
    const first = /** @type {HTMLElement} */ (this.card.querySelector("[tabindex], input"));
    first?.focus();
  }

  // With Shift it moves on to the next cell.
  enter({ key, shiftKey }) {
    if (key === "Enter" && !shiftKey) this.commit();
  }

  commit() {
    const said = this.answer.get();
    const sure = this.sure.get();
    const isNothing = typeof said === "number" && said < 0;
    if (isNothing || sure < 0) {
      this.said.textContent = isNothing ? "Say what you expect first." : "Say how sure you are.";
      return;
    }
    if (!this.isNew(said, sure)) return;
    this.undo.replaceChildren();
    this.awaits = true;
    const anew = !this.tried.length;
    this.tried.push({ said, sure: this.levels[sure], when: new Date().toISOString() });
    this.ask({ do: "commit", said, sure, anew });
  }

  // The same again is not one more try, but in the next round of a class it is.
  isNew(said, sure) {
    const before = this.committed;
    this.committed = JSON.stringify([said, sure, Classroom.standing(this.record.about)]);
    return this.committed !== before;
  }

  async hear(told) {
    // Another view of this question may have asked: its tries come with what it keeps.
    if (told.tries.length <= this.tried.length) {
      this.tried = this.tried.map((one, index) => judged(one, told.tries[index]));
    }
    if (!told.tries.length) this.shown = true;
    this.heard = told;
    const turn = Classroom.turn(this.model, this.record.about, (text) => {
      this.said.textContent = text;
    });
    if (turn) {
      this.waits = true;
      this.keep();
      await turn;
      if (!this.model.ends || this.heard !== told) return; // another has come meanwhile
      this.waits = undefined;
    }
    if (!this.verdict?.right) this.verdict = told;
    // Nobody is as sure of the next answer without saying so; what a record has was said.
    const isAsked = this.awaits;
    if (!told.right && isAsked) this.sure.set(-1);
    this.awaits = false;
    this.keep();
    const isHere = this.card.contains(document.activeElement);
    this.conclude(told);
    if (told.right && isHere) this.on.focus({ preventScroll: true });
    // The verdict, and the run that shows why
    if (isAsked) bringAll(this.model, this.said, this.view?.figures ?? this.said);
  }

  conclude({ right, tries, text, scene, pinned, ...more }) {
    this.said.replaceChildren(verdict(right, text));
    const tried = tries.map(([said, sure, well]) => marked("span", well, `${said}, ${sure}`));
    if (tried.length) this.list.replaceChildren("Your tries: ", ...tried);
    if (!right) return;
    this.card.dataset.answered = "";
    for (const one of this.tools.children) one.classList.remove(PRIMARY.class); // to go on is, now
    this.card.append(div("lk-tools", this.on, this.again));
    this.settle();
    if (this.answer.correct) {
      this.answer.correct(more);
      this.tools.remove(); // there is nothing left to find out
    }
    if (!scene) return;
    this.view ??= new View(this.model);
    this.view.answer = text;
    this.view.showIn(this.el, scene, pinned);
  }
}

/**
 * A try, and what the kernel has said of it, if it has.
 * @param {Try} one
 * @param {[words: string, sure: string, right: boolean] | undefined} told
 * @returns {Try}
 */
function judged(one, told) {
  if (!told) return { ...one, words: one.words, right: one.right };
  const [words, , right] = told;
  return { ...one, words, right };
}
