// Making elements, and saying times in words. Text is only ever set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function attributes(node, given) {
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  return node;
}

function html(tag, given = {}, ...children) {
  const node = attributes(document.createElement(tag), given);
  node.append(...children);
  return node;
}

function svg(tag, given = {}, ...children) {
  const node = attributes(document.createElementNS(SVG, tag), given);
  node.append(...children);
  return node;
}

const div = (name, ...children) => html("div", { class: name }, ...children);

// What changes in it is read aloud.
const spoken = (name, text = "") => html("div", { class: name, "aria-live": "polite" }, text);

function question(title, ...text) {
  return html("p", { class: "lk-question" }, html("b", {}, title), ...text);
}

function folded(title, open, ...children) {
  return html("details", { open }, html("summary", {}, title), ...children);
}

function labelled(text, ...nodes) {
  return html("label", { class: "lk-control" }, html("span", {}, text), ...nodes);
}

const isStep = (step) => Number.isInteger(step) && step >= 0;

const cell = (...content) => html("td", {}, ...content);

const head = (scope, text) => html("th", { scope }, text);

const cut = (text, room) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

const program = (text) => html("pre", { tabindex: 0, ...KEYS }, text);

const BRIEF = 480; // pixels: a picture that is narrower says less
const LETTER = 7; // pixels, at most, for most texts of a picture
const label = (x, y, text, given) => svg("text", { x, y, "text-anchor": "middle", ...given }, text);

const line = (x1, y1, x2, y2, given) => svg("line", { x1, y1, x2, y2, ...given });

function sized(node, width, height) {
  return attributes(node, { width, height, viewBox: `0 0 ${width} ${height}` });
}

// Where in a picture the pointer is; the page may be zoomed.
function inside(node, { clientX, clientY }) {
  const { left, top, width } = node.getBoundingClientRect();
  const scale = node.width.baseVal.value / width;
  return [(clientX - left) * scale, (clientY - top) * scale];
}

// JupyterLab takes arrow keys and letters for itself unless the element that has the focus says
// this.
const OURS = "data-lm-suppress-shortcuts";
const KEYS = { [OURS]: "true" };

// That would take Ctrl+S too, so with a Ctrl or Command key held down JupyterLab gets its keys
// back.
function giveBack(event) {
  const { target } = event;
  if (!["Control", "Meta"].includes(event.key) || !target.hasAttribute(OURS)) return;
  target.removeAttribute(OURS);
  const held = new AbortController(), { signal } = held;
  const keep = () => held.abort(attributes(target, KEYS));
  for (const end of ["keyup", "blur"]) addEventListener(end, keep, { signal });
}

// Shift+Enter in a widget chooses the next cell, but does not run this one again: that would ask
// everything anew.
function moveOn(event) {
  if (event.key !== "Enter" || !event.shiftKey) return;
  take(event);
  goOn(event.currentTarget);
}

function button(text, title, act, given = {}) {
  return named(html("button", { type: "button", onclick: act, ...KEYS, ...given }, text), title);
}

// Who speaks to the page says what is written on a button: its name begins with that.
function named(node, title, text = node.textContent) {
  node.textContent = text;
  const isSaid = /[a-z]/i.test(text);
  const isPart = title.toLowerCase().includes(text.toLowerCase());
  return attributes(node, { title, "aria-label": isSaid && !isPart ? `${text}: ${title}` : title });
}

// The index of the one that is least far away.
function nearest(all, away) {
  const distances = all.map(away);
  return distances.indexOf(Math.min(...distances));
}

// Numbers, times and sizes as `lessonkit/words.py` writes them.
const GROUPED = new Intl.NumberFormat("en", { signDisplay: "negative" });

function number(value, wanted) {
  const size = Math.abs(value), digits = wanted ?? (size < 1000) + (size < 10);
  const kept = Number((wanted === undefined ? value : value * (1 + 1e-9)).toFixed(12));
  // `toFixed` rounds a half up; only an eighth, a fourth or a half is one.
  const scaled = kept * 10 ** digits, isHalf = Number.isInteger(8 * kept) && scaled % 1 !== 0;
  const even = Math.abs(scaled % 1) === 0.5 ? 2 * Math.round(scaled / 2) : Math.round(scaled);
  return GROUPED.format(isHalf ? even / 10 ** digits : Number(kept.toFixed(digits)));
}

// Microseconds, as the kernel gives them.
function time(micros) {
  return micros >= 1e7 ? `${number(micros / 1e6, 2)} s` : `${number(micros / 1000)} ms`;
}

