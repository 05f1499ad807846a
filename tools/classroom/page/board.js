// The teacher's board: what the class answers to one question, in one round or in two. All that
// comes from learners is put into the page as text.

const SURE = ["a guess", "fairly sure", "certain"];
const WIDE = 1000, LOW = 440, EDGE = 190, TALL = 70; // of a drawing, a curve and a bar

const { questions } = await (await fetch("questions.json")).json();
let told = null, socket = null, isWayIn = true;

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
const hasMarks = ({ kind }) => kind === "placing" || kind === "curve";

// ---- what was answered ----

// In a round the last try counts; of what was answered at one's own pace the first.
function triesOf(round) {
  const last = ({ learner, tries }) => ({ learner, ...(round ? tries.at(-1) : tries[0]) });
  return told.answers[round && round - 1].map(last).filter(({ words }) => words !== undefined);
}

// Whether somebody *said* what a mistake leads to; one does not draw exactly.
function isKnown({ kind, close = 0 }, said, known) {
  const room = (value) => (kind === "curve" ? Math.max(2, 0.25 * value) : close * Math.abs(value));
  const near = (one, value) => value !== null && Math.abs(one - value) <= room(value) + 1e-9;
  return [known].flat().every((value, place) => near([said].flat()[place], value));
}

// Bars and curves have no words: a letter that tells nothing stands for each way to answer.
function letterOf({ wrong, why }, reason) {
  const reasons = [...wrong.map(([, text]) => text), why].sort();
  const place = reason ? reasons.indexOf(reason) : reasons.length;
  return `answer ${"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place] ?? "Z"}`;
}

// Who answers alike: of bars and curves, who makes the same mistake.
function groupsOf(question, round) {
  const found = new Map();
  for (const { learner, said, words, sure, right } of triesOf(round)) {
    const [, mistake = ""] = question.wrong.find(([known]) => isKnown(question, said, known)) ?? [];
    const name = hasMarks(question) ? letterOf(question, right ? question.why : mistake) : words;
    const group = found.get(name) ?? { name, right, mistake, sure: [0, 0, 0], who: [] };
    group.sure[SURE.indexOf(sure)] += 1;
    group.who.push(learner);
    found.set(name, group);
  }
  const value = ({ name }) => Number.parseFloat(name);
  const byValue = (one, other) => value(one) - value(other);
  const bySize = (one, other) => other.who.length - one.who.length;
  return [...found.values()].sort(question.kind === "number" ? byValue : bySize);
}

// ---- how it is drawn ----

const x = (share) => EDGE + share * (WIDE - EDGE - 60);
const label = (left, y, text, anchor = "middle") =>
  svg("text", { x: left, y, "text-anchor": anchor }, text);
const fitted = (name) => Math.min(30, (1.7 * EDGE) / name.length); // pixels, of a letter
const canvas = (height, ...inside) => svg("svg", { viewBox: `0 0 ${WIDE} ${height}` }, ...inside);
const quarters = [0, 0.25, 0.5, 0.75, 1];

// What a mistake is, the board tells together with the verdict.
function distribution(question, round, isShown) {
  const groups = groupsOf(question, round);
  const most = Math.max(1, ...groups.map(({ who }) => who.length));
  return groups.map(({ name, right, mistake, sure, who }) => {
    const parts = sure.map((many, level) => {
      const part = html("i", { className: SURE[level].replace(" ", "-") });
      part.style.width = `${(100 * many) / most}%`;
      return part;
    });
    const mark = isShown ? (right ? "✓ " : "✗ ") : "";
    const heading = html("b", {}, `${mark}${name}: ${who.length}`);
    const why = isShown ? html("small", {}, mistake) : "";
    const className = `answer ${isShown ? (right ? "right" : "wrong") : ""}`;
    return html("div", { className }, heading, html("div", { className: "bar" }, ...parts), why);
  });
}

const DRAWN = {
  // All bars on one axis: the darker, the more learners put one there.
  placing({ rows, bars, given, steps, step, right }, all, isShown) {
    const top = (row) => 10 + row * (TALL + 10), bottom = top(rows.length);
    const box = (row, at, length, more) => {
      const place = { x: x(at / steps), y: top(row), width: x(length / steps) - x(0) - 1 };
      return svg("rect", { ...place, height: TALL, fill: rows[row][2], ...more });
    };
    const faint = { "fill-opacity": Math.max(0.04, 0.9 / Math.max(1, all.length)) };
    const boxes = (places, more) =>
      places.map((at, bar) => box(bars[bar][0], at, bars[bar][2], more));
    const there = given.map(([row, , at, length]) => box(row, at / step, length / step));
    const names = rows.map(([name], row) => {
      const made = label(EDGE - 8, top(row) + 46, name, "end");
      made.setAttribute("font-size", fitted(name));
      return made;
    });
    const marks = quarters.map((share) => Math.round(share * steps));
    const axis = marks.map((at) => label(x(at / steps), bottom + 28, `${(at * step) / 1000} ms`));
    const theirs = all.flatMap((places) => boxes(places, faint));
    const truth = isShown ? boxes(right, { class: "truth" }) : [];
    return canvas(bottom + 40, ...names, ...there, ...theirs, ...truth, ...axis);
  },

  curve({ values, first, steps, step, unit, knob, right }, all, isShown) {
    const end = values.length - 1, y = (at) => LOW - 60 - (at / steps) * (LOW - 95);
    const line = (said, name) => {
      const points = [first, ...said].map((at, place) => `${x(place / end)},${y(at)}`);
      return svg("polyline", { points: points.join(" "), class: name });
    };
    const heights = quarters.map((share) => share * steps);
    const grid = heights.map((at) =>
      svg("line", { x1: EDGE, x2: WIDE - 60, y1: y(at), y2: y(at), class: "grid" }));
    const scale = heights.map((at) =>
      label(EDGE - 8, y(at) + 10, Number((at * step).toPrecision(2)), "end"));
    const below = values.map((value, place) => label(x(place / end), LOW - 26, value));
    const axes = [label(4, 26, unit, "start"), label(WIDE - 60, LOW + 8, knob, "end")];
    const drawn = all.map((said) => line(said, "drawn"));
    const truth = isShown ? [line(right, "truth")] : [];
    return canvas(LOW + 16, ...grid, ...scale, ...below, ...axes, ...drawn, ...truth);
  },
};

