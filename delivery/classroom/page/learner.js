// The learner's side of a class: sends what was answered, and says which question is open. After
// each connection it sends all records, and the server knows those that it has.

const SLOWEST = 10000;
const PATIENT = 3000; // ms: between attempts to connect; for the first word
const NAME = "lessonkit class name";
const LATE = "Your answer came after the round was closed: it is kept outside of it.";
const LOST = "The class cannot be reached. What you answer is kept, and sent later.";
const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const keyOf = ({ lesson, kind, question }) => JSON.stringify([lesson, kind, question]);

export let state = null;
let begun;
let socket;
let timer;
let pause = 500;
let told = "";
export const first = Promise.race([new Promise((resolve) => (begun = resolve)), soon(PATIENT)]);
const records = new Map(); // by their keys, the newest one last

function send() {
  if (!socket?.sent || socket.readyState !== WebSocket.OPEN) return; // what is asked is not known
  const { asked, leading, round } = state;
  for (const [key, record] of records) {
    const { words, when } = record.tries?.at(-1) ?? {}; // words, once the kernel has judged it
    const { reached, given, right } = record;
    const goals = JSON.stringify(reached);
    // How a challenge stood at first is nobody's answer, and code that raised has reached no goal.
    const isTried = reached?.length && (right || goals !== JSON.stringify(given));
    const news = words ? when : isTried && goals;
    if (!news || socket.sent[key] === news) continue;
    socket.sent[key] = news;
    const of = leading && key === keyOf(asked) ? round : 0;
    socket.send(JSON.stringify({ record, round: of, name: name.value }));
  }
}

function note(record) {
  records.delete(keyOf(record));
  records.set(keyOf(record), record);
}

addEventListener("lessonkit-record", ({ detail: { record } }) => {
  note(record);
  clearTimeout(timer);
  timer = setTimeout(send, record.reached ? 1000 : 0); // a slider writes with each step
});

// What this page has kept from before.
export function begin(kept) {
  kept.sort((one, other) => (one.when < other.when ? -1 : 1)).forEach(note);
  connect();
}

function hear({ state: next, late, refused }) {
  told = refused ?? (late ? LATE : "");
  if (next) {
    state = next;
    begun();
    dispatchEvent(new Event("lessonkit-class"));
    socket.sent ??= {};
    send();
  }
  say();
}

function connect() {
  const address = new URL("answers", import.meta.url);
  socket = new WebSocket(address.href.replace("http", "ws"));
  socket.onopen = () => (pause = 500);
  socket.onmessage = ({ data }) => hear(JSON.parse(data));
  socket.onclose = async () => {
    say();
    pause = Math.min(SLOWEST, 2 * pause);
    await soon(pause * (0.5 + Math.random() / 2)); // a class does not come back all at once
    connect();
  };
}

// ---- what is said of it ----

const node = (tag, about) => Object.assign(document.createElement(tag), about);
const words = node("span", { role: "status" });
const open = node("button", { textContent: "Go to it" });
const name = node("input", { size: 12, maxLength: 30, placeholder: "nickname, if you like" });
const bar = node("div", { id: "lessonkit-class" });
open.onclick = () => card().scrollIntoView({ block: "center" });
name.value = localStorage.getItem(NAME) ?? "";
name.onchange = () => localStorage.setItem(NAME, name.value);
bar.style.cssText = "position: fixed; z-index: 1000; left: 0; bottom: 0; padding: 4px 8px; "
  + "display: flex; gap: 8px; font: 13px/1.6 system-ui; color: #fff; background: #1f4e79";
bar.append(words, open, name);
document.body.append(bar);

function card() {
  const isIt = ({ textContent }) => textContent.includes(state.asked.question);
  return [...document.querySelectorAll(".lk-predict")].find(isIt);
}

function say() {
  const isUp = socket.readyState === WebSocket.OPEN;
  const { leading, round, asked } = state ?? {};
  const isOpen = Boolean(isUp && leading && state.open);
  const how = isOpen ? `open, in lesson ${asked.lesson.split("_")[0]}` : "closed";
  const now = leading && round ? `Round ${round} is ${how}.` : "You are in the class.";
  words.textContent = isUp ? told || now : LOST;
  open.hidden = !isOpen || !card();
}
