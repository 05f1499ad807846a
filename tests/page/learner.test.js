import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { openPage } from "./support/page.js";

const { CustomEvent: OwnEvent } = globalThis; // Node's own, which an EventTarget takes
const ABOUT = { lesson: "00", kind: "number", question: "How long?" };
const KEY = JSON.stringify(["00", "number", "How long?"]);
const TASK = { lesson: "00", kind: "challenge", question: "Be quick." };
const BEGIN = {
  group: "a-1",
  leading: false,
  asked: ABOUT,
  round: 0,
  open: false,
  shown: [],
  anew: [],
  over: false,
};

let window;
let sockets;
let joined;
let anew;
let count = 0;

class Socket {
  static OPEN = 1;
  readyState = 1;
  sent = [];

  constructor() {
    sockets.push(this);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.readyState = 3;
  }

  // What the server says.
  say(told) {
    this.onmessage({ data: JSON.stringify(told) });
  }
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  openPage({ body: "" });
  window = new EventTarget();
  sockets = [];
  joined = [];
  anew = [];
  window.addEventListener("lessonkit-class-anew", ({ detail }) => anew.push(detail));
  Object.assign(globalThis, {
    window,
    addEventListener: window.addEventListener.bind(window),
    dispatchEvent: window.dispatchEvent.bind(window),
    CustomEvent: OwnEvent,
    WebSocket: Socket,
    fetch: async (url) => {
      joined.push(String(url));
      return { ok: true };
    },
  });
});

// The side of a learner, as a page that is loaded gets it.
async function load(kept = []) {
  count += 1;
  const learner = await import(`../../delivery/classroom/page/learner.js?${count}`);
  learner.begin(kept);
  await settle();
  return learner;
}

const settle = () => new Promise((go) => setImmediate(go));
const tryOf = (said, when) => ({ said, sure: "certain", words: `${said} ms`, right: false, when });
const record = (...tries) => ({ ...ABOUT, schema: 1, tries, when: tries.at(-1).when });
const write = (one) => {
  window.dispatchEvent(new OwnEvent("lessonkit-record", { detail: { record: one } }));
  mock.timers.tick(1000);
};
const words = () => document.querySelector("#lessonkit-class span").textContent;
const button = (text) =>
  [...document.querySelectorAll("button")].find(({ textContent }) => textContent === text);
const said = (socket) => socket.sent.map(({ record: { tries } }) => tries.map((one) => one.said));

test("what a browser has kept from before the class is nobody's answer, and what follows is", async () => {
  await load([record(tryOf(70, "1"))]);
  const [socket] = sockets;
  socket.say({ state: BEGIN });
  assert.deepEqual(socket.sent, []);
  assert.equal(button("Somebody else sits here now").hidden, false);
  write(record(tryOf(70, "1"), tryOf(105, "2")));
  assert.deepEqual(said(socket), [[105]]);
  assert.deepEqual(socket.sent[0].turn, ["a-1", 1]);
});

test("a page that is loaded again sends what it had answered in this class", async () => {
  await load();
  sockets[0].say({ state: BEGIN });
  write(record(tryOf(105, "1")));
  await load([record(tryOf(105, "1"))]);
  sockets[1].say({ state: BEGIN });
  assert.deepEqual(said(sockets[1]), [[105]]);
  assert.equal(button("Somebody else sits here now").hidden, true);
});

test("an answer of before the first word of the class is sent with it", async () => {
  await load();
  write(record(tryOf(105, "1")));
  sockets[0].say({ state: BEGIN });
  assert.deepEqual(said(sockets[0]), [[105]]);
});

test("another group, and a question that is asked anew, begin with nothing", async () => {
  const learner = await load();
  const [socket] = sockets;
  socket.say({ state: BEGIN });
  write(record(tryOf(105, "1")));
  socket.say({ state: { ...BEGIN, group: "a-2" } });
  assert.equal(learner.whereIs(ABOUT), "");
  assert.deepEqual(anew, [ABOUT]);
  const again = { group: "a-2", anew: [{ ...ABOUT, asking: 2 }] };
  write(record(tryOf(105, "1"), tryOf(200, "2")));
  socket.say({ state: { ...BEGIN, ...again } });
  write(record(tryOf(105, "1"), tryOf(200, "2"), tryOf(210, "3")));
  assert.deepEqual(said(socket), [[105], [200], [210]]);
  assert.deepEqual(
    socket.sent.map(({ turn }) => turn),
    [
      ["a-1", 1],
      ["a-2", 1],
      ["a-2", 2],
    ],
  );
  // The learner begins the question again: fewer tries than were there before.
  write(record(tryOf(70, "4")));
  assert.deepEqual(said(socket).at(-1), [70]);
});

