// The cells of the lesson around a widget. JupyterLab and Voilà mark each by a class. A page that shows
// a part of a lesson before its notebook marks what holds them, by the class that a notebook has for its
// look; but between a notebook and its cells there are other nodes. In any other page they are what
// stands side by side where the widget and two headings of the lesson meet; a frame that holds the
// widget alone has none.

import { attributes, findAll, html } from "../base/dom.js";
import { take } from "../base/keyboard.js";

const HEADING = ":is(h1, h2, h3, h4, h5, h6):not(.lk *, .jp-OutputArea *)";

// Why a cell is out of sight; a widget whose styles stay in a shadow needs these outside.
const AWAY = ".lk-hidden, .lk-away, .lk-folded { display: none !important; }";

/** @param {HTMLElement} node @param {string} wanted */
export const all = (node, wanted) => [
  ...[node].filter((one) => one.matches(wanted)),
  ...findAll(node, wanted),
];

// The node of the page that a widget is in, or the one whose shadow it is in.
export function outside(el) {
  const root = el.getRootNode();
  return root.host ? outside(root.host) : el;
}

export function cellsAround(el) {
  if (!document.getElementById("lk-away")) {
    document.head.append(html("style", { id: "lk-away" }, AWAY));
  }
  const part = el.closest(".lk-lesson:not(.jp-Notebook)");
  if (part) return [...part.children];
  const marked = (el.closest(".jp-Notebook") ?? document).querySelectorAll(".jp-Cell");
  if (marked.length) return [...marked];
  let node = outside(el);
  while (node && all(node, HEADING).length < 2) node = node.parentElement;
  return [...(node?.children ?? [])].filter((cell) => !cell.matches(".lk-note, .lk-class"));
}

// A cell begins with at most one heading that counts.
export function headingOf(cell) {
  const [heading] = all(cell, HEADING);
  return { heading, level: Number(heading?.tagName[1] ?? 7), title: titleOf(heading) };
}

/**
 * The cells below the heading of the one at a place: those before the next heading of its level, or
 * of a higher one.
 * @template {{ level: number }} C
 * @param {C[]} cells
 * @param {number} at
 */
export function cellsBelow(cells, at) {
  const after = cells.findIndex(({ level }, index) => index > at && level <= cells[at].level);
  return cells.slice(at + 1, after < 0 ? undefined : after);
}

const titleOf = (heading) => heading?.textContent.replace(/¶$/, "").trim() ?? "";

// What a cell hears that a reader is led to, so that the section of it is shown where one is at a time.
export const REVEAL = "lessonkit-reveal";

export const reveal = (node) => node.dispatchEvent(new Event(REVEAL, { bubbles: true }));

// The next cell that is in sight, or in the next section where one is at a time, if the page has one.
export function cellAfter(el) {
  const cells = cellsAround(el).filter((cell) => cell.offsetParent || cell.matches(".lk-away"));
  return cells[cells.findIndex((cell) => cell.contains(outside(el))) + 1];
}

export function goOn(el) {
  const next = cellAfter(el);
  if (next) reveal(next);
  next?.scrollIntoView({ block: "nearest" });
  attributes(next ?? el, { tabindex: -1 }).focus({ preventScroll: true });
}

// Shift+Enter in a widget chooses the next cell, but does not run this one again: that would ask
// everything anew.
export function moveOn(event) {
  if (event.key !== "Enter" || !event.shiftKey) return;
  take(event);
  goOn(event.currentTarget);
}
