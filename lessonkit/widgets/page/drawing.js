// A curve that a learner draws: a point for each value of a knob, to be moved up and down.

const PLOT = 220, FLOOR = 40;
const HINT = "The first point is given. Draw the others by hand, or with the arrow keys; "
  + "Page Up and Page Down make larger steps.";

class Drawing {
  constructor(life, { knob, values, first, steps, step, unit }, changed) {
    Object.assign(this, { knob, values, first, steps, step, unit, changed });
    this.places = values.slice(1).map(() => -1);
    const layer = (name) => svg("g", { class: `lk-${name}` });
    [this.grid, this.axis, this.truth] = ["grid", "axis", "true"].map(layer);
    this.line = svg("path", { class: "lk-drawn" });
    const range = { "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": steps };
    this.points = this.places.map((_, point) => {
      const aria = { role: "slider", tabindex: 0, "aria-label": `${knob}=${values[point + 1]}` };
      const onkeydown = (event) => this.key(event, point);
      return svg("circle", { r: 7, onkeydown, ...aria, ...range, ...KEYS });
    });
    this.start = svg("circle", { class: "lk-first", r: 7 });
    this.given = svg("text", {}, this.says(first));
    const marks = [this.start, ...this.points, this.given];
    const drawn = [this.grid, this.axis, this.truth, this.line, ...marks];
    const given = `${knob}=${values[0]} gives ${this.says(first)}`;
    const aria = { role: "group", "aria-label": `A curve to draw, against ${knob}: ${given}` };
    const plot = svg("svg", { class: "lk-timeline lk-plot", ...aria }, ...drawn);
    this.svg = attributes(plot, {
      onpointerdown: (event) => this.press(event),
      onpointermove: (event) => this.hand && this.move(event),
      onlostpointercapture: () => this.changed((this.hand = false)),
    });
    this.said = spoken("lk-said", HINT);
    this.node = html("div", {}, life.watched(this.svg, (width) => this.draw(width)), this.said);
  }

  get = () => [...this.places]; // as they are now: they move on

  set(places) {
    if (!Array.isArray(places) || places.length !== this.places.length || this.hand) return;
    this.places = places.map((place) => (isStep(place) ? Math.min(place, this.steps) : -1));
    this.draw();
  }

  // The true curve over that of the learner, its knee, and the limit of each run but the first.
  correct({ truth, knee, limits }) {
    this.right = { truth: [this.first, ...truth], knee, limits };
    this.node.inert = true;
    this.said.textContent = "";
    this.draw();
  }

  x = (value) => FLOOR + (value / (this.values.length - 1)) * (this.width - FLOOR - 2 * RIGHT);
  y = (place) => PLOT - (place / this.steps) * (PLOT - 20);

  path(places) {
    const at = places.map((place, point) => place >= 0 && `${this.x(point)},${this.y(place)}`);
    return at.map((here, point) => (here ? `${at[point - 1] ? "L" : "M"}${here}` : "")).join("");
  }

  draw(width = this.width) {
    if (!width) return;
    this.width = Math.max(NARROWEST, width);
    sized(this.svg, this.width, PLOT + FLOOR);
    const right = this.width - RIGHT, last = { "text-anchor": "end" };
    const marks = rounds(0, this.steps * this.step, 5).map((value) => value / this.step);
    const across = (mark) => line(FLOOR - 8, this.y(mark), right, this.y(mark));
    this.grid.replaceChildren(...marks.map(across));
    this.axis.replaceChildren(
      ...this.values.map((value, point) => label(this.x(point), PLOT + 20, value)),
      ...marks.map((mark) => label(FLOOR - 12, this.y(mark) + 4, number(mark * this.step), last)),
      label(right, PLOT + 36, this.knob, last),
      svg("text", { x: 2, y: 10 }, this.unit),
    );
    attributes(this.start, { cx: this.x(0), cy: this.y(this.first) });
    attributes(this.given, { x: this.x(0) + 9, y: this.y(this.first) - 9 });
    this.line.setAttribute("d", this.path([this.first, ...this.places]));
    this.points.forEach((node, point) => {
      const place = Math.max(0, this.places[point]);
      attributes(node, { cx: this.x(point + 1), cy: this.y(place) });
      attributes(node, { "aria-valuenow": place, "aria-valuetext": this.where(point) });
      node.classList.toggle("lk-empty", this.places[point] < 0);
    });
    if (this.right) this.drawTruth(this.right);
  }

  drawTruth({ truth, knee, limits = [] }) {
    const x = this.x(knee), bend = knee > 0 && knee < truth.length - 1;
    const words = `knee: ${this.knob}=${this.values[knee]}`;
    const isRight = x + LETTER * words.length < this.width;
    const beside = { x: x + (isRight ? 6 : -6), y: 32, "text-anchor": isRight ? "start" : "end" };
    const dot = (place, point) => svg("circle", { cx: this.x(point), cy: this.y(place), r: 4 });
    this.truth.replaceChildren(svg("path", { d: this.path(truth) }), ...truth.map(dot));
    if (bend) this.truth.append(line(x, 20, x, PLOT), svg("text", beside, words));
    this.drawLimit(Math.min(...limits.map(([least]) => least)));
  }

  // What none of these runs can get below. A first run that does is not held by it.
  drawLimit(least) {
    if (least > this.first + 1e-6) return;
    const y = this.y(least), right = this.width - RIGHT, isLow = y > PLOT - 16;
    const place = { x: FLOOR + 10, y: isLow ? y - 6 : y + 14 };
    const words = svg("text", place, `limit: ${this.says(least)}`);
    this.truth.append(line(FLOOR - 8, y, right, y, { class: "lk-limit" }), words);
  }

  says = (place) => `${number(place * this.step)} ${this.unit}`.trim();

  where(point) {
    const place = this.places[point];
    return place < 0 ? "not drawn yet" : this.says(place);
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
    const [x, y] = inside(this.svg, event);
    const point = nearest(this.points, (_, index) => Math.abs(this.x(index + 1) - x));
    this.put(point, Math.round(((PLOT - y) / (PLOT - 20)) * this.steps));
  }

  key(event, point) {
    const beside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, Enter: 0 }[event.key];
    const before = this.places[point - 1] ?? this.first;
    const here = this.places[point] < 0 ? Math.round(before) : this.places[point];
    if (beside) this.points[point + beside]?.focus();
    else if (by !== undefined) this.put(point, here + by);
    else return;
    this.changed();
    take(event);
  }
}
