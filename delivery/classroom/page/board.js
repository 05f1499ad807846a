// The teacher's board: what the class answers to one question, in one round or in two. All that
// comes from learners is put into the page as text.

const SURE = ["a guess", "fairly sure", "certain"];
const QUARTERS = [0, 0.25, 0.5, 0.75, 1]; // of an axis

const { questions, address, code } = await (await fetch("questions.json")).json();
let told = null;
let last = "";
let isWayIn = true;

const byId = (name) => document.getElementById(name);
const maker = (space) => (tag, about = {}, ...inside) => {
  const made = document.createElementNS(`http://www.w3.org/${space}`, tag);
  for (const [name, value] of Object.entries(about)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
};
const html = maker("1999/xhtml");
const svg = maker("2000/svg");
const brief = (name) => (name.length > 24 ? `${name.slice(0, 22)}…` : name);
const people = (count) => (count === 1 ? "1 learner" : `${count} learners`);

// ---- what was answered ----

// Whether somebody *said* what a mistake leads to; one does not draw exactly.
function isKnown({ kind, tolerance }, said, known) {
  const room = (value) => (kind === "curve" ? Math.max(2, value / 4) : tolerance * value);
  const near = (value, place) => Math.abs(said.flat()[place] - value) <= room(value) + 1e-9;
  return [known].flat().every(near);
}

// What the learners said in a round, where the last try counts; at one's own pace the first does.
// Bars and curves have no words: a letter that tells nothing stands for each way to answer.
function triesOf(question, round) {
  const { worded, wrong, why } = question;
  const ways = ["", why, ...wrong.map(([, text]) => text)].sort();
  return told.answers.filter((one) => one.round === round).map((answer) => {
    const [json, words, sure, right] = ["said", "words", "sure", "right"].map((part) =>
      answer[round ? part : `first_${part}`]);
    const said = [JSON.parse(json)];
    const [, mistake = ""] = wrong.find(([known]) => isKnown(question, said, known)) ?? [];
    const letter = String.fromCharCode(65 + ways.indexOf(right ? why : mistake));
    const name = worded ? words : `answer ${letter}`;
    return { learner: answer.learner, said: said[0], sure, right, mistake, name };
  });
}

// Who answers alike.
function groupsOf(question, round) {
  const alike = Map.groupBy(triesOf(question, round), ({ name }) => name);
  const groups = [...alike.values()].map((all) => {
    const sure = SURE.map((how) => all.filter((one) => one.sure === how).length);
    return { ...all[0], sure, count: all.length };
  });
  const isNumber = question.kind === "number"; // which has an order of its own
  return groups.sort((a, b) => (isNumber ? a.said - b.said : b.count - a.count));
}

// ---- how it is drawn ----

// What a mistake is, the board tells together with the verdict.
function distribution(groups, isShown) {
  const most = Math.max(...groups.map(({ count }) => count));
  return groups.map(({ name, right, mistake, sure, count }) => {
    const shares = [...sure, most - count]; // and the rest of the line
    const parts = shares.map((many) => Object.assign(html("i"), { style: `flex-grow: ${many}` }));
    const [mark, how] = !isShown ? ["", ""] : right ? ["✓ ", "right"] : ["✗ ", "wrong"];
    const heading = html("b", { class: how }, `${mark}${name}: ${count}`);
    const why = isShown ? html("small", {}, mistake) : "";
    return html("div", { class: "answer" }, heading, html("div", {}, ...parts), why);
  });
}

// A drawing with its axes. Its *marks* have the units of a *width* and a *height*.
function drawing(kind, [width, height], marks, left, below, knob = "") {
  const about = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" };
  const axis = (names) => html("div", {}, ...names.map((name) => html("span", {}, name)));
  const inside = [axis(left), svg("svg", about, ...marks), axis(below)];
  return html("figure", { class: kind }, ...inside, html("figcaption", {}, knob));
}

// How answers are drawn whose words tell nothing, by the kind of question.
const DRAWN = {
  // All bars on one axis: the darker, the more learners put one there.
  placing({ rows, bars, given, steps, step, right }, all, isShown) {
    const box = (row, x, length, more) => {
      const size = { width: length - 0.1, height: 0.85 };
      return svg("rect", { x, y: row + 0.07, ...size, fill: rows[row].colour, ...more });
    };
    const boxes = (places, more) =>
      places.map((at, bar) => box(bars[bar].row, at, bars[bar].length, more));
    const faint = { "fill-opacity": Math.max(0.04, 0.9 / all.length) };
    const marks = given.map(({ row, start, length }) => box(row, start / step, length / step));
    marks.push(...all.flatMap((places) => boxes(places, faint)));
    if (isShown) marks.push(...boxes(right, { class: "truth" }));
    const times = QUARTERS.map((share) => `${(Math.round(share * steps) * step) / 1000} ms`);
    return drawing("placing", [steps, rows.length], marks, rows.map(({ stage }) => stage), times);
  },

  curve({ values, first, steps, step, unit, knob, right }, all, isShown) {
    const line = (said, name) => {
      const points = [first, ...said].map((at, place) => `${place},${steps - at}`);
      return svg("polyline", { points: points.join(" "), class: name });
    };
    const end = values.length - 1;
    const marks = QUARTERS.map((share) =>
      svg("line", { x2: end, y1: share * steps, y2: share * steps, class: "grid" }));
    marks.push(...all.map((said) => line(said, "drawn")));
    if (isShown) marks.push(line(right, "truth"));
    const height = (share) => `${Number(((1 - share) * steps * step).toPrecision(2))} ${unit}`;
    return drawing("curve", [end, steps], marks, QUARTERS.map(height), values, knob);
  },
};

function drawingOf(kind) {
  const known = Object.keys(DRAWN).join(", ");
  if (!DRAWN[kind]) throw new Error(`kind=${kind}: must be one of ${known}, or have words`);
  return DRAWN[kind];
}

// What each learner reached: a point at the first number in the sentence about a goal.
function reached(goal, place) {
  const all = told.answers.filter(({ round }) => !round);
  const made = all.map((answer) => JSON.parse(answer.reached)[place]);
  const number = ([, words]) => Number.parseFloat(/\d.*/.exec(words.replaceAll(",", "")) ?? 0);
  const most = Math.max(0, ...made.map(number)) || 1;
  const points = made.map((one, who) => {
    const at = { cx: number(one), cy: 1 + (who * 37) % 50 };
    return svg("ellipse", { ...at, rx: 0.008 * most, ry: 6, class: one[0] ? "met" : "missed" });
  });
  const met = made.filter(([isMet]) => isMet).length;
  const heading = html("b", {}, `${goal}: ${met} of ${made.length} have it`);
  return html("div", {}, heading, drawing("reached", [most, 50], points, [], [0, most]));
}

function drawRound(question, round, isShown) {
  if (question.goals) return html("section", {}, ...question.goals.map(reached));
  const said = triesOf(question, round).map((one) => one.said);
  const picture = question.worded ? "" : drawingOf(question.kind)(question, said, isShown);
  const title = round ? html("h2", {}, `Round ${round}: ${people(said.length)}`) : "";
  const groups = groupsOf(question, round);
  const length = groups.some(({ name }) => name.length > 12) ? "long" : "short";
  return html("section", { class: length }, title, picture, ...distribution(groups, isShown));
}

// ---- what is said of it ----

function worthHearing(question, round) {
  const isWorth = ({ right, sure: [, fairly, certain] }) => !right && fairly + certain;
  const groups = groupsOf(question, round).filter(isWorth);
  const [group] = groups.sort(({ sure: [, a, b] }, { sure: [, c, d] }) => d - b || c - a);
  if (!group) return "";
  const { name, sure: [, fairly, certain] } = group;
  const who = certain ? `${people(certain)}, certain` : `${people(fairly)}, fairly sure`;
  return `Worth hearing first: ${who} of “${brief(name)}”`;
}

function moves(question) {
  const before = new Map(triesOf(question, 1).map(({ learner, name }) => [learner, name]));
  const both = triesOf(question, 2).filter(({ learner }) => before.has(learner));
  const moved = both.filter(({ learner, name }) => before.get(learner) !== name);
  const wayOf = ({ learner, name }) => `from “${brief(before.get(learner))}” to “${brief(name)}”`;
  const ways = Map.groupBy(moved, wayOf);
  const most = [...ways].sort(([, one], [, other]) => other.length - one.length).slice(0, 4);
  const all = `${moved.length} of ${both.length} have moved`;
  return [all, ...most.map(([way, { length }]) => `${length} ${way}`)].join("; ");
}

function draw() {
  const { state: { leading, round: now, open, covered }, here, number } = told;
  const question = questions[number];
  const round = leading ? now : 0;
  const isShown = !leading || told.shown;
  const isBare = covered || Boolean(question.goals);
  const count = told.answers.filter((one) => one.round === round).length;
  const all = Math.max(here, count); // somebody may have gone since
  const counted = `${count} of ${all} answered${open ? `; round ${round} is open` : ""}`;
  const rounds = covered ? [] : round === 2 ? [1, 2] : [round];
  const lines = isBare
    ? []
    : [worthHearing(question, round), rounds[1] && moves(question), isShown && question.why];
  document.body.className = isWayIn ? "way-in" : isBare ? "bare" : "";
  byId("counts").textContent = isWayIn ? `${here} here` : counted;
  byId("warnings").textContent = told.warnings.join(" ");
  byId("choose").value = isWayIn ? -1 : number;
  byId("tools").replaceChildren(...tools(told.state, isShown));
  byId("asked").textContent = question.question;
  byId("rounds").replaceChildren(...rounds.map((one) => drawRound(question, one, isShown)));
  byId("said").replaceChildren(...lines.filter(Boolean).map((line) => html("p", {}, line)));
  // As large as it can be and still be seen whole.
  for (let size = 100; size > 60; size -= 4) {
    document.body.style.fontSize = `${size}%`;
    if (document.body.scrollHeight <= innerHeight) break;
  }
}

const ask = (act, value) => look({ method: "POST", body: JSON.stringify({ do: act, value }) });

// The buttons that make sense now, in the order of a lesson.
function tools({ leading, round, open, covered }, isShown) {
  const button = (text, ...asks) =>
    Object.assign(html("button", {}, text), { onclick: () => ask(...asks) });
  const lead = button(leading ? "Let everybody go on" : "Lead the class", "lead", !leading);
  if (!leading || isWayIn) return [lead];
  const next = round === 1 ? 2 : 1;
  const close = button(`Close round ${round}`, "close");
  const turn = open ? close : button(`Open round ${next}`, "open", next);
  const cover = button(covered ? "Uncover the answers" : "Cover the answers", "cover", !covered);
  return [turn, cover, ...(isShown ? [] : [button("Show everybody the verdict", "show")]), lead];
}

// It is drawn anew only if something has changed: no button goes away under the pointer.
async function look(asking) {
  const textOf = (answer) => (answer.ok ? answer.text() : "");
  const text = await fetch("now.json", asking).then(textOf, () => "");
  if (text === last) return;
  last = text;
  if (!text) return byId("counts").append(" The server does not answer; this page tries again.");
  told = JSON.parse(text);
  draw();
}

byId("address").textContent = address;
byId("code").src = code;
for (const [label, its] of Map.groupBy(questions.keys(), (number) => questions[number].lesson)) {
  const options = its.map((value) => html("option", { value }, questions[value].question));
  byId("choose").append(html("optgroup", { label: label.replaceAll("_", " ") }, ...options));
}
byId("choose").onchange = ({ target: { value } }) => {
  isWayIn = value === "-1";
  last = ""; // also if nothing else changes
  if (isWayIn) draw();
  else ask("choose", Number(value));
};
window.onresize = () => told && draw();
setInterval(look, 400); // ms
