// Where the reader is in a lesson: kept from one visit to the next, held while what stands above is
// still drawn, and changed by links, which the browser's Back undoes.

import { recall } from "./work.js";

const here = new URL(".", import.meta.url);
const path = new URLSearchParams(location.search).get("path") ?? "";
const key = `lessons place ${here.pathname}${path}`;
const HAND = ["wheel", "touchmove", "pointerdown", "keydown"]; // by these a reader moves
const SEEN = 1; // px of a cell, from which on it counts as being in sight: places are rounded
const SETTLED = 300; // ms without a scroll

export const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function panel() {
  return window.jupyterapp?.shell.currentWidget;
}

// ---- places ----

const opening = () => document.getElementById("lessons-opening");
const outer = () => document.querySelector(".jp-WindowedPanel-outer");
const yOfLesson = () => outer()?.getBoundingClientRect().top ?? 0;
const topOf = (node) => node.getBoundingClientRect().top - yOfLesson();

// *top* is where the lesson itself begins on the page, below the menus.
/** @typedef {{ id?: string, offset?: number, top?: number, scroll?: number }} Place */

// In what is there before the lesson a place is how far it is scrolled, and for the lesson then the
// first cell that is in sight, and how far its beginning is from the top of the page.
/** @returns {Place} */
export function placeIn(shown) {
  const from = yOfLesson();
  const top = Math.max(from, shown.getBoundingClientRect().top); // what is above it is behind the menus soon
  const isSeen = (part) => part.getBoundingClientRect().bottom > top + SEEN;
  /** @type {HTMLElement[]} */
  const parts = [...shown.querySelectorAll("[data-cell]")];
  const isWhole = shown.matches(".lessons-still") || shown.scrollTop > 0; // or it is the very beginning
  const part = isWhole ? parts.find(isSeen) : null;
  const seen = part && { id: part.dataset.cell, offset: part.getBoundingClientRect().top - from };
  return { scroll: shown.scrollTop, top: from, ...seen };
}

// The first cell that is in sight, and how far its beginning is from the top.
/** @returns {Place | null} */
function place() {
  if (opening()) return placeIn(opening());
  const cells = panel()?.content?.widgets ?? [];
  const cell = cells.find(({ node }) => topOf(node) + node.offsetHeight > 0);
  return cell ? { id: cell.model.id, offset: topOf(cell.node), top: yOfLesson() } : null;
}

export function cellsInSight() {
  const high = outer()?.clientHeight ?? 0;
  const isSeen = ({ node }) => topOf(node) < high && topOf(node) + node.offsetHeight > 0;
  return (panel()?.content?.widgets ?? []).filter(isSeen);
}

/** @type {() => void} */
let release = () => 0;

// Holds a cell at this distance from the top, until the reader moves or it is let go.
function hold(cell, offset = 0) {
  release();
  // One section may be shown, and which one that is depends on headings, which come one by one.
  const put = () => {
    cell.node.dispatchEvent(new Event("lessonkit-reveal", { bubbles: true }));
    outer().scrollTop += topOf(cell.node) - offset;
  };
  const seen = new ResizeObserver(put);
  for (const { node } of panel().content.widgets) seen.observe(node);
  /** @param {Event} [event] of a hand; none where it is let go */
  const end = (event) => {
    // No hand has moved the lesson while something lies over it.
    if (event && document.querySelector("#lessons-cover, .lessons-still")) return;
    seen.disconnect();
    for (const moved of HAND) removeEventListener(moved, end, true);
  };
  for (const moved of HAND) addEventListener(moved, end, true);
  release = end;
  put();
}

async function cells() {
  while (!panel()?.content?.widgets?.length || !outer()) await soon(50);
  return panel().content.widgets;
}

// JupyterLab puts in one cell after another, and nobody is led to one that is not there.
async function attached(cell) {
  while (!cell.node.isConnected && !cell.isDisposed) await soon(50);
}

let left = null; // the cell that comes back

// When all has run, the keys go on from there too, unless somebody has chosen a cell meanwhile;
// before, a question would take that for a cell that was run. It is let go once nothing is drawn
// any more that could move it.
export function letGo(settled) {
  const { content } = panel();
  const place = content.widgets.indexOf(left);
  settled.then(() => release());
  if (place > 0 && content.activeCellIndex === 0) content.activeCellIndex = place;
}