test("a challenge counts once something was tried in this class", async () => {
  const task = { ...TASK, schema: 1, given: [[false, "90 ms"]], right: false, when: "1" };
  const old = { ...task, reached: [[false, "80 ms"]] };
  await load([old]);
  const [socket] = sockets;
  socket.say({ state: BEGIN });
  write({ ...old, hints: 1 });
  write({ ...task, reached: task.given });
  assert.deepEqual(socket.sent, []);
  write({ ...task, reached: [[true, "70 ms"]] });
  assert.equal(socket.sent.length, 1);
});

test("an answer is sent when the class says that it has it", async () => {
  const learner = await load();
  const [socket] = sockets;
  socket.say({ state: { ...BEGIN, leading: true, open: true, round: 1 } });
  assert.equal(words(), "Round 1 is open, in lesson 00.");
  write(record(tryOf(105, "1")));
  assert.equal(learner.whereIs(ABOUT), "going");
  assert.equal(learner.counts(ABOUT), false);
  assert.match(words(), /Sending …/);
  assert.equal(socket.sent[0].round, 1);
  socket.say({ reply: 1, round: 1, late: false });
  assert.equal(learner.whereIs(ABOUT), "sent");
  assert.equal(learner.counts(ABOUT), true);
  assert.equal(words(), "Round 1 is open, in lesson 00. Sent.");
  socket.say({ state: { ...BEGIN, leading: true, open: true, round: 2 } });
  assert.equal(learner.counts(ABOUT), false);
});

test("a line that says nothing for 12 s is dead, and all is sent again on the next one", async () => {
  const learner = await load();
  const [socket] = sockets;
  socket.say({ state: { ...BEGIN, leading: true } });
  mock.timers.tick(11_000);
  socket.say({});
  mock.timers.tick(11_000);
  assert.equal(words(), "You are in the class.");
  mock.timers.tick(1000);
  assert.match(words(), /cannot be reached/);
  write(record(tryOf(105, "1")));
  assert.equal(learner.whereIs(ABOUT), "kept");
  assert.equal(button("Go on without the class").hidden, true);
  mock.timers.tick(15_000);
  assert.equal(button("Go on without the class").hidden, false);
  await settle();
  mock.timers.tick(1000);
  await settle();
  const next = sockets.at(-1);
  assert.notEqual(next, socket);
  next.say({ state: { ...BEGIN, leading: true } });
  assert.deepEqual(said(next), [[105]]);
  assert.equal(button("Go on without the class").hidden, true);
});

test("what the class could not keep is sent again", async () => {
  const learner = await load();
  const [socket] = sockets;
  socket.say({ state: BEGIN });
  write(record(tryOf(105, "1")));
  socket.say({ reply: 1, again: true });
  assert.match(words(), /could not keep your answer/);
  assert.equal(learner.whereIs(ABOUT), "going");
  mock.timers.tick(10_000);
  socket.say({});
  assert.deepEqual(said(socket), [[105], [105]]);
});

test("who goes on without the class waits for nothing, and a class that is over says so", async () => {
  const learner = await load();
  sockets[0].say({ state: { ...BEGIN, leading: true } });
  sockets[0].say({ state: { ...BEGIN, over: true } });
  assert.equal(words(), "The class is over.");
  sockets[0].onclose();
  assert.match(words(), /The class is over. What you answered stays/);
  button("Go on without the class").onclick();
  assert.equal(learner.state, null);
});

test("damaged notes are none", async () => {
  localStorage.setItem("lessonkit class turns", "{");
  await load();
  sockets[0].say({ state: BEGIN });
  write(record(tryOf(105, "1")));
  assert.deepEqual(said(sockets[0]), [[105]]);
  assert.ok(JSON.parse(localStorage.getItem("lessonkit class turns"))[KEY]);
});
