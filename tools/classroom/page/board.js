// The teacher's board: what the class answers to one question, in one round or in two. All that
// comes from learners is put into the page as text.

const SURE = ["a guess", "fairly sure", "certain"];
const EVERY = 400; // ms
const QUARTERS = [0, 0.25, 0.5, 0.75, 1]; // of an axis

const { questions, address, code } = await (await fetch("questions.json")).json();
let told = null, last = "", isWayIn = true;

const byId = (name) => document.getElementById(name);
function html(tag, about = {}, ...inside) {
  const made = Object.assign(document.createElement(tag), about);
  made.append(...inside);
  return made;
}
function svg(tag, about = {}, ...inside) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(about)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}
const people = (count) => (count === 1 ? "1 learner" : `${count} learners`);
const ASKED = ["lesson", "kind", "question"]; // what a question is known by
const same = (one, other) => ASKED.every((part) => one[part] === other[part]);

// ---- what was answered ----

// In a round the last try counts; of what was answered at one's own pace the first.
function triesOf(round) {
  const all = told.answers.filter((one) => one.round === round && one.last);
  return all.map(({ learner, first, last }) => ({ learner, ...(round ? last : first) }));
}

// Whether somebody *said* what a mistake leads to; one does not draw exactly.
function isKnown({ kind, close = 0 }, said, known) {
  const room = (value) => (kind === "curve" ? Math.max(2, 0.25 * value) : close * Math.abs(value));
  const near = (one, value) => Math.abs(one - value) <= room(value) + 1e-9;
  return [known].flat().every((value, place) => near([said].flat()[place], value));
}

// Who answers alike, with the mistake if it is known. Bars and curves have no words: a letter that
// tells nothing stands for each way to answer.
function groupsOf(question, round) {
  const { kind, wrong, why } = question, found = new Map();
  const reasons = [why, ...wrong.map(([, text]) => text)].sort();
  for (const { learner, said, words, sure, right } of triesOf(round)) {
    const [, mistake = ""] = wrong.find(([known]) => isKnown(question, said, known)) ?? [];
    const place = reasons.indexOf(right ? why : mistake), other = reasons.length;
    const letter = String.fromCharCode(65 + (place < 0 ? other : place));
    const name = DRAWN[kind] ? `answer ${letter}` : words;
    const group = found.get(name) ?? { name, right, mistake, sure: [0, 0, 0], who: [] };
    group.sure[SURE.indexOf(sure)] += 1;
    group.who.push(learner);
    found.set(name, group);
  }
  const byValue = (one, next) => Number.parseFloat(one.name) - Number.parseFloat(next.name);
  const bySize = (one, next) => next.who.length - one.who.length;
  return [...found.values()].sort(kind === "number" ? byValue : bySize);
}

// ---- how it is drawn ----

// What a mistake is, the board tells together with the verdict.
function distribution(question, round, isShown) {
  const groups = groupsOf(question, round);
  const most = Math.max(...groups.map(({ who }) => who.length));
  return groups.map(({ name, right, mistake, sure, who }) => {
    const shares = [...sure, most - who.length]; // and the rest of the line
    const parts = shares.map((many) => html("i", { style: `flex-grow: ${many}` }));
    const mark = isShown ? (right ? "✓ " : "✗ ") : "", className = right ? "right" : "wrong";
    const heading = html("b", isShown ? { className } : {}, `${mark}${name}: ${who.length}`);
    const why = isShown ? html("small", {}, mistake) : "";
    return html("div", { className: "answer" }, heading, html("div", {}, ...parts), why);
  });
}

// A drawing with its axes. Its *marks* have the units of a *width* and a *height*.
function drawing(kind, [width, height], marks, left, below) {
  const about = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" };
  const axis = (names) => html("div", {}, ...names.map((name) => html("span", {}, name)));
  return html("figure", { className: kind }, axis(left), svg("svg", about, ...marks), axis(below));
}

const DRAWN = {
  // All bars on one axis: the darker, the more learners put one there.
  placing({ rows, bars, given, steps, step, right }, all, isShown) {
    const box = (row, x, length, more) => {
      const size = { width: length - 0.1, height: 0.85 };
      return svg("rect", { x, y: row + 0.07, ...size, fill: rows[row][2], ...more });
    };
    const boxes = (places, more) =>
      places.map((at, bar) => box(bars[bar][0], at, bars[bar][2], more));
    const there = given.map(([row, , at, length]) => box(row, at / step, length / step));
    const faint = { "fill-opacity": Math.max(0.04, 0.9 / all.length) };
    const theirs = all.flatMap((places) => boxes(places, faint));
    const truth = isShown ? boxes(right, { class: "truth" }) : [];
    const times = QUARTERS.map((share) => `${(Math.round(share * steps) * step) / 1000} ms`);
    const marks = [...there, ...theirs, ...truth];
    return drawing("placing", [steps, rows.length], marks, rows.map(([name]) => name), times);
  },

  curve({ values, first, steps, step, unit, knob, right }, all, isShown) {
    const end = values.length - 1;
    const line = (said, name) => {
      const points = [first, ...said].map((at, place) => `${place},${steps - at}`);
      return svg("polyline", { points: points.join(" "), class: name });
    };
    const grid = QUARTERS.map((share) =>
      svg("line", { x2: end, y1: share * steps, y2: share * steps, class: "grid" }));
    const height = (share) => `${Number(((1 - share) * steps * step).toPrecision(2))} ${unit}`;
    const marks = [...grid, ...all.map((said) => line(said, "drawn"))];
    if (isShown) marks.push(line(right, "truth"));
    const made = drawing("curve", [end, steps], marks, QUARTERS.map(height), values);
    made.append(html("figcaption", {}, knob));
    return made;
  },
};

