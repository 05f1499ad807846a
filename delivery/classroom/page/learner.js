// @ts-check
// The learner's side of a class: sends what was answered, and knows how the class stands. After
// each connection it sends all that belongs to the class, and the server knows what it has.

import { Bar } from "./bar.js";

/** @typedef {{ lesson: string, kind: string, question: string }} About */

/**
 * How the class stands, as `State.for_pages` of the server says it.
 * @typedef {object} ClassState
 * @property {string} group
 * @property {boolean} leading
 * @property {About} asked
 * @property {number} round
 * @property {boolean} open
 * @property {About[]} shown
 * @property {(About & { asking: number })[]} anew
 * @property {boolean} over
 */

/**
 * What this browser knows of a question in the class.
 * @typedef {object} Note
 * @property {string} turn the group, and how many times it was asked
 * @property {number} before how many tries are older than that, and are nobody's business here
 * @property {string} goals of a challenge, what was reached before
 * @property {number} round in which the class has counted the last answer
 */

const SLOWEST = 10000;
const PATIENT = 3000; // ms: between attempts to connect; for the first word
const SILENT = 12000; // ms: the server says something every 5 s, so after that the line is dead
const ALONE = 15000; // ms without the class, and one may go on without it
const NOTES = "lessonkit class turns";
const LATE = "Your answer came after the round was closed: it is kept outside of it.";
const AGAIN = "The class could not keep your answer. It is sent again.";

/** @param {number} ms */
const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** @param {About} about */
const keyOf = ({ lesson, kind, question }) => JSON.stringify([lesson, kind, question]);

/** @type {ClassState | null} */
export let state = null;
/** @type {(value?: unknown) => void} */
let begun;
export const first = Promise.race([new Promise((resolve) => (begun = resolve)), soon(PATIENT)]);

/** @type {Map<string, any>} */
const records = new Map(); // by their keys, the newest one last
/** @type {Map<string, any>} */
const kept = new Map(); // those that this page found in the browser
/** @type {Map<string, string>} */
const heard = new Map(); // the news of each question that the class has
/** @type {Record<string, Note>} */
const notes = recalled();

