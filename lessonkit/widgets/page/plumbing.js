// The plumbing: the parts of the pipeline, and at one moment what each holds and does.

const SLOTS = 8; // a larger buffer shows how full it is
const CALLS = 6; // of a stage with more only those at work are drawn, as many as fit
const HELD = ["in the queue", "out of turn"]; // they wait, and have a place of their own
const BRIEFLY = { idle: (note) => `waits for ${note}`, "buffer full": (note) => `no place in ${note}` };
BRIEFLY["buffer empty"] = BRIEFLY.idle;
const READY = 3; // of more beside the calls only the number is said

class Plumbing {
  constructor() {
    const given = { role: "group", tabindex: 0, "aria-label": "The pipeline at the time of the playhead" };
    this.node = attributes(div("lk-plumbing"), { ...given, ...KEYS });
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
        part.calls = Math.max(calls, ...rows.map((row) => scene.rows[row][1]));
        const chip = () => html("i", { class: "lk-chip" }, html("u"), html("em"));
        part.chips = Array.from({ length: Math.min(CALLS, part.calls) }, chip);
        box.append(div("lk-chips", ...part.chips), part.said);
      }
      if (buffer >= 0) {
        const [, capacity, most] = scene.buffers[buffer];
        const shown = works ? 0 : Math.min(SLOTS, capacity ?? Math.max(1, most)); // a box says it in words
        part.slots = Array.from({ length: shown }, () => html("i", { class: "lk-slot" }));
        part.held = html("span");
        if (works) box.children[1].append(part.held);
        else box.append(div("lk-slots", ...part.slots), part.held);
      }
      return part;
    });
    const arrow = () => html("span", { class: "lk-arrow", "aria-hidden": "true" });
    this.node.replaceChildren(...this.parts.flatMap(({ box }, index) => (index ? [arrow(), box] : [box])));
  }

  at(micros) {
    const { bars, rows } = this.scene;
    const working = rows.map(() => []), waiting = rows.map(() => null);
    for (let bar = 0; bar < bars.row.length; bar++) {
      if (bars.start[bar] > micros || bars.start[bar] + bars.length[bar] <= micros) continue;
      if (bars.kind[bar] && !HELD.includes(bars.kind[bar])) waiting[bars.row[bar]] = bar;
      else working[bars.row[bar]].push(bar);
    }
    const held = this.held(micros);
    for (const part of this.parts) {
      const waits = part.rows.map((row) => waiting[row]);
      if (part.works) this.work(part, part.rows.flatMap((row) => working[row]), waits, micros);
      if (part.buffer >= 0) this.hold(part, held[part.buffer]);
    }
  }

  work(part, busy, waits, micros) {
    const { bars, rows } = this.scene;
    const calls = [];
    for (const bar of busy) {
      let place = part.calls > CALLS ? 0 : bars.lane[bar]; // a call keeps its place, as in the timeline
      while (calls[place] !== undefined) place++;
      calls[place] = bar;
    }
    part.chips.forEach((chip, place) => {
      const bar = calls[place];
      const [fill, text] = chip.children;
      chip.classList.toggle("lk-full", bar !== undefined);
      text.textContent = bar === undefined ? "" : bars.label[bar] || rows[bars.row[bar]][0];
      fill.style.width = bar === undefined ? 0 : `${(100 * (micros - bars.start[bar])) / bars.length[bar]}%`;
      if (bar !== undefined) fill.style.background = rows[bars.row[bar]][2];
    });
    part.said.textContent = this.words(part, busy, waits.find((bar) => bar !== null), micros);
    part.said.title = part.said.textContent; // a small box cuts it
  }

  words(part, busy, wait, micros) {
    const { bars, rows } = this.scene;
    if (busy.length) {
      const [stage] = rows[bars.row[busy[0]]];
      if (part.calls > 1) return `${stage}: ${busy.length} of ${part.calls} at work`;
      return `${stage}: ${number((micros - bars.start[busy[0]]) / 1000)} of ${time(bars.length[busy[0]])}`;
    }
    if (wait === undefined) return "nothing to do";
    return (BRIEFLY[bars.kind[wait]] ?? (() => `waits: ${bars.kind[wait]}`))(bars.note[wait]);
  }

  hold(part, labels) {
    const [, capacity] = this.scene.buffers[part.buffer];
    part.slots.forEach((slot, place) => {
      slot.textContent = labels[place] ?? "";
      slot.classList.toggle("lk-full", place < labels.length);
    });
    const count = labels.length, ready = count > READY ? `${count} ready` : `ready ${labels.join(" ")}`;
    if (part.works) part.held.textContent = count ? ready : "";
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
