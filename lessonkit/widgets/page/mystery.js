// Mystery loaders: three numbers each, measurements to buy, and one answer; then the run.

class Mystery {
  constructor(model, el) {
    const state = JSON.parse(model.get("state"));
    const cards = state.told.map((told, loader) => {
      const title = html("b", {}, `Loader ${loader + 1} of number ${state.number} `);
      const bought = html("div"), said = html("div", { class: "lk-verdict", "aria-live": "polite" });
      const controls = new Controls(state.choices, () => {});
      const kernel = new Kernel(model, said, { told: (answer) => answer.loader === loader && hear(answer) });
      const buys = state.measures.map((text, which) => button(`buy: ${text}`, `Buy ${text} of loader ${loader + 1}`, () => kernel.ask({ do: "measure", loader, which })));
      const commit = button("commit", `Commit to this answer for loader ${loader + 1}`, () => kernel.ask({ do: "commit", loader, ...controls.values }));
      const view = new View(state.height);
      const hear = ({ text, right, scene, pinned }) => {
        if (!scene) return said.replaceChildren(bought.append(html("p", {}, text)) ?? "");
        said.replaceChildren(html("b", { class: right ? "lk-right" : "lk-wrong" }, right ? "✓ " : "✗ "), text);
        view.pinned = pinned;
        if (!view.scene) card.append(...view.nodes);
        return view.draw(scene);
      };
      const card = html("div", { class: "lk-card-of", role: "group", "aria-label": title.textContent }, html("p", { class: "lk-question" }, title, told), bought, controls.node, html("div", { class: "lk-tools" }, ...buys, html("span", { class: "lk-space" }), commit), said);
      return card;
    });
    el.append(...cards);
  }
}
