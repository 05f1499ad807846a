// The heat map: dark squares that a try lights, and the tuner's walk over them.

const STRIDE = 700; // ms from one step of the tuner to the next
const PATH = "In the corner of a square is the number of the tuner's step, "
  + "on black if it was taken.";

class HeatMap {
  constructor(model, el) {
    const [across, down] = JSON.parse(model.get("state")).knobs;
    this.lit = new Map(); // what was told of a square, the last one at the end
    this.said = spoken("lk-verdict");
    this.next = model.timer();
    this.path = html("span", { hidden: true }, PATH);
    const answers = { walk: ({ steps }) => this.walk(numbered(steps)) };
    const ask = asking(model, saying(this.said), answers);
    const square = (x, y) => {
      const label = `${across.label} ${across.texts[x]}, ${down.label} ${down.texts[y]}`;
      const light = () => ask({ do: "light", square: [x, y] });
      const given = { class: "lk-square", tabindex: x || y ? -1 : 0 };
      return Object.assign(button("", `${label}: dark`, light, given), { label, x, y });
    };
    this.squares = across.texts.map((_, x) => down.texts.map((_, y) => square(x, y)));
    const columns = across.texts.map((text) => head("col", text));
    const last = html("tr", {}, cell(`${down.label} ↑ ${across.label} →`), ...columns);
    const rows = down.texts.map((text, y) => {
      return html("tr", {}, head("row", text), ...this.squares.map((column) => cell(column[y])));
    });
    const onkeydown = (event) => this.key(event);
    const title = html("caption", {}, "Time per sample; a dark square is not tried yet");
    const given = { role: "grid", onkeydown };
    const watch = () => ask({ do: "walk" });
    const walk = button("watch the tuner", "Let the tuner walk over the map", watch);
    const map = div("lk-map", html("table", given, title, ...rows.reverse(), last));
    el.append(div("lk-card-of", map, this.said, div("lk-tools", walk, this.path)));
    this.save = keeping(model, (steps) => steps.forEach((step) => this.light(step)));
    this.record = new Record(model, "heat map", `${across.label}, ${down.label}`);
    const { said = [] } = (!model.get("kept") && this.record.read()) || {};
    const there = said.filter(([x, y]) => this.squares[x]?.[y]); // the map may have been larger
    this.before = there.length; // which are lit again one by one
    for (const square of there) ask({ do: "light", square });
  }

  key(event) {
    const { x, y } = event.target;
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [right, up] = ways[event.key] ?? [];
    const next = this.squares[x + right]?.[y + up];
    if (!next) return;
    [event.target.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
    take(event);
  }

  walk([step, ...rest]) {
    this.light(step);
    const steps = [...this.lit.values()];
    this.save(steps);
    if (steps.length >= this.before) this.record.write({ said: steps.map(([at]) => at) });
    if (rest.length) this.next.start(() => this.walk(rest), STRIDE);
  }

  light(step) {
    const [[x, y], , text, why] = step, square = this.squares[x][y];
    step[4] ??= this.lit.get(square)?.[4]; // who lights it once more takes nothing off the path
    const title = `${square.label}: ${text} per sample`;
    named(square, title + this.follow(square, step[4]), text);
    this.lit.delete(square);
    this.lit.set(square, step);
    // The brightest is the fastest of those that are lit: the map knows no more than its reader.
    const times = [...this.lit.values()].map(([, time]) => time);
    const least = Math.min(...times), range = Math.max(...times) - least || 1;
    for (const [other, [, time]] of this.lit) {
      other.classList.toggle("lk-here", other === square);
      const share = (100 * (time - least)) / range;
      other.style.background = `color-mix(in srgb, #c08a3e ${share}%, #ffe08a)`;
    }
    this.said.textContent = `${title}. ${why}`;
  }

  // Draws a step of the tuner, if one led to this square, and puts it in words.
  follow(square, step) {
    if (!step) return "";
    const [number, outcome] = step;
    Object.assign(square.dataset, { number, outcome });
    this.path.hidden = false;
    return `, ${number.includes(",") ? "steps" : "step"} ${number} of the tuner, ${outcome}`;
  }
}

// Steps of the tuner, each with its number and with what came of it; one may lead to a square where
// another was. A square that only a hand lights has no reason, and gets no number.
function numbered(steps) {
  const squares = steps.map(([square]) => String(square));
  return steps.map((step, index) => {
    const why = step[3], until = squares.slice(0, index + 1);
    const here = until.flatMap((square, at) => (square === squares[index] ? at + 1 : []));
    return why ? [...step, [here.join(", "), why.split(":")[0].toLowerCase()]] : step;
  });
}
