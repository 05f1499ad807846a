// @ts-check
// The teacher's board: what the class answers to one question, in one round or in two.

import { folded, linesOf, moves, worthHearing } from "./answers.js";
import { distribution, drawingOf, reached } from "./drawings.js";
import { button, byId, html } from "./html.js";

/**
 * How things stand, as `Room.for_boards` says it.
 * @typedef {object} Told
 * @property {boolean} leading
 * @property {boolean} covered
 * @property {number} group
 * @property {number} number of the question that is asked
 * @property {{ asking: number, round: number, open: boolean, shown: boolean }} standing
 * @property {import("./answers.js").Answer[]} answers
 * @property {[address: string, learner: string][]} from whom there are answers to it
 * @property {Record<string, number>} pages that are open, by addresses
 * @property {string[]} leftOut
 * @property {number} here
 * @property {string[]} warnings
 */

const EVERY = 400; // ms
const PATIENT = 5000; // ms: after that, the server does not answer
const SMALLEST = 0.6; // of the usual letters, and the largest that a projector needs
const LARGEST = 3;
const ROUNDS = 2;

const { questions, address, code } = await (await fetch("questions.json")).json();
/** @type {Told | null} */
let told = null;
let last = "";
/** @type {boolean | null} */
let isWayIn = null; // until it is known whether a question is led

// ---- the question ----

/** @param {number[]} rounds */
function pictures(question, rounds, isShown) {
  const of = (round) => told.answers.filter((one) => one.round === round);
  if (question.goals) {
    const made = of(0).map((one) => JSON.parse(one.reached));
    return question.goals.map((goal, place) =>
      reached(
        goal,
        made.map((goals) => goals[place]),
      ),
    );
  }
  const lines = folded(linesOf(question, told.answers, rounds), isShown);
  const bars = distribution(lines, rounds, isShown);
  if (question.worded) return [bars];
  const drawn = rounds.map((round) => {
    const said = of(round).map((one) => JSON.parse(one.said));
    return drawingOf(question.kind)(question, said, isShown);
  });
  return [html("div", { class: "drawings" }, ...drawn), bars];
}

// What may be answered, without a word of what was: a class that talks about it sees it in front.
const offered = ({ choices = [] }) => choices.map((one) => html("p", { class: "choice" }, one));

// What is worth saying of the answers, as far as there is anything.
/** @param {number[]} rounds */
function said(question, rounds, isShown) {
  const lines = linesOf(question, told.answers, rounds);
  const moved = rounds[1] && moves(question, told.answers);
  const texts = [worthHearing(lines, rounds.length - 1, isShown), moved, isShown && question.why];
  return texts.filter(Boolean).map((text) => html("p", {}, String(text)));
}

function draw() {
  const {
    leading,
    covered,
    here,
    number,
    standing: { round: now, open, shown },
  } = told;
  isWayIn ??= !leading;
  const question = questions[number];
  const round = leading ? now : 0;
  const isShown = !leading || shown;
  const isBare = covered || Boolean(question.goals);
  const count = told.answers.filter((one) => one.round === round).length;
  const all = Math.max(here, count); // somebody may have gone since
  const counted = `${count} of ${all} answered${open ? `; round ${round} is open` : ""}`;
  const rounds = round === ROUNDS ? [1, 2] : [round];
  const texts = isBare ? [] : said(question, rounds, isShown);
  document.body.className = isWayIn ? "way-in" : isBare ? "bare" : "";
  byId("counts").textContent = isWayIn ? `${here} here` : counted;
  byId("warnings").textContent = told.warnings.join(" ");
  /** @type {HTMLSelectElement} */ (byId("choose")).value = String(isWayIn ? -1 : number);
  byId("tools").replaceChildren(...tools());
  byId("asked").textContent = question.question;
  const inside = covered ? offered(question) : pictures(question, rounds, isShown);
  byId("rounds").replaceChildren(...inside);
  byId("said").replaceChildren(...texts);
  drawFrom();
  fit();
}

// The letters are as large as they can be while all is in sight.
function fit() {
  const main = byId(isWayIn ? "way-in" : "question");
  const isSeen = (size) => {
    main.style.fontSize = `${size}em`;
    const { scrollHeight, scrollWidth } = document.documentElement;
    return scrollHeight <= innerHeight && scrollWidth <= innerWidth;
  };
  let [small, large] = [SMALLEST, LARGEST];
  while (large - small > 0.02) {
    const size = (small + large) / 2;
    if (isSeen(size)) small = size;
    else large = size;
  }
  isSeen(small);
}

