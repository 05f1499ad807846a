// `predict`: a question that a run answers, or a vote, which has no run. Its type is told by what
// the kernel sends.

function kindOf({ place, draw, choices }) {
  if (place || draw) return place ? "placing" : "curve";
  return choices.length ? "choice" : "number";
}

class Predict {
  constructor(whole, el) {
    const model = whole.part();
    const state = JSON.parse(model.get("state")), group = unique("answer");
    this.answer = this.answering(model, state, `${group}-a`);
    this.sure = this.radios(state.sure, `${group}-s`, "How sure are you?");
    const commit = button("commit", "Commit to this answer", () => this.commit());
    const ask = () => this.ask({ do: "reveal" });
    const shown = state.asks === "Vote" ? "Show which is right" : "Show the run without an answer";
    const reveal = button("show me anyway", shown, ask);
    this.tools = div("lk-tools", commit, reveal);
    this.said = spoken("lk-verdict");
    this.list = div("lk-tries");
    this.tried = []; // as the record has them
    this.on = button("go on", "Go on to the next cell (Shift+Enter)", () => goOn(el));
    this.again = button("ask me again", "Ask me again, and forget my tries", () => this.forget());
    Object.assign(this, { whole, model, el, levels: state.sure });
    this.later = model.timer();
    const asked = [question(`${state.asks} `, state.question), this.answer.node, this.sure.node];
    this.card = div("lk-card-of lk-predict", ...asked, this.tools, this.said, this.list);
    el.append(this.card);
    if (state.asks === "Vote") el.append(new Report().node); // at the end of a lesson
    this.card.addEventListener("change", () => this.keep());
    const say = (text) => this.say(text);
    this.ask = asking(model, say, { verdict: (verdict) => this.hear(verdict) });
    this.record = new Record(model, kindOf(state), state.question);
    this.save = keeping(model, (kept) => this.restore(kept));
    if (!this.verdict) this.recall(this.record.read());
    this.settle();
  }

  // Each type of question has its own way to answer: a node, `get` and `set` for what is said,
  // and perhaps `correct`, which shows the truth over it.
  answering(life, { place, draw, choices, unit, tolerance }, name) {
    if (place) return new Placing(life, place, () => this.keep());
    if (draw) return new Drawing(life, draw, () => this.keep());
    return choices.length ? this.radios(choices, name, "Your answer") : this.field(unit, tolerance);
  }

  // A view is made before it has its place in the page.
  settle() {
    if (!this.card.isConnected) return this.later.start(() => this.settle(), 50);
    const around = new Cover(this.card, this.model), { dataset } = outside(this.card);
    const { answered } = this.card.dataset;
    dataset.asks = "";
    if (answered === undefined) delete dataset.answered;
    else dataset.answered = answered;
    this.on.hidden = !cellAfter(this.card); // a frame of its own has no next cell
    if (answered !== undefined) return around.open();
    around.close();
    return around.lead();
  }

  // What the kernel did not take for an answer is no try.
  say(text) {
    this.said.textContent = text;
    if (text === "…" || text === SILENT || this.tried.every(({ words }) => words)) return;
    this.tried = this.tried.filter(({ words }) => words);
    this.keep();
  }

  keep() {
    const { tried: tries, shown, verdict, waits } = this, sure = this.levels[this.sure.get()] ?? "";
    const right = tries.some((one) => one.right);
    const did = { said: this.answer.get(), sure, tries, right, shown, waits };
    this.record.write(did);
    this.save({ ...did, verdict });
  }

  restore({ said, sure, tries = [], shown, verdict }) {
    if (this.verdict?.right) return;
    this.answer.set(said);
    this.sure.set(this.levels.indexOf(sure));
    Object.assign(this, { tried: tries, shown });
    this.said.textContent = "This is your answer from last time. You have not committed to it yet.";
    if (verdict) this.conclude((this.verdict = verdict));
  }

  // A widget that was made anew has no tries: the kernel judges those of the record again.
  recall(record) {
    if (!record) return;
    const { tries, right, shown } = record;
    this.restore({ ...record, tries: tries.map(({ words, right, ...one }) => one) });
    // So nothing is covered; in a class the teacher may not have shown it yet.
    if ((right || shown) && !Classroom.found) this.card.dataset.answered = "";
    tries.forEach(({ said, sure }, index) => {
      const how = this.levels.indexOf(sure);
      this.isNew(said, how);
      this.ask({ do: "commit", said, sure: how, anew: !index });
    });
    if (shown) this.ask({ do: "reveal" });
  }

