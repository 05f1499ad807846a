// The heat map: dark squares that a try lights, and the tuner's walk over them.

const STRIDE = 700; // ms from one step of the tuner to the next

class HeatMap {
  constructor(model, el) {
    const [across, down] = JSON.parse(model.get("state")).knobs;
    this.lit = new Map(); // what was told of a square, the last one at the end
    this.said = html("div", { class: "lk-verdict", "aria-live": "polite" });
    const ask = asking(model, this.said, { walk: ({ steps }) => this.walk(steps) });
    const square = (x, y) => {
      const label = `${across.label} ${across.texts[x]}, ${down.label} ${down.texts[y]}`;
      const light = () => ask({ do: "light", square: [x, y] });
      return Object.assign(button("", `${label}: dark`, light, { class: "lk-square", tabindex: x || y ? -1 : 0 }), { label, x, y });
    };
    this.squares = across.texts.map((_, x) => down.texts.map((_, y) => square(x, y)));
    const head = html("tr", {}, html("td", {}, `${down.label} ↑ ${across.label} →`), ...across.texts.map((text) => html("th", { scope: "col" }, text)));
    const rows = down.texts.map((text, y) => html("tr", {}, html("th", { scope: "row" }, text), ...this.squares.map((column) => html("td", {}, column[y]))));
    const grid = html("table", { role: "grid", "aria-label": "Time per sample", onkeydown: (event) => this.key(event) }, ...rows.reverse(), head);
    const walk = button("watch the tuner", "Let the tuner walk over the map", () => ask({ do: "walk" }));
    el.append(html("div", { class: "lk-card-of" }, html("div", { class: "lk-map" }, grid), this.said, html("div", { class: "lk-tools" }, walk)));
    this.keep = keeping(model, (steps) => steps.forEach((step) => this.light(step)));
  }

  key(event) {
    const { x, y } = event.target;
    const [right, up] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
    const next = this.squares[x + right]?.[y + up];
    if (!next) return;
    [event.target.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
    take(event);
  }

  walk([step, ...rest]) {
    this.light(step);
    this.keep([...this.lit.values()]);
    clearTimeout(this.walking);
    if (rest.length) this.walking = setTimeout(() => this.walk(rest), STRIDE);
  }

  light(step) {
    const [[x, y], , text, why] = step, square = this.squares[x][y], label = `${square.label}: ${text} a sample`;
    square.textContent = text;
    attributes(square, { title: label, "aria-label": label });
    this.lit.delete(square);
    this.lit.set(square, step);
    // The brightest is the fastest of those that are lit: the map knows no more than its reader.
    const times = [...this.lit.values()].map(([, time]) => time), least = Math.min(...times), range = Math.max(...times) - least || 1;
    for (const [other, [, time]] of this.lit) {
      other.classList.toggle("lk-here", other === square);
      other.style.background = `color-mix(in srgb, #c08a3e ${(100 * (time - least)) / range}%, #ffe08a)`;
    }
    this.said.textContent = `${label}. ${why}`;
  }
}