// ---- what the teacher does ----

/** @param {string} act */
const ask = (act, value = null) =>
  look({ method: "POST", body: JSON.stringify({ do: act, value }) });

const ANEW = "Ask this question anew? What was answered stays in the file, and counts no more.";
const GROUP = "Begin with a new group? What was answered stays in the file, and counts no more.";

// The buttons that make sense now, in the order of a lesson.
function tools() {
  const {
    leading,
    covered,
    answers,
    standing: { round, open, shown, asking },
  } = told;
  const act = (text, name, value = null) => button(text, () => ask(name, value));
  const lead = act(leading ? "Let everybody go on" : "Lead the class", "lead", !leading);
  if (!leading || isWayIn) return [lead];
  const anew = button("Ask this anew", () => confirm(ANEW) && ask("anew"));
  const isBegun = answers.length || round || asking > 1;
  return [
    open && act(`Close round ${round}`, "close"),
    !open && !shown && round < ROUNDS && act(`Open round ${round + 1}`, "open", round + 1),
    !open && !shown && round && act(`Reopen round ${round}`, "open", round),
    act(covered ? "Uncover the answers" : "Cover the answers", "cover", !covered),
    !shown && act("Show everybody the verdict", "show"),
    !open && isBegun && anew,
    lead,
  ].filter(Boolean);
}

// From whom the answers come: an address is a device, or a class behind a proxy.
function drawFrom() {
  const { from, leftOut, pages } = told;
  const by = Map.groupBy(from, ([one]) => one);
  const most = Math.max(0, ...[...by.values()].map(({ length }) => length));
  const count = by.size === 1 ? "1 address" : `${by.size} addresses`;
  byId("from-all").textContent = from.length
    ? `${from.length} answered, from ${count}; at most ${most} from one`
    : "nobody has answered";
  const turn = (whom) => {
    const isOut = leftOut.includes(whom);
    return button(isOut ? "Count again" : "Leave out", () =>
      ask(isOut ? "count again" : "leave out", whom),
    );
  };
  const rows = [...by]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([whom, all]) => {
      const learners = all.map(([, one]) => html("span", {}, `${one.slice(0, 4)} `, turn(one)));
      const open = pages[whom] ?? 0;
      const heading = html(
        "b",
        {},
        `${whom}: ${all.length} answered, ${open} pages open `,
        turn(whom),
      );
      return html("li", {}, heading, ...(all.length > 1 ? learners : []));
    });
  byId("from").replaceChildren(...rows);
}

// ---- the server ----

// It is drawn anew only if something has changed: no button goes away under the pointer.
/** @param {RequestInit} asking */
async function look(asking = {}) {
  const signal = AbortSignal.timeout(PATIENT);
  const textOf = (answer) => (answer.ok ? answer.text() : "");
  const text = await fetch("now.json", { ...asking, signal })
    .then(textOf)
    .catch(() => "");
  if (text === last) return;
  last = text;
  byId("lost").hidden = Boolean(text);
  if (!text) return;
  told = JSON.parse(text);
  draw();
}

async function lookOn() {
  await look();
  setTimeout(lookOn, EVERY);
}

const NAMES = { Predict: "prediction", Vote: "vote" };

// The questions of a lesson: what each is, which of several, and how it begins.
/** @param {number[]} numbers */
function optionsOf(numbers) {
  const kinds = numbers.map((number) => NAMES[questions[number].asks] ?? "challenge");
  return numbers.map((value, place) => {
    const kind = kinds[place];
    const isOnly = kinds.filter((one) => one === kind).length === 1;
    const which = isOnly
      ? kind
      : `${kind} ${kinds.slice(0, place + 1).filter((one) => one === kind).length}`;
    return html("option", { value }, `${which}: ${questions[value].question}`);
  });
}

byId("address").textContent = address;
/** @type {HTMLImageElement} */ (byId("code")).src = code;
const choose = /** @type {HTMLSelectElement} */ (byId("choose"));
const numbers = [...questions.keys()];
for (const [label, its] of Map.groupBy(numbers, (number) => questions[number].lesson)) {
  choose.append(html("optgroup", { label: label.replaceAll("_", " ") }, ...optionsOf(its)));
}
choose.onchange = () => {
  isWayIn = choose.value === "-1"; // which this board alone shows: nothing of the class changes
  last = ""; // also if nothing else changes
  if (isWayIn) draw();
  else ask("choose", Number(choose.value));
};
byId("group").onclick = () => confirm(GROUP) && ask("group");
window.onresize = () => told && draw();
lookOn();
