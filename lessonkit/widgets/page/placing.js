// Bars that a learner puts on the axis of a run. They wait in a tray below it, and snap to its
// steps.

const LANE = 32;
const HOW = "Drag each bar to where it belongs, or press Enter on it. Arrow keys then move it, "
  + "with Shift five steps at a time; "
  + "Enter puts it down, Escape takes it back, and Delete removes it from the axis.";

// What is said of a bar, and of where it is.
const TOLD = {
  moved: (name, where) => `${name}: ${where}.`,
  held: (name, where) => `${name} is picked up: ${where}.`,
  down: (name, where) => `${name} is put down: ${where}.`,
  back: (name, where) => `${name} was dropped outside and is back: ${where}.`,
};

class Placing extends Timeline {
  constructor(life, { rows, bars, given, step, steps }, changed) {
    const lanes = rows.reduce((sum, [, count]) => sum + count, 0);
    super({ height: TOP + BOTTOM + GAP * rows.length + LANE * lanes });
    this.scene = { rows, epochs: [], end: step * steps };
    // `placed`: where the learner had put them, once they are corrected.
    Object.assign(this, { given, step, changed, picked: -1, placed: [] });
    this.places = bars.map(() => -1); // in steps; -1 in the tray
    this.lanes = bars.map(() => 0);
    this.bars = bars.map(([row, words, length, name], bar) => {
      const [, , fill] = rows[row];
      const rect = svg("rect", { rx: 3, fill, height: LANE - 2 });
      const text = label(0, LANE / 2 + 3, words || name);
      const onblur = () => this.picked === bar && !this.grip && this.drop();
      const node = svg("g", { role: "button", tabindex: 0, onblur, ...KEYS }, rect, text);
      return { row, length, name, node, rect, text };
    });
    this.tray = label(LEFT - 10, 0, "to place", { "text-anchor": "end" });
    this.shadow = svg("rect", { class: "lk-shadow", rx: 3, style: "display: none" });
    this.theirs = svg("g", { class: "lk-theirs" });
    const { grid, names, ghosts, axis, bars: front } = this.layer;
    this.svg.replaceChildren(grid, names, ghosts, axis, this.tray, this.shadow, this.theirs, front);
    front.append(...this.bars.map(({ node }) => node));
    attributes(this.svg, { role: "group", "aria-label": "Bars to place in time" });
    this.svg.removeAttribute("tabindex");
    // Or the page would follow the finger.
    front.addEventListener("touchstart", (event) => event.preventDefault());
    const many = bars.length === 1 ? "1 bar" : `${bars.length} bars`;
    this.said = spoken("lk-said", `${many} to place. ${HOW}`);
    const frame = life.watched(this.svg, (width) => this.draw(this.scene, width));
    this.node = div("lk-placing", frame, this.said);
  }

  point() {} // of these bars nothing is told yet
  get = () => [...this.places]; // as they are now: they move on

  set(places) {
    if (!Array.isArray(places) || places.length !== this.bars.length || this.picked >= 0) return;
    this.places = places.map((place, bar) => (isStep(place) ? this.clamp(bar, place) : -1));
    this.arrange();
  }

  // The true bars slide over those of the learner, which stay as outlines.
  correct({ truth }) {
    const placed = this.bars.map((_, bar) => bar).filter((bar) => this.places[bar] >= 0);
    const at = (bar) => [this.places[bar] * this.step, this.bars[bar].length * this.step];
    this.placed = placed.map((bar) => [this.bars[bar].row, this.lanes[bar], ...at(bar)]);
    this.svg.classList.add("lk-slide");
    this.places = truth;
    this.node.inert = true;
    this.tray.textContent = this.said.textContent = "";
    requestAnimationFrame(() => this.width && this.draw(this.scene, this.width));
  }

  // ---- drawing ----

  draw(scene, width) {
    this.width = Math.max(NARROWEST, width);
    this.measure();
    this.bottom = this.floor + BOTTOM; // of the axis; below it is the tray
    const height = this.bottom + (this.node.inert ? 0 : LANE);
    sized(this.svg, this.width, height);
    this.tray.setAttribute("y", this.bottom + LANE / 2 + 3);
    this.drawNames();
    this.drawAxis();
    this.layer.ghosts.replaceChildren(...this.given.map(([row, ...where]) => {
      return svg("rect", { fill: scene.rows[row][2], rx: 3, ...this.boxAt(row, ...where) });
    }));
    const outline = (bar) => svg("rect", { rx: 3, ...this.boxAt(...bar) });
    this.theirs.replaceChildren(...this.placed.map(outline));
    this.arrange();
  }

  arrange() {
    if (!this.width) return;
    this.bars.forEach((_, bar) => this.findLane(bar));
    this.bars.forEach((_, bar) => this.drawBar(bar, this.box(bar)));
  }

