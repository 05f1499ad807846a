// What anywidget calls for each widget, and for each place that shows it.

const ROLES = { explore: Explore, predict: Predict, challenge: Challenge, outcome: Outcome, "heat map": HeatMap };
Object.assign(ROLES, { installation: Installation, mystery: Mystery, chart: Chart, runs: Runs });

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