// What each learner reached: a point at the first number in the sentence about a goal.
function reached({ goals }) {
  const all = told.answers[0].map((one) => one.reached).filter(({ length }) => length);
  return goals.map((goal, place) => {
    const made = all.map((one) => one[place]).filter(Boolean);
    const number = ([, words]) => Number.parseFloat(/\d.*/.exec(words.replaceAll(",", "")) ?? 0);
    const numbers = made.map(number);
    const most = Math.max(...numbers) || 1;
    const points = numbers.map((value, one) => {
      const name = made[one][0] ? "met" : "missed";
      return svg("circle", { cx: x(value / most), cy: 25 + ((one * 37) % 50), r: 9, class: name });
    });
    const met = made.filter(([isMet]) => isMet).length;
    const ends = [label(EDGE, 108, 0), label(x(1), 108, most)];
    const heading = html("b", {}, `${goal}: ${met} of ${all.length} have it`);
    return html("div", {}, heading, canvas(116, ...points, ...ends));
  });
}

function drawRound(question, round, isShown) {
  if (question.kind === "challenge") return html("section", {}, ...reached(question));
  const all = triesOf(round), drawing = DRAWN[question.kind];
  const picture = drawing ? drawing(question, all.map(({ said }) => said), isShown) : "";
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
  return [[all, ...most.map(([way, count]) => `${count} ${way}`)].join("; ")];
}

function draw() {
  const { state, here, names, warnings } = told, question = questions[state.asked];
  const isShown = !state.leading || state.shown.includes(state.asked);
  const isTask = question.kind === "challenge", latest = told.answers.length > 1 ? 2 : state.round;
  const round = state.leading ? latest : 0;
  const count = (isTask ? told.answers[0] : triesOf(round)).length;
  const open = state.open ? `; round ${round} is open` : "";
  byId("counts").textContent = isWayIn ? `${here} here` : `${count} of ${here} answered${open}`;
  byId("names").textContent = names.join(", ");
  byId("warnings").textContent = warnings.join(" ");
  [byId("way-in").hidden, byId("question").hidden] = [!isWayIn, isWayIn];
  byId("choose").value = isWayIn ? -1 : state.asked;
  byId("tools").replaceChildren(...tools(state, isShown));
  document.querySelector("#question h1").textContent = question.question;
  const rounds = state.covered ? [] : round === 2 ? [1, 2] : [round];
  byId("rounds").replaceChildren(...rounds.map((one) => drawRound(question, one, isShown)));
  const lines = isTask || state.covered ? [] : worthHearing(question, round);
  if (rounds.length === 2) lines.push(...moves(question));
  if (isShown && !state.covered && !isTask) lines.push(question.why);
  byId("said").replaceChildren(...lines.map((line) => html("p", {}, line)));
  byId("key").hidden = isTask || state.covered;
}

// The buttons that make sense now, in the order of a lesson.
function tools({ leading, round, open, covered }, isShown) {
  const button = (textContent, act, value) => {
    const onclick = () => socket.send(JSON.stringify({ do: act, value }));
    return html("button", { textContent, onclick });
  };
  const lead = button(leading ? "Let everybody go on" : "Lead the class", "lead", !leading);
  if (!leading || isWayIn) return [lead];
  const next = round === 1 ? 2 : 1;
  const close = button(`Close round ${round}`, "close");
  const turn = open ? close : button(`Open round ${next}`, "open", next);
  const cover = button(covered ? "Uncover the answers" : "Cover the answers", "cover", !covered);
  return [turn, cover, ...(isShown ? [] : [button("Show everybody the verdict", "show")]), lead];
}

function connect() {
  socket = new WebSocket(new URL("live", location.href.replace("http", "ws")));
  socket.onmessage = ({ data }) => {
    told = JSON.parse(data);
    draw();
  };
  socket.onclose = () => {
    byId("counts").textContent = "The server does not answer; this page tries again.";
    setTimeout(connect, 1000);
  };
}

for (const lesson of new Set(questions.map((one) => one.lesson))) {
  const options = questions.map(({ question }, value) => html("option", { value }, question));
  const its = options.filter((_, value) => questions[value].lesson === lesson);
  byId("choose").append(html("optgroup", { label: lesson.replaceAll("_", " ") }, ...its));
}
byId("choose").onchange = ({ target: { value } }) => {
  isWayIn = value === "-1";
  if (isWayIn) draw();
  else socket.send(JSON.stringify({ do: "choose", value: Number(value) }));
};
connect();
