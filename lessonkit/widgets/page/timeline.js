// The timeline: a row for each stage, a lane for each call, a bar for each piece of work or
// waiting.

const LEFT = 92, RIGHT = 16, TOP = 36, BOTTOM = 26, GAP = 9, TRACK = 64;
const FINEST = 10; // microseconds between two marks: their numbers have no more digits
const NARROWEST = 240; // pixels, with something to see beside the names
const ROW = 16; // a row's name needs so much
const LEGIBLE = 15; // pixels: of a lane whose bars are labelled
const TALLEST = 480; // pixels: of a picture that grows for that
const OF_WAITS = 0.4; // of a lane: so high is one without work,
const OF_COUNTS = 1.6; // and one with steps, each as high as what it counts
const BAND = 5; // pixels: of the baseline run, under each row
const HEARD = { // events, and the methods that act on them
  pointerdown: "press", pointermove: "move", pointerup: "release", pointercancel: "release",
  pointerleave: "away", keydown: "key",
};

class Timeline {
  constructor({ onTime, onBar, height }) {
    // `other`: a second run on the same axis; `least`: what that axis has room for in any case;
    // `limit`: the earliest end of such a run, if it is to be drawn; `bar`: the one that is
    // pointed at.
    Object.assign(this, { onTime, onBar, height, scene: null, other: null, least: 0 });
    Object.assign(this, { limit: 0, time: 0, bar: -1 });
    this.show = { path: false, waits: true, memory: false };
    this.bars = [];
    this.hatch = unique("hatch");
    this.layer = {};
    for (const name of ["grid", "names", "ghosts", "bars", "path", "track", "axis"]) {
      this.layer[name] = svg("g", { class: `lk-${name}` });
    }
    const handle = svg("path", { d: "M-6,-18 h12 v9 l-6,6 l-6,-6 z" });
    const text = svg("text", { x: 10, y: -8 });
    this.head = svg("g", { class: "lk-head" }, handle, svg("line", { y1: -6 }), text);
    this.ring = svg("rect", { class: "lk-ring", rx: 3 });
    const aria = { role: "slider", tabindex: 0, "aria-label": "Time in the run" };
    const layers = [hatching(this.hatch), ...Object.values(this.layer), this.ring, this.head];
    this.svg = svg("svg", { class: "lk-timeline", ...aria, ...KEYS }, ...layers);
    for (const [event, act] of Object.entries(HEARD)) {
      this.svg.addEventListener(event, (about) => this[act]?.(about));
    }
  }

  // ---- from time and place to pixels, and back ----

  get end() {
    // Held still under a hand.
    return this.held ?? Math.max(1, this.least, this.scene.end, this.other?.end ?? 0);
  }

  x = (micros) => LEFT + (micros / this.end) * (this.width - LEFT - RIGHT);

  timeAt(x) {
    return Math.max(0, Math.min(this.end, ((x - LEFT) / (this.width - LEFT - RIGHT)) * this.end));
  }

  // The rows share the height: it stays the same, whatever there is to show, if names and labels
  // have room.
  measure() {
    const { rows, bars } = this.scene;
    const having = (kind) => new Set(bars?.row.filter((_, bar) => bars.kind[bar] === kind));
    const works = having(""), counts = having("count");
    const share = (row) => (counts.has(row) ? OF_COUNTS : works.has(row) ? 1 : OF_WAITS);
    // Of a lane's height.
    this.shares = rows.map((_, row) => (bars ? share(row) : 1));
    const lanes = rows.reduce((sum, [, count], row) => sum + count * this.shares[row], 0);
    const gap = GAP + (this.isPinned ? BAND : 0), fixed = TOP + BOTTOM + gap * rows.length;
    const legible = Math.min(TALLEST, fixed + LEGIBLE * lanes);
    this.height = Math.max(this.height, fixed + (ROW - gap) * rows.length, bars ? legible : 0);
    this.lane = Math.min(38, (this.height - fixed) / Math.max(1, lanes));
    this.tops = [];
    let top = TOP + GAP / 2;
    for (const [row, [, count]] of rows.entries()) {
      this.tops.push(top);
      top += count * this.high(row) + gap;
    }
    this.floor = Math.max(top, TOP + 40);
  }

