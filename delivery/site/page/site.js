// The line above a lesson: what is loading, which copy is open, and how to get at one's work.

import { codeOf, mainOf, waysOn } from "./cells.js";
import {
  begin, cellsInSight, goToPlace, hasPlace, letGo, panel, placeIn, putStill, scrolled, soon,
} from "./reader.js";
import { keepSeen, seen } from "./seen.js";
import { allWork, hasRoom, keep, recall, saved, zip } from "./work.js";

const here = new URL(".", import.meta.url);
const path = new URLSearchParams(location.search).get("path") ?? "";
const LATE = 60000; // ms in which nothing has come: neither a byte nor a word of Python
const TRIED = `lessons tried ${here.pathname}`; // another site may have the same origin
const DRAWN = 300; // ms in which what has run is drawn
const SETTLED = 500; // ms without a scroll
const OFTEN = 10000; // ms from one save to the next
// Or there is no Python.
const ABLE = typeof WebAssembly === "object" && typeof DecompressionStream === "function";
// What Python's own thread asks for, of which the page hears nothing
const PYTHON = [
  "pyodide.mjs", "pyodide.asm.mjs", "pyodide-lock.json", "pyodide.asm.wasm.packed",
  "python_stdlib.zip.packed", "packages.zip.packed", "more.zip",
];

// ---- the line ----

const line = document.createElement("div");
const words = document.createElement("span");
const bar = document.createElement("progress");
line.id = "lessons-line";
words.setAttribute("role", "status");
bar.setAttribute("aria-label", "How much of Python is here");
line.append(skip(), link("All lessons", here.href), words, bar);
document.body.prepend(line);

function link(text, href) {
  return Object.assign(document.createElement("a"), { textContent: text, href });
}

// Past this line, for who goes by keys: to what is in sight of the lesson.
function skip() {
  const node = Object.assign(link("To the lesson", "#main"), { className: "lessons-skip" });
  node.onclick = (event) => {
    event.preventDefault(); // an address with a part of the page is one of a section
    const shown = document.querySelector("#lessons-opening, #lessons-cover") ?? cellsInSight()[0]?.node;
    if (!shown) return;
    shown.tabIndex = -1;
    shown.focus({ preventScroll: true });
  };
  return node;
}

function button(text, act) {
  const node = Object.assign(document.createElement("button"), { textContent: text, onclick: act });
  line.append(node);
  return node;
}

function say(text, done) {
  words.textContent = text;
  line.classList.toggle("lessons-warning", text === second && second !== "");
  if (done) bar.remove();
}

// ---- how a lesson begins ----

// Its text up to the first question is here at once, with its widgets alive, and is used while all
// else still loads. The lesson takes its place as soon as its first question can be answered, with the
// same cell at the same height, but not under a hand. A learner's own copy is not shown so: it may
// begin otherwise.
async function showOpening() {
  const [{ draw, opened }, text] = await begins;
  if (!text || isAlive() || (await hasChanges())) return;
  const opening = document.createElement("main");
  Object.assign(opening, { id: "lessons-opening", innerHTML: text, tabIndex: 0 });
  opening.className = "lk-lesson";
  const stored = opening.querySelector("#lessons-stored");
  stored.remove();
  const widgets = await opened(stored.textContent);
  line.after(opening);
  const end = draw(opening, widgets, path, (cell) => wanted.add(cell));
  const isTouched = handIn(opening);
  while (!isAlive() || !isOpen() || isTouched()) {
    opening.style.top = `${line.offsetHeight}px`;
    await soon(50);
  }
  const { id, offset } = placeIn(opening);
  const focused = focusIn(opening);
  try {
    const isFollowed = location.hash !== ""; // the lesson is where a link led already
    if (id && !isFollowed) await goToPlace({ id, offset });
  } finally {
    end();
    opening.remove();
    window.dispatchEvent(new Event("lessonkit-recall")); // what was done there
    focused?.();
    for (const node of nodesWanted()) {
      const told = Object.assign(document.createElement("p"), { textContent: SOON });
      node.querySelector(".lk-panel")?.replaceChildren(told);
    }
  }
}

