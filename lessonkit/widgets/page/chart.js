// Pictures that nothing turns: rows of bars, lines and dots on one axis; and runs on one axis of
// time.

const PADDING = 22; // pixels above a row's highest mark, for its text

class Chart {
  constructor(model, el) {
    const state = JSON.parse(model.get("state"));
    Object.assign(this, { scene: state, at: -1, hatch: unique("hatch") });
    this.drawn = svg("g");
    this.ring = svg("circle", { class: "lk-ring", r: 10 });
    const point = (event) => this.point(this.nearest(event));
    const on = () => this.to(this.at + 1), back = () => this.to(this.at - 1);
    const arrows = { ArrowRight: on, ArrowDown: on, ArrowLeft: back, ArrowUp: back };
    const ends = { Home: () => this.to(0), End: () => this.to(this.items.length) };
    const hears = { onpointermove: point, onpointerdown: point };
    const aria = { role: "slider", tabindex: 0, "aria-label": `${state.title}: ${state.words}` };
    const given = { class: "lk-timeline lk-chart", ...aria, ...hears, ...KEYS };
    this.svg = svg("svg", given, hatching(this.hatch), this.drawn, this.ring);
    this.svg.addEventListener("keydown", keys({ ...arrows, ...ends }));
    this.said = spoken("lk-said");
    const title = html("div", {}, html("b", {}, state.title), ` ${state.words}`);
    el.append(title, model.watched(this.svg, (width) => this.draw(width)), this.said);
  }

  draw(width) {
    const { rows, from, to, seconds } = this.scene;
    const longest = (texts) => LETTER * Math.max(0, ...texts.map((text) => text?.length ?? 0));
    const left = Math.min(0.36 * width, 32 + longest(rows.map(({ name }) => name)));
    // A bar has its text after it, all else above; where it is narrow, only the first part.
    this.brief = (text) => (width < BRIEF ? text?.split(", ")[0] : text);
    const after = ({ kind, text }) => kind === "bar" && this.brief(text);
    const right = Math.max(32, 10 + longest(rows.flatMap(({ marks }) => marks.map(after))));
    const x = (value) => left + ((value - from) / (to - from || 1)) * (width - left - right);
    const floor = rows.reduce((sum, { height }) => sum + height, 6);
    sized(this.svg, width, floor + 26);
    this.items = [];
    const nodes = this.axis(x, floor, seconds ? 1e-6 : 1, width - left - right);
    let top = 6;
    for (const row of rows) {
      nodes.push(...this.row(row, x, top, left));
      top += row.height;
    }
    this.drawn.replaceChildren(...nodes);
    this.point(Math.min(this.at, this.items.length - 1), this.said.textContent !== "");
  }

  axis(x, floor, least, width) {
    const { from, to, seconds } = this.scene, values = rounds(from, to, width / 90, least);
    const micros = values.map((at) => at * 1e6);
    const texts = seconds ? moments(micros, to * 1e6) : values.map((at) => [at, number(at)]);
    return values.flatMap((at, index) => [
      line(x(at), 0, x(at), floor, { class: "lk-mark" }),
      label(x(at), floor + 16, texts[index][1], { class: "lk-quiet" }),
    ]);
  }

  row({ name, height, top: most, marks }, x, top, left) {
    const bars = marks[0].kind === "bar", floor = top + height - 4, nodes = [];
    const y = (value) => floor - (value / (most || 1)) * (height - (bars ? 10 : PADDING));
    if (name) {
      const room = Math.floor((left - 8) / LETTER);
      nodes.push(label(left - 8, top + height / 2 + 4, cut(name, room), { "text-anchor": "end" }));
      nodes[0].append(svg("title", {}, name));
    }
    const [first, last] = [x(this.scene.from), x(this.scene.to)];
    if (!bars) nodes.push(line(first, floor, last, floor, { class: "lk-floor" }));
    let free = 0; // from here on there is room for a text; what has none is said where one points
    for (const mark of marks) {
      const points = mark.points.map(([at, value]) => [x(at), y(value)]);
      const [[x0, y0]] = points, end = points.at(-1)[0];
      nodes.push(this.mark(mark, points, floor));
      const pointed = bars ? { x: end, y: (y0 + floor) / 2 } : { x: x0, y: y0 };
      if (mark.say) this.items.push({ ...pointed, say: mark.say });
      const text = bars ? this.brief(mark.text) : mark.text, wide = LETTER * (text?.length ?? 0);
      const at = bars ? end + 6 : Math.max(4, Math.min(x0 - wide / 2, last + 30 - wide));
      if (!text || at < free) continue;
      const given = { x: at, y: bars ? floor - 6 : y0 - 9, class: mark.marked ? "lk-bold" : "" };
      nodes.push(svg("text", given, text));
      free = at + wide;
    }
    return nodes;
  }

  mark({ kind, hatched, marked, hollow }, points, floor) {
    const [[x, y]] = points, [end] = points.at(-1);
    if (kind === "bar") {
      const fill = hatched ? filling(this.hatch, "/") : "var(--lk-accent)";
      const box = { x, y, width: end - x, height: floor - y, rx: 2 };
      return svg("rect", { ...box, fill, class: hatched && "lk-wait" });
    }
    const round = { cx: x, cy: y, r: marked ? 8 : 5, class: hollow ? "lk-hollow" : "lk-dot" };
    if (kind === "dot") return svg("circle", round);
    const [first, ...steps] = points;
    const stairs = `M${first}${steps.map(([px, py]) => `H${px}V${py}`).join("")}`;
    return svg("path", { d: kind === "line" ? `M${points.join("L")}` : stairs, class: "lk-drawn" });
  }

  nearest(event) {
    const [px, py] = inside(this.svg, event);
    return nearest(this.items, ({ x, y }) => Math.hypot(px - x, 3 * (py - y)));
  }

  point(at, aloud = true) {
    this.at = at;
    const item = this.items[at];
    this.ring.style.display = item && aloud ? "" : "none";
    const range = { "aria-valuemin": 1, "aria-valuemax": this.items.length || 1 };
    const text = item?.say ?? this.scene.words;
    const now = { "aria-valuenow": Math.max(1, at + 1), "aria-valuetext": text };
    attributes(this.svg, { ...range, ...now });
    if (!item || !aloud) return;
    attributes(this.ring, { cx: item.x, cy: item.y });
    this.said.textContent = item.say;
  }

  to = (at) => this.point(Math.max(0, Math.min(this.items.length - 1, at)));
}

class Runs {
  constructor(model, el) {
    const { runs } = JSON.parse(model.get("state"));
    for (const [title, words, scene] of runs) {
      const said = spoken("lk-said");
      const say = (bar) => (bar < 0 ? [] : sentence(scene, bar).flatMap((part) => [part, " "]));
      const onBar = (bar) => said.replaceChildren(...say(bar));
      const timeline = new Timeline({ height: 130, onTime() {}, onBar });
      timeline.least = Math.max(...runs.map(([, , { end }]) => end));
      timeline.isMoved = true; // nothing here shows one moment
      const frame = model.watched(timeline.svg, (width) => timeline.draw(scene, width));
      const head = html("div", {}, html("b", {}, title), ` ${words}`);
      const keys = div("lk-keys", ...timeline.keysOf(scene));
      el.append(head, frame, keys, said, div("lk-words", scene.summary));
    }
  }
}
