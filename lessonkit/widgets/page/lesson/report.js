// *My report*: what a learner did in all lessons of this server or site, to read and to hand in.
// The site's first page has it too, in a program of its own, and a class with it.

import { attributes, button, div, html, labelled } from "../base/dom.js";
import { KEYS } from "../base/keyboard.js";
import { allRecords, folderHere, isTried, SCHEMA } from "./record.js";

export { Classroom } from "./classroom.js";

const MARK = { true: "✓", false: "✗" };

const counted = (many, what) => `${many} ${what}${many === 1 ? "" : "s"}`;

export function reportOf(folder, name = "") {
  const worked = allRecords(folder).filter(isWork);
  const records = worked.map((one) => (one.waits ? withoutVerdict(one) : one));
  return { schema: SCHEMA, name, when: new Date().toISOString(), records };
}

const isWork = (one) => one.kind !== "challenge" || one.right || one.hints || isTried(one);

// While a class waits, nobody reads in a report whether an answer is right.
function withoutVerdict({ right, ...record }) {
  return { ...record, tries: record.tries.map(({ right: judged, ...one }) => one) };
}

// What came of a question: the first answer, the last one, and how many there were.
function toldQuestion({ tries, shown, waits }) {
  if (waits) return "answered, and not shown to the class yet";
  const judged = tries.filter(({ words }) => words);
  const [first] = judged;
  const last = judged.at(-1);
  const told = ({ right, words, sure }) => `${MARK[right]} ${words}, ${sure}`;
  const texts = first ? [`at first ${told(first)}`] : [];
  if (judged.length > 2) texts.push(`${judged.length - 2} more`);
  if (judged.length > 1) texts.push(`in the end ${told(last)}`);
  if (shown && !last?.right) texts.push("looked at the answer");
  return texts.join("; ");
}

function toldChallenge(record) {
  const { right, reached, hints = 0 } = record;
  const outcome = right ? "✓ passed" : "✗ not passed yet";
  const helped = hints ? `${outcome}, with ${counted(hints, "hint")}` : outcome;
  if (!isTried(record) || !reached?.length) return helped; // what raised an error reached no goal
  const goals = reached.map(([met, said]) => `${MARK[met]} ${said}`).join("; ");
  return `${helped}. The last attempt: ${goals}`;
}

function toldMystery({ said }) {
  const decided = said.filter(({ answer }) => answer);
  const right = decided.filter((one) => one.right);
  const bought = said.reduce((sum, one) => sum + one.bought.length, 0);
  if (!bought && !decided.length) return "";
  return `${right.length} of ${decided.length} right, after ${counted(bought, "measurement")}`;
}

export function told(record) {
  if (record.tries) return toldQuestion(record); // questions of every kind have these
  if (record.kind === "challenge") return toldChallenge(record);
  return record.kind === "mystery" ? toldMystery(record) : ""; // who only looks reports nothing
}

function summary(records) {
  const isTold = ({ tries, waits }) => !waits && tries?.some(({ words }) => words);
  const asked = records.filter(isTold);
  const first = asked.map(({ tries }) => tries.find(({ words }) => words));
  const well = first.filter(({ right }) => right).length;
  const ended = asked.filter(({ right }) => right).length;
  const misled = first.filter(({ sure, right }) => sure === "certain" && !right).length;
  const tasks = records.filter(({ kind }) => kind === "challenge");
  const passed = tasks.filter(({ right }) => right).length;
  const questions =
    `${counted(asked.length, "question")} answered: ${well} right at first, ` +
    `${ended} in the end. Certain and wrong at first: ${misled}.`;
  if (!tasks.length) return questions;
  return `${questions} ${passed} of ${counted(tasks.length, "challenge")} passed.`;
}

/**
 * A line of the report: the tag that a page gives it, and its text; a question has its outcome.
 * @typedef {object} Line
 * @property {"h3" | "h4" | "p"} tag
 * @property {string} text
 * @property {string} [outcome]
 */

/** @returns {Line[]} */
function linesOf({ name, when, records }) {
  const worked = records
    .map((record) => ({ record, outcome: told(record) }))
    .filter(({ outcome }) => outcome);
  /** @type {Line[]} */
  const lines = [
    { tag: "h3", text: name ? `Report of ${name}` : "Report on my lessons" },
    { tag: "p", text: `Made ${when.slice(0, 10)} at ${when.slice(11, 16)} UTC.` },
    { tag: "p", text: summary(worked.map(({ record }) => record)) },
  ];
  let before = "";
  for (const { record, outcome } of worked) {
    const { lesson, question } = record;
    if (lesson !== before) lines.push({ tag: "h4", text: lesson.replaceAll("_", " ") });
    lines.push({ tag: "p", text: question, outcome });
    before = lesson;
  }
  return lines;
}

// Whatever a question or a name holds, Markdown shows it as text.
const plain = (text) => text.replace(/\s+/g, " ").replace(/[\\`*_[\]{}<>|~$&#]/g, "\\$&");

function markdownOf(report) {
  const begins = { h3: "# ", h4: "## ", p: "" };
  /** @param {Line} line */
  const line = ({ tag, text, outcome }) => {
    if (outcome) return `- ${plain(text)}\\\n  ${plain(outcome)}`;
    return begins[tag] + plain(text);
  };
  return `${linesOf(report).map(line).join("\n\n")}\n`;
}

// What is handed in, as names and texts.
export function filesOf(report) {
  const who = report.name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "my";
  const json = `${JSON.stringify(report, null, 1)}\n`;
  return [
    [`${who}-report.md`, markdownOf(report)],
    [`${who}-report.json`, json],
  ];
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

export class Report {
  constructor(folder = folderHere()) {
    this.folder = folder;
    this.panel = html("div");
    this.shown = html("div");
    const oninput = () => this.show();
    this.name = html("input", { maxlength: 100, autocomplete: "off", oninput, ...KEYS });
    this.open = button("my report", "Show my report on all lessons", () => this.turn());
    this.node = div("lk-report", this.open, this.panel);
    attributes(this.open, { "aria-expanded": "false" });
  }

  get report() {
    return reportOf(this.folder, this.name.value.trim());
  }

  turn() {
    const opens = !this.panel.firstChild;
    attributes(this.open, { "aria-expanded": String(opens) });
    if (!opens) return this.panel.replaceChildren();
    const save = (text, file) => {
      const give = () => download(...filesOf(this.report)[file]);
      return button(text, `Download the report ${text}`, give);
    };
    const files = [save("to read, as Markdown", 0), save("for the teacher, as JSON", 1)];
    const name = labelled("Your name, if you want", this.name);
    this.panel.append(name, div("lk-tools", "Download ", ...files), this.shown);
    return this.show();
  }

  show() {
    /** @param {Line} line */
    const node = ({ tag, text, outcome }) => {
      return html(tag, {}, ...(outcome ? [html("b", {}, text), html("br"), outcome] : [text]));
    };
    this.shown.replaceChildren(...linesOf(this.report).map(node));
  }
}
