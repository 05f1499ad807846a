// What tells the answer to a question stays covered until a run has shown it. A notebook marks it
// by tags: `predict` at the cell of a question, `covered` at the heading of a section that tells.
// JupyterLab folds such a section itself, also before anything has run; elsewhere, as in Voilà,
// its cells are hidden here. A page without tags has the same sections, and they are known by
// their titles. A frame that holds the question alone shows the explanation in the question.

import { button, div } from "../base/dom.js";
import { all, cellsAround, cellsBelow, headingOf, outside } from "./cells.js";
import { Classroom } from "./classroom.js";

const FOLDED = "jp-MarkdownHeadingCollapsed"; // JupyterLab's own class

// What a question hears when a section that it covers is shown without an answer: its run belongs
// to that section.
export const SHOW = "lk-show";

const TELL = [
  "Run and look",
  "Explain",
  "Play",
  "For real",
  "Challenge",
  "Vote",
  "Recap",
  "What happens",
];

/**
 * A cell of the lesson, and what is known of it.
 * @typedef {object} Cell
 * @property {HTMLElement} node
 * @property {string[]} tags
 * @property {number} level of the heading with which it begins; 7 without one
 * @property {HTMLElement} [heading]
 * @property {string} [title]
 */

export class Cover {
  constructor(el, life) {
    this.el = el;
    this.life = life;
    this.models = life.widget_manager?.context?.model?.cells;
    this.later = life.timer();
    document.body.classList.add("lk-covers");
  }

  look() {
    this.cells = cellsAround(this.el).map((node, index) => this.cell(node, index));
    const isTagged = this.models || this.cells.some(({ tags }) => tags.length);
    const isQuestion = ({ tags, node }) => (isTagged ? tags.includes("predict") : asks(node));
    const tells = (cell) => {
      return isTagged ? cell.tags.includes("covered") : TELL.includes(cell.title);
    };
    const sections = this.cells.filter(tells).map((cell) => this.section(cell, isQuestion));
    this.sections = sections.filter(({ asked }) => isTagged || asked.length);
  }

  /**
   * @param {HTMLElement} node
   * @param {number} index
   * @returns {Cell}
   */
  cell(node, index) {
    // Its node may not be drawn yet.
    const model = this.models?.get(Number(node.dataset.windowedListIndex ?? index));
    if (model) {
      const marks = model.type === "markdown" && /^#+(?= )/.exec(model.sharedModel.getSource());
      return { node, tags: model.getMetadata("tags") ?? [], level: marks ? marks[0].length : 7 };
    }
    const tags = [...node.outerHTML.matchAll(/celltag_(\w+)/g)].map(([, tag]) => tag);
    return { node, tags, ...headingOf(node) };
  }

  // A section belongs to the questions before it that are below the same heading.
  section(cell, isQuestion) {
    const { node, heading, level } = cell;
    const at = this.cells.indexOf(cell);
    const above = this.cells.findLastIndex((other, index) => index < at && other.level < level);
    const asked = this.cells.slice(above + 1, at).filter(isQuestion);
    const inside = cellsBelow(this.cells, at).map((one) => one.node);
    return { node, heading, asked, inside };
  }

  close() {
    const isMine = ({ asked }) => asked.some(({ node }) => node.contains(outside(this.el)));
    this.turnAll((section) => !isTold(section) && (!this.models || isMine(section)), true);
    if (!this.models) this.follow(isMine);
  }

  open() {
    this.turnAll(isTold, false);
  }

  // A page may draw more of the lesson later.
  follow(isMine) {
    const around = this.cells[0]?.node.parentElement;
    const again = () => {
      if (this.el.dataset.answered === undefined) this.turnAll(isMine, true);
      else observer.disconnect();
    };
    const observer = new MutationObserver(again);
    if (around) observer.observe(around, { childList: true });
    this.life.atEnd(() => observer.disconnect());
  }

