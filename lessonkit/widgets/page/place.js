// Where the widgets of a page find its program, which one of them brings.

/** @typedef {import("./host.js").Program} Program */

export const WAITS = "This answers as soon as its cell has run.";

/**
 * The name of the host of a widget, of which the kernel sends a reference.
 * @param {{ get: (name: string) => any }} model
 */
export const hostOf = (model) => String(model.get("host")).replace("IPY_MODEL_", "");

class Place {
  isTaken = false;
  asked = 0; // how often a kernel was asked for the program

  constructor() {
    /** @type {Promise<Program>} */
    this.program = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /**
   * The first program that comes is that of the page.
   * @param {Program} program
   */
  take(program) {
    this.isTaken = true;
    this.resolve(program);
  }

  /**
   * Whether the program is there in so many milliseconds at the latest.
   * @param {number} wait
   */
  async isTakenWithin(wait) {
    const late = new Promise((resolve) => setTimeout(resolve, wait));
    await Promise.race([this.program, late]);
    return this.isTaken;
  }
}

/**
 * @param {string} version of the program: a page may have widgets of several
 * @returns {Place}
 */
export function placeOf(version) {
  const name = `lessonkit ${version}`;
  const page = /** @type {Record<string, any>} */ (globalThis);
  page[name] ??= new Place();
  return page[name];
}
