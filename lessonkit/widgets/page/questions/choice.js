// One of several texts.

import { Radios } from "./radios.js";

/** @typedef {import("./question.js").Answer} Answer */

/**
 * What the page has to know to offer a choice.
 * @typedef {object} ChoiceState
 * @property {string[]} choices
 */

/** @implements {Answer} */
export class ChoiceAnswer extends Radios {
  static kind = "choice";

  /**
   * @param {import("../base/life.js").Life} _life
   * @param {ChoiceState} state
   * @param {import("./question.js").Asking} asking
   */
  constructor(_life, { choices }, { commit }) {
    super(choices, "Your answer", commit);
  }
}
