// A formula and the run that it speaks of are one thing: pointing at a term lights its bars,
// pointing at a bar lights its term, and dragging the end of one bar turns that cost everywhere.

class Formula {
  constructor({ said, words, fixed, steps }, controls, view) {
    Object.assign(this, { fixed, steps, controls, view, lit: "", chosen: {}, terms: [] });
    [this.value, this.said] = [html("b"), html("span", { "aria-live": "polite" })];
    const plain = (text) => html("span", {}, text);
    const part = (word, index) => {
      const isTerm = word in fixed || word in controls.values;
      return isTerm ? this.term(word, (index - 1) / 2) : plain(spaced(word));
    };
    const right = [plain("="), this.value, this.said];
    this.node = div("lk-formula", plain(said), ...words.map(part), ...right);
    attributes(this.node, { role: "group", "aria-label": "Formula" });
    this.edges = Object.keys(steps).map((name) => this.edge(name));
    view.frame.append(...this.edges.map(({ node }) => node));
    view.formula = this;
  }

  lights(name) {
    const light = (lit) => () => this.view.timeline.point(-1, (this.lit = lit));
    const [on, off] = [light(name), light("")];
    return { onpointerenter: on, onpointerleave: off, onfocus: on, onblur: off, ...KEYS };
  }

  term(name, index) {
    const onclick = () => {
      const edge = this.edges.find((one) => one.name === name && !one.node.hidden);
      (edge?.input ?? this.controls.node.querySelector(`[data-name="${name}"]`))?.focus();
    };
    const given = { type: "button", class: "lk-term", onclick, ...this.lights(name) };
    // With a space, so that what is read and what the button is called are the same words.
    const node = html("button", given, html("span", {}, spaced(name)), " ", html("b"));
    this.terms.push({ name, node, index });
    return node;
  }

  // The end of one bar: a slider for the keyboard, and a handle for the hand.
  edge(name) {
    const turn = (rest) => () => this.controls.turn(name, Number(input.value), rest);
    const label = { "aria-label": `Length of a bar: ${spaced(name)}` };
    const range = { type: "range", max: this.steps[name].length - 1, ...label };
    const hears = { oninput: turn(false), onchange: turn(true), ...this.lights(name) };
    const input = html("input", { ...range, ...hears });
    const { timeline } = this.view, along = (event) => inside(timeline.svg, event)[0];
    const onpointerdown = (event) => {
      event.preventDefault();
      node.setPointerCapture(event.pointerId);
      input.focus({ preventScroll: true });
      const { x, width } = timeline.box(this.bar(name));
      timeline.held = timeline.end;
      this.hand = { name, off: along(event) - x - width };
    };
    const onlostpointercapture = () => {
      this.hand = timeline.held = undefined;
      this.controls.turn(name, this.controls.values[name], true);
    };
    const onpointermove = (event) => this.hand && this.drag(along(event));
    const given = { onpointerdown, onpointermove, onlostpointercapture };
    const title = `Drag to change ${spaced(name)}`;
    const node = attributes(div("lk-edge", input), { ...given, title });
    return { name, node, input };
  }

  // The picture follows the hand in each frame; the kernel is asked as by a slider, once a step.
  drag(x) {
    const { name, off } = this.hand, steps = this.steps[name];
    const bar = this.bar(name, this.scene), { start, length } = this.scene.bars;
    if (bar < 0) return; // a run without such bars came while the hand was down
    const moved = this.view.timeline.timeAt(x - off) - start[bar] - length[bar];
    const cost = length[bar] + moved / repeats(this.scene, bar);
    this.hand.cost = Math.max(steps[0], Math.min(steps.at(-1), cost));
    const near = nearest(steps, (cost) => Math.abs(cost - this.hand.cost));
    if (near !== this.controls.values[name]) this.controls.turn(name, near, false);
    this.view.draw(this.show(this.scene));
  }

  // What to draw of a run that came: itself, or what the hand makes of it.
  show(scene) {
    this.scene = scene;
    const { value, holds, said, beaten } = scene.formula;
    for (const { node, index } of this.terms) {
      node.title = beaten.includes(index) ? "has no effect here" : "";
    }
    const isExact = said === "as long as the run"; // a bound that only holds is no hit
    const text = ` ${isExact ? "✓" : holds ? "≤" : "✗"} ${said}`;
    this.value.textContent = value;
    // Set only if it is another, or it would be read out again.
    if (this.said.textContent !== text) this.said.textContent = text;
    this.said.className = isExact ? "lk-right" : holds ? "" : "lk-wrong";
    const { name, cost } = this.hand ?? {};
    return cost === undefined ? scene : stretched(scene, this.bars(name, scene), cost);
  }

  // Its terms have other values than the run that is drawn: nothing is claimed of them.
  unsure() {
    this.value.textContent = "…";
    this.said.textContent = "";
  }

  bars(name, { rows, bars } = this.view.scene) {
    const row = rows.findIndex(([stage]) => stage.toLowerCase() === spaced(name));
    return bars.row.map((_, bar) => bar).filter((bar) => bars.row[bar] === row && !bars.kind[bar]);
  }

  // The bar whose end can be dragged: the one that was pointed at last, or the first.
  bar(name, scene) {
    const bars = this.bars(name, scene);
    return bars[this.chosen[name]] ?? bars[0] ?? -1;
  }

  // After each drawing, and whenever another bar is pointed at.
  follow(pointed) {
    const { values, specs } = this.controls, { timeline } = this.view;
    const texts = { ...this.fixed };
    for (const { name, texts: all } of specs) texts[name] = all[values[name]];
    for (const { name, node } of this.terms) {
      const said = [spaced(name), texts[name], node.title].filter(Boolean).join(", ");
      attributes(node, { "aria-label": said }).lastChild.textContent = texts[name];
      const isLit = pointed < 0 ? name === this.lit : this.bars(name).includes(pointed);
      node.classList.toggle("lk-lit", isLit);
    }
    for (const { name, node, input } of this.edges) {
      const here = this.bars(name).indexOf(pointed);
      if (here >= 0) this.chosen[name] = here;
      const bar = this.bar(name), { x, y, width, height } = bar < 0 ? {} : timeline.box(bar);
      node.hidden = bar < 0;
      Object.assign(node.style, { left: `${x + width}px`, top: `${y}px`, height: `${height}px` });
      attributes(input, { "aria-valuetext": texts[name] }).value = values[name];
    }
    if (pointed < 0 && this.lit) timeline.light(new Set(this.bars(this.lit)));
  }
}

const spaced = (name) => name.replaceAll("_", " ");

// How many bars of its row, itself among them, had to wait for one another.
function repeats({ bars }, bar) {
  let count = 0;
  for (let at = bar; at >= 0; at = bars.cause[at]) count += bars.row[at] === bars.row[bar];
  return count;
}

// A run in which some bars take another time, and each keeps its distance from what it waited for:
// exact as long as that stays the same.
function stretched(scene, changed, cost) {
  const { start, length, cause } = scene.bars, starts = [...start], lengths = [...length];
  for (const bar of changed) lengths[bar] = cost;
  for (const bar of start.map((_, bar) => bar).sort((a, b) => start[a] - start[b])) {
    const before = cause[bar];
    if (before < 0) continue;
    const gap = start[bar] - start[before] - length[before];
    starts[bar] = starts[before] + lengths[before] + gap;
  }
  return { ...scene, bars: { ...scene.bars, start: starts, length: lengths } };
}
