// The kitchen, in the colours of its page.

import KITCHEN from "../../../pictures/kitchen.svg";
import { attributes } from "../base/dom.js";

export class Kitchen {
  constructor(model, el) {
    const parts = JSON.parse(model.get("state")).kitchen;
    const drawn = new DOMParser().parseFromString(KITCHEN, "image/svg+xml").documentElement;
    for (const node of /** @type {NodeListOf<SVGElement>} */ (
      drawn.querySelectorAll("[data-of]")
    )) {
      const isShown = node.dataset.of.split(" ").every((part) => parts.includes(part));
      node.classList.toggle("lk-faded", !isShown);
    }
    el.append(attributes(drawn, { class: "lk-kitchen" }));
  }
}