function size(bytes) {
  const power = [1e3, 1e6, 1e9].filter((unit) => bytes >= unit).length;
  return `${number(bytes / 1000 ** power)} ${["B", "kB", "MB", "GB"][power]}`;
}

// After a restart the kernel does not answer any more, and nothing tells us so.
const PATIENCE = 5000; // ms; a kernel may be busy with another cell
const SILENT = "The kernel has not answered yet. Is it busy? "
  + "If it was restarted or shut down, run this cell again.";

// To a kernel that was shut down nothing can be sent. It will not answer either, and that is said
// in time.
function send(model, question) {
  try {
    model.send(question);
  } catch (error) {
    console.warn(error);
  }
}

// Gives a function that asks the kernel; *say* tells what went wrong, and an answer goes to one of
// *answers*, by what it is about. Another view asked for what none of them speaks of.
function asking(model, say, answers) {
  const patience = model.timer();
  let asks = false;
  model.on("msg:custom", (message, buffers) => {
    const { about, text } = message;
    if (about !== "error" && !answers[about]) return;
    patience.stop();
    if (about === "error" && asks) say(text);
    asks = false;
    answers[about]?.({ ...message, ...unpack(buffers) });
  });
  return (question) => {
    say("…"); // it may be busy
    asks = true;
    patience.start(() => say(SILENT), PATIENCE);
    send(model, question);
  };
}

const saying = (node) => (text) => (node.textContent = text);

// A key that was for us is for no other listener.
function take(event) {
  event.preventDefault();
  event.stopPropagation();
}

// Gives a listener that does what *acts* has for a key, if it has anything.
const keys = (acts) => (event) => {
  if (!acts[event.key]) return;
  acts[event.key](event);
  take(event);
};

// How far a learner is outlives the page, which may be loaded again or open twice: the widget's
// model has it. Gives the function that keeps it; *restore* gets what was kept, also by another
// page.
function keeping(model, restore) {
  let ours = "";
  const look = () => {
    const kept = model.get("kept");
    if (kept && kept !== ours) restore(JSON.parse(kept));
  };
  model.on("change:kept", look);
  look();
  return (value) => {
    model.set("kept", (ours = JSON.stringify(value)));
    model.save_changes();
    // Or JupyterLab would save it only with the next run of a cell.
    model.widget_manager?.setDirty?.();
  };
}

const verdict = (well, ...text) => html("span", {}, marked("b", well), ...text);

function marked(tag, well, ...text) {
  return html(tag, { class: well ? "lk-right" : "lk-wrong" }, well ? "✓ " : "✗ ", ...text);
}

// A number that nothing else has: widgets share the page, and views their kernel, but each has
// its own copy of this.
const uniqueNumber = () => crypto.getRandomValues(new Uint32Array(1))[0];

const unique = (name) => `lk-${name}-${uniqueNumber()}`;

// What waits are filled with, by the mark that the kernel names, on a tile of 8 pixels.
const UP = "M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4", DOWN = "M-2,6 l4,4 M0,0 l8,8 M6,-2 l4,4";
const MARKS = {
  "/": UP,
  "\\": DOWN,
  x: UP + DOWN,
  ".": "M2,2 h0 M6,2 h0 M2,6 h0 M6,6 h0",
  "-": "M0,2 h8 M0,6 h8",
  "+": "M0,4 h8 M4,0 v8",
  "*": "M4,1 v6 M1,2.5 l6,3 M7,2.5 l-6,3",
  o: "M1.5,4 a2.5,2.5 0 1 0 5,0 a2.5,2.5 0 1 0 -5,0",
};

const patternId = (id, mark) => `${id}-${mark.charCodeAt(0)}`;

const filling = (id, mark) => `url(#${patternId(id, mark)})`;

function hatching(id) {
  return svg("defs", {}, ...Object.entries(MARKS).map(([mark, d]) => {
    const tile = { id: patternId(id, mark), width: 8, height: 8, patternUnits: "userSpaceOnUse" };
    return svg("pattern", tile, svg("path", { d, class: mark === "." && "lk-dots" }));
  }));
}

// Round values of an axis, about *count*, none closer to the next than *least*.
function rounds(from, to, count, least = 0) {
  const step = Math.max(least, nice((to - from) / Math.max(2, count)) || least), found = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step / 1e6; at += step) found.push(at);
  return found;
}

// 1, 2 or 5 times a power of ten.
function nice(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].map((factor) => factor * power).find((round) => round >= step);
}

// Such values of a time axis: all in one unit, which the first one names.
function moments(values, end) {
  const [unit, micros] = end >= 1e7 ? [" s", 1e6] : [" ms", 1e3];
  return values.map((at, index) => [at, number(at / micros) + (index ? "" : unit)]);
}
