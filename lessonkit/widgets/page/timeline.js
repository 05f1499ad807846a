// The timeline: a row for each stage, a lane for each call, a bar for each piece of work or waiting.

const LEFT = 92, RIGHT = 16, TOP = 36, BOTTOM = 26, GAP = 9, TRACK = 64;
const FINEST = 10; // microseconds between two marks: their numbers have no more digits
const ROW = 16; // a row's name needs so much

class Timeline {
  constructor({ onTime, onBar, height }) {
    this.onTime = onTime;
    this.onBar = onBar;
    this.height = height;
    this.scene = null;
    this.other = null; // a second run on the same axis
    this.time = 0;
    this.bar = -1; // the one that is pointed at
    this.show = { path: false, waits: true, memory: false };
    this.bars = [];
    this.hatch = unique("hatch");
    this.layer = Object.fromEntries(
      ["grid", "names", "ghosts", "bars", "path", "track", "axis"].map((name) => [name, svg("g", { class: `lk-${name}` })]),
    );
    this.head = svg("g", { class: "lk-head" }, svg("path", { d: "M-6,-18 h12 v9 l-6,6 l-6,-6 z" }), svg("line", { y1: -6 }), svg("text", { x: 10, y: -8 }));
    this.ring = svg("rect", { class: "lk-ring", rx: 3 });
    const lines = svg("path", { d: "M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4" });
    const pattern = svg("pattern", { id: this.hatch, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, lines);
    this.svg = svg(
      "svg",
      { class: "lk-timeline", role: "slider", tabindex: 0, "aria-label": "Time in the run", ...KEYS },
      svg("defs", {}, pattern), ...Object.values(this.layer), this.ring, this.head,
    );
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerleave", () => this.point(-1));
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }

  // ---- from time and place to pixels, and back ----

  get end() {
    return this.held ?? Math.max(1, this.scene.end, this.other?.end ?? 0); // held still under a hand
  }

  x(micros) {
    return LEFT + (micros / this.end) * (this.width - LEFT - RIGHT);
  }

  timeAt(x) {
    return Math.max(0, Math.min(this.end, ((x - LEFT) / (this.width - LEFT - RIGHT)) * this.end));
  }

  // The rows share the height: it stays the same, whatever there is to show, if the names have room.
  measure() {
    const { rows } = this.scene;
    const lanes = rows.reduce((sum, row) => sum + row[1], 0);
    this.height = Math.max(this.height, TOP + BOTTOM + ROW * rows.length);
    const room = this.height - TOP - BOTTOM - GAP * rows.length;
    this.lane = Math.min(38, room / Math.max(1, lanes));
    this.tops = [];
    let top = TOP + GAP / 2;
    for (const row of rows) {
      this.tops.push(top);
      top += row[1] * this.lane + GAP;
    }
    this.floor = Math.max(top, TOP + 40);
  }

  box(bar) {
    const { row, lane, start, length } = this.scene.bars;
    const thin = this.other ? 0.72 : 1; // below it is the other run
    const gap = Math.min(2, this.lane / 3);
    const x = this.x(start[bar]);
    return {
      x: x + 0.5,
      y: this.tops[row[bar]] + lane[bar] * this.lane + gap / 2,
      width: Math.max(1, this.x(start[bar] + length[bar]) - x - 1),
      height: this.lane * thin - gap,
    };
  }

  // ---- drawing ----

  draw(scene = this.scene, width = this.width) {
    this.scene = scene;
    this.width = Math.max(320, width);
    this.measure();
    const height = this.height + (this.show.memory ? TRACK : 0);
    attributes(this.svg, { width: this.width, height, viewBox: `0 0 ${this.width} ${height}` });
    this.svg.classList.toggle("lk-no-waits", !this.show.waits || this.held > 0); // under a hand only the kernel knows them
    this.drawNames();
    this.drawAxis();
    this.drawBars();
    this.drawGhosts();
    this.drawPath();
    this.drawTrack();
    this.point(this.bar < scene.bars.row.length ? this.bar : -1);
    this.seek(this.time);
  }

  drawNames() {
    const key = JSON.stringify([this.scene.rows, this.tops]);
    if (key === this.named) return;
    this.named = key;
    this.layer.names.replaceChildren(
      ...this.scene.rows.map(([stage, lanes], row) => {
        const y = this.tops[row] + (lanes * this.lane) / 2 + 4;
        const short = stage.length > 10 ? `${stage.slice(0, 9)}…` : stage;
        return svg("text", { x: LEFT - 10, y, "text-anchor": "end" }, lanes > 1 ? `${isolated(short)} ×${lanes}` : short, svg("title", {}, stage));
      }),
    );
  }

  drawAxis() {
    const step = Math.max(FINEST, nice(this.end / Math.max(2, (this.width - LEFT) / 90)));
    const marks = [], lines = [];
    for (let at = 0; at <= this.end; at += step) {
      const x = this.x(at), seconds = this.end >= 1e7;
      const text = number(at / (seconds ? 1e6 : 1e3)) + (at ? "" : seconds ? " s" : " ms");
      lines.push(svg("line", { x1: x, x2: x, y1: TOP - 4, y2: this.floor }));
      marks.push(svg("text", { x, y: this.floor + 16, "text-anchor": "middle" }, text));
    }
    const { epochs, end } = this.scene;
    for (const [place, start] of epochs.entries()) {
      if (epochs.length < 2) break;
      const x = this.x(start), room = this.x(epochs[place + 1] ?? end) - x, short = `${place + 1}`;
      const label = room >= 60 ? `epoch ${short}` : room >= 6 + 8 * short.length ? short : "";
      marks.push(svg("text", { class: "lk-epoch", x: x + 4, y: 10 }, label));
      lines.push(svg("line", { class: "lk-epoch", x1: x, x2: x, y1: 2, y2: this.floor }));
    }
    this.layer.grid.replaceChildren(...lines);
    this.layer.axis.replaceChildren(...marks);
  }

  // Bars are kept from one picture to the next, and only what has changed is told to the page.
  drawBars() {
    const { bars, rows } = this.scene;
    const count = bars.row.length;
    while (this.bars.length < count) {
      const text = svg("text", { "text-anchor": "middle" });
      this.bars.push({ rect: svg("rect", { rx: 2.5 }), text, said: {} });
      this.layer.bars.append(this.bars.at(-1).rect, text);
    }
    for (let bar = 0; bar < this.bars.length; bar++) {
      const { rect, text, said } = this.bars[bar];
      const hidden = bar >= count;
      if (said.hidden !== hidden) rect.style.display = hidden ? "none" : "";
      said.hidden = hidden;
      if (hidden) {
        if (said.label) text.textContent = said.label = "";
        continue;
      }
      const { x, y, width, height } = this.box(bar);
      const [, , colour, ink] = rows[bars.row[bar]];
      const wait = bars.kind[bar] !== "";
      const label = bars.kind[bar] === "idle" && bars.note[bar] ? `waits for ${bars.note[bar].split(",")[0]}` : bars.label[bar];
      const fits = label && height >= 11 && width >= 7 * label.length + (wait ? 24 : 4) ? label : "";
      tell(rect, said, "x", x.toFixed(1));
      tell(rect, said, "y", y.toFixed(1));
      tell(rect, said, "width", width.toFixed(1));
      tell(rect, said, "height", height.toFixed(1));
      if (tell(rect, said, "class", wait ? "lk-bar lk-wait" : "lk-bar")) this.bars[bar].lit = false;
      tell(rect, said, "fill", wait ? `url(#${this.hatch})` : colour);
      tell(rect, said, "data-start", bars.start[bar]);
      tell(rect, said, "data-length", bars.length[bar]);
      tell(rect, said, "data-stage", rows[bars.row[bar]][0]);
      if (said.label !== fits) text.textContent = said.label = fits;
      if (!fits) continue;
      tell(text, (said.text ??= {}), "class", wait ? "lk-why" : ink === "#ffffff" ? "lk-white" : "");
      tell(text, said.text, "x", (x + width / 2).toFixed(1));
      tell(text, said.text, "y", (y + height / 2 + 4).toFixed(1));
    }
  }

  // The other run, thin, below the bars of the same stage: one shape for each stage.
  drawGhosts() {
    this.layer.ghosts.replaceChildren();
    if (!this.other) return;
    const { bars, rows: theirs } = this.other;
    const rows = theirs.map(([stage]) => this.scene.rows.findIndex((row) => row[0] === stage));
    const shapes = theirs.map(() => "");
    for (let bar = 0; bar < bars.row.length; bar++) {
      const row = rows[bars.row[bar]];
      if (row < 0 || bars.kind[bar]) continue;
      const lane = Math.min(bars.lane[bar], this.scene.rows[row][1] - 1);
      const x = this.x(bars.start[bar]);
      const width = Math.max(1, this.x(bars.start[bar] + bars.length[bar]) - x - 1);
      const y = this.tops[row] + (lane + 0.74) * this.lane;
      shapes[bars.row[bar]] += `M${x.toFixed(1)},${y.toFixed(1)}h${width.toFixed(1)}v${(this.lane * 0.2).toFixed(1)}h${-width.toFixed(1)}z`;
    }
    const end = this.x(this.other.end);
    this.layer.ghosts.append(
      ...shapes.map((d, row) => svg("path", { d, fill: theirs[row][2] })),
      svg("line", { x1: end, x2: end, y1: TOP - 4, y2: this.floor }),
    );
  }

  drawPath() {
    this.layer.path.replaceChildren();
    if (!this.show.path) return;
    for (const [start, end, bar] of this.scene.path) {
      if (bar < 0) continue;
      const { y, height } = this.box(bar);
      const x = this.x(start);
      this.layer.path.append(svg("rect", { x, y: y - 1.5, width: Math.max(1, this.x(end) - x), height: height + 3, rx: 3 }));
    }
  }

  // What is held over time, all buffers one on the other.
  drawTrack() {
    this.layer.track.replaceChildren();
    if (!this.show.memory) return;
    const { time: times, change, bytes } = this.scene.events;
    const level = times.map((_, event) => change[event] * (bytes.length ? bytes[event] : 1));
    const most = level.reduce(([now, top], step) => [now + step, Math.max(top, now + step)], [0, 0])[1];
    const floor = this.floor + BOTTOM + TRACK - 8;
    const y = (held) => floor - (held / Math.max(1, most)) * (TRACK - 20);
    let line = `M${LEFT},${floor}`, held = 0;
    for (let event = 0; event < times.length; event++) {
      held += level[event];
      line += `H${this.x(times[event]).toFixed(1)}V${y(held).toFixed(1)}`;
    }
    const top = bytes.length ? size(most) : `${most} held`;
    this.layer.track.append(
      svg("path", { d: `${line}H${this.x(this.scene.end)}V${floor}Z` }),
      svg("text", { x: LEFT - 10, y: floor - 8, "text-anchor": "end" }, "Memory"),
      svg("text", { x: LEFT + 4, y: floor - TRACK + 30 }, `at most ${top}`),
    );
  }

  // ---- the playhead, and pointing ----

  seek(micros) {
    this.time = Math.max(0, Math.min(this.end, micros));
    const x = this.x(this.time);
    const [, line, text] = this.head.children;
    this.head.setAttribute("transform", `translate(${x.toFixed(1)},${TOP})`);
    line.setAttribute("y2", this.floor - TOP);
    const right = x > this.width - 80;
    attributes(text, { x: right ? -10 : 10, "text-anchor": right ? "end" : "start" });
    text.textContent = time(this.time);
    attributes(this.svg, { "aria-valuemin": 0, "aria-valuemax": Math.round(this.end / 1000) });
    attributes(this.svg, { "aria-valuenow": Math.round(this.time / 1000), "aria-valuetext": time(this.time) });
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
    const { row } = this.scene.bars;
    for (let bar = row.length - 1; bar >= 0; bar--) {
      const box = this.box(bar);
      if (x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y && y <= box.y + box.height) return bar;
    }
    return -1;
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
    for (let other = 0; other < this.bars.length; other++) {
      const light = lit !== null && lit.has(other);
      if (this.bars[other].lit === light) continue;
      this.bars[other].lit = light;
      this.bars[other].rect.classList.toggle("lk-lit", light);
      this.bars[other].text.classList.toggle("lk-lit", light);
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
    const rowsThere = all.map((bar) => row[bar]).filter((other) => (other - row[here]) * direction > 0);
    if (!rowsThere.length) return undefined;
    const wanted = direction > 0 ? Math.min(...rowsThere) : Math.max(...rowsThere);
    const there = all.filter((bar) => row[bar] === wanted);
    const away = (bar) => Math.abs(start[bar] - start[here]);
    return this.point(there.reduce((best, bar) => (away(bar) < away(best) ? bar : best)));
  }

  press(event) {
    this.svg.focus({ preventScroll: true });
    this.svg.setPointerCapture?.(event.pointerId);
    this.dragging = true;
    this.svg.addEventListener("pointerup", () => (this.dragging = false), { once: true });
    this.svg.addEventListener("pointercancel", () => (this.dragging = false), { once: true });
    this.seek(this.timeAt(this.inside(event)[0]));
    event.preventDefault();
  }

  move(event) {
    const [x, y] = this.inside(event);
    if (this.dragging) this.seek(this.timeAt(x));
    const bar = this.at(x, y);
    if (bar !== this.bar) this.point(bar);
  }

  inside(event) {
    const frame = this.svg.getBoundingClientRect();
    const scale = this.width / frame.width; // the page may be zoomed
    return [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
  }

  key(event) {
    const act = {
      ArrowRight: () => (event.shiftKey ? this.walk(1) : this.step(1)),
      ArrowLeft: () => (event.shiftKey ? this.walk(-1) : this.step(-1)),
      ArrowDown: () => this.walk(1, true),
      ArrowUp: () => this.walk(-1, true),
      Home: () => this.seek(0),
      End: () => this.seek(this.end),
      Enter: () => this.bar >= 0 && this.seek(this.scene.bars.start[this.bar]),
      Escape: () => this.point(-1),
    }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  }
}

function tell(node, said, name, value) {
  if (said[name] === value) return false;
  said[name] = value;
  node.setAttribute(name, value);
  return true;
}

// A name that is written from right to left does not turn around what stands beside it.
function isolated(name) {
  return `\u2068${name}\u2069`;
}

// 1, 2 or 5 times a power of ten.
function nice(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].map((factor) => factor * power).find((round) => round >= step);
}

function size(bytes) {
  const power = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${number(bytes / 1000 ** power)} ${["B", "kB", "MB", "GB"][power]}`;
}
