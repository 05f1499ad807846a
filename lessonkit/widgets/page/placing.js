// Bars that a learner puts on the axis of a run. They wait in a tray below it, and snap to its steps.

const LANE = 32, TRAY = 26;
const PICKED = "arrow keys move it, with Shift to the next edge; Enter puts it down, Escape takes it back, Delete puts it away";

class Placing extends Timeline {
  constructor({ rows, bars, given, step, steps }, changed) {
    const lanes = rows.reduce((sum, row) => sum + row[1], 0);
    super({ height: TOP + BOTTOM + GAP * rows.length + LANE * lanes, onTime: () => {}, onBar: () => {} });
    this.scene = { rows, epochs: [], end: step * steps };
    this.given = given;
    this.step = step;
    this.changed = changed; // called when a bar was put down
    this.places = bars.map(() => -1);
    this.lanes = bars.map(() => 0);
    this.held = -1;
    this.said = html("div", { class: "lk-said", "aria-live": "polite" });
    this.frame = html("div", { class: "lk-frame" }, this.svg);
    this.node = html("div", { class: "lk-placing" }, this.frame, this.said);
    this.shadow = svg("rect", { class: "lk-shadow", rx: 3 });
    this.tray = svg("text", { x: LEFT - 10, "text-anchor": "end" }, "to place");
    this.theirs = svg("g", { class: "lk-theirs" });
    this.bars = bars.map(([row, label, length, name], bar) => {
      const [, , fill, ink] = rows[row];
      const text = svg("text", { "text-anchor": "middle", class: ink === "#ffffff" ? "lk-white" : "" }, label);
      const node = svg("g", { role: "button", tabindex: 0, "aria-pressed": "false", ...KEYS }, svg("rect", { rx: 3, fill }), text);
      node.addEventListener("blur", () => this.held === bar && !this.grip && this.drop(bar));
      return { row, length, name, node };
    });
    this.layer.bars.append(...this.bars.map(({ node }) => node));
    this.head.remove();
    this.ring.remove();
    this.svg.append(this.shadow, this.theirs, this.tray, this.layer.bars);
    attributes(this.svg, { role: "group", "aria-label": "Bars to place in time" });
    this.svg.removeAttribute("tabindex");
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, (event) => this.release(event));
    new ResizeObserver(([{ contentRect }]) => contentRect.width && this.draw(this.scene, Math.floor(contentRect.width))).observe(this.frame);
    this.say(`${bars.length} bars to place. Drag them to where they belong, or press Enter on one: ${PICKED}.`);
  }

  // ---- what the question asks for ----

  get() {
    return this.places;
  }

  set(places) {
    if (!Array.isArray(places) || places.length !== this.bars.length || this.held >= 0) return;
    this.places = places.map((place, bar) => (this.fits(bar, place) ? place : -1));
    this.arrange();
  }

  // The true bars slide over those of the learner, which stay as outlines.
  correct({ truth }) {
    this.node.inert = true;
    this.theirs.replaceChildren(...this.bars.map((_, bar) => this.places[bar]).flatMap((place, bar) => (place < 0 ? [] : [svg("rect", { rx: 3, ...this.boxOf(bar) })])));
    this.svg.classList.add("lk-slide");
    this.places = truth;
    this.lanes.fill(0);
    this.say("");
    requestAnimationFrame(() => this.arrange());
  }

  // ---- drawing ----

  draw(scene = this.scene, width = this.width) {
    if (!width) return;
    this.scene = scene;
    this.width = Math.max(320, width);
    this.measure();
    this.bottom = this.floor + BOTTOM; // of the axis; below it is the tray
    attributes(this.svg, { width: this.width, height: this.bottom + LANE + 4, viewBox: `0 0 ${this.width} ${this.bottom + LANE + 4}` });
    this.tray.setAttribute("y", this.bottom + LANE / 2 + 4);
    this.drawNames();
    this.drawAxis();
    this.layer.ghosts.replaceChildren(...this.given.map(([row, lane, start, length]) => svg("rect", { fill: this.scene.rows[row][2], rx: 3, ...this.boxAt(row, lane, start, length) })));
    this.arrange();
  }

  arrange() {
    if (!this.width) return;
    this.bars.forEach((_, bar) => bar !== this.held && this.findLane(bar));
    if (this.held >= 0) this.findLane(this.held); // last, so that the others make no room for it
    this.bars.forEach((_, bar) => this.drawBar(bar));
  }

  point() {} // nothing is told of these bars

  drawBar(bar, dx = 0, dy = 0) {
    const { name, length, node } = this.bars[bar], [rect, text] = node.children;
    const { x, y, width, height } = this.boxOf(bar);
    attributes(rect, { width, height });
    attributes(text, { x: width / 2, y: height / 2 + 4 });
    text.style.display = width < 7 * text.textContent.length ? "none" : "";
    node.style.transform = `translate(${x + dx}px, ${y + dy}px)`;
    node.classList.toggle("lk-held", bar === this.held);
    const span = time(length * this.step);
    attributes(node, { "aria-pressed": String(bar === this.held), "aria-label": `${name}, ${span}, ${this.where(bar)}` });
  }

  boxAt(row, lane, start, length) {
    const x = this.x(start);
    return { x: x + 0.5, y: this.tops[row] + lane * this.lane + 1, width: Math.max(1, this.x(start + length) - x - 1), height: this.lane - 2 };
  }

  boxOf(bar) {
    const { row, length } = this.bars[bar], place = this.places[bar];
    if (place >= 0) return this.boxAt(row, this.lanes[bar], place * this.step, length * this.step);
    const before = this.bars.slice(0, bar).reduce((sum, other) => sum + other.length, 0); // all of them fit the axis
    return { ...this.boxAt(0, 0, before * this.step, length * this.step), y: this.bottom + 1, height: LANE - 2 };
  }

  overlap(bar, other) {
    const at = this.places;
    return at[bar] >= 0 && at[other] >= 0 && at[bar] < at[other] + this.bars[other].length && at[other] < at[bar] + this.bars[bar].length;
  }

  // A bar keeps its lane while that is free there, or else takes the first that is; with none, it lies on another bar.
  findLane(bar) {
    const { row } = this.bars[bar];
    const taken = this.bars.map((_, other) => other).filter((other) => other !== bar && (other < bar || bar === this.held) && this.bars[other].row === row && this.overlap(bar, other)).map((other) => this.lanes[other]);
    const lanes = Array.from({ length: this.scene.rows[row][1] }, (_, lane) => lane);
    const free = [this.lanes[bar], ...lanes].find((lane) => !taken.includes(lane));
    if (free !== undefined) this.lanes[bar] = free;
  }

  where(bar) {
    const place = this.places[bar];
    return place < 0 ? "not placed yet" : `from ${time(place * this.step)} to ${time((place + this.bars[bar].length) * this.step)}`;
  }

  say(text) {
    this.said.textContent = text;
  }

  // ---- picking up, moving, putting down ----

  fits(bar, place) {
    return Number.isInteger(place) && place >= 0 && (place + this.bars[bar].length) * this.step <= this.scene.end;
  }

  pick(bar) {
    this.held = bar;
    this.before = this.places[bar];
  }

  put(bar, place) {
    if (place >= 0) place = Math.max(0, Math.min(place, this.scene.end / this.step - this.bars[bar].length));
    this.places[bar] = place;
    this.arrange();
    this.say(`${this.bars[bar].name} ${this.where(bar)}.`);
  }

  drop(bar, text = "") {
    this.held = -1;
    this.shadow.style.display = "none";
    this.arrange();
    this.say(text || `${this.bars[bar].name} put down, ${this.where(bar)}.`);
    this.changed();
  }

  press(event) {
    const bar = this.bars.findIndex(({ node }) => node.contains(event.target));
    if (bar < 0 || event.button) return;
    if (this.held >= 0) this.drop(this.held);
    this.pick(bar);
    this.layer.bars.append(this.bars[bar].node); // above all others
    const [x, y] = this.inside(event), box = this.boxOf(bar);
    this.grip = { x: x - box.x, y: y - box.y };
    this.svg.setPointerCapture?.(event.pointerId);
    event.preventDefault();
  }

  // The bar follows the hand, and a shadow shows where it will be put.
  move(event) {
    if (!this.grip) return;
    const bar = this.held, [x, y] = this.inside(event);
    const over = y < this.bottom;
    this.places[bar] = -1;
    if (over) this.put(bar, Math.round(this.timeAt(x - this.grip.x) / this.step));
    const box = this.boxOf(bar);
    this.shadow.style.display = over ? "" : "none";
    attributes(this.shadow, box);
    this.drawBar(bar, x - this.grip.x - box.x, y - this.grip.y - box.y);
  }

  release(event) {
    if (!this.grip) return;
    this.grip = null;
    const bar = this.held, [x, y] = this.inside(event);
    const out = event.type === "pointercancel" || x < 0 || y < 0 || x > this.width || y > this.bottom + LANE + 4;
    if (out) this.places[bar] = this.before;
    this.layer.bars.append(...this.bars.map(({ node }) => node)); // the order for the Tab key
    this.bars[bar].node.focus({ preventScroll: true });
    this.drop(bar, out ? `${this.bars[bar].name} was dropped outside and is back: ${this.where(bar)}.` : "");
  }

  key(event) {
    const bar = this.bars.findIndex(({ node }) => node === event.target);
    if (bar < 0) return;
    const held = this.held === bar, there = this.places[bar];
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const toggle = () => {
      if (held) return this.drop(bar);
      this.pick(bar);
      this.put(bar, Math.max(0, there));
      return this.say(`${this.bars[bar].name} picked up, ${this.where(bar)}: ${PICKED}.`);
    };
    const away = () => {
      this.places[bar] = event.key === "Escape" ? this.before : -1;
      this.drop(bar);
    };
    let act = { Enter: toggle, " ": toggle, Escape: held && away, Delete: away, Backspace: away }[event.key];
    if (held && by) act = () => this.put(bar, event.shiftKey ? this.edge(bar, by) : there + by);
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  }

  // The next place at which another bar begins or ends.
  edge(bar, direction) {
    const here = this.places[bar];
    const edges = this.bars.flatMap(({ length }, other) => (other === bar || this.places[other] < 0 ? [] : [this.places[other], this.places[other] + length]));
    const ahead = [...edges, 0].filter((at) => (at - here) * direction > 0);
    return ahead.length ? direction * Math.min(...ahead.map((at) => at * direction)) : here;
  }
}