// Brings what was seen to where it was left, and holds it there until the reader moves. Gives null if it
// does not have that place, and else what tells the present one: that which was left, as long as nobody
// moved, because the line above a lesson may have another height meanwhile.
/** @returns {(() => Place) | null} */
export function putStill(still) {
  const { id, offset = 0, top = 0 } = JSON.parse(recall(key) || "{}");
  const part = id && still.querySelector(`[data-cell="${CSS.escape(id)}"]`);
  if (!part) return null;
  let isMoved = false;
  const put = () => (still.scrollTop += part.getBoundingClientRect().top - top - offset);
  const seen = new ResizeObserver(put);
  const move = () => {
    isMoved = true;
    seen.disconnect();
  };
  for (const one of still.children) seen.observe(one);
  for (const moved of HAND) still.addEventListener(moved, move, { once: true });
  put();
  return () => (isMoved ? placeIn(still) : { id, offset });
}

/** @param {Place} place */
export async function goToPlace({ id, offset, scroll }) {
  if (opening() && scroll !== undefined) {
    release();
    opening().scrollTop = scroll;
    return;
  }
  const all = await cells();
  const cell = id ? all.find(({ model }) => model.id === id) : all[0];
  if (!cell) return;
  left = cell;
  await attached(cell);
  hold(cell, offset);
}

// A section is named by its heading, as JupyterLab does; most of them are folded. It comes to the
// top.
async function goToSection(wanted) {
  const isWanted = ({ model }) => {
    const [, heading] = /^#+ (.+)/.exec(model.sharedModel.getSource()) ?? [];
    return model.type === "markdown" && heading?.replaceAll(" ", "-") === wanted;
  };
  const cell = (await cells()).find(isWanted);
  const { content } = panel();
  if (!cell) return;
  cell.headingCollapsed = false;
  content.activeCellIndex = content.widgets.indexOf(cell);
  await attached(cell);
  hold(cell);
}

// As somebody wanted who followed a link, or as it was left.
export async function begin() {
  const section = decodeURIComponent(location.hash.slice(1));
  const last = JSON.parse(recall(key) || "null");
  if (section) await goToSection(section);
  else if (last) await goToPlace(last);
  let timer = 0;
  let at = place();
  const keep = () => {
    timer = 0;
    at = place();
    if (at) recall(key, JSON.stringify(at));
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(keep, SETTLED);
  };
  // A press may show another section at the same height.
  for (const moved of ["scroll", "click"]) document.addEventListener(moved, later, true);
  // A page that gets another width, as a phone that is turned, keeps its pixels and not the place.
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width && at) goToPlace(at);
    width = innerWidth;
  });
  addEventListener("pagehide", () => timer && keep()); // somebody leaves right after a scroll
}

export const hasPlace = () => Boolean(location.hash || recall(key));

export const scrolled = () => /** @type {HTMLElement} */ (outer());

// ---- links ----

const LESSON = /[^/]+\.ipynb$/; // as JupyterLab names it in a link

// In the same tab, after what was done is saved: or the browser would ask whether to leave it.
async function leave(address) {
  const { context } = panel() ?? {};
  if (context?.model.dirty) await context.save().catch((error) => console.warn(error));
  location.assign(address);
}

function follow(event) {
  const link = event.target.closest?.(".jp-RenderedMarkdown a[href], #lessons-opening a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { origin, pathname, searchParams, hash } = new URL(link.href);
  if (origin !== location.origin || link.matches(".jp-InternalAnchorLink")) return;
  const [name] = LESSON.exec(decodeURIComponent(pathname)) ?? [searchParams.get("path")];
  const isHere = name === path;
  if (!name || (isHere && !hash)) return;
  event.preventDefault();
  event.stopPropagation();
  if (!isHere) leave(`${here.href}notebooks/index.html?path=${encodeURIComponent(name)}${hash}`);
  else goOn(hash, link);
}

const again = Object.assign(document.createElement("button"), {
  textContent: "Back to where I was", onclick: () => history.back(),
});

// To another section: the browser's Back leads to where the link was, and so does a button. While
// the lesson still loads, the link says that it does.
function goOn(hash, link) {
  document.querySelector("#lessons-line [role=status]").after(again);
  history.replaceState({ ...history.state, place: place() }, "");
  history.pushState({}, "", hash);
  const section = decodeURIComponent(hash.slice(1));
  const isShown = opening() && document.getElementById(section);
  if (isShown && opening().contains(isShown)) return isShown.scrollIntoView();
  if (opening()) link.after(coming);
  return goToSection(section);
}

const coming = Object.assign(document.createElement("small"), {
  id: "lessons-coming", textContent: " opens as soon as the lesson is here", role: "status",
});

function back({ state }) {
  again.remove();
  coming.remove();
  if (state?.place) return goToPlace(state.place);
  return goToSection(decodeURIComponent(location.hash.slice(1)));
}

document.addEventListener("click", follow, true);
addEventListener("popstate", (event) => back(event).catch((error) => console.warn(error)));