  forget() {
    this.record.forget();
    this.model.set("kept", "");
    this.model.save_changes();
    this.model.end(); // another one hears the kernel from now on
    this.el.replaceChildren();
    new Predict(this.whole, this.el).focus();
  }

  focus = () => this.card.querySelector("[tabindex], input").focus();

  radios(texts, name, title) {
    const given = { type: "radio", name, onkeydown: (event) => this.enter(event), ...KEYS };
    const inputs = texts.map((_, value) => html("input", { ...given, value }));
    const labels = texts.map((text, value) => html("label", {}, inputs[value], ` ${text}`));
    const sentences = texts.some((text) => text.length > 20) ? " lk-sentences" : "";
    const legend = html("legend", {}, title);
    const node = html("fieldset", { class: `lk-choices${sentences}` }, legend, ...labels);
    const set = (value) => inputs.forEach((input, index) => (input.checked = index === value));
    return { node, set, get: () => inputs.findIndex((input) => input.checked) };
  }

  field(unit, tolerance) {
    const aria = { "aria-label": `Your answer${unit && ` in ${unit}`}` };
    const onkeydown = (event) => this.enter(event);
    const input = html("input", { type: "number", step: "any", ...aria, onkeydown, ...KEYS });
    const after = html("span", {}, `${unit} `, html("small", {}, tolerance));
    const node = labelled("Your answer", input, after);
    const set = (value) => (input.value = Number.isFinite(value) && value >= 0 ? value : "");
    return { node, set, get: () => (input.value === "" ? -1 : Number(input.value)) };
  }

  // With Shift it moves on to the next cell.
  enter({ key, shiftKey }) {
    if (key === "Enter" && !shiftKey) this.commit();
  }

  commit() {
    const said = this.answer.get(), sure = this.sure.get();
    if (said < 0 || sure < 0) {
      this.said.textContent = said < 0 ? "Say what you expect first." : "Say how sure you are.";
      return;
    }
    if (!this.isNew(said, sure)) return;
    const anew = !this.tried.length;
    this.tried.push({ said, sure: this.levels[sure], when: new Date().toISOString() });
    this.ask({ do: "commit", said, sure, anew });
  }

  // The same again is not one more try, but in the next round of a class it is.
  isNew(said, sure) {
    const before = this.committed;
    this.committed = JSON.stringify([said, sure, Classroom.round(this.record.about)]);
    return this.committed !== before;
  }

  async hear(verdict) {
    const told = (one, index) => {
      const [words, , right] = verdict.tries[index] ?? [one.words, "", one.right];
      return { ...one, words, right };
    };
    // Another view of this question may have asked: its tries come with what it keeps.
    if (verdict.tries.length <= this.tried.length) this.tried = this.tried.map(told);
    if (!verdict.tries.length) this.shown = true;
    this.heard = verdict;
    const wait = (text) => (this.said.textContent = text);
    const turn = Classroom.turn(this.model, this.record.about, wait);
    if (turn) {
      this.waits = true;
      this.keep();
      await turn;
      if (!this.model.ends || this.heard !== verdict) return; // another has come meanwhile
      this.waits = undefined;
    }
    if (!this.verdict?.right) this.verdict = verdict;
    this.keep();
    const isHere = this.card.contains(document.activeElement);
    this.conclude(verdict);
    if (verdict.right && isHere) this.on.focus({ preventScroll: true });
  }

  conclude({ right, tries, text, scene, pinned, ...more }) {
    this.said.replaceChildren(verdict(right, text));
    const tried = tries.map(([said, sure, well]) => marked("span", well, `${said}, ${sure}`));
    if (tried.length) this.list.replaceChildren("Your tries: ", ...tried);
    if (!right) return;
    this.card.dataset.answered = "";
    this.card.append(div("lk-tools", this.on, this.again));
    this.settle();
    if (this.answer.correct) {
      this.answer.correct(more);
      this.tools.remove(); // there is nothing left to find out
    }
    if (!scene) return;
    this.view ??= new View(this.model);
    this.view.showIn(this.el, scene, pinned);
  }
}