  // JupyterLab draws the cells of a page that is loaded again one after another: those that come
  // late have their turn.
  turnAll(wanted, covered, done = new Set()) {
    this.look();
    for (const section of this.sections.filter(wanted)) {
      if (!done.has(section.node)) this.turn(section, covered);
      done.add(section.node);
    }
    const isWanted = this.el.isConnected && covered === (this.el.dataset.answered === undefined);
    const again = () => this.turnAll(wanted, covered, done);
    if (isWanted && this.cells.length < this.models?.length) this.later.start(again, 500);
  }

  turn({ node, heading, inside, asked }, covered) {
    const { classList } = node;
    if (this.models) {
      const isOther = classList.contains(FOLDED) !== covered;
      if (isOther) node.querySelector(".jp-collapseHeadingButton")?.click();
    } else {
      if (covered && node.dataset.shown) return;
      classList.toggle(FOLDED, covered);
      const hidden = [...below(heading, node), ...inside];
      for (const one of hidden) one.classList.toggle("lk-hidden", covered);
    }
    const note = [...all(node, ".lk-note"), node.nextElementSibling].find(isNote);
    if (!covered && !this.models) note?.remove();
    if (!covered || note) return;
    const told = this.note(() => {
      this.keepOpen({ node, heading, inside, asked });
      const open = asked.flatMap((cell) => all(cell.node, "[data-asks]:not([data-answered])"));
      for (const one of open) one.dispatchEvent(new CustomEvent(SHOW));
    });
    if (node === heading) node.after(told);
    else node.append(told);
  }

  keepOpen(section) {
    section.node.dataset.shown = "now"; // so it stays
    this.turn(section, false);
  }

  // Open what the widget is in, whether it tells an answer or not.
  openAround() {
    this.look();
    const isAround = ({ inside }) => inside.some((node) => node.contains(outside(this.el)));
    for (const section of this.sections.filter(isAround)) this.keepOpen(section);
  }

  // What stands in place of a section. While a class is led, nobody opens it by asking.
  note(open) {
    const show = button("show it now", "Show this section without an answer", open);
    const told = div("lk lk-note");
    const say = () => {
      document.body.classList.toggle("lk-led", Classroom.leads());
      if (Classroom.leads()) told.replaceChildren("Hidden until the class has the verdict.");
      else told.replaceChildren("Hidden until your answer is right, or until you ask. ", show);
    };
    this.life.listen(window, "lessonkit-class", say);
    say();
    return told;
  }

  // A cell that was run on its own has chosen the one after it: lead the reader back to its
  // question. After Run All Cells the last one is chosen: lead to the first question.
  lead() {
    const lesson = this.el.closest(".jp-Notebook") ?? document;
    const first = lesson.querySelector(".lk-predict:not([data-answered])");
    const chosen = this.cells.findIndex(({ node }) => node.matches(".jp-mod-active"));
    const isEdited = document.activeElement?.closest(".cm-editor");
    const justRan = this.cells[chosen - 1]?.node.contains(this.el) && !isEdited;
    const ranAll = chosen >= 0 && chosen === this.cells.length - 1 && first === this.el;
    if (justRan || ranAll) this.el.querySelector("[tabindex], input").focus();
  }
}

const isNote = (node) => node?.matches(".lk-note");

// Whether there are questions in a cell; those that are *open* wait for their answer.
export function asks(node, open = false) {
  return all(node, "[data-asks]").some(({ dataset }) => !open || dataset.answered === undefined);
}

// Whether all questions before a section are answered.
export const isTold = ({ asked }) => asked.every(({ node }) => asks(node) && !asks(node, true));

// What stands below a heading in its own cell.
export function below(heading, cell) {
  const found = [];
  for (let node = heading; node && node !== cell; node = node.parentElement) {
    for (let next = node.nextElementSibling; next; next = next.nextElementSibling) {
      if (!isNote(next)) found.push(next);
    }
  }
  return found;
}
