// `explore`: controls, the view, and what can be done with the pipeline of the moment.

const RUN = "Run this pipeline for real, and lay it over the prediction";

class Explore {
  constructor(model, el) {
    this.model = model;
    const state = JSON.parse(model.get("state"));
    this.view = new View();
    const reach = (name) => this.pictures.expect(this.near(name));
    this.controls = new Controls(state.controls, (name, rest) => this.turn(name, rest), reach);
    this.start = this.controls.values;
    this.running = 0;
    this.pictures = new Pictures(model, this);
    this.error = html("div", { class: "lk-error", role: "alert" });
    this.panel = div("lk-panel");
    this.runButton = button("run for real", RUN, () => this.run());
    const code = button("code", "Show this pipeline as a program", () => this.ask("code"));
    this.view.tools.append(
      html("span", { class: "lk-space" }),
      button("pin", "Pin this run as the baseline", () => this.pin()),
      button("reset", "Back to the start", () => this.reset()),
      ...(state.alone ? [] : [code, this.runButton]), // alone there is nobody to ask
    );
    if (state.task) this.task = new Task(state.task);
    if (state.formula) this.formula = new Formula(state.formula, this.controls, this.view);
    const above = [this.task?.node, this.controls.node, this.error, this.formula?.node];
    el.append(...above.filter(Boolean), ...this.view.nodes, this.panel);
    this.view.pinned = state.pinned;
    if (!state.alone) this.view.strip.choose = (rank) => this.choose(rank);
    if (state.error) this.refuse(state.error);
    if (state.scene) {
      this.pictures.kept.set(this.pictures.keyOf(this.start), state.scene);
      this.show(state.scene);
    }
    const note = ({ text }) => this.panel.replaceChildren(html("p", {}, text));
    this.tell = asking(model, (text) => this.say(text), {
      code: ({ about, ...texts }) => this.showCode(texts),
      progress: this.heard(note),
      stopped: this.heard(note, true),
      real: this.heard((answer) => this.showReal(answer), true),
    });
  }

  turn(name, rest) {
    this.view.real = null;
    this.formula?.follow(this.view.timeline.bar);
    this.pictures.want(this.controls.values, rest, this.near(name));
  }

  near(name) {
    return this.controls.near(name).map((value) => ({ ...this.controls.values, [name]: value }));
  }

  choose(rank) {
    this.pictures.rank = rank;
    this.view.real = null;
    this.pictures.want(this.controls.values, true);
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

  // Of a kernel that may be busy nothing is said yet; one that does not hear a cancel runs nothing
  // any more.
  say(text) {
    this.refuse(text === "…" ? "" : text);
    if (text === SILENT && this.stopping) this.rest(0);
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

  ask = (what, more) => this.tell({ do: what, values: this.controls.values, ...more });

  run() {
    if (!this.running) {
      this.rest(uniqueNumber());
      this.answered = false;
      return this.ask("run", { id: this.running });
    }
    this.stopping = true;
    if (!this.answered) this.rest(0); // nobody may be there to say that it has ended
    return this.tell({ do: "cancel" });
  }

  // The controls rest while it runs for real: they would disturb it.
  rest(running) {
    // By this number the kernel speaks of it, for there may be other views of this widget.
    this.running = running;
    const isRunning = running !== 0;
    this.pictures.paused = this.controls.node.inert = isRunning;
    for (const { node } of this.formula?.edges ?? []) node.inert = isRunning;
    this.stopping &&= isRunning;
    const [text, title] = isRunning ? ["cancel", "Cancel the real run"] : ["run for real", RUN];
    named(this.runButton, title).textContent = text;
  }

  // A run that ends, or says how far it is, may be of another view.
  heard(act, ends) {
    return (message) => {
      if (!this.running || message.id !== this.running) return;
      this.answered = true;
      this.refuse("");
      act(message);
      if (ends) this.rest(0);
    };
  }

  showReal({ scene, rows, total }) {
    this.view.real = scene;
    this.view.draw(this.view.scene);
    const titles = ["stage", "predicted", "measured", "prediction"];
    const first = html("tr", {}, ...titles.map((text) => head("col", text)));
    const others = [...rows, total].map(([stage, ...texts]) => {
      return html("tr", {}, head("row", stage), ...texts.map((text) => cell(text)));
    });
    const words = html("p", {}, "The real run is the thin line below each bar.");
    this.panel.replaceChildren(words, html("table", {}, first, ...others));
  }

  showCode(programs) {
    const blocks = Object.entries(programs).map(([language, text]) => {
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
