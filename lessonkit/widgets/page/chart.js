// Pictures that nothing turns: lanes of bars, stairs, lines and dots on one axis; and runs on one axis of time.

const PADDING = 22; // pixels above a lane's highest mark, for its text
const BRIEF = 480; // pixels
const LETTER = 7; // pixels, at most, for most texts

class Chart {
  constructor(model, el) {
    const state = JSON.parse(model.get("state"));
    Object.assign(this, { scene: state, at: -1, hatch: unique("hatch") });
    this.drawn = svg("g");
    this.ring = svg("circle", { class: "lk-ring", r: 10 });
    this.svg = svg("svg", { class: "lk-timeline lk-chart", role: "slider", tabindex: 0, "aria-label": `${state.title}: ${state.words}`, ...KEYS }, hatching(this.hatch), this.drawn, this.ring);
    this.said = html("div", { class: "lk-said", "aria-live": "polite" });
    for (const kind of ["pointermove", "pointerdown"]) this.svg.addEventListener(kind, (event) => this.point(this.nearest(event)));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    el.append(html("div", {}, html("b", {}, state.title), ` ${state.words}`), watched(this.svg, (width) => this.draw(width)), this.said);
  }

  draw(width) {
    const { lanes, from, to, seconds } = this.scene;
    const longest = (texts) => LETTER * Math.max(0, ...texts.map((text) => text?.length ?? 0));
    const left = Math.min(0.36 * width, 32 + longest(lanes.map(({ name }) => name)));
    // A bar has its text after it, all else above; where it is narrow, only the first part.
    this.brief = (text) => (width < BRIEF ? text?.split(", ")[0] : text);
    const right = Math.max(32, longest(lanes.flatMap(({ marks }) => marks.map(({ kind, text }) => kind === "bar" && this.brief(text)))));
    const x = (value) => left + ((value - from) / (to - from || 1)) * (width - left - right);
    const floor = lanes.reduce((sum, { height }) => sum + height, 6);
    attributes(this.svg, { width, height: floor + 26, viewBox: `0 0 ${width} ${floor + 26}` });
    this.items = [];
    const nodes = this.axis(x, floor, seconds ? 1e-6 : 1, width - left - right);
    let top = 6;
    for (const lane of lanes) {
      nodes.push(...this.lane(lane, x, top, left));
      top += lane.height;
    }
    this.drawn.replaceChildren(...nodes);
    this.point(Math.min(this.at, this.items.length - 1), this.said.textContent !== "");
  }

  axis(x, floor, least, width) {
    const { from, to, seconds } = this.scene, values = rounds(from, to, width / 90, least);
    const texts = seconds ? moments(values.map((at) => at * 1e6), to * 1e6).map(([, text]) => text) : values.map(number);
    const line = (at) => svg("line", { class: "lk-mark", x1: x(at), x2: x(at), y1: 0, y2: floor });
    return values.flatMap((at, place) => [line(at), svg("text", { class: "lk-quiet", x: x(at), y: floor + 16, "text-anchor": "middle" }, texts[place])]);
  }