function recalled() {
  try {
    return JSON.parse(localStorage.getItem(NOTES) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

function keepNotes() {
  try {
    localStorage.setItem(NOTES, JSON.stringify(notes));
  } catch {
    // The browser keeps nothing: then a page that is loaded again sends nothing of before.
  }
}

// ---- which answers belong to the class ----

/** @param {string} key */
function turnOf(key) {
  const asked = state.anew.find((one) => keyOf(one) === key);
  return [state.group, asked?.asking ?? 1];
}

// Note that a question belongs to this turn from now on: what this page found in the browser, or
// has when it is asked anew, is of before.
/** @param {string} key @param {boolean} isFirst */
function mark(key, isFirst) {
  const turn = JSON.stringify(turnOf(key));
  const note = notes[key];
  if (note?.turn === turn) return;
  const old = isFirst ? kept.get(key) : records.get(key);
  const before = old?.tries?.length ?? 0;
  notes[key] = { turn, before, goals: JSON.stringify(old?.reached ?? old?.given), round: 0 };
  keepNotes();
  heard.delete(key);
  // What was answered before may be answered again.
  const isAnew = before && (note || state.leading);
  if (isAnew) dispatchEvent(new CustomEvent("lessonkit-class-anew", { detail: aboutOf(key) }));
}

/** @param {string} key @returns {About} */
function aboutOf(key) {
  const [lesson, kind, question] = JSON.parse(key);
  return { lesson, kind, question };
}

/**
 * What there is to say of a record, if anything, and a text that is another one for other news.
 * @param {string} key
 */
function newsOf(key) {
  const record = records.get(key);
  const note = notes[key];
  if (!record || !note) return null;
  if (record.kind === "challenge") {
    const goals = JSON.stringify(record.reached);
    // How a challenge stood at first is nobody's answer, and code that raised has reached no goal.
    const isTried =
      record.reached?.length &&
      (record.right || record.tried || goals !== JSON.stringify(record.given));
    return isTried && goals !== note.goals ? { record, news: goals } : null;
  }
  const { tries = [] } = record;
  if (tries.length < note.before) note.before = 0; // the learner has begun the question again
  const judged = tries.slice(note.before).filter(({ words }) => words);
  const news = judged.at(-1)?.when;
  return news ? { record: { ...record, tries: judged }, news } : null;
}

/** @param {any} record */
function note(record) {
  const key = keyOf(record);
  records.delete(key);
  records.set(key, record);
  return key;
}

// ---- the line ----

/** @type {Line | null} */
let line = null;

/** One connection, from its beginning to its end. */
class Line {
  constructor() {
    const address = new URL("answers", import.meta.url);
    /** @type {Map<number, { key: string, news: string }>} */
    this.sent = new Map(); // by their numbers
    /** @type {Map<string, string>} */
    this.last = new Map(); // the news that were sent of each question
    this.isUp = false;
    this.isOver = false;
    this.socket = new WebSocket(address.href.replace("http", "ws"));
    this.socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    this.socket.onclose = () => this.end();
    this.listen();
  }

  listen() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.end(), SILENT);
  }

  hear({ state: next = null, reply = 0, ...told }) {
    this.listen();
    this.isUp = true;
    pause = 500;
    lostAt = 0;
    if (next) become(next);
    if (reply) this.replied(this.sent.get(reply), told);
    this.send();
    say();
  }

  /**
   * @param {{ key: string, news: string }} one
   * @param {{ round?: number, late?: boolean, refused?: string, gone?: boolean, again?: boolean }} told
   */
  replied({ key, news }, { round, late, refused, gone, again }) {
    trouble = refused ?? (late ? LATE : again ? AGAIN : "");
    if (again) setTimeout(() => this.last.delete(key), SLOWEST);
    if (gone || again) return; // the state that comes says why, or it is sent again
    heard.set(key, news);
    if (!refused && notes[key]) notes[key].round = round;
    keepNotes();
    dispatchEvent(new Event("lessonkit-class"));
  }

  send() {
    if (!state || this.isOver || this.socket.readyState !== WebSocket.OPEN) return;
    for (const key of records.keys()) {
      const found = newsOf(key);
      if (!found || this.last.get(key) === found.news) continue;
      const number = this.sent.size + 1;
      this.last.set(key, found.news);
      this.sent.set(number, { key, news: found.news });
      const round = state.leading && key === keyOf(state.asked) ? state.round : 0;
      const more = { round, turn: turnOf(key), name: bar.name, number };
      this.socket.send(JSON.stringify({ record: found.record, ...more }));
    }
  }

  // It may be dead long before the browser knows.
  end() {
    if (this.isOver) return;
    this.isOver = true;
    this.isUp = false;
    clearTimeout(this.silence);
    this.socket.close();
    again();
  }
}

let pause = 500; // ms, until the next attempt
let lostAt = Date.now();
let trouble = "";

// Who is no learner yet becomes one.
/** @param {boolean} isSomebodyElse */
async function join(isSomebodyElse = false) {
  const address = new URL(isSomebodyElse ? "join?anew=1" : "join", import.meta.url);
  const asked = { method: "POST", credentials: /** @type {const} */ ("include") };
  const signal = AbortSignal.timeout(SILENT * 6); // a class that comes all at once has to wait
  const answer = await fetch(address, { ...asked, signal }).catch(() => null);
  return Boolean(answer?.ok);
}

async function connect() {
  if (await join()) line = new Line();
  else again();
}

async function again() {
  lostAt ||= Date.now();
  setTimeout(say, ALONE);
  say();
  dispatchEvent(new Event("lessonkit-class"));
  pause = Math.min(SLOWEST, 2 * pause);
  await soon(pause * (0.5 + Math.random() / 2)); // a class does not come back all at once
  connect();
}

/** @param {ClassState} next */
function become(next) {
  const isFirst = !state;
  state = next;
  begun();
  for (const key of [...records.keys()]) mark(key, isFirst);
  dispatchEvent(new Event("lessonkit-class"));
}

// ---- what the page asks ----

/** @type {ReturnType<typeof setTimeout>} */
let writing;

addEventListener("lessonkit-record", (event) => {
  const { record } = /** @type {CustomEvent} */ (event).detail;
  const key = note(record);
  if (state) mark(key, !notes[key]);
  clearTimeout(writing);
  // A slider writes with each step.
  writing = setTimeout(send, record.reached ? 1000 : 0);
});

function send() {
  line?.send();
  say();
}

/**
 * Begin with what this browser has kept from before.
 * @param {any[]} found
 */
export function begin(found) {
  found.sort((one, other) => (one.when < other.when ? -1 : 1));
  for (const record of found) kept.set(note(record), record);
  connect();
}

/**
 * Whether the class has what was answered last: "" if nothing was, since it asks.
 * @param {About} about
 * @returns {"" | "sent" | "going" | "kept"} "kept" if the line is dead
 */
export function whereIs(about) {
  const key = keyOf(about);
  const found = newsOf(key);
  if (!found) return "";
  if (heard.get(key) === found.news) return "sent";
  return line?.isUp ? "going" : "kept";
}

/** @param {About} about */
export function counts(about) {
  const note = notes[keyOf(about)];
  return Boolean(note && newsOf(keyOf(about)) && note.round === state.round);
}

/** @param {About} about */
export function standing(about) {
  if (!state) return "";
  const key = keyOf(about);
  const round = key === keyOf(state.asked) ? state.round : 0;
  return JSON.stringify([...turnOf(key), round]);
}

// ---- what is said of it ----

const bar = new Bar({ go, goOn, begin: beginAnew });

// To the question that is asked, wherever it is: in this page, or in that of another lesson.
function go() {
  const { asked } = state;
  const here = new CustomEvent("lessonkit-class-go", { detail: asked, cancelable: true });
  if (!dispatchEvent(here)) return;
  const file = `${asked.lesson}.ipynb`;
  const link = [...document.links].find(({ href }) => href.includes(file));
  const there = link?.href ?? location.href.replace(/[^/=]+\.ipynb/, file);
  if (there !== location.href) location.href = there;
  else bar.say("The question is in this lesson. Run all cells to see it.");
}

function goOn() {
  state = null;
  dispatchEvent(new Event("lessonkit-class"));
  say();
}

// Somebody else sits at this computer now, and finds nothing of whoever sat there before.
async function beginAnew() {
  const isSure = confirm(
    "This removes all answers and the nickname of whoever worked here before.",
  );
  if (!isSure || !(await join(true))) return;
  const ours = Object.keys(localStorage).filter((key) => key.startsWith("lessonkit "));
  for (const key of ours) localStorage.removeItem(key);
  location.reload();
}

function say() {
  const isOld = [...kept.keys()].some((key) => !notes[key] || notes[key].before);
  const isUp = Boolean(line?.isUp);
  const isAlone = lostAt && Date.now() - lostAt >= ALONE && state?.leading;
  bar.show({ canGo: isUp && isOpen(), canGoOn: Boolean(!isUp && isAlone), isOld });
  bar.say(isUp ? `${trouble || standingInWords()} ${sentInWords()}` : lostInWords());
}

const isOpen = () => Boolean(state?.leading && state.open);

function standingInWords() {
  const { leading, round, asked, open, over } = state;
  if (over) return "The class is over.";
  if (!leading || !round) return "You are in the class.";
  return `Round ${round} is ${open ? `open, in lesson ${asked.lesson.split("_")[0]}` : "closed"}.`;
}

function sentInWords() {
  const keys = [...records.keys()].filter((key) => newsOf(key));
  if (!keys.length || trouble) return "";
  return keys.every((key) => heard.get(key) === newsOf(key).news) ? "Sent." : "Sending …";
}

function lostInWords() {
  if (state?.over) return "The class is over. What you answered stays in this browser.";
  if (!state) return "The class cannot be reached.";
  return "The class cannot be reached. What you answer is kept, and sent later.";
}
