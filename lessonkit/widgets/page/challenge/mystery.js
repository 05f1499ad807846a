// Mystery loaders: three numbers each, measurements to buy, and one answer; then the run.

import { attributes, button, div, html, question, saying, spoken, verdict } from "../base/dom.js";
import { asking, keeping } from "../base/kernel.js";
import { Controls } from "../explore/controls.js";
import { Record } from "../lesson/record.js";
import { View } from "../pictures/view.js";

export class Mystery {
  constructor(model, el) {
    const { told, ...state } = JSON.parse(model.get("state"));
    const cards = told.map((numbers, loader) => this.card(model, state, numbers, loader));
    el.append(...cards.map(({ node }) => node));
    const restore = (kept) => {
      for (const [loader, card] of cards.entries()) card.restore(kept[loader]);
    };
    const save = keeping(model, restore);
    const record = new Record(model, "mystery", `Mystery loaders of number ${state.number}`);
    this.keep = () => {
      save(cards.map(({ kept }) => kept));
      record.write({ said: cards.map(({ did }) => did) });
    };
    for (const [loader, before] of record.saidBefore(model).entries()) cards[loader].recall(before);
  }

  card(model, { number, measures, choices }, told, loader) {
    const name = `Loader ${loader + 1} of number ${number} `;
    const bought = html("div");
    const said = spoken("lk-verdict");
    // What was told, by the measurement that was bought; and the last verdict, with the answer.
    const kept = {};
    const did = { bought: [], answer: null, right: null };
    const restore = (answers) => Object.keys(kept).length || Object.values(answers).forEach(hear);
    const answered = ({ loader: of, ...answer }) => {
      if (of !== loader) return;
      hear({ ...answer, values: controls.values });
      this.keep();
    };
    const ask = asking(model, saying(said), { told: answered });
    const controls = new Controls(choices, () => {});
    const view = new View(model);
    const buys = measures.map((text, which) => {
      const buy = () => ask({ do: "measure", loader, which });
      return button(`buy: ${text}`, `Buy ${text} of loader ${loader + 1}`, buy);
    });
    const decide = () => ask({ do: "commit", loader, ...controls.values });
    const commit = button("commit", `Commit to this answer for loader ${loader + 1}`, decide);
    const hear = (answer) => {
      const { text, which, right, scene, pinned, values } = answer;
      kept[which ?? "verdict"] = answer;
      controls.set(values);
      if (scene) Object.assign(did, { answer: values, right });
      else if (!did.bought.includes(which)) did.bought.push(which);
      if (!scene) {
        said.textContent = "";
        buys[which].disabled = true;
        return bought.append(html("p", {}, text));
      }
      const paid = ` You bought ${bought.children.length} of ${measures.length} measurements.`;
      said.replaceChildren(verdict(right, text, paid));
      return view.showIn(node, scene, pinned);
    };
    const tools = div("lk-tools", ...buys, html("span", { class: "lk-space" }), commit);
    const node = div("lk-card-of", question(name, told), bought, controls.node, tools, said);
    attributes(node, { role: "group", "aria-label": name });
    // Of a record what was bought is bought again, and what was answered answered.
    const recall = (before) => {
      Object.assign(did, before);
      for (const which of did.bought) ask({ do: "measure", loader, which });
      if (!did.answer) return;
      controls.set(did.answer);
      decide();
    };
    return { node, kept, did, restore, recall };
  }
}
