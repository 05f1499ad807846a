// The learner's side of a class: sends what was answered, and says which question is open. The
// records stay in the page; after each connection it sends all of them, and the server knows those
// that it has.

const SLOWEST = 10000, PATIENT = 3000; // ms: between attempts to connect; for the first word
const NAME = "lessonkit class name", TOKEN = "lessonkit class token";
const [FOLDER] = location.pathname.split(/\/(?:lab|notebooks|tree|doc|voila)(?:\/|$)/);
const MINE = `lessonkit record ${FOLDER}/`;
const LATE = "Your answer came after the round was closed: it is kept outside of it.";
const LOST = "The class cannot be reached. What you answer is kept, and sent later.";
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
let begun, socket, pause = 500, told = "";
export const first = Promise.race([new Promise((resolve) => (begun = resolve)), soon(PATIENT)]);
const records = new Map(), timers = {}; // by the key of a record

// By what one tells that a record is news: its last try, once the kernel has judged it.
function newsOf({ tries = [], reached }) {
  const { words, when } = tries.at(-1) ?? {};
  return words ? when : !tries.length && reached && JSON.stringify(reached);
}

function send(key) {
  const record = records.get(key), news = newsOf(record);
  const isHeard = socket.sent && socket.readyState === WebSocket.OPEN; // how things stand is known
  if (!news || !isHeard || socket.sent[key] === news) return;
  socket.sent[key] = news;
  const { asked, leading, round } = state;
  const isAsked = ["lesson", "kind", "question"].every((part) => record[part] === asked[part]);
  socket.send(JSON.stringify({ record, round: leading && isAsked ? round : 0 }));
}

addEventListener("lessonkit-record", ({ detail: { key, record } }) => {
  records.set(key, record);
  clearTimeout(timers[key]); // a slider writes with each step
  if (record.reached) timers[key] = setTimeout(() => send(key), 1000);
  else send(key);
});

// The newest one last, so that what the learner reads in the end is about that one.
function sendAll() {
  const keys = keeping(() => Object.keys(localStorage)) ?? [];
  for (const key of keys.filter((one) => one.startsWith(MINE) && !records.has(one))) {
    records.set(key, keeping(() => JSON.parse(recall(key))) ?? {});
  }
  const inOrder = [...records].sort(([, one], [, other]) => (one.when < other.when ? -1 : 1));
  for (const [key] of inOrder) send(key);
}

function hear({ state: next, late, refused }) {
  told = refused ?? (late ? LATE : "");
  if (next) {
    state = next;
    begun();
    dispatchEvent(new Event("lessonkit-class"));
    socket.sent ??= {};
    sendAll();
  }
  say();
}

function connect() {
  const address = new URL("answers", import.meta.url);
  socket = new WebSocket(address.href.replace("http", "ws"));
  socket.onopen = greet;
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
const bar = node("div", { id: "lessonkit-class" });
bar.style.cssText = "position: fixed; z-index: 1000; left: 0; bottom: 0; padding: 4px 8px; "
  + "display: flex; gap: 8px; font: 13px/1.6 system-ui, sans-serif; color: #fff; "
  + "background: #1f4e79";
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
  words.textContent = isUp ? told || now : LOST;
  open.hidden = !isOpen || !(card() || location.pathname.endsWith("/notebooks/index.html"));
}

connect();
