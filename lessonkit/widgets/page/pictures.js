// Gets the pictures for values from the kernel: one question at a time, and the newest values win.
// What came once is kept, and while nobody moves, neighbours are fetched ahead, as a prefetch would.

const SLOW = 150; // ms; a simulation that takes longer waits until the control comes to rest
const AHEAD = 60; // ms; one that takes longer is not done ahead
const KEPT = 300; // pictures
const REST = 250; // ms
const STILL_FOR = 150; // ms without a new picture, before any is fetched ahead

class Pictures {
  constructor(model, { show, refuse }) {
    this.model = model;
    this.show = show;
    this.refuse = refuse;
    this.kept = new Map(); // by values
    this.asked = null; // what the kernel is busy with
    this.wanted = null; // the newest values
    this.next = uniqueNumber(); // another view of this widget hears the answers too
    this.took = 0;
    this.paused = false; // while the pipeline runs for real
    this.ahead = [];
    model.on("msg:custom", (message, buffers) => this.hear(message, buffers));
  }

  want(values, rest, near = []) {
    this.wanted = values;
    this.ahead = near;
    clearTimeout(this.timer);
    if (this.asked) this.wait();
    if (this.asked?.key === JSON.stringify(values)) {
      this.asked.ahead = false; // on its way already
      this.wanted = null;
      return undefined;
    }
    const known = this.kept.get(JSON.stringify(values));
    if (known) {
      this.wanted = null;
      this.show(known);
      return this.rested();
    }
    if (rest || this.took < SLOW) this.ask();
    else this.timer = setTimeout(() => this.ask(), REST);
    return undefined;
  }

  ask() {
    if (this.asked || this.paused) return;
    const ahead = this.wanted === null;
    const values = this.wanted ?? this.ahead.find((one) => !this.kept.has(JSON.stringify(one)));
    if (!values) return;
    this.wanted = null;
    this.asked = { id: ++this.next, key: JSON.stringify(values), ahead };
    send(this.model, { do: "show", id: this.asked.id, values });
    this.wait();
  }

  // Said only where a picture is missed: what was fetched ahead of need may take its time.
  wait() {
    clearTimeout(this.patience);
    this.patience = setTimeout(() => (this.wanted || !this.asked.ahead) && this.refuse(SILENT), PATIENCE);
  }

  rested(wait = STILL_FOR) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.took < AHEAD && this.kept.size < KEPT && this.ask(), wait);
  }

  hear(message, buffers) {
    if (message.about !== "picture" || message.id !== this.asked?.id) return;
    const { key, ahead } = this.asked;
    this.asked = null;
    clearTimeout(this.patience);
    const answer = unpack(buffers);
    this.took = message.took;
    if (answer.error && !ahead) this.refuse(answer.error);
    if (!answer.error) {
      this.kept.set(key, answer);
      if (!ahead) this.show(answer); // also while newer values wait: a hand that moves is to see something
    }
    // What was an error ahead of need is asked for again only if it is wanted.
    else if (ahead) this.ahead = this.ahead.filter((one) => JSON.stringify(one) !== key);
    if (this.wanted) this.ask();
    else this.rested(ahead ? 5 * this.took : STILL_FOR); // a kernel that is mostly free answers a hand at once
  }
}

function unpack(buffers) {
  return JSON.parse(new TextDecoder().decode(buffers[0]));
}
