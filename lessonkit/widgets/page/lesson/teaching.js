// What a teacher switches in the page for a class: large type, and one section at a time.

import { attributes, button, findAll, html } from "../base/dom.js";
import { clamped } from "../base/numbers.js";
import { cellsAround, cellsBelow, headingOf, REVEAL } from "./cells.js";
import { RECALL } from "./record.js";

// An editor folds the sections of *Further* by itself; a page without one, as Voilà's, has them
// open before a class.
function foldFurther(el) {
  if (document.querySelector(".jp-collapseHeadingButton")) return;
  const cells = cellsAround(el).map((node) => ({ node, ...headingOf(node) }));
  const further = cells.findIndex(({ title }) => title === "Further");
  cells.forEach(({ heading, level, title: name }, index) => {
    if (further < 0 || index < further || level !== 3) return;
    const inside = cellsBelow(cells, index);
    const title = `Show or hide ${name}`;
    const others = findAll(heading.parentElement, ":scope > *").filter(
      (child) => child !== heading,
    );
    const fold = (folded) => {
      for (const { node } of inside) node.classList.toggle("lk-folded", folded);
      for (const child of others) child.hidden = folded;
      attributes(show, { "aria-expanded": String(!folded) }).textContent = folded ? "show" : "hide";
    };
    const show = button("show", title, () => fold(show.textContent === "hide"));
    heading.append(" ", html("span", { class: "lk lk-fold" }, show));
    fold(true);
  });
}

// These speak of the picture before them, unless they have a cell that draws one.
const GO_ON = ["Run and look", "Play", "For real"];
const goesOn = ({ title, cells }) =>
  GO_ON.includes(title) && !cells.some((cell) => cell.matches(".jp-CodeCell"));

const CHOSEN = "lessonkit one section"; // "yes" or "no", if somebody has chosen

function chosen(value) {
  try {
    if (value) localStorage.setItem(CHOSEN, value);
    return localStorage.getItem(CHOSEN);
  } catch {
    return null; // the browser keeps nothing
  }
}

export class Teaching {
  constructor(el) {
    this.el = el;
    this.at = 0;
    const enlarge = () => document.body.classList.toggle("lk-class-large", this.is(this.large));
    const isolate = () => {
      chosen(this.is(this.alone) ? "yes" : "no");
      this.show(this.is(this.alone) ? this.first() : 0);
    };
    this.large = this.toggle("large type", enlarge);
    this.alone = this.toggle("one section at a time", isolate);
    this.before = button("◀", "The section before", () => this.show(this.at - 1));
    this.after = button("▶", "The section after", () => this.show(this.at + 1));
    this.title = html("span", { "aria-live": "polite" });
    this.moves = html("span", { class: "lk-moves", hidden: true });
    this.moves.append(this.before, this.title, this.after);
    const title = "For a class: large type, one section at a time";
    const switches = [html("summary", { title }, "Aa"), this.large, this.alone, this.moves];
    this.node = html("details", { class: "lk-class" }, ...switches);
  }

  // Every widget asks for it when it is drawn, but for a picture by itself; a notebook has one. It
  // stands in the page's own line of tools, or above the first cell, where it lies on nothing.
  static offer(life, el, later = life.timer()) {
    if (!el.isConnected) return later.start(() => Teaching.offer(life, el, later), 100);
    const [first] = cellsAround(el);
    const panel = el.closest(".jp-NotebookPanel") ?? document;
    const line = document.getElementById("lessons-line") ?? panel.querySelector(".jp-Toolbar");
    if (!first || (line ?? document).querySelector(".lk-class")) return undefined;
    foldFurther(el);
    const teaching = new Teaching(el);
    if (line?.id === "lessons-line") return teaching.offerInWords(line);
    return line ? line.append(teaching.node) : first.before(teaching.node);
  }

  // A page to read alone: one section at a time is offered in words, and on a phone it is the default,
  // for a page of twenty screens is not read there.
  offerInWords(line) {
    this.alone.classList.add("lk-alone");
    line.append(this.alone, this.moves, this.node);
    document.addEventListener(REVEAL, ({ target }) => this.lead(target));
    window.addEventListener(RECALL, () => this.is(this.alone) && this.show(this.first(), false));
    // The editor puts in one cell after another, so sections come and grow.
    const grown = new MutationObserver(() => this.is(this.alone) && this.show(this.at, false));
    grown.observe(cellsAround(this.notebook())[0].parentElement, { childList: true });
    const isPhone = matchMedia("(max-width: 600px)").matches;
    if (chosen() !== "yes" && (chosen() || !isPhone)) return;
    attributes(this.alone, { "aria-pressed": "true" });
    this.show(this.first(), false);
  }

  // To where a reader is led, in whichever section that is.
  lead(node) {
    const at = this.sections().findIndex(({ cells }) => cells.some((cell) => cell.contains(node)));
    if (at >= 0 && this.is(this.alone)) this.show(at, false);
  }

  toggle(text, act) {
    const node = button(text, `Switch to ${text}, or back`, () => {
      node.setAttribute("aria-pressed", String(!this.is(node)));
      act();
    });
    return attributes(node, { "aria-pressed": "false" });
  }

  is = (node) => node.getAttribute("aria-pressed") === "true";

  // Several may be open.
  notebook() {
    const open = findAll(document, ".jp-Notebook");
    return open.find((node) => node.offsetParent) ?? this.el;
  }

  // A section begins at a heading of the first or the second level; what stands before the first one
  // belongs to it.
  sections() {
    const sections = [{ title: "", cells: [] }];
    for (const cell of cellsAround(this.notebook())) {
      const { level, title } = headingOf(cell);
      if (level <= 2 && sections.at(-1).title) sections.push({ title, cells: [] });
      else if (level <= 2) sections[0].title = title;
      sections.at(-1).cells.push(cell);
    }
    const whole = [];
    for (const section of sections) {
      if (whole.length && goesOn(section)) whole.at(-1).cells.push(...section.cells);
      else whole.push(section);
    }
    return whole;
  }

  // The one that is at the top of the screen.
  first() {
    const [cell] = cellsAround(this.notebook());
    const scrolls = cell.closest(".jp-WindowedPanel-outer, .jp-Notebook") ?? document.body;
    const top = Math.max(0, scrolls.getBoundingClientRect().top) + 20;
    const isSeen = ({ cells }) => cells.at(-1).getBoundingClientRect().bottom > top;
    return Math.max(0, this.sections().findIndex(isSeen));
  }

  // The section comes to the top, if it *comes*: else the page itself says where a reader is.
  show(at, comes = true) {
    const on = this.is(this.alone);
    const sections = this.sections();
    this.at = clamped(at, 0, sections.length - 1);
    sections.forEach(({ cells }, index) => {
      for (const cell of cells) cell.classList.toggle("lk-away", on && index !== this.at);
    });
    this.moves.hidden = !on;
    this.before.disabled = this.at === 0;
    this.after.disabled = this.at === sections.length - 1;
    const { title, cells } = sections[this.at];
    const isPart = cells[0]?.closest(".lk-lesson:not(.jp-Notebook)"); // how many follow is not known yet
    const place = isPart ? `${this.at + 1}` : `${this.at + 1} of ${sections.length}`;
    this.title.textContent = `${place}: ${title}`;
    if (on && comes) sections[this.at].cells[0].scrollIntoView({ block: "start" });
  }
}