  // How high a lane of a row is.
  high = (row) => this.lane * this.shares[row];

  box(bar) {
    const { row, lane, start, length, kind, level } = this.scene.bars;
    const isCount = kind[bar] === "count";
    const thin = this.other && !this.isPinned ? 0.72 : 1; // below it is the real run
    const high = this.high(row[bar]), gap = Math.min(2, high / 3);
    const x = this.x(start[bar]), y = this.tops[row[bar]] + lane[bar] * high + gap / 2;
    const between = isCount ? 0 : 1; // steps touch each other
    const width = Math.max(1, this.x(start[bar] + length[bar]) - x - between);
    const full = high * (isCount ? 1 : thin) - gap, height = full * level[bar];
    return { x: x + between / 2, y: y + full - height, width, height };
  }

  // ---- drawing ----

  draw(scene = this.scene, width = this.width) {
    this.scene = scene;
    this.width = Math.max(NARROWEST, width);
    this.measure();
    const height = this.height + (this.show.memory ? TRACK : 0);
    sized(this.svg, this.width, height);
    // Under a hand only the kernel knows the waits.
    this.svg.classList.toggle("lk-no-waits", !this.show.waits || this.held > 0);
    this.drawNames();
    this.drawAxis();
    this.drawBars();
    this.drawGhosts();
    this.drawPath();
    this.drawTrack();
    this.point(this.bar < scene.bars.row.length ? this.bar : -1);
    this.seek(this.isMoved ? this.time : this.firstStep, this.isMoved);
  }

  // When the accelerator begins its first step. Until a hand moves it, the playhead is there,
  // where something happens; at 0 ms nothing has.
  get firstStep() {
    const { row, start, kind } = this.scene.bars, last = this.scene.rows.length - 1;
    const steps = start.filter((_, bar) => row[bar] === last && !kind[bar]);
    return steps.length ? Math.min(...steps) : 0;
  }

  drawNames() {
    const key = JSON.stringify([this.scene.rows, this.tops, this.shares]);
    if (key === this.named) return;
    this.named = key;
    this.layer.names.replaceChildren(
      ...this.scene.rows.flatMap(([stage, lanes], row) => {
        const high = this.high(row), y = this.tops[row] + (lanes * high) / 2 + 4;
        const short = cut(stage, 10), last = { "text-anchor": "end" };
        // A lane of workers is always the same one, so each has its number.
        const numbered = lanes > 1 && high >= 11 && /^Worker( \d+)?$/.test(stage);
        const numbers = Array.from({ length: numbered ? lanes : 0 }, (_, lane) => {
          return label(LEFT - 10, this.tops[row] + (lane + 0.5) * high + 4, lane, last);
        });
        // In these marks a name that is written from right to left does not turn around what is
        // beside it.
        const isCounted = lanes > 1 && this.shares[row] === 1 && !numbered;
        const text = isCounted ? `\u2068${short}\u2069 ×${lanes}` : short;
        const node = label(LEFT - (numbered ? 30 : 10), y, text, last);
        node.append(svg("title", {}, stage));
        return [node, ...numbers];
      }),
    );
  }

  drawAxis() {
    const texts = moments(rounds(0, this.end, (this.width - LEFT) / 90, FINEST), this.end);
    const lines = texts.map(([at]) => line(this.x(at), TOP - 4, this.x(at), this.floor));
    const marks = texts.map(([at, text]) => label(this.x(at), this.floor + 16, text));
    const { epochs, end } = this.scene, named = [];
    const limit = this.held ? 0 : this.limit; // under a hand only the kernel knows it
    for (const [index, start] of epochs.entries()) {
      if (epochs.length < 2) break;
      const after = [limit, epochs[index + 1], end].filter((at) => at > start);
      const x = this.x(start), room = after.length ? this.x(Math.min(...after)) - x : 0;
      const short = `${index + 1}`;
      const text = room >= 60 ? `epoch ${short}` : room >= 6 + 8 * short.length ? short : "";
      marks.push(svg("text", { class: "lk-epoch", x: x + 4, y: 10 }, text));
      lines.push(line(x, 2, x, this.floor, { class: "lk-epoch" }));
      named.push([x, x + 4 + LETTER * text.length]);
    }
    this.layer.grid.replaceChildren(...lines);
    this.layer.axis.replaceChildren(...marks);
    if (limit) this.drawLimit(this.x(limit), named);
  }

