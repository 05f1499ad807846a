// The learner's side of a class: sends what was answered, and says which question is open. The
// records stay in the page; what has not come to the server is sent when it is there again.

const SLOWEST = 10000, PATIENT = 3000; // ms: between attempts to connect; for the first word
const NAME = "lessonkit class name", TOKEN = "lessonkit class token";
const [FOLDER] = location.pathname.split(/\/(?:lab|notebooks|tree|doc|voila)(?:\/|$)/);
const MINE = `lessonkit record ${FOLDER}/`;
const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const recall = (key) => keeping(() => localStorage.getItem(key));
const keep = (key, value) => keeping(() => localStorage.setItem(key, value));
function keeping(act) {
  try {
    return act();
  } catch {
    return null; // the browser keeps nothing
  }
}

export let state = null;
let begun, socket, pause = 500, sent = {}, told = "";
export const first = Promise.race([new Promise((resolve) => (begun = resolve)), soon(PATIENT)]);
const written = new Map(); // records by their key, also where the browser keeps none

// What the server has to know of a record; nothing of one that the kernel has not judged.
function stamp({ tries = [], right, shown, reached }) {
  const last = tries.at(-1);
  if (last ? !last.words : !shown && !reached) return "";
  return JSON.stringify([last, right, shown, reached]);
}

function send(key, record) {
  const now = stamp(record), { lesson, kind, question } = state?.asked ?? {};
  if (!now || now === sent[key] || !state || socket.readyState !== WebSocket.OPEN) return;
  if (socket.told[key] === now) return; // and not acknowledged yet
  socket.told[key] = now;
  const isAsked = record.question === question && record.kind === kind && record.lesson === lesson;
  const round = isAsked ? state.round : 0;
  socket.send(JSON.stringify({ key, stamp: now, record, round }));
}

const timers = {};
addEventListener("lessonkit-record", ({ detail: { key, record } }) => {
  written.set(key, record);
  clearTimeout(timers[key]); // a slider writes with each step
  if (record.reached) timers[key] = setTimeout(() => send(key, record), 1000);
  else send(key, record);
});

function sendAll() {
  const kept = keeping(() => Object.keys(localStorage)) ?? [];
  for (const key of kept.filter((one) => one.startsWith(MINE) && !written.has(one))) {
    written.set(key, JSON.parse(recall(key)));
  }
  for (const [key, record] of written) send(key, record);
}

function hear({ state: next, kept, stamp: its, late, refused }) {
  const sentKey = `lessonkit class sent ${(next ?? state).id}`;
  if (next) {
    const isNew = !state || state.id !== next.id || socket.isNew;
    if (isNew) sent = JSON.parse(recall(sentKey)) ?? {};
    [state, told, socket.isNew] = [next, "", false];
    begun();
    dispatchEvent(new Event("lessonkit-class"));
    if (isNew) sendAll();
  } else {
    const isLate = "Your answer came after the round was closed: it is kept outside of it.";
    told = refused ?? (late ? isLate : "");
    sent[kept] = its;
    keep(sentKey, JSON.stringify(sent));
  }
  say();
}

function connect() {
  const address = new URL("answers", import.meta.url);
  address.protocol = address.protocol.replace("http", "ws");
  socket = Object.assign(new WebSocket(address), { isNew: true, told: {}, onopen: greet });
  socket.onmessage = ({ data }) => hear(JSON.parse(data));
  socket.onclose = async () => {
    say();
    pause = Math.min(SLOWEST, 2 * pause);
    await soon(pause * (0.5 + Math.random() / 2)); // a class does not come back all at once
    connect();
  };
}

function greet() {
  const made = () => [...crypto.getRandomValues(new Uint8Array(16))].join("-");
  greet.token ??= recall(TOKEN) || made();
  keep(TOKEN, greet.token);
  keep(NAME, name.value);
  pause = 500;
  if (socket.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify({ token: greet.token, name: name.value }));
  }
}

// ---- what is said of it ----

const node = (tag, about) => Object.assign(document.createElement(tag), about);
const words = node("span", { role: "status" });
const open = node("button", { textContent: "Go to it", onclick: goToIt });
const name = node("input", { size: 12, maxLength: 30, onchange: greet, value: recall(NAME) ?? "" });
name.placeholder = name.ariaLabel = "nickname, if you like";
const LOOK = "position: fixed; z-index: 1000; left: 0; bottom: 0; padding: 4px 8px; display: flex; "
  + "gap: 8px; font: 13px/1.6 system-ui, sans-serif; color: #fff; background: #1f4e79";
const bar = node("div", { id: "lessonkit-class" });
bar.style.cssText = LOOK;
bar.append(words, open, name);
document.body.append(bar);

function card() {
  const isIt = ({ textContent }) => textContent.includes(state.asked.question);
  return [...document.querySelectorAll(".lk-predict")].find(isIt);
}

// To another lesson only on the site, whose pages are named so.
function goToIt() {
  if (card()) card().scrollIntoView({ block: "center" });
  else location.assign(`?path=${state.asked.lesson}.ipynb`);
}

function say() {
  const isUp = socket.readyState === WebSocket.OPEN, { leading, round, asked } = state ?? {};
  const isOpen = Boolean(isUp && leading && state.open);
  const how = isOpen ? `open, in lesson ${asked.lesson.split("_")[0]}` : "closed";
  const now = leading && round ? `Round ${round} is ${how}.` : "You are in the class.";
  const lost = "The class cannot be reached. What you answer is kept, and sent later.";
  words.textContent = isUp ? told || now : lost;
  open.hidden = !isOpen || !(card() || location.pathname.endsWith("/notebooks/index.html"));
}

connect();
