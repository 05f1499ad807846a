// A number that is typed.

import { html, labelled } from "../base/dom.js";
import { KEYS } from "../base/keyboard.js";

/** @typedef {import("./question.js").Answer} Answer */

/**
 * What the page has to know to have a number typed.
 * @typedef {object} NumberState
 * @property {string} unit
 * @property {string} tolerance in words
 */

/** @implements {Answer} */
export class NumberAnswer {
  static kind = "number";

  /**
   * @param {import("../base/life.js").Life} _life
   * @param {NumberState} state
   * @param {import("./question.js").Asking} asking
   */
  constructor(_life, { unit, tolerance }, { commit }) {
    const name = unit ? `Your answer in ${unit}` : "Your answer";
    const given = { type: "number", step: "any", "aria-label": name, onkeydown: commit, ...KEYS };
    this.input = html("input", given);
    const after = html("span", {}, `${unit} `, html("small", {}, tolerance));
    this.node = labelled("Your answer", this.input, after);
  }

  get() {
    return this.input.value === "" ? -1 : Number(this.input.value);
  }

  /** @param {unknown} said */
  set(said) {
    const isNumber = typeof said === "number" && Number.isFinite(said) && said >= 0;
    this.input.value = isNumber ? String(said) : "";
  }
}