  // Where the run would end that no order and no parallelism can beat. Its name stands where no
  // epoch has one; the last figure says what sets it.
  drawLimit(x, named) {
    const name = "limit", wide = 4 + LETTER * name.length;
    const hasRoom = ([from, to]) => {
      const isFree = named.every(([left, right]) => to <= left || from >= right);
      return from >= LEFT && to <= this.width && isFree;
    };
    const after = [x, x + wide, x + 4, "start"], before = [x - wide, x, x - 4, "end"];
    const [, , at, anchor] = [after, before].find(hasRoom) ?? [];
    if (!anchor) return; // a line without a name tells nothing
    const text = svg("text", { class: "lk-limit", x: at, y: 10, "text-anchor": anchor }, name);
    text.append(svg("title", {}, "No run that does this work ends before this line."));
    this.layer.axis.append(text);
    this.layer.grid.append(line(x, 2, x, this.floor, { class: "lk-limit" }));
  }

  filling = (kind) => filling(this.hatch, this.scene.waits[kind][0]);

  // What each kind of wait looks like; two that look alike have one key.
  keysOf({ waits }) {
    const found = new Map(Object.values(waits).map(([mark, text]) => [text, mark]));
    return [...found].map(([text, mark]) => {
      const fill = filling(this.hatch, mark), box = { class: "lk-wait", width: 28, height: 12 };
      return html("span", {}, svg("svg", box, svg("rect", { width: 28, height: 12, fill })), text);
    });
  }

  // Bars are kept from one picture to the next, and only what has changed is told to the page.
  drawBars() {
    const { bars, rows } = this.scene;
    const count = bars.row.length;
    while (this.bars.length < count) {
      const text = svg("text", { "text-anchor": "middle" });
      this.bars.push({ rect: svg("rect"), text, said: {} });
      this.layer.bars.append(this.bars.at(-1).rect, text);
    }
    for (const { rect, text } of this.bars.splice(count)) {
      rect.remove();
      text.remove();
    }
    for (const [bar, { rect, text, said }] of this.bars.entries()) {
      const box = this.box(bar), { x, y, width, height } = box;
      const [stage, , colour] = rows[bars.row[bar]], kind = bars.kind[bar];
      const isCount = kind === "count", wait = kind !== "" && !isCount;
      const high = height / bars.level[bar], room = width - (wait ? 12 : 4);
      const shown = high < 11 ? "" : this.texts(bar).find((text) => 7 * text.length <= room) ?? "";
      const fill = wait ? this.filling(kind) : colour;
      tell(rect, said, { ...box, rx: isCount ? 0 : 2.5, fill });
      const [from, long] = [bars.start[bar], bars.length[bar]];
      tell(rect, said, { "data-start": from, "data-length": long, "data-stage": stage });
      const name = wait ? "lk-bar lk-wait" : isCount ? "lk-bar lk-count" : "lk-bar";
      if (tell(rect, said, { class: name })) this.bars[bar].lit = false;
      if (said.label !== shown) text.textContent = said.label = shown;
      if (!shown) continue;
      const above = isCount && high - height >= 11; // a step with room for its number
      const paint = wait || above ? "lk-why" : "";
      const middle = { x: x + width / 2, y: above ? y - 2 : y + height / 2 + 4 };
      tell(text, (said.text ??= {}), { ...middle, class: paint });
    }
  }

  // What may be written on a bar, the longest first.
  texts(bar) {
    const { kind, label, note } = this.scene.bars, text = label[bar];
    if (kind[bar] !== "idle") return [text];
    const [cause] = note[bar].split(","), words = `waits ${text}`;
    return [...(cause ? [`${words} for ${cause}`] : []), words, text];
  }