  drawBar(bar, { x, y, width }) {
    const { name, length, node, rect, text } = this.bars[bar];
    attributes(rect, { width });
    const size = Math.min(11.5, (1.6 * width) / text.textContent.length); // pixels, of a letter
    const visibility = size < 7 ? "hidden" : "visible";
    attributes(text, { x: width / 2, style: `font-size: ${size}px; visibility: ${visibility}` });
    node.style.transform = `translate(${x}px, ${y}px)`;
    const said = `${name}, ${time(length * this.step)}, ${this.where(bar)}`;
    attributes(node, { "aria-pressed": String(bar === this.picked), "aria-label": said });
  }

  boxAt(row, lane, start, length) {
    const x = this.x(start), width = Math.max(1, this.x(start + length) - x - 1);
    return { x: x + 0.5, y: this.tops[row] + lane * this.lane + 1, width, height: LANE - 2 };
  }

  // All bars together are no longer than the axis, so that each has its place in the tray.
  box(bar) {
    const { row, length } = this.bars[bar], place = this.places[bar];
    if (place >= 0) return this.boxAt(row, this.lanes[bar], place * this.step, length * this.step);
    const before = this.bars.slice(0, bar).reduce((sum, other) => sum + other.length, 0);
    return { ...this.boxAt(0, 0, before * this.step, length * this.step), y: this.bottom + 1 };
  }

  // A bar takes the first lane that is free, and the one that is held takes none from another;
  // where there is none, a bar lies on another one.
  findLane(bar) {
    const { row, length } = this.bars[bar], at = this.places, isHeld = bar === this.picked;
    const taken = this.lanes.filter((_, other) => {
      const { row: itsRow, length: itsLength } = this.bars[other];
      const isBefore = other !== bar && other !== this.picked && (other < bar || isHeld);
      const meets = at[other] < at[bar] + length && at[bar] < at[other] + itsLength;
      return at[other] >= 0 && itsRow === row && isBefore && meets;
    });
    const lanes = Array.from({ length: this.scene.rows[row][1] }, (_, lane) => lane);
    this.lanes[bar] = lanes.find((lane) => !taken.includes(lane)) ?? 0;
  }

  where(bar) {
    const place = this.places[bar], end = place + this.bars[bar].length;
    const [from, to] = [place, end].map((at) => time(at * this.step));
    return place < 0 ? "not placed yet" : `from ${from} to ${to}`;
  }

  // ---- picking up, moving, putting down ----

  clamp(bar, place) {
    const last = Math.round(this.scene.end / this.step) - this.bars[bar].length;
    return Math.max(0, Math.min(place, last));
  }

  put(place, told = TOLD.moved) {
    const bar = this.picked;
    this.places[bar] = place;
    this.arrange();
    this.said.textContent = told(this.bars[bar].name, this.where(bar));
  }

  drop(place = this.places[this.picked], told = TOLD.down) {
    this.put(place, told);
    this.picked = -1;
    this.grip = null;
    this.shadow.style.display = "none";
    this.arrange();
    this.changed();
  }

  key(event) {
    const bar = this.bars.findIndex(({ node }) => node === event.target), here = this.places[bar];
    const held = bar >= 0 && bar === this.picked;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key] * (event.shiftKey ? 5 : 1);
    const back = { Enter: here, " ": here, Escape: this.before, Delete: -1, Backspace: -1 };
    const to = back[event.key];
    if (held && by) this.put(this.clamp(bar, here + by));
    else if (held && to !== undefined) this.drop(to);
    else if (bar >= 0 && (event.key === "Enter" || event.key === " ")) {
      [this.picked, this.before] = [bar, here];
      this.put(Math.max(0, this.before), TOLD.held);
    } else return;
    take(event);
  }

  press(event) {
    const bar = this.bars.findIndex(({ node }) => node.contains(event.target));
    if (bar < 0 || event.button) return;
    if (this.picked >= 0) this.drop();
    [this.picked, this.before] = [bar, this.places[bar]];
    const [x, y] = inside(this.svg, event), box = this.box(bar);
    this.grip = [x - box.x, y - box.y];
    this.layer.bars.append(this.bars[bar].node); // above all others
    this.svg.setPointerCapture?.(event.pointerId);
    event.preventDefault();
  }

  // The bar follows the hand, and its outline shows where it will be put.
  move(event) {
    if (!this.grip) return;
    const [x, y] = inside(this.svg, event), [dx, dy] = this.grip;
    const place = Math.round(this.timeAt(x - dx) / this.step);
    this.put(y < this.bottom ? this.clamp(this.picked, place) : -1);
    const box = this.box(this.picked);
    attributes(this.shadow, box).style.display = "";
    this.drawBar(this.picked, { ...box, x: x - dx, y: y - dy });
  }

  release(event) {
    if (!this.grip) return;
    const [x, y] = inside(this.svg, event), { node } = this.bars[this.picked];
    const isInside = x >= 0 && y >= 0 && x <= this.width && y <= this.bottom + LANE;
    // In the order in which Tab goes through them.
    this.layer.bars.append(...this.bars.map((bar) => bar.node));
    node.focus({ preventScroll: true });
    if (isInside && event.type !== "pointercancel") this.drop();
    else this.drop(this.before, TOLD.back);
  }
}
