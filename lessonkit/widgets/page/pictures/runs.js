// Runs that nothing turns, on one axis of time.

import { div, html, spoken } from "../base/dom.js";
import { Timeline } from "./timeline.js";
import { sentence } from "./words.js";

const HEIGHT = 130; // pixels of a timeline

export class Runs {
  constructor(model, el) {
    /** @type {{ runs: import("../scene.js").RunScene[] }} */
    const { runs } = JSON.parse(model.get("state"));
    for (const { title, words, scene } of runs) {
      const said = spoken("lk-said");
      const onBar = (bar) => {
        const { subject, rest } = bar < 0 ? { subject: "", rest: "" } : sentence(scene, bar);
        said.textContent = `${subject} ${rest}`.trim();
      };
      const timeline = new Timeline({ height: HEIGHT, onBar });
      timeline.least = Math.max(...runs.map((run) => run.scene.end));
      timeline.isMoved = true; // nothing here shows one moment
      const frame = model.watched(timeline.svg, (width) => timeline.draw(scene, width));
      const head = html("div", {}, html("b", {}, title), ` ${words}`);
      el.append(head, frame, timeline.keys, said, div("lk-words", scene.summary));
    }
  }
}
