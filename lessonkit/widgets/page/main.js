// What anywidget calls for each widget, and for each place that shows it.

const QUESTIONS = { predict: Predict, challenge: Challenge, outcome: Outcome, mystery: Mystery };
const CHARTS = { chart: Chart, runs: Runs, kitchen: Kitchen };
const PICTURES = { explore: Explore, "heat map": HeatMap, ...CHARTS };
const ROLES = { ...QUESTIONS, ...PICTURES, installation: Installation };

// A widget whose cell has not run since Python started would not answer: it says so, and takes no
// hand. Managers of widgets mark a new view by this class; of a change they tell the model.
const GONE = "jupyter-widgets-disconnected";
const WAITS = "This answers as soon as its cell has run.";

function mark(model, el, live) {
  const note = html("p", { class: "lk-waits", role: "status" });
  const look = (gone) => {
    live.inert = gone;
    note.textContent = gone ? WAITS : "";
  };
  el.prepend(note);
  look(el.classList.contains(GONE));
  // Here `this` is the view, by which anywidget takes its listeners away in the end.
  model.on("comm_live_update", function () {
    look(this?.model?.comm_live === false);
  });
}

export default {
  initialize({ model }) {
    keepSaved(model.widget_manager);
  },
  render({ model, el }) {
    const life = new Life(model);
    Classroom.join();
    el.classList.add("lk");
    life.listen(el, "keydown", giveBack, true);
    life.listen(el, "keydown", moveOn, true);
    const live = el.appendChild(div("lk-live"));
    mark(life, el, live);
    new ROLES[model.get("role")](life, live);
    if (!JSON.parse(model.get("state")).alone) Teaching.offer(life, el);
    return () => life.end();
  },
};