// A real run that somebody wants before Python is there; beside the page's own start it would be slower
// than it should be.
const wanted = new Set(); // cells
const SOON = "It runs as soon as all of the lesson lives.";

function nodesWanted() {
  const { widgets } = panel()?.content ?? { widgets: [] };
  return widgets.filter(({ model }) => wanted.has(model.id)).map(({ node }) => node);
}

// One that runs already, because somebody has asked again, offers to cancel it.
function runWanted() {
  const buttons = nodesWanted().map((node) => node.querySelector(".lk-real"));
  for (const node of buttons) if (node?.textContent === "run for real") node.click();
}

const RESTS = 1000; // ms in which a hand has done nothing

// Whether a hand is at work in these widgets: what it holds does not go away.
function handIn(node) {
  let last = -RESTS;
  let isDown = false;
  const move = ({ type }) => {
    last = performance.now();
    isDown = type === "pointerdown" || (isDown && type !== "pointerup" && type !== "pointercancel");
  };
  for (const type of ["pointerdown", "keydown", "input"]) node.addEventListener(type, move);
  for (const type of ["pointerup", "pointercancel"]) addEventListener(type, move);
  return () => isDown || performance.now() - last < RESTS;
}

// Gives what brings the focus to the same control of the same cell in the lesson, if one has it here.
function focusIn(opening) {
  const part = opening.querySelector("[data-cell]:focus-within");
  const controls = (node) => [...node.querySelectorAll(".lk :is(input, button, select, [tabindex])")];
  const at = part && controls(part).indexOf(document.activeElement);
  if (!part || at < 0) return null;
  const isPart = ({ model }) => model.id === part.dataset.cell;
  return () => {
    const cell = panel()?.content.widgets.find(isPart);
    if (cell) controls(cell.node)[at]?.focus({ preventScroll: true });
  };
}

