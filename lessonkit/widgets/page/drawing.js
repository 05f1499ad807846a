// A curve that a learner draws: a point for each value of a knob, to be moved up and down.

const PLOT = 220;
const PAGES = "up and down by one step, with Page Up and Page Down by ten";

class Drawing {
  constructor({ knob, values, first, steps, step }, unit, changed) {
    Object.assign(this, { knob, values, first, steps, step, unit, changed });
    this.places = values.slice(1).map(() => -1);
    this.width = 0;
    this.grid = svg("g", { class: "lk-grid" });
    this.axis = svg("g", { class: "lk-axis" });
    this.line = svg("path", { class: "lk-drawn" });
    this.truth = svg("g", { class: "lk-true" });
    this.points = this.places.map((_, point) => {
      const node = svg("g", { role: "slider", tabindex: 0, "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": steps, "aria-label": `${knob}=${values[point + 1]}`, ...KEYS }, svg("circle", { r: 6 }));
      node.addEventListener("keydown", (event) => this.key(event, point));
      return node;
    });
    this.start = svg("circle", { class: "lk-first", r: 6 });
    this.svg = svg("svg", { class: "lk-timeline lk-plot", role: "group", "aria-label": `A curve to draw, against ${knob}` }, this.grid, this.axis, this.truth, this.line, this.start, ...this.points);
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.hand && this.move(event));
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => this.release());
    this.said = html("div", { class: "lk-said", "aria-live": "polite" }, `The first point is given. Draw the others by hand, or move them with the arrow keys: ${PAGES}.`);
    this.frame = html("div", { class: "lk-frame" }, this.svg);
    this.node = html("div", {}, this.frame, this.said);
    new ResizeObserver(([{ contentRect }]) => contentRect.width && this.draw(Math.floor(contentRect.width))).observe(this.frame);
  }

  get() {
    return this.places;
  }

  set(places) {
    if (!Array.isArray(places) || places.length !== this.places.length || this.hand) return;
    this.places = places.map((place) => (Number.isInteger(place) && place >= 0 && place <= this.steps ? place : -1));
    this.draw();
  }

  // The true curve over that of the learner, and where it stops paying.
  correct({ truth, knee }) {
    this.node.inert = true;
    this.right = { truth, knee };
    this.said.textContent = "";
    this.draw();
  }

  x(value) {
    return LEFT / 2 + (value / (this.values.length - 1)) * (this.width - LEFT / 2 - 2 * RIGHT);
  }

  y(place) {
    return PLOT - (place / this.steps) * (PLOT - 20);
  }

  draw(width = this.width) {
    if (!width) return;
    this.width = Math.max(300, width);
    const height = PLOT + 40, right = this.width - RIGHT;
    attributes(this.svg, { width: this.width, height, viewBox: `0 0 ${this.width} ${height}` });
    const each = nice((this.steps * this.step) / 5) / this.step;
    const marks = Array.from({ length: Math.floor(this.steps / each + 1e-9) + 1 }, (_, mark) => mark * each);
    this.grid.replaceChildren(...marks.map((mark) => svg("line", { x1: LEFT / 2 - 8, x2: right, y1: this.y(mark), y2: this.y(mark) })));
    const names = this.values.map((value, place) => svg("text", { x: this.x(place), y: PLOT + 16, "text-anchor": "middle" }, value));
    const numbers = marks.map((mark) => svg("text", { x: LEFT / 2 - 12, y: this.y(mark) + 4, "text-anchor": "end" }, number(mark * this.step)));
    const title = svg("text", { x: right, y: PLOT + 33, "text-anchor": "end" }, this.knob);
    this.axis.replaceChildren(...names, ...numbers, title, svg("text", { x: 2, y: 10 }, this.unit));
    const at = (place, point) => `${this.x(point)},${this.y(place)}`;
    const drawn = [this.first, ...this.places].map((place, point) => (place < 0 ? "" : at(place, point)));
    attributes(this.start, { cx: this.x(0), cy: this.y(this.first) });
    this.line.setAttribute("d", drawn.map((here, point) => here && `${drawn[point - 1] ? "L" : "M"}${here}`).join(""));
    this.points.forEach((node, point) => {
      const place = this.places[point], empty = place < 0;
      attributes(node.firstChild, { cx: this.x(point + 1), cy: this.y(empty ? 0 : place) });
      node.classList.toggle("lk-empty", empty);
      attributes(node, { "aria-valuenow": Math.max(0, place), "aria-valuetext": this.where(point) });
    });
    if (!this.right) return;
    const { truth, knee } = this.right, x = this.x(knee);
    this.truth.replaceChildren(
      svg("path", { d: `M${truth.map(at).join("L")}` }),
      ...truth.map((place, point) => svg("circle", { cx: this.x(point), cy: this.y(place), r: 4 })),
      ...(knee > 0 && knee < truth.length - 1 ? [svg("line", { x1: x, x2: x, y1: 20, y2: PLOT }), svg("text", { x: x + 6, y: 30 }, `from ${this.knob}=${this.values[knee]} on, nothing changes`)] : []),
    );
  }

  where(point) {
    const place = this.places[point];
    return place < 0 ? "not drawn yet" : `${number(place * this.step)} ${this.unit}`.trim();
  }

  put(point, place) {
    this.places[point] = Math.max(0, Math.min(this.steps, place));
    this.draw();
    this.said.textContent = `${this.knob}=${this.values[point + 1]}: ${this.where(point)}`;
  }

  // A hand that passes over points takes each of them along.
  press(event) {
    this.hand = true;
    this.svg.setPointerCapture?.(event.pointerId);
    event.preventDefault();
    this.move(event);
  }

  move(event) {
    const frame = this.svg.getBoundingClientRect(), scale = this.width / frame.width;
    const x = (event.clientX - frame.left) * scale, y = (event.clientY - frame.top) * scale;
    const away = this.places.map((_, point) => Math.abs(this.x(point + 1) - x));
    this.put(away.indexOf(Math.min(...away)), Math.round(((PLOT - y) / (PLOT - 20)) * this.steps));
  }

  release() {
    if (this.hand) this.changed();
    this.hand = false;
  }

  key(event, point) {
    const here = this.places[point] < 0 ? Math.round(this.places[point - 1] ?? this.first) : this.places[point];
    const to = { ArrowUp: here + 1, ArrowDown: here - 1, PageUp: here + 10, PageDown: here - 10, Home: 0, End: this.steps, Enter: here }[event.key];
    const beside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (to === undefined && !beside) return;
    if (beside) this.points[point + beside]?.focus();
    else {
      this.put(point, to);
      this.changed();
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
