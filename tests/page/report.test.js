import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { filesOf, Report, reportOf } from "../../lessonkit/widgets/page/lesson/report.js";
import { openPage } from "./support/page.js";

let page;

beforeEach(() => {
  page = openPage({ path: "/lab/tree/01.ipynb" });
});

let count = 0;

function store(record) {
  count += 1;
  const whole = { schema: 1, lesson: "01_prefetch", when: `2026-01-01T00:00:0${count % 10}Z` };
  const key = `lessonkit record //${count}`;
  page.localStorage.setItem(key, JSON.stringify({ ...whole, ...record }));
}

const tried = (words, right, sure = "certain") => ({ said: 0, words, right, sure, when: "" });
const asked = (tries, more = {}) => ({ kind: "number", question: "How long?", tries, ...more });
const markdown = () => filesOf(reportOf(""))[0][1];

test("of a question the report has the first answer, the last one, and how many there were", () => {
  store(asked([tried("1 s", false), tried("2 s", false), tried("3 s", false), tried("4 s", true)]));
  assert.match(markdown(), /at first ✗ 1 s, certain; 2 more; in the end ✓ 4 s, certain$/m);
  store(asked([tried("5 s", false), tried("6 s", true)]));
  assert.match(markdown(), /at first ✗ 5 s, certain; in the end ✓ 6 s, certain$/m);
});

test("a question of any kind is reported by its tries", () => {
  store(asked([tried("this", true)], { kind: "a new kind" }));
  assert.match(markdown(), /at first ✓ this, certain$/m);
});

test("who looked at the answer is said to have, unless the last answer was right", () => {
  store(asked([tried("1 s", false)], { shown: true }));
  store(asked([tried("2 s", true)], { shown: true, question: "And now?" }));
  assert.equal(markdown().match(/looked at the answer/g).length, 1);
});

test("while a class waits, nobody reads whether an answer is right", () => {
  store(asked([tried("1 s", true)], { waits: true, right: true }));
  const [record] = reportOf("").records;
  assert.equal("right" in record, false);
  assert.equal("right" in record.tries[0], false);
  assert.match(markdown(), /answered, and not shown to the class yet/);
  assert.match(markdown(), /^0 questions answered/m);
});

test("of a challenge it has hints and the last attempt, and nothing where nobody tried", () => {
  const task = { kind: "challenge", question: "Be quick.", said: null };
  const given = [[false, "total: 2 s"]];
  store({ ...task, right: false, reached: given, given });
  assert.equal(reportOf("").records.length, 0);
  const reached = [[true, "total: 1 s"]];
  store({ ...task, right: true, hints: 1, reached, given });
  assert.match(markdown(), /✓ passed, with 1 hint. The last attempt: ✓ total: 1 s$/m);
});

test("of mystery loaders it has what was right and what was bought", () => {
  const said = [
    { answer: { culprit: 1 }, right: true, bought: [0, 2] },
    { answer: { culprit: 0 }, right: false, bought: [] },
    { answer: null, right: null, bought: [] },
  ];
  store({ kind: "mystery", question: "Mystery", said });
  assert.match(markdown(), /1 of 2 right, after 2 measurements$/m);
});

test("who only looks reports nothing", () => {
  store({ kind: "view", question: "workers 4", said: {} });
  assert.doesNotMatch(markdown(), /workers 4/);
});

test("the summary counts what was right at first and in the end, and what misled", () => {
  store(asked([tried("1 s", false), tried("2 s", true)], { right: true }));
  store(asked([tried("1 s", true)], { question: "And now?", right: true }));
  store(asked([tried("1 s", false, "a guess")], { question: "Why?", right: false }));
  store({ kind: "challenge", question: "Be quick.", said: null, right: true });
  const line =
    "3 questions answered: 1 right at first, 2 in the end. Certain and wrong at first: 1. " +
    "1 of 1 challenge passed.";
  assert.ok(markdown().includes(line), markdown());
});

test("whatever a question holds, Markdown shows as text", () => {
  store(asked([tried("1 s", true)], { question: "Is `a*b`\n<b>bold</b>?" }));
  assert.match(markdown(), /Is \\`a\\\*b\\` \\<b\\>bold\\<\/b\\>\?/);
});

test("files have the name of the learner, as far as a file may", () => {
  const names = (name) => filesOf(reportOf("", name)).map(([file]) => file);
  assert.deepEqual(names(""), ["my-report.md", "my-report.json"]);
  assert.deepEqual(names("Åsa / Öberg"), ["Åsa-Öberg-report.md", "Åsa-Öberg-report.json"]);
});

test("the button opens the report, and closes it", () => {
  const report = new Report("");
  report.open.click();
  assert.equal(report.open.getAttribute("aria-expanded"), "true");
  assert.match(report.shown.textContent, /Report on my lessons/);
  report.open.click();
  assert.equal(report.panel.childNodes.length, 0);
});