// A reader who comes to a place further down cannot read there yet: this says what comes, until the
// cells there live and move no more; those further down come to life later. While Python itself still
// comes, text and stored pictures are better than to wait, and a cell that never ends is not waited
// for.
async function showCover() {
  const [cover, title, told] = ["main", "h1", "p"].map((tag) => document.createElement(tag));
  cover.id = "lessons-cover";
  cover.append(title, told);
  const wanted = decodeURIComponent(location.hash.slice(1));
  const tell = (section) => {
    const node = Object.assign(document.createElement("em"), { textContent: section });
    if (section) told.replaceChildren("The section ", node, " opens as soon as it has loaded.");
    else told.textContent = "The lesson opens where you left it, as soon as it has loaded.";
  };
  tell(wanted.replaceAll("-", " "));
  line.after(cover);
  const go = async () => {
    await ready;
    if (!lesson && !(await saved())?.has(path)) return cover.remove(); // there is none of this name
    title.textContent = (lesson && titleOf(lesson)) ?? path;
    const headings = (lesson?.cells ?? []).map((cell) => /^#+ (.+)/.exec(codeOf(cell))?.[1]);
    return tell(headings.find((one) => one?.replaceAll(" ", "-") === wanted) ?? "");
  };
  go().catch((error) => console.warn(error));
  while (!isPlaced && !isLate) await soon(50);
  await untilItLives();
  cover.remove();
}

// What is in sight of the lesson, and *all* of its main path if that is wanted, as far as that can be
// waited for: what runs above moves the rest, and Python judges what was answered when nothing runs any
// more. It is asked twice, for a cell that has just been drawn may have pushed others out of sight for a
// moment.
async function untilItLives(all = false) {
  let since = performance.now();
  let count = ended.size;
  const isComing = () => {
    if (ended.size !== count) [since, count] = [performance.now(), ended.size];
    const isPatient = performance.now() < since + PATIENT;
    return started && started !== "failed" && isPatient && !isAlivePart(all);
  };
  do {
    while (isComing()) await soon(50);
    await soon(DRAWN);
  } while (isComing());
}

function isAlivePart(all) {
  const main = all ? mainOf(panel().content.widgets) : [];
  return [...main, ...cellsInSight()].every(lives);
}

// Who comes back finds the lesson as it was left, and can read there, until it has come alive at the
// place that they read then.
async function showStill() {
  const text = location.hash ? "" : await seen();
  if (!text) return showCover();
  const still = document.createElement("main");
  Object.assign(still, { id: "lessons-opening", innerHTML: text, tabIndex: 0 });
  still.className = "lessons-still";
  line.after(still);
  const presentPlace = putStill(still);
  if (!presentPlace) {
    still.remove();
    return showCover();
  }
  while (!isPlaced && !isLate) await soon(50);
  let { id, offset } = presentPlace();
  for (let isThere = false; !isThere; ) {
    if (id) await goToPlace({ id, offset });
    await untilItLives(true);
    const now = presentPlace();
    isThere = now.id === id && now.offset === offset;
    ({ id, offset } = now);
  }
  return still.remove();
}

const FIRST = ".jp-Notebook .lk-live:not([inert]) .lk-predict";
let isLate = false; // there is no Python, or the whole lesson has run
let isPlaced = false; // the reader's place in the lesson is in sight
const isAlive = () => isLate || document.querySelector(FIRST) !== null;
const isOpen = () => document.querySelector(".jp-RenderedMarkdown h1") !== null;

async function hasChanges() {
  const copy = (await saved())?.get(path);
  return Boolean(copy) && digest(copy.content) !== recall(key);
}

// ---- versions of a lesson ----

// Only cells with text count, and only their text: a copy that was run is no change of one's own.
function digest(notebook) {
  const texts = (notebook?.cells ?? []).map((cell) => [].concat(cell.source).join("").trim());
  let [a, b] = [7, 9];
  for (const letter of texts.filter(Boolean).join("\0")) {
    a = Math.imul(a ^ letter.codePointAt(0), 2654435761);
    b = Math.imul(b ^ letter.codePointAt(0), 1597334677);
  }
  return `${a >>> 0}-${b >>> 0}`;
}

// How it begins is fetched before the lesson itself, which is larger.
const textOf = async (answer) => (answer.ok ? answer.text() : "");
const beginning = new URL(`openings/${path.replace(".ipynb", ".html")}`, here);
const begins = path && !hasPlace() && Promise.all([
  import("./opening.js"), fetch(beginning, { priority: "high" }).then(textOf),
]);
const address = new URL(`files/${path}`, here);
const asked = path && fetch(address, { cache: "no-cache", priority: "low" }).catch(() => null);

async function published() {
  const answer = await asked;
  return answer?.ok ? answer.json() : null; // a file of the learner's own is not published
}

const mine = path.replace(/(\.\w+)$/, " (mine)$1");
const key = `lessons ${here.pathname}${path}`;
let lesson = null;
let older = false;
let keeps = true;
let second = ""; // what a second tab of a lesson says, again after each try to save
const OPEN = "This lesson is open in another tab, and only that tab keeps your work. "
  + "Your work in this tab will be lost.";
const CLOSED = "The other tab is closed. Load this page again to go on with the work that it kept.";

// Before the page opens the lesson: a saved copy without changes gives way to a newer version.
async function choose() {
  const [files, text] = await Promise.all([saved(), published()]);
  lesson = text;
  keeps = files !== null && hasRoom();
  if (lesson) name(lesson);
  if (!lesson || !keeps) return;
  const copy = files.get(path);
  const now = digest(lesson);
  const before = recall(key);
  if (copy && before && before !== now) {
    if (digest(copy.content) !== before) older = true;
    else await keep([[path, null]]);
  }
  if (!older) recall(key, now);
  if (older) {
    button("Open the new version, and keep my copy", async () => {
      await panel()?.context.save();
      const current = (await saved()).get(path);
      await keep([[mine, { ...current, name: mine, path: mine }], [path, null]]);
      recall(key, now);
      location.reload();
    });
  } else if (files.has(mine)) {
    line.append(link("My earlier copy", `?path=${encodeURIComponent(mine)}`));
  }
}

// The tab says which lesson this is, and the line which ones may come next.
const titleOf = ({ cells }) => /^# (.+)/.exec(codeOf(cells[0]))?.[1];
function name({ cells }) {
  const title = titleOf({ cells });
  const ways = cells.flatMap(waysOn);
  for (const { text, file } of ways) {
    const way = Object.assign(link(text, `?path=${file}`), { className: "lessons-way" });
    line.insertBefore(way, words);
  }
  const node = document.querySelector("title");
  const put = () => {
    if (document.title !== title) document.title = title;
  };
  new MutationObserver(put).observe(node, { childList: true });
  put();
}

export const ready = choose().catch((error) => console.warn(error));
const show = hasPlace() ? showStill : showOpening;
if (path) recall(`lessons last ${here.pathname}`, path);
if (path) show().catch((error) => console.warn(error));

// ---- Python ----

let started = "";
let heard = performance.now();
// What belongs to Python and the page: icons and lists come as long as it is open.
const isPart = ({ name }) => /\/(build|extensions|python-\w+)\//.test(name);
new PerformanceObserver((seen) => {
  if (seen.getEntries().some(isPart)) heard = performance.now();
}).observe({ type: "resource" });

// Python starts beside the page, and not when the page has come so far as to want it: that gets the
// worker that is there.
let early = null;

function startPython() {
  early = new Worker(new URL("early.js", here), { type: "module" });
}

window.Worker = new Proxy(Worker, {
  construct(Target, [address, options]) {
    if (!early || !/\/comlink\.worker\.\w+\.js/.test(address)) return new Target(address, options);
    const worker = early;
    early = null;
    return worker;
  },
});

// How large Python is the build says: a server that compresses would count other bytes.
const { python, bytes } = document.getElementById("lessons-script").dataset;

function showHowMuch(come) {
  const millions = (count) => (count / 1e6).toFixed(0);
  Object.assign(bar, { max: bytes, value: come });
  say(`Loading Python: ${millions(come)} of ${millions(bytes)} MB`);
}

// On a slow line the page and Python may come for minutes; it is late when nothing has come for
// long.
async function watch() {
  while (started !== "done") {
    await soon(1000);
    if (started === "failed" || performance.now() - heard > LATE) return giveUp();
  }
  return undefined;
}

const OFFLINE = "There is no network, and this browser has not kept all of this lesson. "
  + "Open it once while there is a network.";

async function keptCaches() {
  try {
    return await caches.keys();
  } catch {
    return []; // the browser keeps nothing
  }
}

// A file that is kept here may be damaged, and would stay so: drop what is kept of Python, never a
// learner's work, and try once more.
async function giveUp() {
  isLate = true;
  if (!navigator.onLine) return say(OFFLINE, true);
  const isOurs = (name) => name.startsWith(`lessons ${here.pathname} `); // as in the worker
  const names = (await keptCaches()).filter(isOurs);
  const again = async () => {
    await Promise.all(names.map((name) => caches.delete(name)));
    location.reload();
  };
  const before = recall(TRIED);
  recall(TRIED, String(Date.now()));
  const isNew = !before || Date.now() - Number(before) > 10 * LATE;
  const copy = (await saved())?.get(path)?.content ?? lesson;
  const open = panel()?.context.model.toJSON();
  const isSaved = !open || digest(open) === digest(copy); // to open a lesson counts as a change
  if (names.length && isNew && isSaved) return again();
  say("Python has not started. If it fails again, try another browser.", true);
  return button("Load everything again", again);
}

new BroadcastChannel(`lessons ${here.pathname}`).onmessage = ({ data }) => {
  heard = performance.now();
  if (started === "done") return;
  if (typeof data === "number") {
    if (!started) showHowMuch(data);
    return;
  }
  started = data;
  bar.removeAttribute("value");
  if (data !== "failed") say(`${data} …`);
};

async function start() {
  if (!ABLE) {
    isLate = true;
    const why = "because it is too old or has no WebAssembly";
    const rest = "You can read the text and see stored pictures.";
    return say(`This browser cannot run Python, ${why}. ${rest}`, true);
  }
  if ((await asked)?.status === 404 && !(await saved())?.has(path)) {
    return say("There is no lesson of this name. Choose one from the list of all lessons.", true);
  }
  heard = performance.now();
  startPython();
  watch().catch((error) => console.warn(error));
  while (!panel()?.sessionContext?.session?.kernel) await soon(50);
  await panel().context.ready;
  saveInTurn(panel().context);
  // Drawings of a published lesson are shown before they are run; a file of somebody else's is not
  // trusted.
  if ((await asked)?.ok) for (const { model } of panel().content.widgets) model.trusted = true;
  const { kernel } = panel().sessionContext.session;
  // JupyterLite's kernel never answers this question, and saved widgets would wait for it: a new
  // kernel has none.
  kernel.requestCommInfo = async () => ({ content: { status: "ok", comms: {} } });
  drawSaved().catch((error) => console.warn(error));
  begin().catch((error) => console.warn(error)).then(() => (isPlaced = true));
  await kernel.info;
  kernel.statusChanged.connect((_, status) => {
    const isStarting = words.textContent.startsWith("Python starts");
    if (status === "restarting") {
      say("Python starts again …");
      [ran, ended, running, left] = [new Set(), new Set(), Promise.resolve(), ""];
    } else if (status === "idle" && isStarting) {
      say("Python is ready again.");
      runLesson().then(() => left && say(left));
    }
  });
  say("Python is here: the lesson comes alive …", true);
  await runLesson();
  const settled = running.then(() => soon(DRAWN));
  isLate = true;
  letGo(settled);
  settled.then(runWanted);
  started = "done";
  recall(TRIED, "");
  const nothing = "This browser keeps no work. Download your work before you leave.";
  const ready = `Python is ready. ${keeps ? "Your work is kept in this browser." : nothing}`;
  const now = older ? "This is your copy of an earlier version of this lesson." : ready;
  return say(second || left || now, true);
}

// The widgets that were saved with a lesson need no Python to be seen; JupyterLab would wait for
// it.
async function drawSaved() {
  const { content, context } = panel();
  for (let tries = 0; context.model.getMetadata("widgets") && tries < 100; tries++) {
    const renderer = inside(content).find((one) => one._manager?.promise);
    if (!renderer) {
      await soon(100);
      continue;
    }
    const manager = await renderer._manager.promise;
    const fromNotebook = { loadKernel: false, loadNotebook: true };
    return manager.restoreWidgets(context.model, fromNotebook);
  }
  return undefined;
}

function inside(widget) {
  return [widget, ...[...(widget.children?.() ?? [])].flatMap(inside)];
}

// ---- running ----

let ran = new Set(); // cells, since Python has started
let ended = new Set(); // those of them that have run to their end
const lives = (cell) => cell.model.type !== "code" || ended.has(cell);
const STUCK = `lessons stuck ${here.pathname}${path}`;
const LEFT_OUT = "A cell that you changed did not end the last time, and was left out: "
  + "change it, then run it.";
const STILL = "A cell that you changed still runs. Load the page again to go on without it.";
const PATIENT = 10000; // ms
let running = Promise.resolve();
let left = ""; // what to say of a cell that was left out

const REACHED = `lessons reached ${here.pathname}${path}`;

// One by one and not by a command, which would scroll to where it is: somebody is reading. What a
// learner has changed may never end. So it is noted while it runs, and left out the next time.
async function runCells(cells) {
  const { sessionContext } = panel();
  const now = ran;
  const published = new Set((lesson?.cells ?? []).map((cell) => codeOf(cell).trim()));
  for (const cell of cells) {
    if (now !== ran) return; // Python has started again
    if (cell.model.type !== "code" || ran.has(cell)) continue;
    ran.add(cell);
    const isMine = !published.has(codeOf(cell).trim());
    if (isMine && recall(STUCK) === cell.model.id) {
      left = LEFT_OUT;
      ended.add(cell);
      recall(STUCK, "");
      continue;
    }
    if (isMine) recall(STUCK, cell.model.id);
    const late = setTimeout(() => isMine && say(STILL), PATIENT);
    const release = keepHeight(cell);
    await cell.constructor.execute(cell, sessionContext).catch(() => 0); // it shows what went wrong
    clearTimeout(late);
    ended.add(cell);
    setTimeout(release, DRAWN);
    if (isMine && now === ran) recall(STUCK, "");
  }
}

// What a cell has shown goes away before the new comes, which is as high: what is below stays where it
// is meanwhile.
function keepHeight({ outputArea }) {
  const { node } = outputArea;
  node.style.minHeight = `${node.offsetHeight}px`;
  return () => (node.style.minHeight = "");
}

// JupyterLab does not say what cells and their editors are, and a screen reader has to.
function nameCells() {
  const named = (nodes, name, value) => {
    for (const node of nodes) node.setAttribute(name, value);
  };
  named(panel().content.widgets.map(({ node }) => node), "role", "article");
  const set = (selector, name) => named(document.querySelectorAll(selector), "aria-label", name);
  set(".jp-Cell .cm-content", "Source of this cell");
  set(".jp-collapseHeadingButton", "Fold this section, or unfold it");
  keepTables();
}

// On a narrow screen the lines of a printed table would break, and its columns be lost; a sentence
// has longer lines, and they may break.
const TABLE = 90; // characters of a line, at most
function keepTables() {
  /** @type {NodeListOf<HTMLElement>} */
  const printed = document.querySelectorAll(".jp-OutputArea-output pre");
  for (const pre of printed) {
    const lines = pre.textContent.trimEnd().split("\n");
    const isTable = lines.length > 1 && lines.every(({ length }) => length <= TABLE);
    pre.classList.toggle("lessons-table", isTable);
    if (isTable && pre.scrollWidth > pre.clientWidth) pre.tabIndex = 0;
  }
}

// After all that is asked for before.
const runLater = (cells) => (running = running.then(() => runCells(cells)).then(nameCells));

const isTimed = ({ model }) => model.getMetadata("tags")?.includes("real-clock");

// The main path is run as soon as Python is there, and a folded section when it is opened.
function runLesson() {
  const { widgets } = panel().content;
  const next = widgets.findLast((cell) => waysOn(cell).length > 0);
  next?.node.classList.add("lessons-next");
  const isText = (cell) => cell.model.type === "markdown";
  const level = (cell) => isText(cell) && /^#+(?= )/.exec(codeOf(cell))?.[0].length;
  const sectionOf = (heading) => {
    const after = widgets.slice(widgets.indexOf(heading) + 1);
    const end = after.findIndex((cell) => level(cell) && level(cell) <= level(heading));
    return after.slice(0, end < 0 ? undefined : end);
  };
  const main = mainOf(widgets);
  const done = runLater(main);
  // A cell that takes real time has run beside the page's own start, too. If it is still covered, it
  // runs once more when somebody sees it and the page has drawn what else was covered.
  for (const heading of main.filter((cell) => level(cell) && cell.headingCollapsed)) {
    let timed = sectionOf(heading).filter(isTimed);
    heading.headingCollapsedChanged.connect(() => {
      const again = timed;
      timed = [];
      for (const cell of again) ran.delete(cell);
      if (again.length) soon(RESTS).then(() => runLater(again));
    });
  }
  for (const heading of widgets.slice(main.length).filter(level)) {
    const section = sectionOf(heading);
    const open = () => !heading.headingCollapsed && level(heading) > 2 && runLater(section);
    heading.headingCollapsedChanged.connect(open);
    open();
  }
  return done;
}

// How far a learner has come on the main path, for the card of this lesson on the first page. Who
// asks to be shown an answer without a try has given none.
function note() {
  const { widgets } = panel()?.content ?? {};
  if (started !== "done" || second || !widgets) return;
  const main = mainOf(widgets).map(({ node }) => node);
  const all = (selector) => main.flatMap((node) => [...node.querySelectorAll(selector)]);
  const isAnswered = (one) => one.matches("[data-answered]") && one.querySelector(".lk-tries span");
  const asked = all(".lk-predict");
  const tasks = all(".lk-task");
  const answered = asked.filter(isAnswered).length;
  const solved = tasks.filter((one) => one.matches("[data-solved]")).length;
  const counts = { asked: asked.length, answered, tasks: tasks.length, solved };
  const isBegun = all(".lk-tries span").length + solved > 0 || recall(REACHED);
  if (isBegun) recall(REACHED, JSON.stringify(counts));
}

// One that began while another writes would find the file changed, and ask the learner whose it is.
function saveInTurn(context) {
  const save = context.save.bind(context);
  let last = Promise.resolve();
  context.save = () => (last = last.catch(() => 0).then(save));
}

// Not before Python is there: until then JupyterLab has not read the widgets that were saved, and
// would save none.
function save() {
  const { context } = panel() ?? {};
  if (started === "done" && !second && context?.model.dirty) context.save();
  note();
  look();
}

// As it is seen now, for the next visit.
function look() {
  const isOver = document.querySelector("#lessons-opening, #lessons-cover");
  if (!started || second || isOver || !hasPlace() || !cellsInSight().every(lives)) return;
  keepSeen(panel().content.widgets, scrolled());
}

let looking = 0;
document.addEventListener("scroll", () => {
  clearTimeout(looking);
  looking = setTimeout(look, SETTLED);
}, true);
setInterval(save, OFTEN);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") save();
});
addEventListener("pagehide", note);

