// The kitchen, in the colours of its page. KITCHEN is the drawing.

class Kitchen {
  constructor(model, el) {
    const parts = JSON.parse(model.get("state")).kitchen;
    const drawn = new DOMParser().parseFromString(KITCHEN, "image/svg+xml").documentElement;
    for (const node of drawn.querySelectorAll("[data-of]")) {
      const isShown = node.dataset.of.split(" ").every((part) => parts.includes(part));
      node.classList.toggle("lk-faded", !isShown);
    }
    el.append(attributes(drawn, { class: "lk-kitchen" }));
  }
}
