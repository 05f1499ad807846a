// `predict` and `challenge`: questions that are answered by a run.

class Predict {
  constructor(model, el) {
    this.model = model;
    const { question, unit, choices, place, draw, sure, limit, height } = JSON.parse(model.get("state"));
    const group = unique("answer");
    const keep = () => this.keep();
    if (place) this.answer = new Placing(place, keep);
    else if (draw) this.answer = new Drawing(draw, unit, keep);
    else this.answer = choices.length ? this.radios(choices, `${group}-a`, "Your answer") : this.field(unit, limit);
    this.sure = this.radios(sure, `${group}-s`, "How sure are you?");
    const commit = button("commit", "Commit to this answer", () => this.commit());
    this.said = html("div", { class: "lk-verdict", "aria-live": "polite" });
    this.tries = html("div", { class: "lk-tries" });
    this.height = height;
    this.el = el;
    this.card = html("div", { class: "lk-card-of lk-predict" },
      html("p", { class: "lk-question" }, html("b", {}, "Predict "), question),
      this.answer.node, this.sure.node,
      html("div", { class: "lk-tools" }, commit, button("show me anyway", "Show the run without an answer", () => this.ask({ do: "reveal" }))),
      this.said, this.tries);
    el.append(this.card);
    this.card.addEventListener("change", keep);
    model.on("msg:custom", (message, buffers) => this.hear(message, buffers));
    model.on("change:kept", () => this.restore(""));
    this.restore("Your answer is as you left it; it is not yet committed.");
    this.cover();
  }

  // A view is made before it has its place in the page.
  cover() {
    if (!this.card.isConnected) setTimeout(() => this.cover(), 50);
    else if (!this.done) cover(this.card, this.model.widget_manager);
  }

  // What is not yet committed outlives the page: the widget's model has it, also for a second page.
  keep(done = this.done) {
    this.model.set("kept", JSON.stringify({ said: this.answer.get(), sure: this.sure.get(), done }));
    this.model.save_changes();
  }

  restore(text) {
    const kept = parsed(this.model.get("kept"));
    if (!kept) return;
    this.answer.set(kept.said);
    this.sure.set(kept.sure);
    if (kept.done && !this.done) this.ask({ do: "resume" });
    else if (!kept.done) this.said.textContent = text;
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
    const input = html("input", { type: "number", step: "any", "aria-label": `Your answer${unit && ` in ${unit}`}`, ...KEYS });
    input.addEventListener("keydown", (event) => event.key === "Enter" && this.commit());
    const node = html("label", { class: "lk-control" }, html("span", {}, "Your answer"), input, html("span", {}, `${unit} `, html("small", {}, limit)));
    const set = (value) => (input.value = Number.isFinite(value) && value >= 0 ? value : "");
    return { node, set, get: () => (input.value === "" ? -1 : Number(input.value)) };
  }

  commit() {
    const said = this.answer.get(), sure = this.sure.get();
    if (said < 0 || sure < 0) {
      this.said.textContent = said < 0 ? "Say what you expect first." : "Say how sure you are.";
      return;
    }
    this.ask({ do: "commit", said, sure });
  }

  ask(question) {
    this.said.textContent = "…"; // the kernel may be busy
    clearTimeout(this.patience);
    this.patience = setTimeout(() => (this.said.textContent = SILENT), PATIENCE);
    send(this.model, question);
  }

  hear(message, buffers) {
    clearTimeout(this.patience);
    if (message.about === "error") this.said.textContent = message.text;
    if (message.about !== "verdict") return;
    const { text, scene, pinned, ...more } = unpack(buffers);
    this.said.replaceChildren(html("b", { class: message.right ? "lk-right" : "lk-wrong" }, message.right ? "✓ " : "✗ "), text);
    const tries = message.tries.map(([said, sure, right]) => html("span", { class: right ? "lk-right" : "lk-wrong" }, `${right ? "✓" : "✗"} ${said}, ${sure}`));
    if (tries.length) this.tries.replaceChildren("Your tries: ", ...tries);
    if (!scene) return;
    if (!this.done) this.keep((this.done = true));
    this.card.dataset.answered = "";
    uncover(this.card, this.model.widget_manager);
    this.answer.correct?.(more);
    if (!this.view) {
      this.view = new View(this.height);
      this.el.append(...this.view.nodes);
    }
    this.view.pinned = pinned;
    this.view.draw(scene);
  }
}

// What is asked for, how it stands, and what helps.
class Task {
  constructor({ text, goals, hints, solution }) {
    this.goals = html("ul", { class: "lk-goals" }, ...goals.map((goal) => html("li", {}, goal)));
    this.said = html("div", { class: "lk-verdict", "aria-live": "polite" });
    const shown = html("div");
    const left = [...hints];
    const hint = button(`hint (${left.length})`, "Show the next hint", () => {
      shown.append(html("p", {}, left.shift()));
      hint.textContent = `hint (${left.length})`;
      hint.disabled = !left.length;
    });
    const help = [
      ...(hints.length ? [hint, shown] : []),
      ...(solution ? [html("details", {}, html("summary", {}, "a solution"), html("pre", { tabindex: 0, ...KEYS }, solution))] : []),
    ];
    const title = html("p", { class: "lk-question" }, html("b", {}, "Challenge "), text);
    this.node = html("div", { class: "lk-card-of" }, title, this.goals, this.said, html("div", { class: "lk-help" }, ...help));
  }

  judge({ passed, goals, message }) {
    this.said.replaceChildren(html("b", { class: passed ? "lk-right" : "lk-wrong" }, passed ? "✓ " : "✗ "), message);
    this.goals.replaceChildren(...goals.map(([met, said]) => html("li", { class: met ? "lk-right" : "lk-wrong" }, `${met ? "✓" : "✗"} ${said}`)));
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
    el.append(html("div", { class: "lk-card-of" }, task.said, task.goals));
    if (!scene) return;
    const view = new View(height);
    el.append(...view.nodes);
    view.draw(scene);
  }
}

// What a page has kept may be of an older page, or of somebody else.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
