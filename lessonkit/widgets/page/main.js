// What anywidget calls for each widget, and for each place that shows it.

const QUESTIONS = { predict: Predict, challenge: Challenge, outcome: Outcome, mystery: Mystery };
const PICTURES = { explore: Explore, "heat map": HeatMap, chart: Chart, runs: Runs };
const ROLES = { ...QUESTIONS, ...PICTURES, installation: Installation };

// A widget whose cell has not run since Python started would not answer: it says so, and takes no
// hand. All managers of widgets mark it by this class.
const GONE = "jupyter-widgets-disconnected";
const WAITS = "This answers as soon as its cell has run.";

function mark(el, live) {
  const note = html("p", { class: "lk-waits", role: "status" });
  const look = () => {
    live.inert = el.classList.contains(GONE);
    note.textContent = live.inert ? WAITS : "";
  };
  el.prepend(note);
  new MutationObserver(look).observe(el, { attributeFilter: ["class"] });
  look();
}

export default {
  initialize({ model }) {
    keepSaved(model.widget_manager);
  },
  render({ model, el }) {
    el.classList.add("lk");
    el.addEventListener("keydown", giveBack, true);
    el.addEventListener("keydown", moveOn, true);
    const live = el.appendChild(div("lk-live"));
    mark(el, live);
    new ROLES[model.get("role")](model, live);
    Teaching.offer(el);
  },
};
