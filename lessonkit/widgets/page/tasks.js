// `predict` and `challenge`: questions that are answered by a run.

class Predict {
  constructor(model, el) {
    const { question: text, unit, choices, place, draw, sure, limit, height } = JSON.parse(model.get("state"));
    const group = unique("answer");
    if (place) this.answer = new Placing(place, () => this.keep());
    else if (draw) this.answer = new Drawing(draw, () => this.keep());
    else this.answer = choices.length ? this.radios(choices, `${group}-a`, "Your answer") : this.field(unit, limit);
    this.sure = this.radios(sure, `${group}-s`, "How sure are you?");
    const commit = button("commit", "Commit to this answer", () => this.commit());
    const reveal = () => this.ask({ do: "reveal" });
    this.tools = div("lk-tools", commit, button("show me anyway", "Show the run without an answer", reveal));
    this.said = spoken("lk-verdict");
    this.tries = div("lk-tries");
    this.on = button("go on", "Go on to the next cell (Shift+Enter)", () => goOn(el));
    Object.assign(this, { model, el, height });
    const asked = [question("Predict ", text), this.answer.node, this.sure.node];
    this.card = div("lk-card-of lk-predict", ...asked, this.tools, this.said, this.tries);
    el.append(this.card);
    this.card.addEventListener("change", () => this.keep());
    this.ask = asking(model, saying(this.said), { verdict: (verdict) => this.hear(verdict) });
    this.save = keeping(model, (kept) => this.restore(kept));
    this.settle();
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
    const node = html("fieldset", { class: `lk-choices${sentences}` }, html("legend", {}, title), ...labels);
    const set = (value) => inputs.forEach((input, place) => (input.checked = place === value));
    return { node, set, get: () => inputs.findIndex((input) => input.checked) };
  }

  field(unit, limit) {
    const name = `Your answer${unit && ` in ${unit}`}`, onkeydown = ({ key }) => key === "Enter" && this.commit();
    const input = html("input", { type: "number", step: "any", "aria-label": name, onkeydown, ...KEYS });
    const after = html("span", {}, `${unit} `, html("small", {}, limit));
    const node = html("label", { class: "lk-control" }, html("span", {}, "Your answer"), input, after);
    const set = (value) => (input.value = Number.isFinite(value) && value >= 0 ? value : "");
    return { node, set, get: () => (input.value === "" ? -1 : Number(input.value)) };
  }

  commit() {
    const said = this.answer.get(), sure = this.sure.get();
    if (said < 0 || sure < 0) {
      this.said.textContent = said < 0 ? "Say what you expect first." : "Say how sure you are.";
      return;
    }
    const all = JSON.stringify([said, sure]);
    if (all !== this.committed) this.ask({ do: "commit", said, sure }); // the same again is not one more try
    this.committed = all;
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
    this.view ??= new View(this.height);
    this.view.showIn(this.el, scene, pinned);
  }
}

// What is asked for, how it stands, and what helps.
class Task {
  constructor({ text, goals, hints, solution }) {
    this.goals = html("ul", { class: "lk-goals" }, ...goals.map((goal) => html("li", {}, goal)));
    this.said = spoken("lk-verdict");
    const shown = html("div");
    const left = [...hints];
    const hint = button(`hint (${left.length})`, "Show the next hint", () => {
      shown.append(html("p", {}, left.shift()));
      hint.textContent = `hint (${left.length})`;
      hint.disabled = !left.length;
    });
    const help = [
      ...(hints.length ? [hint, shown] : []),
      ...(solution ? [folded("a solution", false, program(solution))] : []),
    ];
    this.node = div("lk-card-of", question("Challenge ", text), this.goals, this.said, div("lk-help", ...help));
  }

  judge({ passed, goals, message }) {
    this.said.replaceChildren(verdict(passed, message));
    this.goals.replaceChildren(...goals.map(([met, said]) => marked("li", met, said)));
  }
}

class Challenge {
  constructor(model, el) {
    el.append(new Task(JSON.parse(model.get("state")).task).node);
  }
}

class Outcome {
  constructor(model, el) {
    const { verdict, scene, height } = JSON.parse(model.get("state"));
    const task = new Task({ text: "", goals: [], hints: [], solution: "" });
    task.judge(verdict);
    el.append(div("lk-card-of", task.said, task.goals));
    if (!scene) return;
    new View(height).showIn(el, scene);
  }
}
