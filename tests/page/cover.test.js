import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Life } from "../../lessonkit/widgets/page/base/life.js";
import { cellsAround, headingOf } from "../../lessonkit/widgets/page/lesson/cells.js";
import { Cover } from "../../lessonkit/widgets/page/lesson/cover.js";
import { Clock, Model, openPage } from "./support/page.js";

const cell = (inside, tags = "") => `<div class="jp-Cell ${tags}">${inside}</div>`;
const asking = (name) => cell(`<div id="${name}" class="lk-predict"></div>`, "celltag_predict");
const text = (name) => cell(`<p id="${name}">text</p>`);
const covered = (title) => cell(`<h3>${title}</h3>`, "celltag_covered");
// A question, what explains it, and the same again below another heading.
const LESSON = [
  cell("<h2>One</h2>"),
  asking("first"),
  asking("second"),
  covered("Explain"),
  text("explains"),
  cell("<h3>Play</h3>"),
  text("plays"),
  cell("<h2>Two</h2>"),
  asking("third"),
  covered("Explain"),
  text("explains third"),
].join("");

let page;

beforeEach(() => {
  new Clock();
  page = openPage({ body: `<div class="jp-Notebook">${LESSON}</div>` });
});

const byId = (name) => page.document.getElementById(name);
const isHidden = (name) => byId(name).parentElement.classList.contains("lk-hidden");
const coverOf = (name) => new Cover(byId(name), new Life(new Model()));

// As a question does that is drawn; one that is answered says so.
function ask(name, isAnswered = false) {
  const { dataset } = byId(name);
  dataset.asks = "";
  if (isAnswered) dataset.answered = "";
}

test("a section that tells is hidden up to the next heading of its level", () => {
  ask("first");
  coverOf("first").close();
  assert.equal(isHidden("explains"), true);
  assert.equal(isHidden("plays"), false);
});

test("it opens when all questions before it are answered, and no sooner", () => {
  for (const name of ["first", "second"]) {
    ask(name);
    coverOf(name).close();
  }
  ask("first", true);
  coverOf("first").open();
  assert.equal(isHidden("explains"), true);
  ask("second", true);
  coverOf("second").open();
  assert.equal(isHidden("explains"), false);
});

test("a question below another heading has its own section", () => {
  ask("first", true);
  ask("second", true);
  ask("third");
  coverOf("third").close();
  coverOf("first").open();
  assert.equal(isHidden("explains"), false);
  assert.equal(isHidden("explains third"), true);
});

test("a section that a learner asks to see stays open", () => {
  ask("first");
  coverOf("first").close();
  page.document.querySelector(".lk-note button").click();
  assert.equal(isHidden("explains"), false);
  coverOf("first").close();
  assert.equal(isHidden("explains"), false);
});

test("who asks to see a section is shown the runs of the questions before it, too", () => {
  for (const name of ["first", "second"]) ask(name, name === "second");
  ask("third");
  const shown = [];
  for (const name of ["first", "second", "third"]) {
    byId(name).addEventListener("lk-show", () => shown.push(name));
  }
  coverOf("first").close();
  page.document.querySelector(".lk-note button").click();
  assert.deepEqual(shown, ["first"]); // the second has its answer, and the third another section
});

test("what the page draws late is covered, too, until the answer is there", () => {
  ask("first");
  coverOf("first").close();
  const late = page.document.createElement("div");
  late.className = "jp-Cell";
  late.innerHTML = '<p id="late">text</p>';
  byId("explains").parentElement.after(late);
  page.change();
  assert.equal(isHidden("late"), true);
});

test("a page without tags knows sections by their titles", () => {
  const cells = LESSON.replaceAll(/ class="jp-Cell [^"]*"/g, "");
  page = openPage({ body: `<main>${cells}</main>` });
  ask("first");
  coverOf("first").close();
  assert.equal(isHidden("explains"), true);
  assert.equal(isHidden("plays"), true); // "Play" tells as well
});

test("a notebook that is marked for its look has the cells that it marks, at any depth", () => {
  const other = LESSON.replaceAll("id=", "data-id=");
  const window = `<div class="jp-WindowedPanel-window">${LESSON}</div>`;
  page.document.body.innerHTML = `<div class="jp-Notebook lk-lesson">${window}</div><div class="jp-Notebook">${other}</div>`;
  const cells = cellsAround(byId("first"));
  assert.deepEqual(cells, [...byId("first").closest(".jp-WindowedPanel-window").children]);
});

test("what is shown of a lesson before its notebook has its own children as cells", () => {
  const opening = `<main class="lk-lesson">${LESSON}</main>`;
  page.document.body.innerHTML = `${opening}<div class="jp-Notebook">${cell("<h2>One</h2>")}</div>`;
  const cells = cellsAround(byId("first"));
  assert.deepEqual(cells, [...byId("first").closest(".lk-lesson").children]);
});

test("the cells around a widget are what stands beside it where two headings meet", () => {
  page = openPage({ body: "<nav></nav><main><h2>a</h2><div id=in></div><h3>b¶</h3></main>" });
  const cells = cellsAround(byId("in"));
  assert.deepEqual(
    cells.map((one) => headingOf(one)).map(({ level, title }) => [level, title]),
    [
      [2, "a"],
      [7, ""],
      [3, "b"],
    ],
  );
});