// What each learner reached: a point at the first number in the sentence about a goal.
function reached({ goals }, round) {
  const all = told.answers.filter((one) => one.round === round && one.reached.length);
  return goals.map((goal, place) => {
    const made = all.map((one) => one.reached[place]).filter(Boolean);
    const number = ([, words]) => Number.parseFloat(/\d.*/.exec(words.replaceAll(",", "")) ?? 0);
    const most = Math.max(0, ...made.map(number)) || 1;
    const points = made.map((one, who) => {
      const at = { cx: number(one), cy: 1 + (who * 37) % 50 };
      return svg("ellipse", { ...at, rx: 0.008 * most, ry: 6, class: one[0] ? "met" : "missed" });
    });
    const met = made.filter(([isMet]) => isMet).length;
    const heading = html("b", {}, `${goal}: ${met} of ${all.length} have it`);
    return html("div", {}, heading, drawing("reached", [most, 50], points, [], [0, most]));
  });
}

function drawRound(question, round, isShown) {
  if (question.kind === "challenge") return html("section", {}, ...reached(question, round));
  const all = triesOf(round), said = all.map((one) => one.said);
  const picture = DRAWN[question.kind]?.(question, said, isShown) ?? "";
  const title = round ? html("h2", {}, `Round ${round}: ${people(all.length)}`) : "";
  return html("section", {}, title, picture, ...distribution(question, round, isShown));
}

// ---- what is said of it ----

function worthHearing(question, round) {
  const wrong = groupsOf(question, round).filter(({ right }) => !right);
  const [group] = wrong.sort(({ sure: [, a, b] }, { sure: [, c, d] }) => d - b || c - a);
  if (!group?.sure[1] && !group?.sure[2]) return [];
  const { name, sure: [, fairly, certain] } = group;
  const how = certain ? `${people(certain)}, certain of` : `${people(fairly)}, fairly sure of`;
  return [`Worth hearing first: ${how} “${name}”`];
}

function moves(question) {
  const nameOf = (round) => new Map(groupsOf(question, round).flatMap(({ name, who }) =>
    who.map((learner) => [learner, name])));
  const [before, after] = [1, 2].map(nameOf), ways = {};
  const both = [...before].filter(([learner]) => after.has(learner));
  const moved = both.filter(([learner, name]) => after.get(learner) !== name);
  for (const [learner, name] of moved) {
    const way = `from “${name}” to “${after.get(learner)}”`;
    ways[way] = (ways[way] ?? 0) + 1;
  }
  const most = Object.entries(ways).sort((one, other) => other[1] - one[1]).slice(0, 4);
  const all = `${moved.length} of ${both.length} have moved`;
  return [all, ...most.map(([way, count]) => `${count} ${way}`)].join("; ");
}

function draw() {
  const { state: { asked, leading, round: last, open, covered, shown }, here } = told;
  const number = questions.findIndex((one) => same(one, asked)), question = questions[number];
  const isShown = !leading || shown.some((one) => same(one, asked));
  const isTask = question.kind === "challenge", round = leading ? last : 0;
  const count = told.answers.filter((one) => one.round === round && (isTask || one.last)).length;
  const now = `${count} of ${here} answered${open ? `; round ${round} is open` : ""}`;
  const rounds = covered ? [] : round === 2 ? [1, 2] : [round];
  const lines = isTask || covered ? [] : worthHearing(question, round);
  if (rounds.length === 2) lines.push(moves(question));
  if (isShown && !covered && !isTask) lines.push(question.why);
  document.body.className = isWayIn ? "way-in" : isTask || covered ? "bare" : "";
  byId("counts").textContent = isWayIn ? `${here} here` : now;
  byId("names").textContent = told.names.join(", ");
  byId("warnings").textContent = told.warnings.join(" ");
  byId("choose").value = isWayIn ? -1 : number;
  byId("tools").replaceChildren(...tools(told.state, isShown));
  byId("asked").textContent = question.question;
  byId("rounds").replaceChildren(...rounds.map((one) => drawRound(question, one, isShown)));
  byId("said").replaceChildren(...lines.map((line) => html("p", {}, line)));
}

const ask = (act, value) => look({ method: "POST", body: JSON.stringify({ do: act, value }) });

// The buttons that make sense now, in the order of a lesson.
function tools({ leading, round, open, covered }, isShown) {
  const button = (textContent, ...asks) =>
    html("button", { textContent, onclick: () => ask(...asks) });
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
for (const lesson of new Set(questions.map((one) => one.lesson))) {
  const options = questions.map(({ question }, value) => html("option", { value }, question));
  const its = options.filter((_, value) => questions[value].lesson === lesson);
  byId("choose").append(html("optgroup", { label: lesson.replaceAll("_", " ") }, ...its));
}
byId("choose").onchange = ({ target: { value } }) => {
  isWayIn = value === "-1";
  last = ""; // also if nothing else changes
  if (isWayIn) draw();
  else ask("choose", Number(value));
};
setInterval(look, EVERY);
