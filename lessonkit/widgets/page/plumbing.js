// The plumbing: the parts of the pipeline, and at one moment what each holds and does.

const SLOTS = 8; // a larger buffer shows how full it is
const CALLS = 6; // of a stage with more only those at work are drawn, one fewer
const READY = 3; // of more beside the calls only the number is said

class Plumbing {
  constructor() {
    const aria = { role: "group", "aria-label": "The pipeline at the time of the playhead" };
    this.node = attributes(div("lk-plumbing"), { ...aria, tabindex: 0, ...KEYS });
    this.parts = [];
  }

  draw(scene) {
    const structure = JSON.stringify([scene.parts, scene.buffers, scene.rows]);
    if (structure !== this.structure) this.build(scene);
    this.structure = structure;
    this.scene = scene;
  }

  build(scene) {
    this.parts = scene.parts.map(([name, rows, calls, buffer]) => {
      const works = rows.length > 0, box = div("lk-part", html("b", {}, name));
      const part = { rows, buffer, works, box, said: html("span"), chips: [], slots: [] };
      if (works) {
        box.classList.add("lk-box");
        box.style.borderColor = scene.rows[rows.at(-1)][2];
        // What is only counted has no calls.
        part.calls = calls && Math.max(calls, ...rows.map((row) => scene.rows[row][1]));
        const chip = () => html("i", { class: "lk-chip" }, html("u"), html("em"));
        const length = part.calls > CALLS ? CALLS - 1 : part.calls;
        const more = part.calls > length ? html("b", {}, `+${part.calls - length}`) : "";
        part.chips = Array.from({ length }, chip);
        box.append(div("lk-chips", ...part.chips, more), part.said);
      }
      if (buffer >= 0) {
        const [, capacity] = scene.buffers[buffer];
        // A box says it in words.
        const shown = works ? 0 : Math.min(SLOTS, capacity ?? this.most(scene.events, buffer));
        part.slots = Array.from({ length: shown }, () => html("i", { class: "lk-slot" }));
        part.held = html("span");
        if (!works) box.append(div("lk-slots", ...part.slots), part.held);
      }
      return part;
    });
    const arrow = () => html("span", { class: "lk-arrow", "aria-hidden": "true" });
    const boxes = this.parts.flatMap(({ box }) => [arrow(), box]);
    this.node.replaceChildren(...boxes.slice(1));
  }

  // How many elements a buffer held at most.
  most({ buffer, change }, wanted) {
    let held = 0, most = 1;
    for (const [event, by] of change.entries()) {
      if (buffer[event] === wanted) most = Math.max(most, (held += by));
    }
    return most;
  }

  at(micros) {
    const { bars, rows } = this.scene;
    const working = rows.map(() => []), waiting = rows.map(() => null);
    for (let bar = 0; bar < bars.row.length; bar++) {
      if (bars.start[bar] > micros || bars.start[bar] + bars.length[bar] <= micros) continue;
      if (bars.kind[bar]) waiting[bars.row[bar]] = bar;
      else working[bars.row[bar]].push(bar);
    }
    const held = this.held(micros);
    for (const part of this.parts) {
      const waiters = part.rows.map((row) => waiting[row]);
      if (part.works) this.work(part, part.rows.flatMap((row) => working[row]), waiters, micros);
      if (part.buffer >= 0) this.hold(part, held[part.buffer]);
    }
  }

  work(part, busy, waits, micros) {
    const { bars, rows } = this.scene;
    const calls = [];
    for (const bar of busy) {
      // A call keeps its place, as in the timeline.
      let index = part.calls > CALLS ? 0 : bars.lane[bar];
      while (calls[index] !== undefined) index++;
      calls[index] = bar;
    }
    part.chips.forEach((chip, index) => {
      const bar = calls[index];
      const [fill, text] = chip.children;
      chip.classList.toggle("lk-full", bar !== undefined);
      text.textContent = "";
      fill.style.width = 0;
      if (bar === undefined) return;
      const [stage, , colour] = rows[bars.row[bar]];
      text.textContent = bars.label[bar] || stage;
      fill.style.width = `${(100 * (micros - bars.start[bar])) / bars.length[bar]}%`;
      fill.style.background = colour;
    });
    part.said.textContent = this.words(part, busy, waits.find((bar) => bar !== null), micros);
    part.said.title = part.said.textContent; // a small box cuts it
  }

  words(part, busy, wait, micros) {
    const { bars, rows, waits } = this.scene, [bar] = busy;
    if (bar !== undefined) {
      const [stage] = rows[bars.row[bar]];
      if (part.calls > 1) return `${stage}: ${busy.length} of ${part.calls} at work`;
      return `${stage}: ${number((micros - bars.start[bar]) / 1000)} of ${time(bars.length[bar])}`;
    }
    if (wait === undefined) return part.calls ? "nothing to do" : "empty";
    if (bars.kind[wait] === "count") return held(this.scene, wait);
    const [, legend, sentence] = waits[bars.kind[wait]];
    return filled(sentence, bars.note[wait]) || legend;
  }

  hold(part, labels) {
    const [, capacity] = this.scene.buffers[part.buffer];
    part.slots.forEach((slot, index) => {
      slot.textContent = labels[index] ?? "";
      slot.classList.toggle("lk-full", index < labels.length);
    });
    const count = labels.length;
    const ready = count > READY ? `${count} ready` : `ready ${labels.join(" ")}`;
    if (part.works) part.said.textContent += count ? `; ${ready}` : "";
    else part.held.textContent = capacity === null ? `${count} kept` : `${count} of ${capacity}`;
  }

  // What each buffer holds at a time, in the order in which it came.
  held(micros) {
    const { buffer, time: times, change, label, element } = this.scene.events;
    const found = this.scene.buffers.map(() => new Map());
    for (let event = 0; event < times.length && times[event] <= micros; event++) {
      if (change[event] > 0) found[buffer[event]].set(element[event], label[event]);
      else found[buffer[event]].delete(element[event]);
    }
    return found.map((elements) => [...elements.values()]);
  }
}
