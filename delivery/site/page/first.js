// The first page: its picture, how far one has come in each lesson, and all of one's work.

import { allWork, recall, saved, zip } from "./work.js";

// ---- the picture ----

const frame = document.querySelector("iframe");
const inside = () => frame.contentWindow.location;

// Its setting is this page's address, too.
function live() {
  const tell = () => history.replaceState(null, "", inside().hash);
  frame.contentDocument.documentElement.addEventListener("change", tell);
}
frame.addEventListener("load", live);
if (frame.contentDocument.readyState === "complete") live();

function follow() {
  const address = new URL(`workers.html${location.hash}`, location.href);
  if (location.hash.includes("=")) inside().replace(address); // else it is a part of this page
}
addEventListener("hashchange", follow);
follow();

// ---- the lessons ----

const said = document.getElementById("lessons-said");
const files = await saved();
const NOTHING = "This browser keeps no work. Download your work before you leave a lesson.";
if (!files) said.textContent = NOTHING;
const here = new URL(".", location.href).pathname;
const nameOf = (entry) => new URL(entry.querySelector("a").href).searchParams.get("path");
const reached = (name) => parsed(recall(`lessons reached ${here}${name}`));
for (const card of document.querySelectorAll("ol > li")) card.append(...progress(reached(nameOf(card))));
const tiles = [...document.querySelectorAll("#lessons-row li")];
for (const tile of tiles) tile.append(...progress(reached(nameOf(tile))).slice(0, 1));
goOnWith(recall(`lessons last ${here}`));

// Who was in a lesson goes on with it, or with the next one if it is done.
function goOnWith(name) {
  const at = tiles.findIndex((tile) => nameOf(tile) === name);
  const isDone = at >= 0 && tiles[at].querySelector("progress[value]")?.matches("[data-done]");
  const tile = tiles[at + Number(Boolean(isDone))];
  if (at < 0 || !tile) return;
  const [number, title] = /** @type {Text[]} */ ([...tile.querySelector("a").childNodes].slice(1));
  const start = /** @type {HTMLAnchorElement} */ (document.querySelector(".lessons-start a"));
  start.textContent = `Continue with ${number.textContent.trim()}`;
  start.href = tile.querySelector("a").href;
  document.getElementById("lessons-begins").textContent = title.textContent;
}

// What was damaged tells nothing, and keeps nothing else from working.
function parsed(text) {
  try {
    return JSON.parse(text || "{}") ?? {};
  } catch {
    return {};
  }
}

// As the page of the lesson noted it: of its main path.
function progress({ asked, answered, tasks, solved }) {
  if (![asked, answered, tasks, solved].every(Number.isInteger)) return [];
  const told = [`${answered} of ${asked} question${asked === 1 ? "" : "s"} answered`];
  if (solved) told.push(`${solved} of ${tasks} challenge${tasks === 1 ? "" : "s"} solved`);
  const text = told.join(", ");
  const max = asked + tasks;
  const value = answered + solved;
  const [bar, words] = ["progress", "small"].map((tag) => document.createElement(tag));
  Object.assign(bar, { max, value, ariaLabel: text, title: text });
  bar.toggleAttribute("data-done", value === max);
  words.textContent = value === max ? `✓ done: ${text}` : text;
  return [bar, words];
}

const toReport = document.getElementById("lessons-report");
toReport.onclick = async () => {
  const { Report } = await import("./report.js");
  const report = new Report(here.replace(/\/$/, ""));
  said.before(report.node);
  toReport.remove();
  report.turn();
  report.open.focus();
};

document.getElementById("lessons-download").onclick = async () => {
  const work = await allWork();
  if (work.length) zip(work, "my-lessons.zip");
  else said.textContent = "Nothing is saved yet.";
};

// In a class this page, too, says which question is open, and leads there.
if (document.cookie.includes("lessonkit-class=")) {
  const { Classroom } = await import("./report.js");
  Classroom.join();
}
