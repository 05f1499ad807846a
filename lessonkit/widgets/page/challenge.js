// `challenge`: what is asked for, how it stands, and what helps.

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
    const help = div("lk-help", ...(hints.length ? [hint, shown] : []));
    if (solution) help.append(folded("a solution", false, program(solution)));
    this.node = div("lk-card-of", question("Challenge ", text), this.goals, this.said, help);
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
    const { question, verdict, scene } = JSON.parse(model.get("state"));
    const task = new Task({ text: "", goals: [], hints: [], solution: "" });
    const record = new Record(model, "challenge", question);
    const right = verdict.passed || Boolean(record.read()?.right);
    record.write({ said: null, right, reached: verdict.goals });
    task.judge(verdict);
    el.append(div("lk-card-of", task.said, task.goals));
    if (!scene) return;
    new View().showIn(el, scene);
  }
}
