// What anywidget calls for each place that shows a widget.

const ROLES = { explore: Explore, predict: Predict, challenge: Challenge, outcome: Outcome, installation: Installation };

export default {
  render({ model, el }) {
    el.classList.add("lk");
    el.classList.toggle("lk-large", model.get("large"));
    el.addEventListener("keydown", (event) => giveBack(event), true);
    new ROLES[model.get("role")](model, el);
  },
};