  // The other run, one shape for each stage: a real one thin below the same bars, the baseline
  // run as a band under the row.
  drawGhosts() {
    this.ended = null;
    if (!this.other) return this.layer.ghosts.replaceChildren();
    const { bars, rows: theirs } = this.other;
    const rows = theirs.map(([stage]) => this.scene.rows.findIndex((row) => row[0] === stage));
    const shapes = theirs.map(() => "");
    for (let bar = 0; bar < bars.row.length; bar++) {
      const row = rows[bars.row[bar]];
      if (row < 0 || bars.kind[bar]) continue;
      const lanes = this.scene.rows[row][1], each = this.high(row);
      const lane = Math.min(bars.lane[bar], lanes - 1), x = this.x(bars.start[bar]);
      const width = Math.max(1, this.x(bars.start[bar] + bars.length[bar]) - x - 1);
      const y = this.tops[row] + (this.isPinned ? lanes * each + 1 : (lane + 0.74) * each);
      const thick = this.isPinned ? BAND : each * 0.2;
      const [left, top, wide, high] = [x, y, width, thick].map((size) => size.toFixed(1));
      shapes[bars.row[bar]] += `M${left},${top}h${wide}v${high}h${-wide}z`;
    }
    const end = this.x(this.other.end), left = end > this.width / 2;
    const whole = `${this.isPinned ? "baseline" : "real"} run: ${time(this.other.end)}`;
    const words = this.width < BRIEF ? time(this.other.end) : whole; // a line below says the rest
    const beside = { "text-anchor": left ? "end" : "start" };
    const at = end + (left ? -4 : 4), wide = LETTER * words.length;
    this.ended = { node: label(at, TOP - 8, words, beside), from: left ? at - wide : at, wide };
    return this.layer.ghosts.replaceChildren(
      ...shapes.map((d, row) => svg("path", { d, fill: theirs[row][2] })),
      line(end, TOP - 4, end, this.floor),
      this.ended.node,
    );
  }

  drawPath() {
    const outlined = this.show.path ? this.scene.path : [];
    this.layer.path.replaceChildren(...outlined.map((bar) => {
      const { x, y, width, height } = this.box(bar);
      return svg("rect", { x: x - 0.5, y: y - 1.5, width: width + 1, height: height + 3, rx: 3 });
    }));
  }

  // What is held over time, all buffers one on the other.
  drawTrack() {
    if (!this.show.memory) return this.layer.track.replaceChildren();
    const { time: times, change, bytes } = this.scene.events;
    let held = 0;
    const levels = change.map((by, event) => (held += by * (bytes.length ? bytes[event] : 1)));
    const most = levels.reduce((top, level) => Math.max(top, level), 0);
    const floor = this.floor + BOTTOM + TRACK - 8;
    const y = (level) => floor - (level / Math.max(1, most)) * (TRACK - 20);
    const stairs = levels.map((level, event) => {
      return `H${this.x(times[event]).toFixed(1)}V${y(level).toFixed(1)}`;
    });
    const top = bytes.length ? size(most) : `${most} elements`;
    return this.layer.track.replaceChildren(
      svg("path", { d: `M${LEFT},${floor}${stairs.join("")}H${this.x(this.scene.end)}V${floor}Z` }),
      label(LEFT - 10, floor - 8, "Memory", { "text-anchor": "end" }),
      svg("text", { x: LEFT + 4, y: floor - TRACK + 30 }, `at most ${top}`),
    );
  }

  // ---- the playhead, and pointing ----

  seek(micros, isMoved = true) {
    this.isMoved = isMoved;
    this.time = Math.max(0, Math.min(this.end, micros));
    const x = this.x(this.time);
    const [, line, text] = this.head.children;
    this.head.setAttribute("transform", `translate(${x.toFixed(1)},${TOP})`);
    line.setAttribute("y2", this.floor - TOP);
    text.textContent = time(this.time);
    // On the side where no text of the other run is; if both have some, that one gives way.
    const { node, from, wide } = this.ended ?? { from: 0, wide: 0 };
    const own = 18 + 8 * text.textContent.length; // it is bold
    const isOver = (begin) => begin < from + wide && begin + own > from;
    const right = x > this.width - 80 || (isOver(x) && !isOver(x - own) && x - own > 0);
    if (node) attributes(node, { visibility: isOver(right ? x - own : x) ? "hidden" : "visible" });
    attributes(text, { x: right ? -10 : 10, "text-anchor": right ? "end" : "start" });
    const [now, end] = [this.time, this.end].map((at) => Math.round(at / 1000));
    const said = { "aria-valuenow": now, "aria-valuetext": time(this.time) };
    attributes(this.svg, { "aria-valuemin": 0, "aria-valuemax": end, ...said });
    this.onTime(this.time);
  }

