// The install check: whether the page and the kernel hear each other. That the page shows widgets
// is seen by now, so what the cell printed for a page that does not is taken away then.

import { div, html, marked, question } from "../base/dom.js";
import { send } from "../base/kernel.js";
import { number } from "../base/numbers.js";
import { outside } from "./cells.js";

const LOST =
  "Run this cell again. " +
  "If this stays, the page has lost its kernel: restart it in the menu Kernel.";

const ADVICE = "The packages that show widgets are installed. If this text stays";

const LONG = 1000; // ms for a greeting: a kernel that is free takes less

export class Installation {
  constructor(model, el) {
    const { python } = JSON.parse(model.get("state"));
    this.list = html("ul", { class: "lk-goals" });
    el.append(div("lk-card-of", question("Installation "), this.list));
    this.add(true, `Python: ${python}`);
    const talk = this.add(false, `page and kernel: no answer yet. ${LOST}`);
    const began = performance.now();
    model.on("msg:custom", ({ about }) => {
      if (about !== "greeting" || !talk.isConnected) return;
      talk.remove();
      const took = performance.now() - began;
      const busy = took > LONG ? ": other cells ran meanwhile" : "";
      this.add(true, `page and kernel: hear each other within ${number(took)} ms${busy}`);
      takeAway(outside(el));
    });
    send(model, { do: "greet" });
  }

  add = (good, text) => this.list.appendChild(marked("li", good, text));
}

// The advice stands in the same cell: in the nearest node around the widget that holds it.
function takeAway(el) {
  const holds = ({ textContent: text }) => text.trim().startsWith(ADVICE);
  for (let node = el; node && node !== document.body; node = node.parentElement) {
    const before = [...node.parentElement.children].filter((one) => !one.contains(el));
    const advice = before.find(holds);
    if (!advice) continue;
    advice.style.display = "none";
    return;
  }
}
