// `explore`: controls, the view, and what can be done with the pipeline of the moment.

const RUN = "Run this pipeline on threads, and lay it over the prediction";

class Explore {
  constructor(model, el) {
    this.model = model;
    const state = JSON.parse(model.get("state"));
    this.view = new View(state.height);
    this.controls = new Controls(state.controls, (name, rest) => this.turn(name, rest));
    this.start = this.controls.values;
    this.running = 0;
    this.pictures = new Pictures(model, this);
    this.error = html("div", { class: "lk-error", role: "alert" });
    this.panel = div("lk-panel");
    this.runButton = button("run for real", RUN, () => this.run());
    this.view.tools.append(
      html("span", { class: "lk-space" }),
      button("pin", "Pin this run as the baseline", () => this.pin()),
      button("reset", "Back to the start", () => this.reset()),
      button("code", "Show this pipeline as a program", () => this.ask("code")),
      this.runButton,
    );
    if (state.task) this.task = new Task(state.task);
    if (state.formula) this.formula = new Formula(state.formula, this.controls, this.view);
    const above = [this.task?.node, this.controls.node, this.error, this.formula?.node].filter(Boolean);
    el.append(...above, ...this.view.nodes, this.panel);
    this.view.pinned = state.pinned;
    if (state.error) this.refuse(state.error);
    if (state.scene) {
      this.pictures.kept.set(JSON.stringify(this.start), state.scene);
      this.show(state.scene);
    }
    model.on("msg:custom", (message, buffers) => this.hear(message, buffers));
  }

  turn(name, rest) {
    const { values } = this.controls;
    this.view.real = null;
    this.formula?.follow(this.view.timeline.bar);
    const near = this.controls.near(name).map((value) => ({ ...values, [name]: value }));
    this.pictures.want(values, rest, near);
  }

  show(scene) {
    this.refuse("");
    this.task?.judge(scene.verdict);
    this.view.draw(this.formula?.show(scene) ?? scene);
  }

  // The last good picture stays, and is not to be taken for that of the new values.
  refuse(text) {
    this.error.textContent = text;
    for (const node of this.view.nodes) node.classList.toggle("lk-stale", text !== "");
  }

  pin() {
    this.view.pinned = this.view.scene;
    this.view.real = null;
    this.view.draw(this.view.scene);
  }

  reset() {
    this.view.pinned = JSON.parse(this.model.get("state")).pinned;
    this.view.real = null;
    this.panel.replaceChildren();
    this.controls.set(this.start);
    this.pictures.want(this.start, true);
  }

  ask(what, more) {
    this.refuse("");
    send(this.model, { do: what, values: this.controls.values, ...more });
    this.wait();
  }

  wait() {
    clearTimeout(this.patience);
    this.patience = setTimeout(() => {
      this.refuse(SILENT);
      if (this.stopping) this.rest(0);
    }, PATIENCE);
  }

  run() {
    if (!this.running) {
      this.rest(uniqueNumber());
      this.answered = false;
      return this.ask("run", { id: this.running });
    }
    send(this.model, { do: "cancel" });
    if (!this.answered) return this.rest(0); // nobody may be there to say that it has ended
    this.stopping = true;
    return this.wait();
  }

  // The controls rest while it runs for real: they would disturb it.
  rest(running) {
    this.running = running; // by this number the kernel speaks of it, for there may be other views of this widget
    this.pictures.paused = this.controls.node.inert = running !== 0;
    for (const { node } of this.formula?.edges ?? []) node.inert = running !== 0;
    this.stopping = false;
    named(this.runButton, running ? "Cancel the real run" : RUN).textContent = running ? "cancel" : "run for real";
  }

  hear(message, buffers) {
    const { about, id } = message;
    if (about !== "picture") clearTimeout(this.patience);
    if (about === "progress" || about === "real" || about === "stopped") {
      if (!this.running || id !== this.running) return; // of another view
      this.answered = true;
      this.refuse("");
    }
    if (about === "code") this.showCode(unpack(buffers));
    if (about === "real") this.showReal(unpack(buffers));
    if (about === "error") this.refuse(message.text);
    if (about === "progress" || about === "stopped") this.panel.replaceChildren(html("p", {}, message.text));
    if (about === "real" || about === "stopped") this.rest(0);
  }

  showReal({ scene, rows, total }) {
    this.view.real = scene;
    this.view.draw(this.view.scene);
    const head = (scope, text) => html("th", { scope }, text), cell = (text) => html("td", {}, text);
    const titles = ["stage", "predicted", "measured", "prediction"].map((text) => head("col", text));
    const lines = [...rows, total].map(([stage, ...cells]) => [head("row", stage), ...cells.map(cell)]);
    const table = [titles, ...lines].map((line) => html("tr", {}, ...line));
    const words = html("p", {}, "The real run is the thin line below each bar.");
    this.panel.replaceChildren(words, html("table", {}, ...table));
  }

  showCode(programs) {
    const blocks = Object.entries(programs).map(([language, { text, error }]) => {
      if (error) return folded(language, true, html("p", { class: "lk-error" }, error));
      const copied = (words) => () => (copy.textContent = words);
      const copy = button("copy", `Copy the ${language} program`, () => {
        navigator.clipboard?.writeText(text).then(copied("copied"), copied("select and copy"));
      });
      return folded(language, language === "lessonkit", copy, program(text));
    });
    const close = button("close", "Close the programs", () => this.panel.replaceChildren());
    this.panel.replaceChildren(close, ...blocks);
  }
}