  lane({ name, text, height, top: most, colour, marks }, x, top, left) {
    const bars = marks[0].kind === "bar", floor = top + height - 4;
    const y = (value) => floor - (value / (most || 1)) * (height - (bars ? 10 : PADDING));
    const room = Math.floor((left - 8) / LETTER), shown = name?.length > room ? `${name.slice(0, room - 1)}…` : name;
    const nodes = name ? [svg("text", { x: left - 8, y: top + height / 2 + (text ? -2 : 4), "text-anchor": "end" }, shown, svg("title", {}, name))] : [];
    if (text) nodes.push(svg("text", { class: "lk-quiet", x: left - 8, y: top + height / 2 + 13, "text-anchor": "end" }, text));
    if (!bars) nodes.push(svg("line", { class: "lk-floor", x1: x(this.scene.from), x2: x(this.scene.to), y1: floor, y2: floor }));
    let free = 0; // from here on there is room for a text; what has none is said where one points
    for (const mark of marks) {
      const points = mark.points.map(([at, value]) => [x(at), y(value)]);
      const [[x0, y0]] = points, [x1] = points.at(-1), end = Math.max(x0, x1);
      const fill = colour ?? "var(--lk-accent)";
      if (mark.kind === "bar") nodes.push(svg("rect", { x: Math.min(x0, x1), y: y0, width: Math.abs(x1 - x0), height: floor - y0, rx: 2, fill: mark.hatched ? `url(#${this.hatch})` : fill, class: mark.hatched ? "lk-wait" : "" }));
      else if (mark.kind === "dot") nodes.push(svg("circle", { cx: x0, cy: y0, r: mark.marked ? 8 : 5, class: mark.hollow ? "lk-hollow" : "lk-dot" }));
      else {
        const stairs = mark.kind === "line" ? `M${points.join("L")}` : points.map(([px, py], place) => (place ? `H${px}V${py}` : `M${px},${py}`)).join("");
        nodes.push(svg("path", { d: mark.kind === "area" ? `${stairs}V${floor}H${x0}Z` : stairs, class: mark.kind === "area" ? "lk-area" : `lk-drawn${mark.dashed ? " lk-dashed" : ""}`, ...(mark.kind === "area" ? { fill, stroke: fill } : {}) }));
      }
      if (mark.say) this.items.push({ x: mark.kind === "bar" ? end : x0, y: mark.kind === "bar" ? (y0 + floor) / 2 : y0, say: mark.say });
      const text = bars ? this.brief(mark.text) : mark.text, wide = LETTER * (text?.length ?? 0), at = mark.kind === "bar" ? end + 6 : Math.max(4, Math.min(x0 - wide / 2, x(this.scene.to) + 30 - wide));
      if (!text || at < free) continue;
      nodes.push(svg("text", { x: at, y: mark.kind === "bar" ? floor - 6 : y0 - 9, class: mark.marked ? "lk-bold" : "" }, text));
      free = at + wide;
    }
    return nodes;
  }

  nearest(event) {
    const frame = this.svg.getBoundingClientRect(), scale = this.svg.width.baseVal.value / frame.width;
    const away = this.items.map(({ x, y }) => Math.hypot((event.clientX - frame.left) * scale - x, 3 * ((event.clientY - frame.top) * scale - y)));
    return away.indexOf(Math.min(...away));
  }

  point(at, aloud = true) {
    this.at = at;
    const item = this.items[at];
    this.ring.style.display = item && aloud ? "" : "none";
    attributes(this.svg, { "aria-valuemin": 1, "aria-valuemax": this.items.length || 1, "aria-valuenow": Math.max(1, at + 1), "aria-valuetext": item?.say ?? this.scene.words });
    if (!item || !aloud) return;
    attributes(this.ring, { cx: item.x, cy: item.y });
    this.said.textContent = item.say;
  }

  key(event) {
    const last = this.items.length - 1;
    const to = { ArrowRight: this.at + 1, ArrowDown: this.at + 1, ArrowLeft: this.at - 1, ArrowUp: this.at - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    this.point(Math.max(0, Math.min(last, to)));
    take(event);
  }
}

class Runs {
  constructor(model, el) {
    const { runs, path } = JSON.parse(model.get("state"));
    for (const [title, words, scene] of runs) {
      const said = html("div", { class: "lk-said", "aria-live": "polite" });
      const timeline = new Timeline({ height: 130, onTime() {}, onBar: (bar) => said.replaceChildren(...(bar < 0 ? [] : sentence(scene, bar).flatMap((part) => [part, " "]))) });
      timeline.held = Math.max(...runs.map(([, , { end }]) => end));
      timeline.show.path = path;
      el.append(html("div", {}, html("b", {}, title), ` ${words}`), watched(timeline.svg, (width) => timeline.draw(scene, width)), said, html("div", { class: "lk-words" }, scene.summary));
    }
  }
}
