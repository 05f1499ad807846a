// A curve that a learner draws: a point for each value of a knob, to be moved up and down.

const PLOT = 220, FLOOR = 40;

class Drawing {
  constructor({ knob, values, first, steps, step, unit }, changed) {
    Object.assign(this, { knob, values, first, steps, step, unit, changed });
    this.places = values.slice(1).map(() => -1);
    [this.grid, this.axis, this.truth] = ["grid", "axis", "true"].map((name) => svg("g", { class: `lk-${name}` }));
    this.line = svg("path", { class: "lk-drawn" });
    this.points = this.places.map((_, point) => {
      const named = { role: "slider", "aria-label": `${knob}=${values[point + 1]}`, "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": steps };
      return svg("circle", { r: 7, tabindex: 0, onkeydown: (event) => this.key(event, point), ...named, ...KEYS });
    });
    this.start = svg("circle", { class: "lk-first", r: 7 });
    const drag = { onpointerdown: (event) => this.press(event), onpointermove: (event) => this.hand && this.move(event), onlostpointercapture: () => this.changed((this.hand = false)) };
    this.svg = svg("svg", { class: "lk-timeline lk-plot", role: "group", "aria-label": `A curve to draw, against ${knob}`, ...drag }, this.grid, this.axis, this.truth, this.line, this.start, ...this.points);
    this.said = html("div", { class: "lk-said", "aria-live": "polite" }, "The first point is given. Draw the others by hand, or with the arrow keys; Page Up and Page Down make larger steps.");
    this.node = html("div", {}, watched(this.svg, (width) => this.draw(width)), this.said);
  }

  get = () => this.places;

  set(places) {
    if (!Array.isArray(places) || places.length !== this.places.length || this.hand) return;
    this.places = places.map((place) => (Number.isInteger(place) && place >= 0 ? Math.min(place, this.steps) : -1));
    this.draw();
  }

  // The true curve over that of the learner, and its knee.
  correct({ truth, knee }) {
    this.right = { truth: [this.first, ...truth], knee };
    this.node.inert = true;
    this.said.textContent = "";
    this.draw();
  }

  x(value) {
    return FLOOR + (value / (this.values.length - 1)) * (this.width - FLOOR - 2 * RIGHT);
  }

  y(place) {
    return PLOT - (place / this.steps) * (PLOT - 20);
  }

  path(places) {
    const there = places.map((place, point) => (place < 0 ? "" : `${this.x(point)},${this.y(place)}`));
    return there.map((here, point) => here && `${there[point - 1] ? "L" : "M"}${here}`).join("");
  }

  draw(width = this.width) {
    if (!width) return;
    this.width = Math.max(NARROWEST, width);
    attributes(this.svg, { width: this.width, height: PLOT + FLOOR, viewBox: `0 0 ${this.width} ${PLOT + FLOOR}` });
    const right = this.width - RIGHT, marks = rounds(0, this.steps * this.step, 5).map((value) => value / this.step);
    this.grid.replaceChildren(...marks.map((mark) => svg("line", { x1: FLOOR - 8, x2: right, y1: this.y(mark), y2: this.y(mark) })));
    this.axis.replaceChildren(
      ...this.values.map((value, place) => svg("text", { x: this.x(place), y: PLOT + 20, "text-anchor": "middle" }, value)),
      ...marks.map((mark) => svg("text", { x: FLOOR - 12, y: this.y(mark) + 4, "text-anchor": "end" }, number(mark * this.step))),
      svg("text", { x: right, y: PLOT + 36, "text-anchor": "end" }, this.knob), svg("text", { x: 2, y: 10 }, this.unit),
    );
    attributes(this.start, { cx: this.x(0), cy: this.y(this.first) });
    this.line.setAttribute("d", this.path([this.first, ...this.places]));
    this.points.forEach((node, point) => {
      const place = Math.max(0, this.places[point]);
      attributes(node, { cx: this.x(point + 1), cy: this.y(place), "aria-valuenow": place, "aria-valuetext": this.where(point) });
      node.classList.toggle("lk-empty", this.places[point] < 0);
    });
    if (this.right) this.drawTruth(this.right);
  }

  drawTruth({ truth, knee }) {
    const x = this.x(knee), bend = knee > 0 && knee < truth.length - 1;
    const words = svg("text", { x: x + 6, y: 32 }, `knee: ${this.knob}=${this.values[knee]}`);
    const points = truth.map((place, point) => svg("circle", { cx: this.x(point), cy: this.y(place), r: 4 }));
    this.truth.replaceChildren(svg("path", { d: this.path(truth) }), ...points, ...(bend ? [svg("line", { x1: x, x2: x, y1: 20, y2: PLOT }), words] : []));
  }

  where(point) {
    return this.places[point] < 0 ? "not drawn yet" : `${number(this.places[point] * this.step)} ${this.unit}`.trim();
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
    const { left, top, width } = this.svg.getBoundingClientRect(), scale = this.width / width;
    const away = this.points.map((_, point) => Math.abs(this.x(point + 1) - (event.clientX - left) * scale));
    this.put(away.indexOf(Math.min(...away)), Math.round(((PLOT - (event.clientY - top) * scale) / (PLOT - 20)) * this.steps));
  }

  key(event, point) {
    const beside = { ArrowRight: 1, ArrowLeft: -1 }[event.key], by = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, Enter: 0 }[event.key];
    const here = this.places[point] < 0 ? Math.round(this.places[point - 1] ?? this.first) : this.places[point];
    if (beside) this.points[point + beside]?.focus();
    else if (by !== undefined) this.put(point, here + by);
    else return;
    this.changed();
    take(event);
  }
}
