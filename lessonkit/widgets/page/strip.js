// What several ranks did: a row for each, in the time of the run. On a canvas, for there may be
// 150,000 stretches.

const HIGHEST_STRIP = 230, THICKEST_ROW = 22, LEAST_ROW = 1; // pixels
const AXIS = 18, UNDER = AXIS + 16; // below the rows: first the axis of time, then who was late

class Strip {
  choose = null; // called with the rank whose timeline is wanted, where a kernel can answer

  constructor() {
    const onclick = (event) => this.choose?.(this.rankAt(event.offsetY));
    this.canvas = html("canvas", { role: "img", onclick });
    this.rank = html("select", { onchange: () => this.choose(Number(this.rank.value)), ...KEYS });
    this.picker = html("label", { class: "lk-rank" }, "timeline of ", this.rank);
    this.keys = div("lk-keys");
    this.said = html("p", { class: "lk-ranks" });
    this.node = div("lk-strip", this.canvas, this.keys, this.said);
    this.node.hidden = true;
  }

  draw(strip, width, end, isOpen) {
    this.node.hidden = !strip;
    this.picker.hidden = !strip;
    if (!strip) return;
    const { ranks, rank: shown, times, ends, colours, late, words } = strip;
    const row = Math.max(LEAST_ROW, Math.min(THICKEST_ROW, Math.floor(HIGHEST_STRIP / ranks)));
    this.rankAt = (y) => Math.max(0, Math.min(ranks - 1, Math.floor(y / row)));
    this.canvas.classList.toggle("lk-can-choose", this.choose !== null);
    this.picker.hidden = !this.choose || ranks === 1;
    if (this.rank.length !== ranks) {
      const option = (_, rank) => html("option", { value: rank }, `rank ${rank}`);
      this.rank.replaceChildren(...Array.from({ length: ranks }, option));
    }
    this.rank.value = shown;
    const sharp = window.devicePixelRatio || 1, high = row * ranks, gap = row > 4 ? 1 : 0;
    attributes(this.canvas, { width: width * sharp, height: (high + UNDER) * sharp });
    this.canvas.setAttribute("aria-label", words);
    this.canvas.style.cssText = `width: ${width}px; height: ${high + UNDER}px`;
    const pen = this.canvas.getContext("2d"), ink = getComputedStyle(this.node).color;
    const x = (micros) => LEFT + (micros / Math.max(1, end)) * (width - LEFT - RIGHT);
    pen.scale(sharp, sharp);
    // Works, waits for its own data, waits for others; one colour after another, for to change it
    // takes time.
    const works = (of, step) => [of[3 * step + 1], of[3 * step + 2]];
    const waitsForData = (of, step) => [of[3 * step], of[3 * step + 1]];
    const waitsForOthers = (of, step) => [of[3 * step + 2], ends[step]];
    [works, waitsForData, waitsForOthers].forEach((part, index) => {
      pen.fillStyle = colours[index][1];
      times.forEach((of, rank) => ends.forEach((_, step) => {
        const [from, to] = part(of, step);
        if (to <= from) return;
        // Lower than work, where a row has room: not by its colour alone.
        const above = index === 2 && row >= 6 ? Math.round(row / 2) : 0;
        const wide = Math.max(0.5, x(to) - x(from));
        pen.fillRect(x(from), rank * row + above, wide, row - gap - above);
      }));
    });
    pen.fillStyle = ink;
    for (const [rank, at] of late) pen.fillRect(x(at) - 2, rank * row, 2, Math.max(2, row - gap));
    pen.textAlign = "center";
    pen.font = "11px system-ui, sans-serif";
    // The one below may be folded away.
    for (const [at, text] of moments(rounds(0, end, (width - LEFT) / 90, FINEST), end)) {
      pen.fillRect(x(at), high, 1, 4);
      pen.fillText(text, x(at), high + 14);
    }
    pen.textAlign = "right";
    pen.font = "12px system-ui, sans-serif";
    pen.fillText("waited for", LEFT - 10, high + UNDER - 4);
    // Under each step the rank that it waited for, where there is room for its number.
    let free = LEFT;
    for (const [rank, at] of late) {
      const from = x(at) - pen.measureText(rank).width;
      if (from < free) continue;
      pen.fillText(rank, x(at), high + UNDER - 4);
      free = x(at) + 4;
    }
    const named = row < 12 ? [] : Array.from({ length: ranks }, (_, rank) => rank);
    for (const rank of named) pen.fillText(`rank ${rank}`, LEFT - 10, (rank + 0.7) * row);
    const square = (colour) => html("i", { style: `background: ${colour}` });
    const key = ([text, colour]) => html("span", {}, square(colour), text);
    if (isOpen) pen.fillText("▸", LEFT - 2, (shown + 0.5) * row + 4); // whose timeline is below
    this.keys.replaceChildren(...[...colours, ["was waited for", ink]].map(key));
    this.said.textContent = words;
  }
}
