import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Life } from "../../lessonkit/widgets/page/base/life.js";
import { Classroom } from "../../lessonkit/widgets/page/lesson/classroom.js";
import { Cover } from "../../lessonkit/widgets/page/lesson/cover.js";
import { Clock, Model, openPage } from "./support/page.js";

const ABOUT = { lesson: "00", kind: "number", question: "How long?" };
const OTHER = { ...ABOUT, question: "Which?" };
const LESSON = `<div class="jp-Notebook">
  <div class="jp-Cell celltag_predict"><div id="first" class="lk-predict" data-asks></div></div>
  <div class="jp-Cell celltag_covered"><h3>Explain</h3></div>
  <div class="jp-Cell"><p>It takes 210 ms.</p></div>
  <div class="jp-Cell celltag_covered"><h4>Recap</h4></div>
  <div class="jp-Cell celltag_predict"><div id="vote" class="lk-predict" data-asks></div></div>
</div>`;

const { CustomEvent: OwnEvent } = globalThis; // Node's own, which an EventTarget takes

let page;
let state;

// A class that stands as `state` says.
function join(where = "sent", counts = true) {
  Classroom.learner = {
    get state() {
      return state;
    },
    first: Promise.resolve(),
    begin() {},
    whereIs: () => where,
    standing: () => "",
    counts: () => counts,
  };
  Classroom.found = Promise.resolve(Classroom.learner);
}
const tell = () => window.dispatchEvent(new Event("lessonkit-class"));
const soon = () => new Promise((go) => setImmediate(go));

beforeEach(() => {
  page = openPage({ body: LESSON });
  globalThis.window = new EventTarget();
  state = { leading: true, open: false, round: 0, asked: ABOUT, shown: [] };
  Classroom.found = null;
  Classroom.learner = null;
});

test("a cookie that is no address, or of another host, is no class", () => {
  for (const value of ["%", "%2F%2F%5B", "http://", "%E0%A4%A", "%2F%2Felsewhere.example%2F", ""]) {
    page.document.cookie = `lessonkit-class=${value}`;
    assert.equal(Classroom.find(), null, value);
  }
});

test("while a class is led no note has a button, and then it has one", () => {
  new Clock();
  join();
  const cover = new Cover(page.document.getElementById("first"), new Life(new Model()));
  cover.close();
  const note = page.document.querySelector(".lk-note");
  assert.equal(note.textContent, "Hidden until the class has the verdict.");
  state.leading = false;
  tell();
  assert.match(note.textContent, /until you ask. show it now/);
  state.leading = true;
  tell();
  assert.equal(note.querySelector("button"), null);
});

test("whatever covers a question is opened for who wants to come to it", () => {
  new Clock();
  join();
  const life = new Life(new Model());
  const vote = page.document.getElementById("vote");
  new Cover(page.document.getElementById("first"), life).close();
  assert.ok(vote.closest(".lk-hidden"));
  new Cover(vote, life).openAround();
  assert.equal(vote.closest(".lk-hidden"), null);
});

test("a question hears of its own verdict, of being asked anew, and of who comes to it", () => {
  join();
  const heard = [];
  const acts = Object.fromEntries(
    ["shown", "anew", "go"].map((name) => [name, () => heard.push(name)]),
  );
  Classroom.follow(new Life(new Model()), ABOUT, acts);
  for (const detail of [OTHER, ABOUT]) {
    for (const name of ["anew", "go"]) {
      const event = new OwnEvent(`lessonkit-class-${name}`, { detail, cancelable: true });
      window.dispatchEvent(event);
    }
  }
  state.shown = [OTHER];
  tell();
  assert.deepEqual(heard, ["anew", "go"]);
  state.shown = [ABOUT];
  tell();
  assert.deepEqual(heard, ["anew", "go", "shown"]);
});

test("what a page says while it waits is where the answer is", async () => {
  const said = [];
  const expected = [
    ["sent", true, "Sent. Waiting for the class."],
    ["going", false, "Sending …"],
    ["kept", false, "Not sent yet: it will be when the class can be reached."],
    ["sent", false, "A round is open: commit again, to the same answer or another."],
    ["", false, "A round is open: commit again, to the same answer or another."],
  ];
  for (const [where, counts, words] of expected) {
    join(where, counts);
    Object.assign(state, { leading: true, open: true, round: 1 });
    let isOver = false;
    Classroom.wait(new Life(new Model()), ABOUT, (text) => said.push(text)).then(() => {
      isOver = true;
    });
    await soon();
    assert.equal(said.at(-1), words);
    assert.equal(isOver, false);
    state.leading = false;
    tell();
    await soon();
    assert.equal(isOver, true);
  }
});
