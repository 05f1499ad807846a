// What anywidget calls for each widget, and for each place that shows it.

const QUESTIONS = { predict: Predict, challenge: Challenge, outcome: Outcome, mystery: Mystery };
const PICTURES = { explore: Explore, "heat map": HeatMap, chart: Chart, runs: Runs };
const ROLES = { ...QUESTIONS, ...PICTURES, installation: Installation };

export default {
  initialize({ model }) {
    keepSaved(model.widget_manager);
  },
  render({ model, el }) {
    el.classList.add("lk");
    el.addEventListener("keydown", giveBack, true);
    el.addEventListener("keydown", moveOn, true);
    new ROLES[model.get("role")](model, el);
    Teaching.offer(el);
  },
};
