// Mystery loaders: three numbers each, measurements to buy, and one answer; then the run.

class Mystery {
  constructor(model, el) {
    const state = JSON.parse(model.get("state"));
    el.append(...state.told.map((told, loader) => this.card(model, state, told, loader)));
  }

  card(model, { number, measures, choices, height }, told, loader) {
    const name = `Loader ${loader + 1} of number ${number} `, bought = html("div"), said = html("div", { class: "lk-verdict", "aria-live": "polite" });
    const ask = asking(model, said, { told: (answer) => answer.loader === loader && hear(answer) });
    const controls = new Controls(choices, () => {}), view = new View(height);
    const buys = measures.map((text, which) => button(`buy: ${text}`, `Buy ${text} of loader ${loader + 1}`, () => ask({ do: "measure", loader, which })));
    const commit = button("commit", `Commit to this answer for loader ${loader + 1}`, () => ask({ do: "commit", loader, ...controls.values }));
    const hear = ({ text, which, right, scene, pinned }) => {
      if (!scene) {
        [said.textContent, buys[which].disabled] = ["", true];
        return bought.append(html("p", {}, text));
      }
      const paid = ` You bought ${bought.children.length} of ${measures.length} measurements.`;
      said.replaceChildren(html("b", { class: right ? "lk-right" : "lk-wrong" }, right ? "✓ " : "✗ "), text, paid);
      view.pinned = pinned;
      if (!view.scene) card.append(...view.nodes);
      return view.draw(scene);
    };
    const card = html("div", { class: "lk-card-of", role: "group", "aria-label": name }, html("p", { class: "lk-question" }, html("b", {}, name), told), bought, controls.node, html("div", { class: "lk-tools" }, ...buys, html("span", { class: "lk-space" }), commit), said);
    return card;
  }
}