if (ABLE) button("Run all cells", () => jupyterapp.commands.execute("notebook:run-all-cells"));
button("Download all my work", async () => {
  const { context } = panel();
  if (context.model.dirty) await context.save();
  const files = await allWork({ path, content: context.model.toJSON() });
  if (files.length) zip(files, "my-lessons.zip");
  else say("Nothing is saved yet. Run or change a cell first.");
});

// What came before the worker was there it keeps afterwards: on a slow line it would be in Python's
// way.
if (path) start().then(keepAll).catch((error) => console.warn(error));

async function keepAll() {
  const { active } = (await navigator.serviceWorker?.ready) ?? {};
  const list = await fetch(new URL("api/contents/all.json", here));
  const files = (await list.json()).content.map(({ path }) => `files/${path}`);
  const pages = ["", "workers.html", "report.js", "LICENSE.txt"];
  const ours = [...PYTHON.map((name) => `${python}/${name}`), ...pages, ...files];
  const addresses = ours.map((name) => new URL(name, here).href);
  const others = performance.getEntriesByType("resource").map(({ name }) => name);
  active?.postMessage([...others, location.href.split("?")[0], ...addresses]);
}

// ---- one tab for each lesson ----

// Two would overwrite each other: the second keeps nothing, and says so. Where pages are not secure
// nobody can tell.
async function claim() {
  // A browser may keep a page that was left, to show it again, and with it what it holds.
  const left = new Promise((leave) => addEventListener("pagehide", leave));
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
  const isFirst = await new Promise((tell) => {
    const hold = (lock) => {
      tell(lock !== null);
      return lock && left;
    };
    navigator.locks.request(key, { ifAvailable: true }, hold);
  });
  if (isFirst) return;
  second = OPEN;
  say(second, true);
  while (!panel()?.context) await soon(50);
  panel().context.save = async () => say(second);
  await navigator.locks.request(key, () => {
    second = CLOSED;
    say(second);
    return left;
  });
}
if (path && navigator.locks) claim().catch((error) => console.warn(error));