  // To the next moment at which a bar begins or ends.
  step(direction) {
    const { start, length } = this.scene.bars;
    const moments = start.flatMap((at, bar) => [at, at + length[bar]]);
    const ahead = moments.filter((at) => (at - this.time) * direction > 0);
    if (ahead.length) this.seek(direction > 0 ? Math.min(...ahead) : Math.max(...ahead));
  }

  at(x, y) {
    return this.scene.bars.row.findLastIndex((_, bar) => {
      const box = this.box(bar);
      return x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y && y <= box.y + box.height;
    });
  }

  point(bar) {
    this.bar = bar;
    this.light(bar >= 0 && !this.scene.bars.kind[bar] ? journey(this.scene, bar) : null);
    this.ring.style.display = bar >= 0 ? "" : "none";
    if (bar >= 0) attributes(this.ring, this.box(bar));
    this.onBar(bar);
  }

  light(lit) {
    this.svg.classList.toggle("lk-dim", lit !== null && lit.size > 1);
    for (const [index, bar] of this.bars.entries()) {
      const light = lit !== null && lit.has(index);
      if (bar.lit === light) continue;
      for (const node of [bar.rect, bar.text]) node.classList.toggle("lk-lit", light);
      bar.lit = light;
    }
  }

  // To the bar next to the one that is pointed at: in its row, or in a row above or below.
  walk(direction, rows) {
    const { row, start } = this.scene.bars;
    const all = row.map((_, bar) => bar).sort((a, b) => start[a] - start[b] || row[a] - row[b]);
    if (this.bar < 0) return this.point(all.find((bar) => start[bar] >= this.time) ?? all[0] ?? -1);
    const here = this.bar;
    if (!rows) {
      const beside = all.filter((bar) => row[bar] === row[here]);
      return this.point(beside[beside.indexOf(here) + direction] ?? here);
    }
    const there = all.filter((bar) => (row[bar] - row[here]) * direction > 0);
    const away = (column, bar) => Math.abs(column[bar] - column[here]);
    there.sort((a, b) => away(row, a) - away(row, b) || away(start, a) - away(start, b));
    return this.point(there[0] ?? here);
  }

  press(event) {
    this.svg.focus({ preventScroll: true });
    this.svg.setPointerCapture(event.pointerId);
    this.seek(this.timeAt(inside(this.svg, event)[0]));
    event.preventDefault();
  }

  move(event) {
    const [x, y] = inside(this.svg, event);
    if (this.svg.hasPointerCapture(event.pointerId)) this.seek(this.timeAt(x));
    const bar = this.at(x, y);
    if (bar !== this.bar) this.point(bar);
  }

  away() {
    this.point(-1);
  }

  key(event) {
    this.steer(event);
  }

  steer = keys({
    ArrowRight: ({ shiftKey }) => (shiftKey ? this.walk(1) : this.step(1)),
    ArrowLeft: ({ shiftKey }) => (shiftKey ? this.walk(-1) : this.step(-1)),
    ArrowDown: () => this.walk(1, true),
    ArrowUp: () => this.walk(-1, true),
    Home: () => this.seek(0),
    End: () => this.seek(this.end),
    Enter: () => this.bar >= 0 && this.seek(this.scene.bars.start[this.bar]),
    Escape: () => this.away(),
  });
}

// Gives a node those attributes that are not what it was told last; true if there were any.
function tell(node, said, given) {
  let changed = false;
  for (const [name, value] of Object.entries(given)) {
    const text = Number.isInteger(value) ? value : value.toFixed?.(1) ?? value;
    if (said[name] !== text) node.setAttribute(name, (said[name] = text), (changed = true));
  }
  return changed;
}
