// Texts of which one is chosen.

import { html, unique } from "../base/dom.js";
import { KEYS } from "../base/keyboard.js";

const BRIEF = 20; // letters: longer texts are sentences, and stand below each other

export class Radios {
  /**
   * @param {readonly string[]} texts
   * @param {string} title
   * @param {(event: KeyboardEvent) => void} onkeydown
   */
  constructor(texts, title, onkeydown) {
    const given = { type: "radio", name: unique("answer"), onkeydown, ...KEYS };
    this.inputs = texts.map((_, value) => html("input", { ...given, value }));
    const labels = texts.map((text, index) => html("label", {}, this.inputs[index], ` ${text}`));
    const isLong = texts.some((text) => text.length > BRIEF);
    const look = { class: isLong ? "lk-choices lk-sentences" : "lk-choices" };
    this.node = html("fieldset", look, html("legend", {}, title), ...labels);
  }

  // The number of the text that is chosen, or -1.
  get() {
    return this.inputs.findIndex((input) => input.checked);
  }

  /** @param {unknown} said */
  set(said) {
    for (const [index, input] of this.inputs.entries()) input.checked = index === said;
  }
}
