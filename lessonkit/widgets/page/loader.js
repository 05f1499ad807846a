// What each widget carries. The page's program is large, and the same for all widgets, so it comes
// once: with a hidden widget, the host. A page that has it, whatever brought it, hands it over at
// once.

import { hostOf, placeOf, WAITS } from "./place.js";

/** @typedef {import("./base/life.js").Model} Model */
/** @typedef {ReturnType<typeof placeOf>} Place */

const LATE = 5000; // ms without a program, until a view says why it shows nothing
const FOR_HOST = 3000; // ms that a host takes at most to hand the program over
const FOR_ANSWER = 1000; // ms until the next widget of a page asks its kernel, too

/**
 * Makes the host, where the page has not made it with all widgets of its notebook.
 * @param {Model} model
 */
async function makesHost(model) {
  try {
    const manager = model.widget_manager;
    if (manager) await manager.get_model(hostOf(model));
    return Boolean(manager);
  } catch {
    return false; // each output is a page of its own, and knows its own widget alone
  }
}

/**
 * Asks the kernel of this widget, where there is no host.
 * @param {Model} model
 * @param {Place} place
 */
function ask(model, place) {
  /** @param {{ about: string }} message @param {BlobPart[]} buffers */
  const hear = async ({ about }, buffers) => {
    if (about !== "program" || place.isTaken) return;
    const address = URL.createObjectURL(new Blob(buffers, { type: "text/javascript" }));
    const { program } = await import(address);
    URL.revokeObjectURL(address);
    place.take(program);
  };
  model.on("msg:custom", hear);
  place.program.then(() => model.off("msg:custom", hear));
  model.send({ do: "program" });
}

/**
 * @param {Model} model
 * @param {Place} place
 */
async function bring(model, place) {
  if (place.isTaken) return;
  const isMade = await makesHost(model);
  const wait = isMade ? FOR_HOST : place.asked * FOR_ANSWER;
  if (!isMade) place.asked += 1;
  if (!(wait && (await place.isTakenWithin(wait)))) ask(model, place);
}

export default {
  /** @param {{ model: Model, el: HTMLElement }} view */
  async render({ model, el }) {
    const place = placeOf(model.get("version"));
    const late = setTimeout(() => {
      el.textContent = WAITS;
    }, LATE);
    bring(model, place);
    const program = await place.program;
    clearTimeout(late);
    el.textContent = "";
    return program.render({ model, el });
  },
};
