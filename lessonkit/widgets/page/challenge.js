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
    const asked = question("Challenge ", text);
    this.node = div("lk-card-of lk-task", asked, this.goals, this.said, help);
  }

  solved = () => (this.node.dataset.solved = "");

  judge({ passed, goals, message }) {
    if (passed) this.solved();
    this.said.replaceChildren(verdict(passed, message));
    this.goals.replaceChildren(...goals.map(([met, said]) => marked("li", met, said)));
  }
}

class Challenge {
  constructor(model, el) {
    const { task } = JSON.parse(model.get("state")), made = new Task(task);
    made.node.dataset.task = task.text;
    if (new Record(model, "challenge", task.text).read()?.right) made.solved();
    el.append(made.node);
  }
}

class Outcome {
  constructor(model, el) {
    const { question, verdict, scene } = JSON.parse(model.get("state"));
    const task = new Task({ text: "", goals: [], hints: [], solution: "" });
    const record = new Record(model, "challenge", question);
    const right = verdict.passed || Boolean(record.read()?.right);
    record.write({ said: null, right, reached: verdict.goals });
    const isAsked = ({ dataset }) => dataset.task === question;
    const asked = [...document.querySelectorAll(".lk-task")].filter(isAsked);
    if (right) for (const { dataset } of asked) dataset.solved = "";
    task.judge(verdict);
    el.append(div("lk-card-of", task.said, task.goals));
    if (!scene) return;
    new View().showIn(el, scene);
  }
}
