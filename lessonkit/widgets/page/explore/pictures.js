// Gets the pictures for values from the kernel: one question at a time, and the newest values win.
// What came once is kept, and while no control moves, neighbours are fetched ahead, as a prefetch
// would; a hand that moves then does not wait for that answer before asking.

import { uniqueNumber } from "../base/dom.js";
import { PATIENCE, SILENT, send, unpack } from "../base/kernel.js";

export const KEPT = 300; // pictures

// In milliseconds.
export const SLOW = 150; // simulations that take longer wait until the control comes to rest
export const QUICK = 60; // of pictures that take longer only the next two are fetched ahead,
export const SLOWEST = 1500; // and none of those that take longer: a hand would wait for them
export const STILL_FOR = 300; // without a new picture, before any is fetched ahead: a key is quicker
const LATE = 400; // a picture that is seen for longer than that is said to be another one's
const REST = 250; // until a control counts as being at rest

export class Pictures {
  took = 0; // ms: the shorter one of the last two pictures
  last = 0; // ms
  rank = 0; // whose timeline is wanted, where there are several
  kept = new Map(); // by values, and rank
  asked = new Map(); // what the kernel is busy with, by number: one wanted, one ahead
  wanted = null; // the newest values, if they are not asked for yet
  newest = ""; // the values that were wanted last
  drawn = ""; // and those that are seen
  next = uniqueNumber(); // another view of this widget hears the answers too
  paused = false; // while the pipeline runs for real
  ahead = [];

  // *view* has `show` for a picture, `late` for one that takes its time, and `refuse` for what went
  // wrong; the first and the last are told for which values.
  constructor(model, view) {
    this.model = model;
    this.view = view;
    this.timer = model.timer();
    this.late = model.timer();
    this.patience = model.timer();
    model.on("msg:custom", (message, buffers) => this.hear(message, buffers));
  }

  keyOf = (values) => JSON.stringify(values) + (this.rank || "");

  want(values, rest, near = []) {
    this.wanted = values;
    this.newest = this.keyOf(values);
    this.ahead = near.slice(0, KEPT / 2); // or they would drive each other out, and never end
    this.timer.stop();
    if (this.asked.size) this.wait();
    const coming = [...this.asked.values()].find(({ key }) => key === this.newest);
    const known = this.kept.get(this.newest);
    if (coming || known) this.wanted = null;
    if (coming) coming.ahead = false;
    else if (known) {
      this.keep(this.newest, known);
      this.draw(this.newest, values, known);
      this.rested();
    } else if (rest || this.took < SLOW) this.ask();
    else this.timer.start(() => this.ask(), REST);
  }

  // A hand comes to a control: it may want what is next to it.
  expect(near) {
    this.ahead = [...near.slice(0, 2), ...this.ahead].slice(0, KEPT / 2);
    if (!this.wanted) this.rested(); // or what is wanted would wait, too
  }

  ask() {
    const ahead = this.wanted === null;
    if (this.paused || [...this.asked.values()].some((one) => ahead || !one.ahead)) return;
    const near = this.took < QUICK ? this.ahead : this.ahead.slice(0, 2);
    const values = this.wanted ?? near.find((one) => !this.kept.has(this.keyOf(one)));
    if (!values) return;
    this.wanted = null;
    this.next += 1;
    this.asked.set(this.next, { key: this.keyOf(values), values, ahead });
    send(this.model, { do: "show", id: this.next, values, ...(this.rank && { rank: this.rank }) });
    this.wait();
  }

  // Said only where a picture is missed: what was fetched ahead of need may take its time.
  wait() {
    const missed = () => this.wanted || [...this.asked.values()].some(({ ahead }) => !ahead);
    this.late.start(() => missed() && this.view.late(), LATE);
    this.patience.start(() => missed() && this.view.refuse(SILENT), PATIENCE);
  }

  rested(wait = STILL_FOR) {
    this.timer.start(() => this.took < SLOWEST && this.ask(), wait);
  }

  // The one that was not seen for longest is let go.
  keep(key, picture) {
    this.kept.delete(key);
    this.kept.set(key, picture);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
  }

  draw(key, values, picture) {
    this.drawn = key;
    this.view.show(picture, values);
  }

  hear(message, buffers) {
    const asked = this.asked.get(message.id);
    if (message.about !== "picture" || !asked) return;
    const { key, values, ahead } = asked;
    this.asked.delete(message.id);
    this.patience.stop();
    this.late.stop();
    if (this.asked.size) this.wait();
    const answer = unpack(buffers);
    this.took = Math.min(message.took, this.last); // one that was slow by chance holds up no hand
    this.last = message.took;
    if (!answer.error) this.keep(key, answer);
    // What was an error ahead of need is asked for again only if it is wanted.
    else if (ahead) this.ahead = this.ahead.filter((one) => this.keyOf(one) !== key);
    // Drawn also while newer values wait, for a hand that moves is to see something; but never
    // after them.
    if (!ahead && this.drawn !== this.newest) {
      if (answer.error) this.view.refuse(answer.error, values);
      else this.draw(key, values, answer);
    }
    if (this.wanted) this.ask();
    // A kernel that is mostly free answers a hand immediately.
    else this.rested(ahead ? Math.min(5 * this.took, STILL_FOR) : STILL_FOR);
  }
}
