// `predict`: a question that a run answers. Its type is told by what the kernel sends.

class Predict {
  constructor(model, el) {
    const state = JSON.parse(model.get("state")), group = unique("answer");
    this.answer = this.answering(state, `${group}-a`);
    this.sure = this.radios(state.sure, `${group}-s`, "How sure are you?");
    const commit = button("commit", "Commit to this answer", () => this.commit());
    const ask = () => this.ask({ do: "reveal" });
    const reveal = button("show me anyway", "Show the run without an answer", ask);
    this.tools = div("lk-tools", commit, reveal);
    this.said = spoken("lk-verdict");
    this.tries = div("lk-tries");
    this.on = button("go on", "Go on to the next cell (Shift+Enter)", () => goOn(el));
    Object.assign(this, { model, el });
    const asked = [question("Predict ", state.question), this.answer.node, this.sure.node];
    this.card = div("lk-card-of lk-predict", ...asked, this.tools, this.said, this.tries);
    el.append(this.card);
    this.card.addEventListener("change", () => this.keep());
    this.ask = asking(model, saying(this.said), { verdict: (verdict) => this.hear(verdict) });
    this.save = keeping(model, (kept) => this.restore(kept));
    this.settle();
  }

  // Each type of question has its own way to answer: a node, `get` and `set` for what is said,
  // and perhaps `correct`, which shows the truth over it.
  answering({ place, draw, choices, unit, limit }, name) {
    if (place) return new Placing(place, () => this.keep());
    if (draw) return new Drawing(draw, () => this.keep());
    return choices.length ? this.radios(choices, name, "Your answer") : this.field(unit, limit);
  }

  // A view is made before it has its place in the page.
  settle() {
    if (!this.card.isConnected) return setTimeout(() => this.settle(), 50);
    const around = new Cover(this.card, this.model.widget_manager);
    if (this.card.dataset.answered !== undefined) return around.open();
    around.close();
    return around.lead();
  }

  keep() {
    this.save({ said: this.answer.get(), sure: this.sure.get(), verdict: this.verdict });
  }

  restore({ said, sure, verdict }) {
    if (this.card.dataset.answered !== undefined) return;
    this.answer.set(said);
    this.sure.set(sure);
    this.said.textContent = "This is how far you were. You have not committed yet.";
    if (verdict) this.conclude((this.verdict = verdict));
  }

  radios(texts, name, title) {
    const inputs = texts.map((_, value) => html("input", { type: "radio", name, value, ...KEYS }));
    const labels = texts.map((text, value) => html("label", {}, inputs[value], ` ${text}`));
    const sentences = texts.some((text) => text.length > 20) ? " lk-sentences" : "";
    const legend = html("legend", {}, title);
    const node = html("fieldset", { class: `lk-choices${sentences}` }, legend, ...labels);
    const set = (value) => inputs.forEach((input, place) => (input.checked = place === value));
    return { node, set, get: () => inputs.findIndex((input) => input.checked) };
  }

  field(unit, limit) {
    const aria = { "aria-label": `Your answer${unit && ` in ${unit}`}` };
    const onkeydown = ({ key }) => key === "Enter" && this.commit();
    const input = html("input", { type: "number", step: "any", ...aria, onkeydown, ...KEYS });
    const after = html("span", {}, `${unit} `, html("small", {}, limit));
    const node = labelled("Your answer", input, after);
    const set = (value) => (input.value = Number.isFinite(value) && value >= 0 ? value : "");
    return { node, set, get: () => (input.value === "" ? -1 : Number(input.value)) };
  }

  commit() {
    const said = this.answer.get(), sure = this.sure.get();
    if (said < 0 || sure < 0) {
      this.said.textContent = said < 0 ? "Say what you expect first." : "Say how sure you are.";
      return;
    }
    const all = JSON.stringify([said, sure]), isNew = all !== this.committed;
    this.committed = all;
    if (isNew) this.ask({ do: "commit", said, sure }); // the same again is not one more try
  }

  hear(verdict) {
    if (this.card.dataset.answered === undefined) this.verdict = verdict;
    this.keep();
    const isHere = this.card.contains(document.activeElement);
    this.conclude(verdict);
    if (verdict.scene && isHere) this.on.focus({ preventScroll: true });
  }

  conclude({ right, tries, text, scene, pinned, ...more }) {
    this.said.replaceChildren(verdict(right, text));
    const tried = tries.map(([said, sure, well]) => marked("span", well, `${said}, ${sure}`));
    if (tried.length) this.tries.replaceChildren("Your tries: ", ...tried);
    if (!scene) return;
    this.card.dataset.answered = "";
    this.card.append(this.on);
    this.settle();
    if (this.answer.correct) {
      this.answer.correct(more);
      this.tools.remove(); // there is nothing left to find out
    }
    this.view ??= new View();
    this.view.showIn(this.el, scene, pinned);
  }
}
